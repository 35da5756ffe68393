import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { asBrought, broughtFields, laterProviders, secretFields } from '../../gateway/ports/providers.ts'
import { listFields, listOf, searchField, usualSorts } from '../../lib/paging.ts'
import { accountName, accountSlug, slugField } from '../../lib/text/slug.ts'
import { tagsField, tagsFilter, tagsView } from '../../lib/text/tags.ts'
import { isStorable, textField } from '../../lib/text/text.ts'
import { since, valuesSince } from '../../release/since.ts'
import { secretMappings, secretMappingsView } from '../secret-references/index.ts'
import { secretField } from '../../lib/json/secret-fields.ts'

/** A provider key: a text that fits a header, or a document such as a PEM. Blanks around a pasted key go. */
export const providerKey = secretField(
  z
    .string()
    .trim()
    .min(1)
    .max(65_536)
    .refine((key) => isStorable(key) && !/[^\t\n\r\x20-\x7e\x80-\xff]/.test(key), 'Only characters that a header can carry are allowed.')
    .refine((key) => !/[\r\n]/.test(key) || /^(?:-----BEGIN |\{)/.test(key), 'Line breaks are only allowed in a PEM or JSON document.'),
).meta({ description: 'The provider key. It is stored encrypted and never shown again.' })

const broughtConfigurations = Object.fromEntries(
  broughtFields.map((name) => [name, asBrought(name, { type: z.unknown(), text: z.string() }).nullable().optional()]),
)

/** Configurations as they are answered. */
export const configurationsView = z.looseObject(broughtConfigurations)

const secretConfigurations = Object.fromEntries(
  ['custom_headers', ...secretFields].map((name) => [name, secretField(broughtConfigurations[name] ?? z.unknown().optional())]),
)

/**
 * The fields that a kind of provider has, where a release brought some of them by name, and the secret ones; `configurations.ts` checks them against
 * that kind.
 */
export const configurationsField = z.looseObject({ ...broughtConfigurations, ...secretConfigurations }).meta({
  description:
    'How to reach the provider, by kind: `azure_*`, `aws_*`, `vertex_*`, `openai_*`, `workers_ai_account_id`, `huggingface_base_url` and others; every kind takes `custom_host` and `custom_headers`. Secret fields are stored encrypted and never shown again.',
})

const multiplier = z.number().min(0).nullable().optional()
const priced = [
  'default',
  'request_token',
  'response_token',
  'cache_read_input_token',
  'cache_write_input_token',
  'cache_read_audio_input_token',
  'request_audio_token',
  'response_audio_token',
  'reasoning_token',
  'prediction_accepted_token',
  'prediction_rejected_token',
  'request_image_token',
  'response_image_token',
  'request_text_token',
  'response_text_token',
  'cache_read_image_input_token',
  'cache_read_text_input_token',
  'cache_write_text_input_token',
  'cache_write_image_input_token',
]

const pricingAdjustments = z.strictObject({
  multiplier: z
    .strictObject({
      ...Object.fromEntries(priced.map((name) => [name, multiplier])),
      image: z.strictObject({ default: multiplier }).nullable().optional(),
      additional_units: z.record(textField(255), multiplier).nullable().optional(),
    })
    .optional(),
})

const common = {
  tags: tagsField.nullable().optional(),
  description: textField(10_000).nullable().optional(),
  configurations: configurationsField.nullable().optional(),
  secret_mappings: secretMappings,
  pricing_adjustments: pricingAdjustments.nullable().optional(),
}

export const createIntegrationBody = z
  .strictObject({
    name: accountName,
    slug: accountSlug.optional(),
    ai_provider_id: valuesSince(laterProviders, z.string().min(1).max(255)),
    key: providerKey.optional(),
    workspace_id: z.string().min(1).max(255).optional(),
    create_default_provider: since('1.11.2', z.boolean().default(true)),
    default_provider_slug: since(
      '1.11.2',
      slugField.optional().meta({ description: 'The slug of the provider that comes with it; that of the integration unless given.' }),
    ),
    ...common,
  })
  .meta({ id: 'CreateIntegration', description: 'A new integration: a provider account and how to reach it.' })

export type CreateIntegration = z.output<typeof createIntegrationBody>

export const updateIntegrationBody = z
  .strictObject({ name: accountName.optional(), key: providerKey.nullable().optional(), ...common })
  .meta({
    id: 'UpdateIntegration',
    description:
      'The fields to change. Absent fields stay as they are, null clears a field. Configurations change field by field in the same way.',
  })

export type UpdateIntegration = z.output<typeof updateIntegrationBody>

export const integrationParams = z.object({ slug: z.string() })

export const integrationRead = z.object(usedByQuery)

export const integrationFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at', defaultSize: 100 }),
  search: searchField('the name'),
  workspace_id: z.string().optional(),
  type: z.enum(['workspace', 'organisation', 'all']).default('all'),
  tags: tagsFilter.optional(),
})

export const createdIntegration = z
  .object({ id: z.uuid(), slug: z.string() })
  .meta({ id: 'CreatedIntegration', description: 'The new row.' })

const listed = {
  id: z.uuid(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable(),
  type: z.enum(['organisation', 'workspace']).meta({ description: 'The owner: the workspace of `workspace_id`, or the organisation.' }),
  ai_provider_id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'archived']),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  slug: z.string(),
  description: z.string().nullable(),
  tags: tagsView,
  object: z.literal('integration'),
}

/** An integration as lists answer it. */
export const integrationItem = z.object(listed).meta({ id: 'IntegrationItem', description: 'A provider account.' })

export const integrationList = listOf(integrationItem).meta({ id: 'IntegrationList', description: 'Integrations, newest first.' })

/** An integration in full, but for its secrets. */
export const integrationDetail = z
  .object({
    ...listed,
    masked_key: z.string().nullable(),
    configurations: configurationsView,
    secret_fields: z.array(z.string()).meta({ description: 'The configurations that are set and never shown.' }),
    global_workspace_access_settings: z.record(z.string(), z.unknown()).nullable(),
    allow_all_models: z.boolean(),
    workspace_count: z.int(),
    secret_mappings: since('1.12.0', secretMappingsView),
    pricing_adjustments: z.record(z.string(), z.unknown()).nullable(),
    ...usedByField,
  })
  .meta({ id: 'Integration', description: 'A provider account in full, but for its secrets.' })
