import { bodyColumns, logColumns } from '../../app/journal/columns.ts'
import type { ColumnType } from '../../app/journal/binary-array.ts'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import { timeOfUuid } from '../../lib/uuid.ts'
import { ownDataOf, type OwnData } from '../../lib/access/rank.ts'
import type { LogDetail, LogRow } from './log-fields.ts'
import { type Condition, valueConditions } from './log-filters.ts'
import { type LogNames, withNames } from './log-names.ts'
import type { LogFilter } from './log.schema.ts'
import { formatOf } from './path-formats.ts'

/** The owner of logs: an organisation, or one of its workspaces. */
export interface LogScope {
  readonly organisationId: string
  readonly workspaceId: string | null
  /** Only those of one person's credentials; null: all. */
  readonly own: OwnData | null
}

/** All logs in the caller's reach, or only those of their own credentials. */
export const logScopeOf = (actor: Actor): LogScope => ({
  organisationId: actor.organisationId,
  workspaceId: actor.workspaceId,
  own: ownDataOf(actor),
})

/** Columns of which a query reads something else: numbers that JavaScript would get as text, times in milliseconds. */
const reads: Partial<Readonly<Record<ColumnType, (column: string) => string>>> = {
  int8: (column) => `l.${column}::float8`,
  timestamptz: (column) => `(extract(epoch FROM l.${column}) * 1000)::float8 AS ${column}`,
}

/** Columns that no field shows. */
const unshown: ReadonlySet<string> = new Set(['usage', 'budgets'])
/** The log's own name of a column stands for that of its bodies too. */
const unread: ReadonlySet<string> = new Set(logColumns.map(({ name }) => name))
export const columns = [
  ...logColumns.filter(({ name }) => !unshown.has(name)).map(({ name, type }) => reads[type]?.(name) ?? `l.${name}`),
  'w.slug AS workspace_slug',
].join(', ')
const ofBodies = bodyColumns
  .filter(({ name }) => !unread.has(name))
  .map(({ name }) => `b.${name}`)
  .join(', ')
/** Logs, each with its workspace. */
export const source = 'logs l LEFT JOIN workspaces w ON w.id = l.workspace_id'

/** The conditions on the logs that a scope and a filter leave: every query over logs has all of them. */
export const logConditions = (scope: LogScope, filter: Omit<LogFilter, 'page_size'>): Condition[] => [
  ...scopeConditions(scope),
  ...timeConditions(filter),
  ...valueConditions(filter),
]

/** Returns how many logs a scope and a filter leave; `most` stands for that many and more. */
export async function countLogs(
  em: EntityManager,
  scope: LogScope,
  { most, filter }: { most: number; filter: Omit<LogFilter, 'page_size'> },
): Promise<number> {
  const conditions = logConditions(scope, filter)
  const where = conditions.map(({ sql }) => sql).join(' AND ')
  const [row] = await em.execute<{ total: number }[]>(
    `SELECT count(*)::int AS total FROM (SELECT FROM logs l WHERE ${where} LIMIT ${most}) AS found`,
    conditions.flatMap(({ values }) => values),
  )
  return row?.total ?? 0
}

/** Returns logs with their bodies, sealed ones and those of the log store as they are kept: `openLog` opens each. They must be in the order of time. */
export async function withBodies(em: EntityManager, { organisationId }: LogScope, logs: readonly LogRow[]): Promise<LogDetail[]> {
  const [first, last] = [logs[0], logs.at(-1)]
  if (first === undefined || last === undefined) return []
  const found = await em.execute<(Omit<LogDetail, keyof LogRow> & { readonly id: string })[]>(
    `SELECT b.id, ${ofBodies}, b.object_key FROM log_bodies b
      WHERE b.organisation_id = ? AND b.created_at BETWEEN ?::timestamptz AND ?::timestamptz AND b.id IN (${logs.map(() => '?').join(', ')})`,
    [organisationId, moment(first.created_at), moment(last.created_at + 1), ...logs.map(({ id }) => id)],
  )
  const byId = new Map(found.map((row) => [row.id, row]))
  return logs.map((log) => Object.assign({}, noBodies, byId.get(log.id), log))
}

/** The bodies of a log that has none, or of which none are wanted. */
export const noBodies = {
  upstream_url: null,
  request_headers: null,
  response_headers: null,
  request_body: null,
  response_body: null,
  request_truncated: null,
  response_truncated: null,
  hook_results: null,
  attempts: null,
  cost: null,
  translation: null,
  sealed: null,
  object_key: null,
  cost_adjustments: null,
  counted: null,
}

/** The columns of a log before names and adjustments were looked up. */
export type BareRow = Omit<LogRow, 'adjusted_pico' | keyof LogNames>

interface CostAdjustment {
  readonly log_id: string
  readonly cost_pico: string
}

/** Adds the adjusted costs of recomputes. Asked for a page and not beside the logs: the database may look at many more of these. */
export async function withAdjustments(
  em: EntityManager,
  { organisationId }: LogScope,
  rows: readonly BareRow[],
): Promise<(BareRow & { readonly adjusted_pico: string | null })[]> {
  if (rows.length === 0) return []
  const adjusted = await em.execute<CostAdjustment[]>(
    `SELECT DISTINCT ON (log_id) log_id, cost_pico::text AS cost_pico FROM cost_adjustments
      WHERE organisation_id = ? AND log_id IN (${rows.map(() => '?').join(', ')}) ORDER BY log_id, created_at DESC, id`,
    [organisationId, ...rows.map(({ id }) => id)],
  )
  const byId = new Map(adjusted.map(({ log_id: id, cost_pico: cost }) => [id, cost]))
  return rows.map((row) => Object.assign(row, { adjusted_pico: byId.get(row.id) ?? null }))
}

/** Amounts as texts, which JSON does not round. */
const adjustments = `
  SELECT json_agg(json_build_object('id', a.id, 'recompute_id', a.recompute_id, 'created_at', a.created_at, 'delta', a.delta_pico::text,
                                    'cost', a.cost_pico::text, 'state', a.cost_state, 'catalogue', a.price_catalogue, 'reason', a.reason,
                                    'lines', a.lines) ORDER BY a.created_at)
    FROM cost_adjustments a WHERE a.log_id = l.id AND a.organisation_id = l.organisation_id`

/** The names of counters contain their owners; the values of a group are known for as long as its counter is kept. */
const counted = `
  SELECT json_agg(json_build_object('attempt', (e ->> 0)::int, 'counter', e ->> 1, 'amount', e ->> 3, 'value_key', c.value_key) ORDER BY n)
    FROM jsonb_array_elements(l.budgets) WITH ORDINALITY AS counts (e, n) LEFT JOIN limit_counters c ON c.id = e ->> 1`

/** How far the time in a log's id may be from its `created_at`. */
export const toleranceMs = 2_000

/** One log with its bodies; null when it is not there for this scope. The id holds the time, by which it is found. */
export async function findLog(em: EntityManager, scope: LogScope, id: string): Promise<LogDetail | null> {
  const at = timeOfUuid(id)
  if (at === null) return null
  const conditions = [...scopeConditions(scope), from(at - toleranceMs), until(at + toleranceMs), { sql: 'l.id = ?', values: [id] }]
  const rows = await em.execute<Omit<LogDetail, keyof LogNames>[]>(
    `SELECT ${columns}, ${ofBodies}, b.object_key, (${adjustments}) AS cost_adjustments, (${counted}) AS counted, NULL AS adjusted_pico
       FROM ${source} LEFT JOIN log_bodies b ON b.created_at = l.created_at AND b.id = l.id AND b.organisation_id = l.organisation_id
      WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`,
    conditions.flatMap(({ values }) => values),
  )
  const [named] = await withNames(em, scope, rows)
  return named === undefined ? null : { ...named, path_format: formatOf(named.object_key) }
}

/** Returns the conditions that leave the logs visible to a caller. */
export const scopeConditions = ({ organisationId, workspaceId, own }: LogScope): Condition[] => [
  { sql: 'l.organisation_id = ?', values: [organisationId] },
  ...(workspaceId === null ? [] : [{ sql: 'l.workspace_id = ?', values: [workspaceId] }]),
  ...(own === null ? [] : [ownCondition(own)]),
]

const ownCondition = ({ apiKeyId, userId }: OwnData): Condition =>
  userId === null
    ? { sql: 'l.api_key_id = ?', values: [apiKeyId] }
    : { sql: '(l.api_key_id = ? OR l.user_id = ?)', values: [apiKeyId, userId] }

const [firstMs, lastMs] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/** A time as PostgreSQL reads it: years of other than four digits, which ids and cursors can hold, it does not. */
const moment = (ms: number): string => new Date(Math.min(Math.max(ms, firstMs), lastMs)).toISOString()
export const from = (ms: number): Condition => ({ sql: 'l.created_at >= ?::timestamptz', values: [moment(ms)] })
export const until = (ms: number): Condition => ({ sql: 'l.created_at <= ?::timestamptz', values: [moment(ms)] })

export function timeConditions({
  time_of_generation_min: min,
  time_of_generation_max: max,
  after,
  order,
}: Omit<LogFilter, 'page_size'>): Condition[] {
  const bounds = [...(min === undefined ? [] : [from(Date.parse(min))]), ...(max === undefined ? [] : [until(Date.parse(max))])]
  if (after === undefined) return bounds
  const [compare, bound] = order === 'asc' ? ['>', from(after.createdAt)] : ['<', until(after.createdAt)]
  const at = moment(after.createdAt)
  return [...bounds, bound, { sql: `(l.created_at, l.id) ${compare} (?::timestamptz, ?::uuid)`, values: [at, after.id] }]
}
