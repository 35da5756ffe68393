import type { attemptRows } from '../../app/journal/columns.ts'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { seesOwnDataOnly } from '../../lib/access/roles.ts'
import type { LogFilter } from './log.schema.ts'

/** The owner of logs: an organisation, or one of its workspaces. */
export interface LogScope {
  readonly organisationId: string
  readonly workspaceId: string | null
  /** Only those of one person's credentials; null: of everybody. */
  readonly own: { readonly apiKeyId: string; readonly userId: string | null } | null
}

/** Everything in the caller's reach, or only what came with their own credentials. */
export const logScopeOf = ({ id, organisationId, workspaceId, userId, role, settings }: Actor): LogScope => ({
  organisationId,
  workspaceId,
  own: seesOwnDataOnly(role, settings) ? { apiKeyId: id, userId } : null,
})

/** A row of `logs`. Times are epoch milliseconds. */
export interface LogRow {
  readonly id: string
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly workspace_slug: string | null
  readonly created_ms: number
  readonly api_key_id: string
  readonly user_id: string | null
  readonly client_ip: string
  readonly method: string
  readonly path: string
  readonly operation: string
  readonly provider: string | null
  readonly provider_slug: string | null
  readonly model: string | null
  readonly status: number
  readonly outcome: 'complete' | 'incomplete' | 'client_closed' | 'error'
  readonly error_code: string | null
  readonly stream: boolean
  readonly duration_ms: number
  readonly upstream_ms: number | null
  readonly first_byte_ms: number | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly total_tokens: number | null
  readonly usage_source: string
  readonly cost_usd: number | null
  readonly retry_count: number
  readonly cache_status: string
  readonly last_used_option: string | null
  readonly trace_id: string
  readonly span_id: string | null
  readonly parent_span_id: string | null
  readonly span_name: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly request_bytes: number
  readonly response_bytes: number
  readonly prompt_id: string | null
  readonly prompt_version_id: string | null
  readonly prompt_slug: string | null
}

/** The results of guardrails, as the gateway wrote them. */
export interface LoggedHooks {
  readonly before_request_hooks: Record<string, unknown>[]
  readonly after_request_hooks: Record<string, unknown>[]
}

/** The attempts of an exchange, as the gateway wrote them. */
export type LoggedAttempts = ReturnType<typeof attemptRows>

/** A log with its row of `log_bodies`. */
export interface LogDetail extends LogRow {
  readonly upstream_url: string | null
  readonly request_headers: Readonly<Record<string, string>> | null
  readonly response_headers: Readonly<Record<string, string>> | null
  readonly request_body: Uint8Array | null
  readonly response_body: Uint8Array | null
  readonly request_truncated: boolean | null
  readonly response_truncated: boolean | null
  readonly hook_results: LoggedHooks | null
  readonly attempts: LoggedAttempts | null
  /** All of these and the path with its query, when LOG_SEALING was on. */
  readonly sealed: Uint8Array | null
}

const columns = `l.id, l.organisation_id, l.workspace_id, w.slug AS workspace_slug, (extract(epoch FROM l.created_at) * 1000)::float8 AS created_ms,
  l.api_key_id, l.user_id, l.client_ip, l.method, l.path, l.operation, l.provider, l.provider_slug, l.model, l.status, l.outcome, l.error_code,
  l.stream, l.duration_ms, l.upstream_ms, l.first_byte_ms, l.input_tokens::float8, l.output_tokens::float8, l.total_tokens::float8,
  l.usage_source, (l.cost_nano_usd / 1e9)::float8 AS cost_usd, l.retry_count, l.cache_status, l.last_used_option, l.trace_id, l.span_id,
  l.parent_span_id, l.span_name, l.metadata, l.request_bytes::float8, l.response_bytes::float8,
  l.prompt_id, l.prompt_version_id, l.prompt_slug`
const source = 'logs l LEFT JOIN workspaces w ON w.id = l.workspace_id'
const success = `(l.status < 400 AND l.outcome = 'complete')`

interface Condition {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** At most `limit` logs in the order of the filter. The bounds on `created_at` let PostgreSQL leave out whole days. */
export function findLogs(em: EntityManager, scope: LogScope, { limit, filter }: { limit: number; filter: LogFilter }): Promise<LogRow[]> {
  const conditions = [...scopeConditions(scope), ...timeConditions(filter), ...valueConditions(filter)]
  const direction = filter.order === 'asc' ? 'ASC' : 'DESC'
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  const order = `l.created_at ${direction}, l.id ${direction}`
  const select = `SELECT ${columns} FROM ${source} WHERE ${where} ORDER BY ${order} LIMIT ${limit}`
  return em.execute<LogRow[]>(
    select,
    conditions.flatMap(({ values }) => values),
  )
}

/** How far the time in a log's id may be from its `created_at`. */
const toleranceMs = 2_000

/** One log with its bodies; null when it is not there for this scope. The id holds the time, which says where to look. */
export async function findLog(em: EntityManager, scope: LogScope, id: string): Promise<LogDetail | null> {
  const at = timeOf(id)
  if (at === null) return null
  const conditions = [...scopeConditions(scope), from(at - toleranceMs), until(at + toleranceMs), { sql: 'l.id = ?', values: [id] }]
  const rows = await em.execute<LogDetail[]>(
    `SELECT ${columns}, b.upstream_url, b.request_headers, b.response_headers, b.request_body, b.response_body, b.request_truncated, b.response_truncated,
            b.hook_results, b.attempts, b.sealed
       FROM ${source} LEFT JOIN log_bodies b ON b.created_at = l.created_at AND b.id = l.id AND b.organisation_id = l.organisation_id
      WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`,
    conditions.flatMap(({ values }) => values),
  )
  return rows[0] ?? null
}

/** The milliseconds in a UUID of version 7; null when it is none. */
function timeOf(id: string): number | null {
  if (!isUuid(id) || id[14] !== '7') return null
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

const scopeConditions = ({ organisationId, workspaceId, own }: LogScope): Condition[] => [
  { sql: 'l.organisation_id = ?', values: [organisationId] },
  ...(workspaceId === null ? [] : [{ sql: 'l.workspace_id = ?', values: [workspaceId] }]),
  ...(own === null ? [] : [ownCondition(own)]),
]

const ownCondition = ({ apiKeyId, userId }: NonNullable<LogScope['own']>): Condition =>
  userId === null
    ? { sql: 'l.api_key_id = ?', values: [apiKeyId] }
    : { sql: '(l.api_key_id = ? OR l.user_id = ?)', values: [apiKeyId, userId] }

const [firstMs, lastMs] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/** A time as PostgreSQL reads it: years of other than four digits, which ids and cursors can hold, it does not. */
const moment = (ms: number): string => new Date(Math.min(Math.max(ms, firstMs), lastMs)).toISOString()
const from = (ms: number): Condition => ({ sql: 'l.created_at >= ?::timestamptz', values: [moment(ms)] })
const until = (ms: number): Condition => ({ sql: 'l.created_at <= ?::timestamptz', values: [moment(ms)] })

function timeConditions({ time_of_generation_min: min, time_of_generation_max: max, after, order }: LogFilter): Condition[] {
  const bounds = [...(min === undefined ? [] : [from(Date.parse(min))]), ...(max === undefined ? [] : [until(Date.parse(max))])]
  if (after === undefined) return bounds
  const [compare, bound] = order === 'asc' ? ['>', from(after.createdAt)] : ['<', until(after.createdAt)]
  const at = moment(after.createdAt)
  return [...bounds, bound, { sql: `(l.created_at, l.id) ${compare} (?::timestamptz, ?::uuid)`, values: [at, after.id] }]
}

function valueConditions(filter: LogFilter): Condition[] {
  return [
    anyOf('l.status', filter.status_code?.map(Number)),
    anyOf('l.provider', filter.ai_org),
    anyOf('l.model', filter.ai_model),
    anyOf('l.provider_slug', filter.virtual_keys),
    anyOf('l.api_key_id', filter.api_key_ids),
    anyOf('l.prompt_slug', filter.prompt_slug),
    anyOf('l.trace_id', filter.trace_id === undefined ? undefined : [filter.trace_id]),
    compared('l.total_tokens >=', filter.total_units_min),
    compared('l.total_tokens <=', filter.total_units_max),
    compared('l.input_tokens >=', filter.prompt_token_min),
    compared('l.input_tokens <=', filter.prompt_token_max),
    compared('l.output_tokens >=', filter.completion_token_min),
    compared('l.output_tokens <=', filter.completion_token_max),
    filter.metadata === undefined ? null : { sql: 'l.metadata @> ?::jsonb', values: [JSON.stringify(filter.metadata)] },
    filter.is_success === undefined ? null : { sql: filter.is_success ? success : `NOT ${success}`, values: [] },
  ].filter((condition) => condition !== null)
}

const anyOf = (column: string, values: readonly (string | number)[] | undefined): Condition | null =>
  values === undefined ? null : { sql: `${column} IN (${values.map(() => '?').join(', ')})`, values }

const compared = (comparison: string, value: number | undefined): Condition | null =>
  value === undefined ? null : { sql: `${comparison} ?`, values: [value] }
