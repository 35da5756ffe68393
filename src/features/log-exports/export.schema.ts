import { z } from 'zod'
import { exportableFields } from '../../lib/access/export-settings.ts'
import { listFields, listOf, searchField } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'
import { logFilters } from '../saved-filters/index.ts'

const formats = ['jsonl', 'csv', 'parquet'] as const

const statuses = ['draft', 'in_progress', 'success', 'failed', 'stopped'] as const

const requestedData = z
  .array(z.enum(exportableFields))
  .min(1)
  .refine((names) => new Set(names).size === names.length, 'A field is named twice.')
  .meta({ description: 'The fields of each log, in this order.' })

const kinds = ['logs', 'focus'] as const

const fields = {
  workspace_id: textField(255)
    .optional()
    .meta({ description: 'Id or slug. A workspace key exports its own workspace; an organisation key that names none, all of them.' }),
  filters: logFilters,
  kind: z.enum(kinds).optional().meta({
    description:
      '`logs` (the default): a row for each log. `focus`: costs by period, workspace, key, model and dimension, with the columns of FOCUS 1.2.',
  }),
  requested_data: requestedData.optional(),
  granularity: z.enum(['hour', 'day']).optional().meta({ description: 'The period of a row of costs, in UTC; `day` unless set.' }),
  tag_keys: z
    .array(textField(255).min(1))
    .max(10)
    .optional()
    .meta({ description: 'The keys of metadata that distinguish rows of costs: they become `Tags`.' }),
  format: z.enum(formats).default('jsonl').meta({ description: 'The form of the file.' }),
  description: textField(255).min(1).optional().meta({ description: 'What the export is for.' }),
}

export const createExportBody = z
  .strictObject(fields)
  .meta({ id: 'CreateExport', description: 'The logs to export, and the fields of each.' })

export const updateExportBody = z
  .strictObject({ ...fields, format: z.enum(formats).optional() })
  .meta({ id: 'UpdateExport', description: 'The changes of a draft. `filters` are replaced as a whole.' })

export const exportParams = z.object({ exportId: z.string() })

export const exportSorts = { created_at: 'createdAt', last_updated_at: 'lastUpdatedAt' } as const

export const exportQuery = z.object({
  ...listFields({ sorts: exportSorts, sort: '-created_at' }),
  search: searchField('the description'),
  workspace_id: textField(255).optional(),
  status: z.enum(statuses).optional(),
})

const object = z.literal('export')
const moment = z.iso.datetime().nullable()

export const exportItem = z
  .object({
    id: z.uuid(),
    organisation_id: z.uuid(),
    workspace_id: z.uuid().nullable().meta({ description: 'Null: the logs of all workspaces.' }),
    status: z.enum(statuses),
    description: z.string(),
    kind: z.enum(kinds),
    format: z.enum(formats),
    granularity: z.string().nullable().meta({ description: 'Of costs; null for logs.' }),
    tag_keys: z.array(z.string()).nullable().meta({ description: 'Of costs; null for logs.' }),
    filters: z.record(z.string(), z.unknown()),
    requested_data: z.array(z.string()).meta({ description: 'The fields of each log; of costs those that they are made of.' }),
    rows: z.int().meta({ description: 'Rows that the file has so far.' }),
    bytes: z.int().meta({ description: 'Bytes that the file has so far.' }),
    expected_rows: z
      .int()
      .nullable()
      .meta({ description: 'Rows that were expected when it was started; null: it was not, or the number was unknown.' }),
    progress: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({ description: 'The share that is done, from 0 to 1, by the expected rows; null: unknown.' }),
    sha256: z.string().nullable().meta({ description: 'The digest of the file, in hexadecimal digits; null: there is none yet.' }),
    denied_fields: z
      .array(z.string())
      .meta({ description: 'Those of `requested_data` that the organisation denies by now: without them, or not at all.' }),
    error: z.string().nullable().meta({ description: 'The reason why it failed, or waits.' }),
    created_by: z.uuid().meta({ description: 'The API key.' }),
    created_at: z.iso.datetime(),
    last_updated_at: z.iso.datetime(),
    started_at: moment.meta({ description: 'It has the logs of requests that began before.' }),
    ended_at: moment,
    expires_at: moment.meta({ description: 'The file is deleted then.' }),
    object,
  })
  .meta({ id: 'Export', description: 'An export of logs into a file.' })

export const exportList = listOf(exportItem).meta({ id: 'ExportList', description: 'Exports, newest first.' })

export const exportReference = z
  .object({
    id: z.uuid(),
    total: z.int().nullable().meta({
      description:
        'Logs that the export has as things stand, counted up to 50,000, which is no bound of exports; null: counting took too long.',
    }),
    object,
  })
  .meta({ id: 'ExportReference', description: 'Which export it was.' })

export const restrictionsQuery = z.object({ workspace_id: textField(255).optional() })

export const restrictions = z
  .object({ denied_fields: z.array(z.string()), fields: z.array(z.string()), object: z.literal('export.field-restrictions') })
  .meta({ id: 'ExportFieldRestrictions', description: 'The fields that exports can have, and those that the organisation denies.' })

export const exportTask = z.object({ message: z.string(), object }).meta({ id: 'ExportTask', description: 'What was done.' })

export const exportDownload = z
  .object({ signed_url: z.url().meta({ description: 'A link to the file that works for a while, without a key.' }) })
  .meta({ id: 'ExportDownload', description: 'Where the file is.' })

const deniedField = z
  .object({
    field: z.string(),
    denied_with: z.string().meta({ description: 'The field that the organisation denies: this one, or one that reveals the same.' }),
  })
  .meta({ id: 'DeniedExportField', description: 'A field that no export may have.' })

export const exportEstimate = z
  .object({
    object: z.literal('export.estimate'),
    rows: z.int().nullable().meta({ description: 'Null: it cannot be found soon.' }),
    bytes: z.int().nullable().meta({ description: 'The size of the file, from some of its rows; null: it cannot be found soon.' }),
    is_exact: z
      .boolean()
      .meta({ description: 'True: the rows were counted. False: they are estimated from roll-ups and some of the logs.' }),
    sampled_rows: z.int().meta({ description: 'The rows from which `bytes` are estimated.' }),
    denied_fields: z
      .array(deniedField)
      .meta({ description: 'Those of the wanted fields that an export is refused for. The estimate is that of the others.' }),
  })
  .meta({ id: 'ExportEstimate', description: 'How large an export would be.' })
