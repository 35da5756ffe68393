import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { calledUrl, plugins } from '../../gateway/ports/checks.ts'
import { listFields, listOf, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

const credentials = secretField(z.record(z.string(), z.unknown())).meta({
  description:
    'The credentials of the service: the `credentials` among the `parameters` of its checks in `GET /catalogue/checks`, those of several checks together.',
})

const baseUrl = calledUrl.meta({ description: 'Another address of the service: of a region, or of a proxy of your own.' })

const workspace = z.string().min(1).max(255)

export const createPluginBody = z
  .strictObject({
    plugin: z
      .string()
      .min(1)
      .max(100)
      .meta({ description: `The partner: ${[...plugins.keys()].map((id) => `\`${id}\``).join(', ')}.` }),
    name: nameField.optional().meta({ description: 'Absent: the name of the partner.' }),
    credentials,
    base_url: baseUrl.optional(),
    workspace_id: workspace.optional().meta({
      description:
        "The workspace that uses these credentials instead of the organisation's. Absent: the organisation's, for all workspaces.",
    }),
  })
  .meta({ id: 'CreatePlugin', description: 'Credentials of a partner that guardrails ask.' })

export type CreatePlugin = z.output<typeof createPluginBody>

export const updatePluginBody = z
  .strictObject({
    name: nameField.optional(),
    credentials: credentials.optional(),
    base_url: baseUrl.nullable().optional(),
  })
  .meta({
    id: 'UpdatePlugin',
    description:
      'Absent fields stay. `credentials` replace all that were stored; a secret that is still `********` stays what it was, as long as the address stays too.',
  })

export type UpdatePlugin = z.output<typeof updatePluginBody>

export const pluginParams = z.object({ pluginId: z.string() })

export const pluginRead = z.object(usedByQuery)

export const pluginFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at' }),
  search: searchField('the name or the partner'),
  plugin: textField(100).optional().meta({ description: 'Only of this partner.' }),
  workspace_id: workspace.optional().meta({ description: "Only a workspace's own." }),
})

export const pluginReference = z
  .object({ id: z.uuid(), plugin: z.string() })
  .meta({ id: 'PluginReference', description: 'Which credentials they are.' })

const fields = {
  id: z.uuid(),
  plugin: z.string(),
  name: z.string(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable().meta({ description: "Null: the organisation's." }),
  base_url: z.string().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  created_by: z.uuid().nullable(),
  updated_by: z.uuid().nullable(),
  object: z.literal('plugin'),
}

export const pluginView = z
  .object({
    ...fields,
    credentials: z.record(z.string(), z.unknown()).meta({ description: 'Secrets are masked as `********`.' }),
    ...usedByField,
  })
  .meta({ id: 'Plugin', description: 'Credentials of a partner, their secrets masked.' })

export const pluginList = listOf(
  z.object(fields).meta({ id: 'PluginSummary', description: 'Credentials of a partner, without the credentials.' }),
).meta({
  id: 'PluginList',
  description: 'Credentials of partners, the latest first.',
})
