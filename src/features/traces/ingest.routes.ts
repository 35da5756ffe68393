import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { protobuf } from '../../app/answer-shapes.ts'
import { type Actor, route } from '../../app/route.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import { ApiError } from '../../lib/errors.ts'
import { traceRequest } from '../../lib/otlp/messages.ts'
import { ProtobufError, readMessage } from '../../lib/otlp/protobuf.ts'
import { writeTraceAnswer } from '../../lib/otlp/answer.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { traceAnswer, traceRequestBody } from './otlp.schema.ts'
import { type ClientSpan, countSpans, readSpans } from './read-spans.ts'
import { spanPlace } from './span-place.ts'

function readProtobuf(bytes: Uint8Array): unknown {
  try {
    return readMessage(bytes, traceRequest)
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error
    throw new ApiError('invalid_request', `The body is no ExportTraceServiceRequest of OTLP: ${error.message}.`, {
      param: 'body',
      cause: error,
    })
  }
}

/** Three addresses, because exporters differ: some are given the whole address, others put `/v1/traces` behind it. */
const ingest = (path: `/${string}`) =>
  route({
    method: 'POST',
    path,
    summary: 'Take spans of a client, by OTLP',
    permission: 'logs.write',
    resource: 'trace',
    effect: 'none',
    answers: protobuf({ read: readProtobuf, write: writeTraceAnswer }),
    body: traceRequestBody,
    response: traceAnswer,
  })(async ({ em, actor, body, deps }) => {
    const { id: workspaceId } = await resolveWorkspace(em, actor, undefined)
    const isLong = countSpans(body.resourceSpans) > fewSpans
    if (isLong) await longTurns.take(actor.organisationId)
    const { spans, rejected, fault } = readSpans(body.resourceSpans)
    await storeSpans(em, spans, { actor, workspaceId, deps, isLong })
    if (fault === null) return {}
    return { partialSuccess: { rejectedSpans: String(rejected), errorMessage: `${rejected} spans are not valid. The first: ${fault}.` } }
  })

export const takeTraces = ingest('/otel/v1/traces')
export const takeLogTraces = ingest('/logs/otel')
export const takeLogTracesOfExporter = ingest('/logs/otel/v1/traces')

/** More spans are read and stored in turns of the organisation. */
const fewSpans = 20

interface IngestContext {
  readonly actor: Actor
  readonly workspaceId: string
  readonly deps: Pick<Deps, 'vault' | 'config'>
  readonly isLong: boolean
}

/** A span that is there already stays as it is: exporters repeat spans that got no answer. */
async function storeSpans(em: EntityManager, spans: readonly ClientSpan[], taking: IngestContext): Promise<void> {
  const slices = slicesOf(spans, taking)
  for (;;) {
    if (taking.isLong) await longTurns.take(taking.actor.organisationId)
    const { value: rows } = slices.next()
    if (rows === undefined) return
    await em.execute(
      `INSERT INTO trace_spans (${columns.join(', ')})
       SELECT ${columns.map((name) => read[name] ?? `r.${name}`).join(', ')} FROM jsonb_to_recordset(?::jsonb) AS r(${recordColumns})
       ON CONFLICT DO NOTHING`,
      [rows],
    )
  }
}

/** As many characters of rows go to the database at a time: all rows of a request can be many times as long as its body. */
const sliceLength = 256 * 1024

/** Returns the rows as lists in JSON, each made when the one before it is stored. */
function* slicesOf(spans: readonly ClientSpan[], taking: IngestContext): Generator<string, undefined> {
  let rows: string[] = []
  let length = 0
  for (const span of spans) {
    const row = JSON.stringify(rowOf(span, taking))
    if (length > 0 && length + row.length > sliceLength) {
      yield `[${rows.join(',')}]`
      rows = []
      length = 0
    }
    rows.push(row)
    length += row.length
  }
  if (rows.length > 0) yield `[${rows.join(',')}]`
  return undefined
}

const types = {
  organisation_id: 'uuid',
  workspace_id: 'uuid',
  trace_id: 'text',
  span_id: 'text',
  parent_span_id: 'text',
  api_key_id: 'uuid',
  user_id: 'uuid',
  created_at: 'double precision',
  duration_ms: 'double precision',
  name: 'text',
  kind: 'text',
  status: 'text',
  service: 'text',
  provider: 'text',
  model: 'text',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  is_sealed: 'boolean',
  details: 'text',
} as const
const columns = Object.keys(types)
const recordColumns = Object.entries(types)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ')
const read: Readonly<Record<string, string>> = { created_at: 'to_timestamp(r.created_at / 1000)', details: `decode(r.details, 'base64')` }

/** A row as PostgreSQL reads it from JSON. */
function rowOf(
  span: ClientSpan,
  { actor, workspaceId, deps: { config, vault } }: IngestContext,
): Readonly<Record<keyof typeof types, unknown>> {
  const details = Buffer.from(JSON.stringify(span.details))
  const place = spanPlace({ organisationId: actor.organisationId, workspaceId, traceId: span.traceId, spanId: span.spanId })
  const kept = config.logSealing ? Buffer.concat(vault.logs.seal(place, [details])) : details
  return {
    organisation_id: actor.organisationId,
    workspace_id: workspaceId,
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId,
    api_key_id: actor.id,
    user_id: actor.userId,
    created_at: span.startMs,
    duration_ms: span.durationMs,
    name: span.name,
    kind: span.kind,
    status: span.status,
    service: span.service,
    provider: span.provider,
    model: span.model,
    input_tokens: span.inputTokens,
    output_tokens: span.outputTokens,
    is_sealed: config.logSealing,
    details: kept.toString('base64'),
  }
}
