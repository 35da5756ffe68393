import { z } from 'zod'
import { type BodyColumns, guardrailVerdicts, type LogColumns } from '../../app/journal/columns.ts'
import { pathFormats, type PathFormat } from '../../app/log-store/object-key.ts'
import type { LoggedCostLine, LoggedCost } from '../../gateway/ports.ts'
import { isGooglePath } from '../../gateway/ports/operations.ts'
import { fromPico } from '../../lib/pico.ts'
import { since } from '../../release/since.ts'
import { insertedOperation } from './inserted-log.ts'
import type { LogNames } from './log-names.ts'

/** The states of a cost. */
export const costStates = ['priced', 'partly_priced', 'estimated', 'unpriced', 'not_charged'] as const

const costStatesMeaning =
  '`priced`: every count has a price. `partly_priced`: some have none, and the cost is a lower bound. `estimated`: the provider stated no counts. `unpriced`: the price is not known. `not_charged`: a failure without usage, or an answer from the cache. Null: no provider was reached.'

/** A row of `logs`. Times are epoch milliseconds. */
export interface LogRow extends Omit<LogColumns, 'usage' | 'budgets'>, LogNames {
  readonly workspace_slug: string | null
  /** The cost after the last recompute that changed it; null: none did. */
  readonly adjusted_pico: string | null
  /** The format of the key under which the log store has its bodies; null: it has none. Absent where it was not asked for. */
  readonly path_format?: PathFormat | null
}

/** The results of guardrails, as the gateway wrote them. */
export interface LoggedHooks {
  readonly before_request_hooks: Record<string, unknown>[]
  readonly after_request_hooks: Record<string, unknown>[]
}

/** The parts of a cost, as the journal wrote it. */
export type LoggedCostDetails = Pick<LoggedCost, 'lines' | 'unpriced' | 'charges' | 'saved'>

type OfBodies = Omit<BodyColumns, keyof LogRow | 'hook_results' | 'cost'>

/** A cost that was worked out again, as `cost_adjustments` has it. */
export interface CostAdjustment {
  readonly id: string
  readonly recompute_id: string
  readonly created_at: string
  readonly delta: string
  readonly cost: string
  readonly state: (typeof costStates)[number]
  readonly catalogue: string | null
  readonly reason: string | null
  readonly lines: readonly LoggedCostLine[]
}

/** An amount of `logs.budgets`, with the values by which its counter groups. */
export interface CountedAmount {
  readonly attempt: number
  readonly counter: string
  readonly amount: string
  readonly value_key: string | null
}

/** A log with its row of `log_bodies`, or without one. */
export type LogDetail = LogRow & { readonly [Column in keyof OfBodies]: OfBodies[Column] | null } & {
  readonly hook_results: LoggedHooks | null
  readonly cost: LoggedCostDetails | null
  /** The costs that later price lists gave, the oldest first; null: none. */
  readonly cost_adjustments: readonly CostAdjustment[] | null
  /** The amounts that its attempts counted against budgets; null: none. */
  readonly counted: readonly CountedAmount[] | null
  /** The object of the log store that has the rest; null: this row has it. */
  readonly object_key: string | null
}

type Name = keyof LogRow

/** One field of a log in the API. */
interface LogField<Schema extends z.ZodType> {
  readonly schema: Schema
  /** The column that it shows; null: it is made of others. */
  readonly column: Name | null
  readonly show: (row: LogRow) => unknown
}

/** A field that shows a column. */
const shows = <Column extends Name, Schema extends z.ZodType>(
  column: Column,
  schema: Schema,
  show: (value: LogRow[Column]) => unknown = (value) => value,
): LogField<Schema> => ({ schema, column, show: (row) => show(row[column]) })

/** A field that is made of the whole row. */
const made = <Schema extends z.ZodType>(schema: Schema, show: (row: LogRow) => unknown): LogField<Schema> => ({
  schema,
  column: null,
  show,
})

const text = z.string().nullable()
const count = z.number().nullable()
const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms))

/** Returns true if the whole answer came, and was no error. The same in SQL is `success` of the queries. */
const isSuccess = ({ status, outcome }: LogRow): boolean => status < 400 && outcome === 'complete'

/** The URL as the client called it: ours, or that of the provider whose answer the client reported. */
export const urlOf = ({ operation, path }: LogRow): string => (operation === insertedOperation || isGooglePath(path) ? path : `/v1${path}`)

/** Every field of a log in lists: its schema, and its value from the row. Durations are whole milliseconds. */
export const logFields = {
  object: made(z.literal('log'), () => 'log'),
  id: shows('id', z.uuid()),
  organisation_id: shows('organisation_id', z.uuid()),
  workspace_id: shows('workspace_id', z.uuid().nullable()),
  workspace_slug: shows('workspace_slug', text),
  created_at: shows('created_at', z.iso.datetime(), (ms) => new Date(ms).toISOString()),
  is_success: made(z.boolean(), isSuccess),
  ai_org: shows('provider', text.meta({ description: 'The provider type.' })),
  ai_model: shows('model', text),
  virtual_key: shows('provider_slug', text.meta({ description: 'The slug of the stored provider or virtual key.' })),
  api_key_id: shows('api_key_id', z.uuid()),
  api_key_name: shows(
    'api_key_name',
    text.meta({ description: 'The present name of the key; for a deleted one its last name. Null: it is no stored key.' }),
  ),
  user_id: shows('user_id', z.uuid().nullable()),
  user_name: shows('user_name', text.meta({ description: 'The name of the person whose key it is, or their e-mail address without one.' })),
  provider_name: shows('provider_name', text.meta({ description: 'What the stored provider is called now; null: none was used.' })),
  prompt_id: shows('prompt_id', z.uuid().nullable()),
  prompt_version_id: shows('prompt_version_id', z.uuid().nullable()),
  prompt_slug: shows('prompt_slug', text),
  req_units: shows('input_tokens', count.meta({ description: 'Input tokens; null when the provider did not say.' })),
  res_units: shows('output_tokens', count),
  total_units: shows('total_tokens', count),
  usage_source: shows(
    'usage_source',
    z
      .string()
      .meta({ description: 'Who counted the tokens: the `provider`, an `estimate`, the `cache` (they were not spent again), or `none`.' }),
  ),
  cost: shows(
    'cost_pico',
    count.meta({ description: 'US cents; null when the price is not known. A number rounds: `cost_pico_usd` has every digit.' }),
    (pico) => (pico === null ? null : fromPico(BigInt(pico) * 100n)),
  ),
  cost_pico_usd: shows(
    'cost_pico',
    text.meta({ description: 'Whole pico-US-dollars (10^-12), as a decimal text; null when the price is not known.' }),
  ),
  total_cost_pico_usd: made(
    text.meta({ description: 'The cost with the changes of recomputes, as analytics sum it up; the same as `cost_pico_usd` without any.' }),
    (row) => row.adjusted_pico ?? row.cost_pico,
  ),
  cost_state: shows('cost_state', z.enum(costStates).nullable().meta({ description: costStatesMeaning })),
  cost_currency: made(z.literal('USD'), () => 'USD'),
  request_url: made(z.string(), urlOf),
  request_method: shows('method', z.string()),
  operation: shows(
    'operation',
    z.string().meta({
      description:
        "The operation of the request: an operation, a method of Google's API such as `generateContent`, `rerank`, or `proxy` for any other path; `inserted` for a log that a client inserted with `POST /v1/logs`.",
    }),
  ),
  is_proxy_call: shows('operation', z.boolean(), (operation) => operation === 'proxy'),
  response_status_code: shows('status', z.int()),
  outcome: shows('outcome', z.enum(['complete', 'incomplete', 'client_closed', 'error'])),
  error_code: shows('error_code', text),
  response_time: shows('duration_ms', z.int(), Math.round),
  upstream_response_time: shows('upstream_ms', z.int().nullable(), rounded),
  time_to_first_byte: shows('first_byte_ms', z.int().nullable(), rounded),
  stream_mode: shows('stream', z.int(), Number),
  cache_status: shows('cache_status', text),
  cache_type: made(text, () => null),
  guardrail: shows(
    'guardrail',
    z.enum(guardrailVerdicts).nullable().meta({
      description:
        'The worst verdict of the guardrails that ran: `passed`, `failed` (found something, and let it through) or `denied`. Null: none ran.',
    }),
  ),
  attempts: made(
    z
      .object({ count: z.int(), last: text })
      .meta({ description: 'How many attempts were made, and the place of the last target in the config.' }),
    ({ attempts_made: tries, last_used_option: last }) => ({ count: tries ?? 1, last }),
  ),
  config: made(
    z
      .object({ slug: z.string(), version: z.int().nullable() })
      .nullable()
      .meta({ description: '`config_slug` and `config_version` in one.' }),
    ({ config_slug: slug, config_version: version }) => (slug === null ? null : { slug, version }),
  ),
  retry_success_count: shows('retry_count', z.int()),
  last_used_option: shows('last_used_option', text),
  cached_log_id: shows(
    'cached_log_id',
    z
      .uuid()
      .nullable()
      .meta({ description: 'The log of the request whose answer was given again from the cache; null for any other answer.' }),
  ),
  mirror_of: shows(
    'mirror_of',
    z.uuid().nullable().meta({ description: 'The log of the request of which this one is a copy for a mirror; null: it is no copy.' }),
  ),
  is_billed: shows('billed', z.boolean().meta({ description: 'False for a copy that does not count for the budgets of its key.' })),
  config_slug: shows(
    'config_slug',
    text.meta({ description: 'The stored config that the request began with; null without one, or if the request brought its own.' }),
  ),
  config_version: shows('config_version', z.int().nullable()),
  trace_id: shows('trace_id', z.string()),
  span_id: shows('span_id', text),
  parent_span_id: shows('parent_span_id', text),
  span_name: shows('span_name', text),
  'metadata.key': shows('metadata', z.array(z.string()), Object.keys),
  'metadata.value': shows('metadata', z.array(z.string()), Object.values),
  client_ip: shows('client_ip', z.string()),
  log_store_file_path_format: shows(
    'path_format',
    since(
      '1.5.0',
      z.enum(pathFormats).nullable().meta({
        description:
          'The path format in which the log store has the bodies, even if LOG_STORE_FILE_PATH_FORMAT has changed since; null: it has none.',
      }),
    ),
    (format) => format ?? null,
  ),
  request_bytes: shows('request_bytes', z.number()),
  response_bytes: shows('response_bytes', z.number()),
}

type Schemas = { readonly [Field in keyof typeof logFields]: (typeof logFields)[Field]['schema'] }

const entries = Object.entries(logFields)
const schemaEntries: readonly (readonly unknown[])[] = entries.map(([name, { schema }]) => [name, schema])
const schemas: Schemas = Object.fromEntries(schemaEntries)

/** Everything about an exchange but its contents. Durations are whole milliseconds. */
export const logMetrics = z.object(schemas).meta({ id: 'LogMetrics', description: 'One exchange without its bodies and headers.' })

export type LogMetrics = z.output<typeof logMetrics>

/** Returns a log as lists show it. */
export function presentLog(row: LogRow): LogMetrics {
  const values: readonly (readonly unknown[])[] = entries.map(([name, { show }]) => [name, show(row)])
  const log: LogMetrics = Object.fromEntries(values)
  return log
}
