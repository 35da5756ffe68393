import { z } from 'zod'

export const catalogueFilter = z.object({
  id: z.string().max(255).optional().meta({ description: 'Only this provider.' }),
  operation: z.string().max(255).optional().meta({ description: 'Only providers that serve this operation, such as `embed`.' }),
})

const field = z.object({
  name: z.string().meta({ description: 'The name among `configurations`.' }),
  kind: z.enum(['text', 'url', 'choice', 'boolean', 'list', 'object']).meta({ description: 'How it is entered.' }),
  secret: z.boolean().meta({ description: 'Whether it is sealed, and never shown again.' }),
  required: z.boolean(),
  default: z.string().nullable(),
  choices: z.array(z.string()).nullable(),
  needed_with: z
    .array(z.object({ field: z.string(), value: z.string(), or_key: z.boolean() }))
    .meta({ description: 'The choices with which it is needed; `or_key`: the provider key does as well.' }),
})

const row = z.object({
  id: z.string().meta({ description: 'The `ai_provider_id` of integrations.' }),
  name: z.string(),
  api: z.string().meta({ description: "Whose API the provider's own paths are." }),
  base_url: z.string().nullable().meta({ description: 'A template of its fields; null: `custom_host` is needed.' }),
  auth: z.string().meta({ description: 'How it is convinced, such as `bearer` or `sigv4`.' }),
  key: z.enum(['required', 'optional', 'none']).meta({ description: 'Whether `key` is needed.' }),
  fields: z.array(field),
  operations: z
    .array(z.object({ operation: z.string(), path: z.string(), dialect: z.string() }))
    .meta({ description: 'The operations that it serves as they are asked. Everything else of it is reached by its own paths.' }),
  formats: z
    .array(z.object({ task: z.string(), dialect: z.string(), streams: z.boolean() }))
    .meta({ description: 'Its task in a format of its own; `streams`: streams have a path of their own.' }),
  lists_models: z.boolean().meta({ description: 'Whether Gatehouse reads its list of models.' }),
  links: z.object({ documentation: z.string(), keys: z.string().nullable() }),
  object: z.literal('catalogue_provider'),
})

export type CatalogueRow = z.output<typeof row>
export type CatalogueField = z.output<typeof field>

export const providerCatalogue = z
  .object({ object: z.literal('provider_catalogue'), data: z.array(row) })
  .meta({ id: 'ProviderCatalogue', description: 'The providers that integrations may be of at this level, by name.' })
