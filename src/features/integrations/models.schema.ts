import { z } from 'zod'
import { listFields, searchField, pageView } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'

/** The sort orders of the list. */
export const sorts = { slug: 'slug' }

/** A model as requests name it. */
const modelSlug = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'A model is named in ASCII characters without blanks.')

const price = z
  .strictObject({ price: z.number().min(0).max(1e9) })
  .meta({ id: 'TokenPrice', description: 'US dollars for a million tokens.' })

const pricingConfig = z
  .strictObject({
    type: z.literal('static'),
    pay_as_you_go: z.strictObject({ request_token: price.optional(), response_token: price.optional() }),
  })
  .meta({ id: 'ModelPrices', description: 'The prices of tokens of this model, in place of the known ones.' })

export type PricingConfig = z.output<typeof pricingConfig>

const configurations = z.strictObject({
  custom_host: z
    .string()
    .max(4096)
    .nullable()
    .optional()
    .meta({ description: 'Where requests for this model go in place of the integration.' }),
})

export type ModelConfigurations = z.output<typeof configurations>

const model = z.strictObject({
  slug: modelSlug,
  enabled: z.boolean(),
  name: textField(255).min(1).nullable().optional(),
  is_custom: z.boolean().nullable().optional(),
  is_finetune: z.boolean().nullable().optional(),
  base_model_slug: modelSlug.nullable().optional().meta({ description: 'The model that gives a custom model its prices and abilities.' }),
  configurations: configurations.nullable().optional(),
  pricing_config: pricingConfig.nullable().optional(),
})

export type ModelUpdate = z.output<typeof model>

/** More than any provider has. */
export const maxModels = 1000

export const updateModelsBody = z
  .strictObject({
    models: z
      .array(model)
      .max(maxModels)
      .refine((models) => new Set(models.map(({ slug }) => slug)).size === models.length, 'A model comes twice.'),
    allow_all_models: z.boolean().optional().meta({
      description: 'True: every model but the disabled ones may be used. False: the enabled ones alone.',
    }),
  })
  .meta({ id: 'UpdateIntegrationModels', description: 'Models to add or to change; those that are not named stay as they are.' })

export const modelsPage = z.object({
  ...listFields({ sorts, sort: 'slug', defaultSize: maxModels }),
  search: searchField('the slug or the name'),
})

const modelSlugs = z.array(modelSlug).min(1).max(maxModels)

export const deleteModelsQuery = z.object({
  slugs: z
    .string()
    .transform((text) => [...new Set(text.split(',').map((slug) => slug.trim()))].filter((slug) => slug !== ''))
    .pipe(modelSlugs)
    .optional()
    .meta({ description: 'Comma-separated; or `models` in the body.' }),
})

export const deleteModelsBody = z
  .strictObject({ models: modelSlugs.transform((slugs) => [...new Set(slugs)]).optional() })
  .default({})
  .meta({ id: 'DeleteIntegrationModels', description: 'The models to forget, when the query does not name them.' })

export const modelList = z
  .object({
    ...pageView,
    allow_all_models: z.boolean(),
    models: z.array(
      z.object({
        slug: z.string(),
        name: z.string(),
        enabled: z.boolean(),
        is_custom: z.boolean(),
        is_finetune: z.boolean(),
        base_model_slug: z.string().nullable(),
        configurations: z.record(z.string(), z.unknown()),
        pricing_config: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
  })
  .meta({ id: 'IntegrationModels', description: 'The settings of the models of an integration, by their slugs.' })
