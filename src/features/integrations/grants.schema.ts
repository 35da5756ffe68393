import { z } from 'zod'
import { listFields, searchField, pageView } from '../../lib/paging.ts'
import { slugField } from '../../lib/text/slug.ts'
import { since } from '../../release/since.ts'
import { rateLimitsView, singleRateLimit, usageLimitsList, usageLimitsListShown, usageShown } from '../limits/index.ts'

/** The sort orders of the list. */
export const sorts = { slug: 'slug' }

const limits = {
  usage_limits: usageLimitsList,
  rate_limits: singleRateLimit.nullable().optional(),
}

const globalAccess = z
  .strictObject({ enabled: z.boolean(), ...limits })
  .meta({ id: 'GlobalWorkspaceAccess', description: 'Whether every workspace has access that is not named itself, those to come too.' })

export type GlobalAccess = z.output<typeof globalAccess>

const workspace = z.strictObject({
  id: z.string().min(1).max(255).meta({ description: 'Id or slug.' }),
  enabled: z.boolean(),
  ...limits,
  reset_usage: z.boolean().optional(),
  create_default_provider: since('1.10.0', z.boolean()).optional(),
  default_provider_slug: since('1.10.0', slugField).optional(),
})

export type WorkspaceGrant = z.output<typeof workspace>

/** Larger organisations have global access, or send several requests. */
export const maxGrants = 1000

export const updateGrantsBody = z
  .strictObject({
    workspaces: since('1.11.1', z.array(workspace).max(maxGrants), z.array(workspace).min(1).max(maxGrants)).optional(),
    global_workspace_access: globalAccess.nullable().optional(),
    override_existing_workspace_access: z.boolean().default(false).meta({
      description: 'Deletes the grants of workspaces that are not named here; with an empty array, of all.',
    }),
    override_existing_workspaces_access: z.boolean().optional().meta({ description: 'Another name of the same.' }),
    create_default_provider: since(
      '1.10.0',
      z.boolean().default(true).meta({
        description: 'Gives each workspace that gets access a provider, unless it has one of this integration.',
      }),
    ),
    default_provider_slug: since('1.10.0', slugField).optional(),
  })
  .meta({ id: 'UpdateIntegrationWorkspaces', description: 'Which workspaces may use the integration, and within which limits.' })

export type UpdateGrants = z.output<typeof updateGrantsBody>

export const grantsPage = z.object({
  ...listFields({ sorts, sort: 'slug', defaultSize: maxGrants }),
  search: searchField('the slug or the name'),
})

const limitViews = { usage_limits: usageLimitsListShown.nullable(), usage: usageShown, rate_limits: rateLimitsView.nullable() }

export const grantList = z
  .object({
    ...pageView,
    global_workspace_access: z.object({ enabled: z.boolean(), ...limitViews }).nullable(),
    workspaces: z.array(z.object({ id: z.uuid(), slug: z.string(), name: z.string(), enabled: z.boolean(), ...limitViews })),
  })
  .meta({ id: 'IntegrationWorkspaces', description: 'The access of workspaces, by their slugs.' })
