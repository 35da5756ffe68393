import { z } from 'zod'
import { listFields, listOf, searchField } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'

const part = (what: string) => z.string().min(1).max(255).meta({ description: what })

export const modelParams = z.object({
  provider: part('A provider of the catalogue, such as `openai`.'),
  model: part('The model as the provider names it; a slash in it is written `%2F`.'),
})

/** The layers of price lists. */
const layers = ['proxy', 'log_store', 'local', 'built_in'] as const

const source = z
  .enum(layers)
  .meta({ description: 'The layer that answered: the service, the log store, local files, or the catalogue of the installation.' })
const ageSeconds = z
  .int()
  .nullable()
  .meta({ description: 'Seconds since this process read the list; null for the catalogue of the installation.' })

const asOf = z.string().nullable().meta({ description: 'The day of the catalogue of the installation; null for other layers.' })

/** The fields of both answers about the list. */
const listed = {
  provider: z.string().meta({ description: 'The provider whose list has the model.' }),
  model: z.string().meta({ description: 'The name under which the list has it.' }),
  resolved: z.enum(['exact', 'family']).meta({ description: '`family`: a date or a version was taken off the name that was asked for.' }),
  source,
  catalogue: z.string().meta({ description: 'The digest of the list.' }),
  as_of: asOf,
  age_seconds: ageSeconds,
}

export const modelPricing = z
  .object({
    object: z.literal('model.pricing'),
    ...listed,
    currency: z.literal('USD'),
    pay_as_you_go: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The standard rates of today in US cents for one unit, under the names of the public price files.' }),
    prices: z
      .array(z.unknown())
      .meta({ description: 'All rates with their periods and conditions, in whole pico-US-dollars for one unit.' }),
    free: z.boolean(),
    overrides: z.array(z.object({ source, catalogue: z.string(), pay_as_you_go: z.record(z.string(), z.unknown()) })).meta({
      description:
        'The lists below it that have the model too, and would count without it. Prices of an integration stand above all lists.',
    }),
  })
  .meta({ id: 'ModelPricing', description: 'The price of a model, and the list that it is from.' })

export const modelAbilities = z
  .object({
    object: z.literal('model.general'),
    ...listed,
    type: z.object({ primary: z.string().nullable(), supported: z.array(z.string()) }),
    limits: z.record(z.string(), z.number()).meta({ description: 'In tokens.' }),
    input: z.array(z.string()),
    output: z.array(z.string()),
    params: z.array(z.unknown()).meta({ description: 'Parameters of requests, when the list has them.' }),
  })
  .meta({ id: 'ModelGeneral', description: 'The abilities of a model, and the list that they are from.' })

export const priceLayers = z
  .object({
    object: z.literal('price-layers'),
    total: z.int(),
    data: z.array(
      z.object({
        object: z.literal('price-layer'),
        kind: z.enum(['pricing', 'general']),
        name: source,
        state: z.enum(['ok', 'failing']),
        lists: z.int().meta({ description: 'Lists of providers in the memory of this process.' }),
        failing: z.int().meta({ description: 'Lists of which the last reading failed.' }),
        age_seconds: ageSeconds,
        fault: z.string().nullable().meta({ description: 'Why a list could not be read; the one before it, or the next layer, is used.' }),
      }),
    ),
  })
  .meta({
    id: 'PriceLayers',
    description: 'The layers of price lists in their order, as this process has them. The first that has a model wins.',
  })

export const offeredFilter = z.object({
  ...listFields({ sorts: { id: 'id' }, sort: 'id' }),
  workspace_id: z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'A workspace, by id or slug; by default the caller’s own, or the default one.' }),
  provider: textField(255).optional().meta({ description: 'Only models of this stored provider, by its slug.' }),
  kind: textField(255).optional().meta({ description: 'Only models of this kind, such as `chat` or `embedding`.' }),
  ability: textField(255).optional().meta({ description: 'Only models with this ability, such as `tools` or `reasoning`.' }),
  search: searchField('an id or a name'),
})

const written = {
  currency: z.literal('USD'),
  per_million_tokens: z.record(z.string(), z.number()).meta({ description: 'Standard rates of today, for a million tokens.' }),
  per_unit: z.record(z.string(), z.number()).optional().meta({ description: 'Rates of units other than tokens.' }),
}

const price = z.object({
  ...written,
  source: z
    .enum([...layers, 'integration'])
    .meta({ description: 'The layer that has it; `integration`: it is a price of the integration.' }),
  catalogue: z.string().nullable().meta({ description: 'The digest of the list; null for a price of the integration.' }),
  as_of: asOf,
  age_seconds: ageSeconds,
  overrides: z
    .array(z.object({ ...written, source, catalogue: z.string() }))
    .meta({ description: 'The lists below it that have the model too, and would count without it.' }),
})

const tokens = z.int().nullable()

const offered = z.object({
  id: z.string().meta({ description: 'The model as requests name it, `@slug/model`.' }),
  object: z.literal('offered_model'),
  name: z.string(),
  created: z.int().meta({ description: 'Unix seconds; 0: not known.' }),
  provider: z.string().meta({ description: 'The slug of the stored provider.' }),
  ai_provider_id: z.string().meta({ description: 'A provider of the catalogue, such as `openai`.' }),
  listed_by: z
    .enum(['provider', 'catalogue'])
    .meta({ description: '`catalogue`: the provider did not give its own list, so these are the models of the built-in price list.' }),
  kind: z.string().nullable(),
  context_window: tokens,
  max_input_tokens: tokens,
  max_output_tokens: tokens,
  input_modalities: z.array(z.string()).nullable(),
  output_modalities: z.array(z.string()).nullable(),
  capabilities: z.array(z.string()).nullable(),
  pricing: price.nullable().meta({ description: 'Null: no price is known, so that requests are `unpriced`.' }),
})

export const offeredList = listOf(offered).meta({
  id: 'OfferedModels',
  description: 'The models that a workspace may use, with abilities, prices, and the list that each price is from.',
})
