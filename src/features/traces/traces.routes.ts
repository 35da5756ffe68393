import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Deps } from '../../app/deps.ts'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { findLog, findLogs, type LogRow, logScopeOf, type LogScope, openLog } from '../logs/index.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { writeTraceCursor } from './cursor.ts'
import { attemptNodes, clientNode, requestNode, type SpanNode } from './span-nodes.ts'
import { traceDetail, traceFilter, traceList, traceParams, traceQuery } from './trace.schema.ts'
import { findSpans, findTraces, sumTraces, type TraceAt, type TraceFigures } from './traces.queries.ts'
import { arrange, type PlacedNode } from './tree.ts'

export const listTraces = route({
  method: 'GET',
  path: '/traces',
  summary: 'List traces: requests of the gateway and spans of clients that belong together',
  permission: 'logs.list',
  query: traceFilter,
  response: traceList,
})(async ({ em, actor, query }) => {
  const scope = { ...logScopeOf(actor), workspaceId: await workspaceFilter(em, actor, query.workspace_id) }
  const found = await findTraces(em, scope, { limit: query.page_size + 1, filter: query })
  const page = found.slice(0, query.page_size)
  const last = found.length > page.length ? page.at(-1) : undefined
  const figures = await sumTraces(
    em,
    scope,
    page.map(({ trace_id }) => trace_id),
  )
  return {
    object: 'list' as const,
    data: page.map((at) => presentTrace(at, figures)),
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : writeTraceCursor({ at: last.at, traceId: last.trace_id }),
    total: null,
  }
})

type Figures = Awaited<ReturnType<typeof sumTraces>>

function presentTrace({ trace_id, at }: TraceAt, figures: Figures) {
  const [logs, spans] = [figures.logs, figures.spans].map((rows) => rows.find((row) => row.trace_id === trace_id))
  const both = [logs, spans].filter((row) => row !== undefined)
  const first = both.toSorted((one, other) => one.first_at - other.first_at)[0]
  return {
    object: 'trace' as const,
    trace_id,
    name: first?.name ?? null,
    ...timesOf(both, at),
    requests: logs?.parts ?? 0,
    client_spans: spans?.parts ?? 0,
    errors: both.reduce((sum, { errors }) => sum + errors, 0),
    total_units: Number(logs?.tokens ?? 0),
    cost_pico_usd: logs?.cost_pico ?? '0',
    workspace_ids: union(both, 'workspace_ids'),
    providers: union(both, 'providers'),
    models: union(both, 'models'),
    services: union(both, 'services'),
  }
}

const union = (rows: readonly TraceFigures[], name: 'workspace_ids' | 'providers' | 'models' | 'services'): string[] =>
  [...new Set(rows.flatMap((row) => row[name]))].toSorted()

function timesOf(rows: readonly TraceFigures[], at: number) {
  const start = Math.min(at, ...rows.map(({ first_at }) => first_at))
  const end = Math.max(at, ...rows.map(({ end_at }) => end_at))
  return { start_time: moment(start / 1000), last_start_time: moment(at / 1000), duration_ms: (end - start) / 1000 }
}

const moment = (ms: number): string => new Date(ms).toISOString()

const most = { logs: 2000, spans: 10_000, attempts: 100 } as const

export const readTrace = route({
  method: 'GET',
  path: '/traces/:traceId',
  summary: 'Read a trace as a tree of requests, their attempts, and spans of clients',
  permission: 'logs.view',
  params: traceParams,
  query: traceQuery,
  response: traceDetail,
})(async ({ em, actor, params: { traceId }, query, deps }) => {
  const scope = { ...logScopeOf(actor), workspaceId: await workspaceFilter(em, actor, query.workspace_id) }
  if (traceId.includes('\0')) throw notFound('trace', traceId, 'traceId')
  const filter = { trace_id: traceId, page_size: most.logs, order: 'asc' } as const
  const logs = await findLogs(em, scope, { limit: most.logs + 1, filter })
  const spans = await findSpans(em, scope, { traceId, limit: most.spans + 1 })
  if (logs.length + spans.length === 0) throw notFound('trace', traceId, 'traceId')
  const [shownLogs, shownSpans] = [logs.slice(0, most.logs), spans.slice(0, most.spans)]
  const nodes = [
    ...shownLogs.map(requestNode),
    ...(await attemptsOf(shownLogs, { em, scope, deps })),
    ...shownSpans.map((row) => clientNode(row, deps)),
  ]
  return {
    object: 'trace' as const,
    trace_id: traceId,
    spans: arrange(nodes).map(presentNode),
    truncated: shownLogs.length < logs.length || shownSpans.length < spans.length || shownSpans.some(({ details }) => details === null),
  }
})

interface TraceReader {
  readonly em: EntityManager
  readonly scope: LogScope
  readonly deps: Deps
}

/** The attempts stand with the bodies, which can be in the log store. Without it the rest of the trace stands. */
async function attemptsOf(logs: readonly LogRow[], { em, scope, deps }: TraceReader): Promise<SpanNode[]> {
  const nodes: SpanNode[] = []
  for (const { id } of logs.filter(({ options_tried: tried }) => tried !== null).slice(0, most.attempts)) {
    const row = await findLog(em, scope, id)
    if (row === null) continue
    try {
      nodes.push(...attemptNodes(await openLog(row, deps)))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
  return nodes
}

const presentNode = ({ node, depth, parentReceived, sums }: PlacedNode<SpanNode>) => ({
  object: 'trace.span' as const,
  span_id: node.spanId,
  parent_span_id: node.parentSpanId,
  depth,
  parent_received: parentReceived,
  start_time: moment(node.startMs),
  ...node.shown,
  aggregate: { requests: sums.requests, errors: sums.errors, total_units: sums.tokens, cost_pico_usd: String(sums.costPico) },
})
