import { z } from 'zod'

/** The fields that an export of logs can have. The first twenty are those of other control planes. */
export const exportableFields = [
  'id',
  'trace_id',
  'created_at',
  'request',
  'response',
  'is_success',
  'ai_org',
  'ai_model',
  'req_units',
  'res_units',
  'total_units',
  'request_url',
  'cost',
  'cost_currency',
  'response_time',
  'response_status_code',
  'mode',
  'config',
  'prompt_slug',
  'metadata',
  'workspace_id',
  'workspace_slug',
  'api_key_id',
  'user_id',
  'virtual_key',
  'cost_pico_usd',
  'total_cost_pico_usd',
  'cost_state',
  'span_id',
  'parent_span_id',
  'span_name',
  'outcome',
  'error_code',
  'cache_status',
] as const

export type ExportableField = (typeof exportableFields)[number]

/** The setting by which an organisation keeps fields of logs out of every export: `settings.export_settings`. */
export const exportSettingsField = z
  .strictObject({
    deniedFields: z
      .array(z.enum(exportableFields))
      .meta({ description: 'Fields of logs that no export may have, such as `request`, `response`, `metadata`.' }),
  })
  .nullable()
  .optional()
  .meta({ description: 'The fields that exports of logs may not have. Null: they may have all.' })

const stored = z.object({ export_settings: z.object({ deniedFields: z.array(z.string()) }) })

/** Returns the denied fields of an organisation's stored settings. */
export function deniedFields(settings: unknown): readonly string[] {
  const { data } = stored.safeParse(settings)
  return data?.export_settings.deniedFields ?? []
}
