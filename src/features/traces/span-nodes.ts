import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { SealError, attemptSpanId, spanIdOf } from '../../gateway/ports/journal.ts'
import type { LogDetail, LogRow } from '../logs/index.ts'
import { spanKinds, type SpanDetails, spanStatuses } from './read-spans.ts'
import { spanPlace } from './span-place.ts'
import type { traceDetail } from './trace.schema.ts'
import type { SpanRow } from './traces.queries.ts'
import type { Leaf } from './tree.ts'

type ShownSpan = z.input<typeof traceDetail>['spans'][number]

/** A node with the fields that the API shows, but for its place in the tree. */
export interface SpanNode extends Leaf {
  readonly shown: Omit<ShownSpan, 'span_id' | 'parent_span_id' | 'depth' | 'parent_received' | 'aggregate' | 'start_time' | 'object'>
}

const logSpanId = ({ span_id, id }: Pick<LogRow, 'span_id' | 'id'>): string => span_id ?? spanIdOf(id)

/** Returns the node of a request. */
export function requestNode(row: LogRow): SpanNode {
  const cost = row.adjusted_pico ?? row.cost_pico
  const failed = row.status >= 400
  return {
    spanId: logSpanId(row),
    parentSpanId: row.parent_span_id,
    startMs: row.created_at,
    requests: 1,
    errors: failed ? 1 : 0,
    costPico: BigInt(cost ?? 0),
    tokens: row.total_tokens ?? 0,
    toldTokens: 0,
    shown: {
      source: 'request',
      log_id: row.id,
      name: row.span_name ?? row.operation,
      kind: 'server',
      status: failed ? 'error' : 'ok',
      status_message: row.error_code,
      duration_ms: row.duration_ms,
      service: null,
      provider: row.provider,
      model: row.model,
      req_units: row.input_tokens,
      res_units: row.output_tokens,
      total_units: row.total_tokens,
      cost_pico_usd: cost,
      details: null,
    },
  }
}

/** Returns the nodes of the attempts of a request that had several. Their counts stand in the request already. */
export const attemptNodes = (row: LogDetail): SpanNode[] =>
  (row.attempts ?? []).map((attempt, index) => ({
    spanId: attemptSpanId(row.id, index),
    parentSpanId: logSpanId(row),
    startMs: row.created_at + (attempt.start_ms ?? 0),
    requests: 0,
    errors: 0,
    costPico: 0n,
    tokens: 0,
    toldTokens: 0,
    shown: {
      source: 'attempt',
      log_id: row.id,
      name: attempt.option,
      kind: 'client',
      status: attempt.status >= 400 ? 'error' : 'ok',
      status_message: attempt.error ?? attempt.failure,
      duration_ms: attempt.duration_ms ?? 0,
      service: null,
      provider: attempt.provider,
      model: attempt.model,
      req_units: attempt.req_units,
      res_units: attempt.res_units,
      total_units: attempt.total_units,
      cost_pico_usd: null,
      details: null,
    },
  }))

/** Returns the node of a client's span. */
export function clientNode(row: SpanRow, { vault }: Pick<Deps, 'vault'>): SpanNode {
  const details = openDetails(row, vault)
  const counted = row.input_tokens === null && row.output_tokens === null ? null : (row.input_tokens ?? 0) + (row.output_tokens ?? 0)
  return {
    spanId: row.span_id,
    parentSpanId: row.parent_span_id,
    startMs: row.created_at,
    requests: 0,
    costPico: 0n,
    tokens: 0,
    errors: row.status === 'error' ? 1 : 0,
    toldTokens: counted ?? 0,
    shown: {
      source: 'client',
      log_id: null,
      name: row.name,
      kind: z.enum(spanKinds).parse(row.kind),
      status: z.enum(spanStatuses).parse(row.status),
      status_message: details?.statusMessage ?? null,
      duration_ms: row.duration_ms,
      service: row.service,
      provider: row.provider,
      model: row.model,
      req_units: row.input_tokens,
      res_units: row.output_tokens,
      total_units: counted,
      cost_pico_usd: null,
      details: details && presentDetails(details),
    },
  }
}

const presentDetails = ({ attributes, resource, scope, events, links, dropped }: SpanDetails) => ({
  attributes: { ...attributes },
  resource: { ...resource },
  scope,
  events: events.map((event) => ({ ...event })),
  links: links.map((link) => ({ ...link })),
  dropped,
})

/** Null when they were sealed with a key that is not here any longer, or are too many: the rest of the trace stands. */
function openDetails(row: SpanRow, { logs }: Deps['vault']): SpanDetails | null {
  if (row.details === null) return null
  const place = spanPlace({
    organisationId: row.organisation_id,
    workspaceId: row.workspace_id,
    traceId: row.trace_id,
    spanId: row.span_id,
  })
  try {
    return JSON.parse((row.is_sealed ? logs.open(place, row.details) : Buffer.from(row.details)).toString())
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}
