import type { ExportableField } from '../../lib/access/export-settings.ts'
import { isOurs, presentBody, presentLog, type LogDetail, type LogMetrics } from '../logs/index.ts'

/** How a value stands in columns: of CSV and of Parquet. */
export type ValueType = 'text' | 'time' | 'whole' | 'number' | 'boolean' | 'json'

/** A log on its way into a file: the fields of lists, with the row that they came from. */
export interface ExportedLog {
  readonly row: LogDetail
  readonly metrics: LogMetrics
}

interface ExportField {
  readonly type: ValueType
  /** The field that it is denied with, because both reveal the same. */
  readonly deniedWith?: string
  /** Needs data that is kept apart from the figures. */
  readonly ofBodies?: true
  readonly value: (log: ExportedLog) => unknown
}

const shown = (name: keyof LogMetrics, type: ValueType, deniedWith?: string): ExportField => ({
  type,
  ...(deniedWith !== undefined && { deniedWith }),
  value: ({ metrics }) => metrics[name],
})

/** Everything that an export of logs can have, by its name. */
const exportFields = {
  id: shown('id', 'text'),
  trace_id: shown('trace_id', 'text'),
  created_at: shown('created_at', 'time'),
  request: { type: 'json', ofBodies: true, value: ({ row }) => requestOf(row) },
  response: { type: 'json', ofBodies: true, value: ({ row }) => responseOf(row) },
  is_success: shown('is_success', 'boolean'),
  ai_org: shown('ai_org', 'text'),
  ai_model: shown('ai_model', 'text'),
  req_units: shown('req_units', 'whole'),
  res_units: shown('res_units', 'whole'),
  total_units: shown('total_units', 'whole'),
  request_url: shown('request_url', 'text'),
  cost: shown('cost', 'number'),
  cost_currency: shown('cost_currency', 'text'),
  response_time: shown('response_time', 'whole'),
  response_status_code: shown('response_status_code', 'whole'),
  mode: shown('operation', 'text'),
  config: shown('config_slug', 'text'),
  prompt_slug: shown('prompt_slug', 'text'),
  metadata: { type: 'json', value: ({ row }) => row.metadata },
  workspace_id: shown('workspace_id', 'text'),
  workspace_slug: shown('workspace_slug', 'text'),
  api_key_id: shown('api_key_id', 'text'),
  user_id: shown('user_id', 'text'),
  virtual_key: shown('virtual_key', 'text'),
  cost_pico_usd: shown('cost_pico_usd', 'text', 'cost'),
  total_cost_pico_usd: shown('total_cost_pico_usd', 'text', 'cost'),
  cost_state: shown('cost_state', 'text', 'cost'),
  span_id: shown('span_id', 'text'),
  parent_span_id: shown('parent_span_id', 'text'),
  span_name: shown('span_name', 'text'),
  outcome: shown('outcome', 'text'),
  error_code: shown('error_code', 'text'),
  cache_status: shown('cache_status', 'text'),
} as const satisfies Readonly<Record<ExportableField, ExportField>>

const isFieldName = (name: string): name is ExportableField => Object.hasOwn(exportFields, name)

const fieldOf = (name: ExportableField): ExportField => exportFields[name]

/** Returns the fields with these names, in their order; names of an earlier release are left out. */
export const chosenFields = (names: readonly string[]): readonly ExportableField[] => names.filter(isFieldName)

export const typeOf = (name: ExportableField): ValueType => fieldOf(name).type

/** Returns true if one of the fields needs the bodies of logs. */
export const needBodies = (names: readonly ExportableField[]): boolean => names.some((name) => fieldOf(name).ofBodies === true)

/** Returns those of the fields that are denied, by their own names or because a denied one reveals the same. */
export const deniedAmong = (names: readonly string[], denied: readonly string[]): readonly string[] =>
  namedDenied(names, denied).map(({ field }) => field)

/** Returns them with the denied fields that take them away. */
export function namedDenied(names: readonly string[], denied: readonly string[]) {
  const gone = new Set(denied)
  return names.flatMap((field) => {
    const reason = [field, isFieldName(field) ? (fieldOf(field).deniedWith ?? field) : field].find((one) => gone.has(one))
    return reason === undefined ? [] : [{ field, denied_with: reason }]
  })
}

/** Returns the wanted values of a log, in the order of the fields; objects as JSON. Other fields are not even read. */
export async function valuesOf(row: LogDetail, names: readonly ExportableField[]): Promise<readonly ExportedValue[]> {
  const log: ExportedLog = { row, metrics: presentLog(row) }
  const values = await Promise.all(names.map((name) => fieldOf(name).value(log)))
  return values.map((value, at) => (typeOf(names[at] ?? 'id') === 'json' ? JSON.stringify(value) : scalarOf(value)))
}

/** A value in a file: objects are JSON by now. */
export type ExportedValue = string | number | boolean | null

const scalarOf = (value: unknown): ExportedValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null

/**
 * Returns the request without its address and without how the caller addressed and traced it: those have fields of their own, which may
 * be denied.
 */
const requestOf = async ({ method, request_headers: headers, request_body: bytes, request_truncated: truncated }: LogDetail) => ({
  method,
  headers: Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !isOurs(name))),
  ...(await presentBody({ bytes, truncated: truncated ?? false, contentEncoding: headers?.['content-encoding'] })),
})

const responseOf = async ({ response_headers: headers, response_body: bytes, response_truncated: truncated }: LogDetail) => ({
  headers: Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !isOurs(name))),
  ...(await presentBody({ bytes, truncated: truncated ?? false, contentEncoding: headers?.['content-encoding'] })),
})
