import type { EntityManager } from '@mikro-orm/postgresql'
import { type Condition, type LogScope, scopeConditions } from '../logs/index.ts'
import type { TraceFilter } from './trace.schema.ts'

/** The latest part of a trace, in microseconds since 1970. */
export interface TraceAt {
  readonly trace_id: string
  readonly at: number
}

const micros = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::float8`
const fromMicros = `(timestamptz 'epoch' + ?::float8 * interval '1 microsecond')`
const tables = ['logs', 'trace_spans'] as const

/** Returns the traces by their latest parts, the latest first. A part that another of the same trace follows is passed over. */
export async function findTraces(
  em: EntityManager,
  scope: LogScope,
  { limit, filter }: { limit: number; filter: TraceFilter },
): Promise<TraceAt[]> {
  const branches = tables.map((table) => latestParts(table, scope, { filter, limit }))
  return em.execute<TraceAt[]>(
    `SELECT trace_id, ${micros('max(created_at)')} AS at FROM (${branches.map(({ sql }) => `(${sql})`).join(' UNION ALL ')}) AS parts
      GROUP BY trace_id ORDER BY max(created_at) DESC, trace_id DESC LIMIT ${limit}`,
    branches.flatMap(({ values }) => values),
  )
}

function latestParts(table: string, scope: LogScope, { filter, limit }: { filter: TraceFilter; limit: number }): Condition {
  const { after, time_of_generation_min: min, time_of_generation_max: max } = filter
  const conditions: Condition[] = [...scopeConditions(scope), ...until(max)]
  if (min !== undefined) conditions.push({ sql: 'l.created_at >= ?::timestamptz', values: [min] })
  if (after !== undefined) {
    conditions.push({ sql: `l.created_at <= ${fromMicros}`, values: [after.at] })
    conditions.push({ sql: `(l.created_at, l.trace_id) < (${fromMicros}, ?)`, values: [after.at, after.traceId] })
  }
  for (const other of tables) conditions.push(notFollowed(other, scope, max))
  const where = joined(conditions)
  return {
    sql: `SELECT DISTINCT l.created_at, l.trace_id FROM ${table} l WHERE ${where.sql} ORDER BY l.created_at DESC, l.trace_id DESC LIMIT ${limit}`,
    values: where.values,
  }
}

/** Limited to the logs that the caller sees: a later part outside them hides none of them. */
function notFollowed(table: string, scope: LogScope, max: string | undefined): Condition {
  const inner = joined([...scopeConditions(scope), ...until(max)])
  return {
    sql: `NOT EXISTS (SELECT FROM (SELECT * FROM ${table} l WHERE ${inner.sql}) f WHERE f.trace_id = l.trace_id AND f.created_at > l.created_at)`,
    values: inner.values,
  }
}

const until = (max: string | undefined): Condition[] =>
  max === undefined ? [] : [{ sql: 'l.created_at <= ?::timestamptz', values: [max] }]

const joined = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => sql).join(' AND '),
  values: conditions.flatMap(({ values }) => values),
})

/** The figures of the logs, or of the spans of clients, of one trace. Times are microseconds since 1970. */
export interface TraceFigures {
  readonly trace_id: string
  readonly workspace_ids: readonly string[]
  readonly name: string | null
  readonly first_at: number
  readonly end_at: number
  readonly parts: number
  readonly errors: number
  readonly tokens: string
  readonly cost_pico: string
  readonly providers: readonly string[]
  readonly models: readonly string[]
  readonly services: readonly string[]
}

const distinct = (column: string): string => `coalesce(array_agg(DISTINCT ${column}) FILTER (WHERE ${column} IS NOT NULL), '{}')`
const shared = `l.trace_id, ${distinct('l.workspace_id::text')} AS workspace_ids, ${micros('min(l.created_at)')} AS first_at,
  ${micros(`max(l.created_at + l.duration_ms * interval '1 millisecond')`)} AS end_at, count(*)::float8 AS parts,
  ${distinct('l.provider')} AS providers, ${distinct('l.model')} AS models`

const finalCost = `coalesce((SELECT a.cost_pico FROM cost_adjustments a WHERE a.log_id = l.id AND a.organisation_id = l.organisation_id
  ORDER BY a.created_at DESC, a.id LIMIT 1), l.cost_pico)`

const ofLogs = `${shared}, (array_agg(coalesce(l.span_name, l.operation) ORDER BY l.created_at, l.id))[1] AS name,
  (count(*) FILTER (WHERE l.status >= 400))::float8 AS errors, coalesce(sum(l.total_tokens), 0)::text AS tokens,
  coalesce(sum(${finalCost}), 0)::text AS cost_pico, '{}'::text[] AS services`
const ofSpans = `${shared}, (array_agg(l.name ORDER BY l.created_at, l.span_id))[1] AS name,
  (count(*) FILTER (WHERE l.status = 'error'))::float8 AS errors, '0' AS tokens, '0' AS cost_pico, ${distinct('l.service')} AS services`

/** Returns the figures of traces, as far as the caller sees them: those of their logs, then those of spans of clients. */
export async function sumTraces(em: EntityManager, scope: LogScope, traceIds: readonly string[]) {
  const sums = (table: string, columns: string) => {
    const where = joined([...scopeConditions(scope), { sql: `l.trace_id IN (${traceIds.map(() => '?').join(', ')})`, values: traceIds }])
    return em.execute<TraceFigures[]>(`SELECT ${columns} FROM ${table} l WHERE ${where.sql} GROUP BY l.trace_id`, [...where.values])
  }
  if (traceIds.length === 0) return { logs: [], spans: [] }
  return { logs: await sums('logs', ofLogs), spans: await sums('trace_spans', ofSpans) }
}

/** A span of a client as it is read; times are epoch milliseconds. */
export interface SpanRow {
  readonly organisation_id: string
  readonly workspace_id: string
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly created_at: number
  readonly duration_ms: number
  readonly name: string
  readonly kind: string
  readonly status: string
  readonly service: string | null
  readonly provider: string | null
  readonly model: string | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly is_sealed: boolean
  /** Null: those of the spans before it are as long as a trace shows them. */
  readonly details: Uint8Array | null
}

/** The bytes of details that one trace shows. */
const mostDetails = 16 * 1024 * 1024

/** At most `limit` spans of clients of a trace, the first ones. */
export function findSpans(em: EntityManager, scope: LogScope, { traceId, limit }: { traceId: string; limit: number }): Promise<SpanRow[]> {
  const where = joined([...scopeConditions(scope), { sql: 'l.trace_id = ?', values: [traceId] }])
  return em.execute<SpanRow[]>(
    `SELECT l.organisation_id, l.workspace_id, l.trace_id, l.span_id, l.parent_span_id, (extract(epoch FROM l.created_at) * 1000)::float8 AS created_at,
            l.duration_ms, l.name, l.kind, l.status, l.service, l.provider, l.model, l.input_tokens::float8, l.output_tokens::float8,
            l.is_sealed, CASE WHEN sum(octet_length(l.details)) OVER (ORDER BY l.created_at, l.span_id) <= ${mostDetails} THEN l.details END AS details
       FROM (SELECT * FROM trace_spans l WHERE ${where.sql} ORDER BY l.created_at, l.span_id LIMIT ${limit}) l ORDER BY l.created_at, l.span_id`,
    [...where.values],
  )
}
