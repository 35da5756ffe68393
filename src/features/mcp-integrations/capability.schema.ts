import { z } from 'zod'
import { listFields, pageView, searchField, type ListQuery } from '../../lib/paging.ts'
import { capabilityKinds } from '../../lib/mcp-definition.ts'
import { textField } from '../../lib/text/text.ts'

const mostInPage = 500

export const capabilityType = z.enum(capabilityKinds)

/** The query of a list of capabilities: pages are counted from 0 by `current_page`, as in all lists, and from 1 by `page`. */
export const capabilityPage = {
  ...listFields({ sorts: { name: 'name' }, sort: 'name', defaultSize: 100 }),
  page: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .meta({ description: 'The page, counted from 1; `current_page` counts from 0.' }),
  type: capabilityType.optional(),
  search: searchField('the name'),
}

/** Returns the query with the page that is counted from 1, and the size within its bound. */
export const pageQuery = ({ page, ...query }: ListQuery & { readonly page?: number | undefined }): ListQuery => ({
  ...query,
  page_size: Math.min(query.page_size, mostInPage),
  ...(page !== undefined && { current_page: page - 1 }),
})

/** The name of a capability in bodies and paths. */
export const capabilityName = textField(2048)
  .min(1)
  .meta({ description: 'The name; of a resource its URI, of a template its URI template.' })

const setting = z.strictObject({ name: capabilityName, type: capabilityType, enabled: z.boolean() })

/** The most settings of one request. */
export const maxSettings = 1000

export const updateCapabilitiesBody = z
  .strictObject({ capabilities: z.array(setting).min(1).max(maxSettings) })
  .meta({ id: 'UpdateMcpIntegrationCapabilities', description: 'Switches tools, prompts and resources on or off for all servers of it.' })

/** The fields of a definition as it is answered. */
export const definitionFields = {
  name: z.string(),
  type: capabilityType,
  title: z.string().nullable(),
  description: z.string().nullable(),
  icons: z.array(z.unknown()).nullable(),
  input_schema: z.unknown(),
  output_schema: z.unknown(),
  execution: z.unknown(),
  annotations: z.unknown(),
  arguments: z.array(z.unknown()).nullable(),
  uri: z.string().nullable(),
  uri_template: z.string().nullable(),
  mime_type: z.string().nullable(),
  size: z.number().nullable(),
}

/** The fields of the registry beside a definition. */
export const seenFields = {
  hash: z.string().meta({ description: 'Of all that a pin covers.' }),
  tokens: z.int().meta({ description: 'About its size in the context of a model.' }),
  first_seen_at: z.iso.datetime(),
  changed_at: z.iso.datetime(),
}

const count = z.object({ total: z.int(), enabled: z.int() })
export const countsField = z.object({ tools: count, prompts: count, resources: count, resource_templates: count })

export const integrationCapabilities = z
  .object({
    ...pageView,
    data: z.array(
      z.object({
        ...definitionFields,
        ...seenFields,
        enabled: z.boolean(),
        status: z.enum(['offered', 'removed']).meta({ description: '`removed`: the last sync found it no more.' }),
        created_at: z.iso.datetime(),
        last_updated_at: z.iso.datetime(),
      }),
    ),
    counts: countsField,
  })
  .meta({ id: 'McpIntegrationCapabilities', description: 'The tools, prompts and resources that the last sync found, by name.' })

export const success = z.object({ success: z.literal(true) }).meta({ id: 'McpSuccess', description: 'It is done.' })
