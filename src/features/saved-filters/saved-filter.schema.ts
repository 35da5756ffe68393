import { z } from 'zod'
import { listOf, listFields, searchField, usualSorts } from '../../lib/paging.ts'
import { nameField } from '../../lib/text/slug.ts'
import { isStorableJson, textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { visibilities } from './saved-filter.entity.ts'

const reference = z.string().min(1).max(255)
/** An id; since then also a slug. */
const workspace = since('1.12.0', reference.meta({ description: 'Id or slug.' }), z.uuid())
const moment = z.iso.datetime({ offset: true })
const count = z.int().min(0)
const amount = z.number().min(0)
const score = z.number().min(-10).max(10)

/** Comma-separated values, as the filters of logs and analytics take them. */
const list = textField(10_000).min(1)

const listAndNot = (name: string, schema: z.ZodType = list) => ({ [name]: schema.optional(), [`${name}_not`]: schema.optional() })
const statuses = z.string().regex(/^[1-5]\d\d(?:,\s*[1-5]\d\d)*$/, 'Status codes of three digits, comma-separated.')
const metadataValue = textField(2000)

const bound = (name: string, schema: z.ZodType) => ({ [`${name}_min`]: schema.optional(), [`${name}_max`]: schema.optional() })

const fields = {
  ...bound('time_of_generation', moment),
  ...bound('total_units', count),
  ...bound('prompt_token', count),
  ...bound('completion_token', count),
  ...bound('cost', amount),
  ...bound('weighted_feedback', score),
  ...bound('response_time', count),
  ...listAndNot('ai_model'),
  ...listAndNot('ai_org'),
  ai_org_model: list.optional(),
  ...listAndNot('status_code', statuses),
  ...listAndNot('virtual_keys'),
  ...listAndNot('configs'),
  ...listAndNot('api_key_ids'),
  ...listAndNot('user_id'),
  ...listAndNot('prompt_slug'),
  ...listAndNot('operation'),
  ...listAndNot('outcome'),
  ...listAndNot('error_code'),
  ...listAndNot('cache_status'),
  guardrail: list.optional(),
  trace_id: textField(255).min(1).optional(),
  span_id: textField(255).min(1).optional(),
  is_success: z.boolean().optional(),
  stream: z.boolean().optional(),
  metadata: z.record(textField(255), z.union([metadataValue, z.array(metadataValue).min(1).max(50)])).optional(),
  metadata_keys: list.optional(),
  workspace_slug: since('1.12.0', reference.meta({ description: 'Id or slug of a workspace.' })).optional(),
}

/** The filters of logs and analytics that can be saved, by their names. */
export const logFilters = z
  .strictObject(fields)
  .refine(isStorableJson, 'NUL characters and broken Unicode are not allowed.')
  .superRefine((given, context) => {
    for (const [name, max] of Object.entries(given)) {
      const min = name.endsWith('_max') ? Reflect.get(given, name.replace(/_max$/, '_min')) : undefined
      if (min !== undefined && compare(min, max) > 0)
        context.addIssue({ code: 'custom', path: [name], message: `Must not be below ${name.replace(/_max$/, '_min')}.` })
    }
  })
  .meta({
    id: 'LogFilters',
    description: 'Filters of logs and analytics, by the names that these take; 64 KiB of JSON at most to be saved.',
  })

const compare = (min: unknown, max: unknown): number =>
  typeof min === 'string' && typeof max === 'string' ? Date.parse(min) - Date.parse(max) : Number(min) - Number(max)

const type = z.enum(['logs', 'analytics'])

const view = {
  columns: z
    .array(textField(255).min(1))
    .max(100)
    .nullable()
    .optional()
    .meta({ description: 'The columns of the table, in their order; null: the usual ones.' }),
  sort: z
    .string()
    .regex(/^-?[\w.]{1,100}$/, 'A column, with - before it for the last one first.')
    .nullable()
    .optional()
    .meta({ description: 'The column by which it is ordered, with `-` for the last one first; null: the usual order.' }),
  visibility: z
    .enum(visibilities)
    .optional()
    .meta({ description: '`private`: only the person who made it sees it. Only that person changes this.' }),
}

export const createFilterBody = z
  .strictObject({ name: nameField, workspace_id: workspace.optional(), type: type.default('logs'), filters: logFilters, ...view })
  .meta({ id: 'CreateSavedFilter', description: 'A filter of logs or analytics under a name, with the table of its results.' })

export const updateFilterBody = z
  .strictObject({ name: nameField.optional(), filters: logFilters.optional(), ...view })
  .meta({ id: 'UpdateSavedFilter', description: 'What to change; `filters` replaces them all.' })

export const filterParams = z.object({ filterId: z.string() })

export const filterQuery = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at' }),
  search: searchField('the name'),
  workspace_id: workspace.optional(),
  type: type.optional(),
  visibility: z.enum(visibilities).optional(),
})

export const filterReference = z
  .object({ id: z.uuid(), slug: z.string() })
  .meta({ id: 'SavedFilterReference', description: 'Which filter it was.' })

export const filterView = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    type,
    workspace_id: z.uuid(),
    filters: z.record(z.string(), z.unknown()),
    columns: z.array(z.string()).nullable(),
    sort: z.string().nullable(),
    visibility: z.enum(visibilities),
    owner: z
      .object({ id: z.uuid(), email: z.string() })
      .nullable()
      .meta({ description: 'The person who made it; null: a service key did.' }),
    status: z.enum(['active', 'archived']),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    object: z.literal('saved-filter'),
  })
  .meta({ id: 'SavedFilter', description: 'A filter of logs or analytics under a name.' })

export const filterList = listOf(filterView).meta({ id: 'SavedFilterList', description: 'Saved filters, newest first.' })
