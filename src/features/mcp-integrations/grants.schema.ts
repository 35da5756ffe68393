import { z } from 'zod'
import { listFields, pageView, searchField } from '../../lib/paging.ts'

/** Larger organisations have global access, or send several requests. */
const maxGrants = 1000

const workspace = z.strictObject({
  id: z.string().min(1).max(255).meta({ description: 'Id or slug.' }),
  enabled: z.boolean(),
})

export const updateMcpGrantsBody = z
  .strictObject({
    workspaces: z.array(workspace).max(maxGrants),
    global_workspace_access: z
      .strictObject({ enabled: z.boolean() })
      .nullable()
      .optional()
      .meta({ description: 'Whether every workspace has access that is not named itself, those to come too.' }),
    override_existing_workspace_access: z.boolean().default(false).meta({
      description: 'Deletes the grants of workspaces that are not named here; with an empty array, of all.',
    }),
  })
  .meta({ id: 'UpdateMcpIntegrationWorkspaces', description: 'Which workspaces may use the integration.' })

export type UpdateMcpGrants = z.output<typeof updateMcpGrantsBody>

export const mcpGrantsPage = z.object({
  ...listFields({ sorts: { slug: 'slug' }, sort: 'slug', defaultSize: maxGrants }),
  search: searchField('the slug or the name'),
})

const item = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  status: z.enum(['active', 'archived']),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
})

export const mcpGrantList = z
  .object({
    ...pageView,
    global_workspace_access: z.object({ enabled: z.boolean() }).nullable(),
    data: z.array(item),
    workspaces: z.array(item).meta({ description: 'The same as `data`.' }),
  })
  .meta({ id: 'McpIntegrationWorkspaces', description: 'The access of workspaces, by their slugs.' })
