import type { OtlpResourceSpans, OtlpSpan } from './otlp.schema.ts'
import { withoutUrlCredentials } from '../../gateway/ports/records.ts'
import { type Attributes, fitting, toAttributes } from './otlp-value.ts'

/** The parts of a span that may hold words of prompts and answers. */
export interface SpanDetails {
  readonly attributes: Attributes
  readonly resource: Attributes
  readonly scope: string | null
  readonly statusMessage: string | null
  readonly events: readonly { readonly name: string; readonly time: string; readonly attributes: Attributes }[]
  readonly links: readonly { readonly trace_id: string; readonly span_id: string; readonly attributes: Attributes }[]
  /** The number of attributes, events and links that were too many. */
  readonly dropped: number
}

/** A span of a client. */
export interface ClientSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly startMs: number
  readonly durationMs: number
  readonly name: string
  readonly kind: (typeof spanKinds)[number]
  readonly status: (typeof spanStatuses)[number]
  readonly service: string | null
  readonly provider: string | null
  readonly model: string | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly details: SpanDetails
}

export const spanKinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const
export const spanStatuses = ['unset', 'ok', 'error'] as const

export interface ReadSpans {
  readonly spans: readonly ClientSpan[]
  readonly rejected: number
  /** The fault of the first span that was rejected; null: none was. */
  readonly fault: string | null
}

/** Reads the spans of a request. A span that is not valid is left out: the others are good all the same. */
export function readSpans(all: readonly OtlpResourceSpans[]): ReadSpans {
  const spans: ClientSpan[] = []
  let [rejected, first]: [number, string | null] = [0, null]
  const share = Math.floor(mostCopied / Math.max(1, countSpans(all)))
  for (const { resource: given, scopeSpans } of all) {
    const resource = resourceOf(given?.attributes ?? [], share)
    for (const { scope, spans: own } of scopeSpans)
      for (const span of own) {
        const fault = faultOf(span)
        if (fault === null) spans.push(toSpan(span, { resource, scope: scope?.name ?? null }))
        else {
          rejected += 1
          first ??= fault
        }
      }
  }
  return { spans, rejected, fault: first }
}

/** A resource is sent once and stands in each of its spans: so many bytes of all its copies are kept of one request. */
const mostCopied = 16 * 1024 * 1024

/** Returns the number of spans of a request. */
export const countSpans = (all: readonly OtlpResourceSpans[]): number =>
  all.reduce((sum, { scopeSpans }) => sum + scopeSpans.reduce((spans, scope) => spans + scope.spans.length, 0), 0)

interface Resource extends ReturnType<typeof toAttributes> {
  readonly service: string | null
}

function resourceOf(given: Parameters<typeof toAttributes>[0], share: number): Resource {
  const { attributes, dropped } = toAttributes(given)
  const kept = fitting(attributes, share)
  return { attributes: kept.attributes, dropped: dropped + kept.dropped, service: textOr(attributes['service.name']) }
}

/** The first moment of 1970 plus a day, and the last of 2199: clocks that were never set, and numbers that are no nanoseconds. */
const [earliest, latest] = [86_400_000, 7_258_118_399_999]

function faultOf({ traceId, spanId, startTimeUnixNano, endTimeUnixNano }: OtlpSpan): string | null {
  if (!isId(traceId, 32)) return `traceId must be 32 hexadecimal digits that are not all zero, not ${quoted(traceId)}`
  if (!isId(spanId, 16)) return `spanId must be 16 hexadecimal digits that are not all zero, not ${quoted(spanId)}`
  const [start, end] = [toMs(startTimeUnixNano), toMs(endTimeUnixNano)]
  if (!(start >= earliest && start <= latest))
    return `startTimeUnixNano must be nanoseconds since 1970, not ${quoted(String(startTimeUnixNano))}`
  if (!(end >= start && end <= latest))
    return `endTimeUnixNano must be nanoseconds since 1970, and not before the start, not ${quoted(String(endTimeUnixNano))}`
  return null
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 40))
const isId = (text: string, length: number): boolean => text.length === length && /^[0-9a-f]+$/i.test(text) && !/^0+$/.test(text)
const toMs = (nanos: string | number): number => (nanos === '' ? Number.NaN : Number(nanos) / 1e6)

/** The difference is exact where the times are: as milliseconds they are rounded. */
function lasted({ startTimeUnixNano: start, endTimeUnixNano: end }: OtlpSpan): number {
  const whole = [start, end].every((nanos) => /^\d{1,20}$/.test(String(nanos)))
  return Math.max(0, whole ? Number(BigInt(end) - BigInt(start)) / 1e6 : toMs(end) - toMs(start))
}

const textOr = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? storable(value, 255) : null)
const storable = (text: string, longest: number): string => text.slice(0, longest).replaceAll('\0', '').toWellFormed()

interface SpanContext {
  readonly resource: Resource
  readonly scope: string | null
}

function toSpan(span: OtlpSpan, around: SpanContext): ClientSpan {
  const { attributes, dropped } = toAttributes(span.attributes)
  const startMs = toMs(span.startTimeUnixNano)
  return {
    traceId: span.traceId.toLowerCase(),
    spanId: span.spanId.toLowerCase(),
    parentSpanId: isId(span.parentSpanId, 16) ? span.parentSpanId.toLowerCase() : null,
    startMs,
    durationMs: lasted(span),
    name: withoutUrlCredentials(storable(span.name, 255)).slice(0, 255),
    kind: chosen(spanKinds, span.kind, 'SPAN_KIND_'),
    status: chosen(spanStatuses, span.status?.code ?? 0, 'STATUS_CODE_'),
    service: around.resource.service,
    ...modelOf(attributes),
    details: detailsOf(span, around, { attributes, dropped }),
  }
}

/** The GenAI conventions, and their former names: `gen_ai.system`, `prompt_tokens`. */
const modelOf = (attributes: Attributes) => ({
  provider: textOr(attributes['gen_ai.provider.name'] ?? attributes['gen_ai.system']),
  model: textOr(attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model']),
  inputTokens: tokens(attributes['gen_ai.usage.input_tokens'] ?? attributes['gen_ai.usage.prompt_tokens']),
  outputTokens: tokens(attributes['gen_ai.usage.output_tokens'] ?? attributes['gen_ai.usage.completion_tokens']),
})

const tokens = (value: unknown): number | null => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null)

/** JSON names a value by its number or by its name in the enumeration. */
function chosen<const Values extends readonly string[]>(values: Values, given: string | number, prefix: string): Values[number] {
  const at = typeof given === 'number' ? given : values.indexOf(given.replace(prefix, '').toLowerCase())
  return values[at] ?? values[0] ?? ''
}

const mostEvents = 128

function detailsOf(
  { events, links, status }: OtlpSpan,
  { resource, scope }: SpanContext,
  { attributes, dropped }: ReturnType<typeof toAttributes>,
): SpanDetails {
  const [keptEvents, keptLinks] = [events.slice(0, mostEvents), links.slice(0, mostEvents)]
  return {
    attributes,
    resource: resource.attributes,
    scope: textOr(scope),
    statusMessage: status === undefined || status.message === '' ? null : withoutUrlCredentials(status.message.slice(0, 4096)),
    events: keptEvents.map((event) => ({
      name: withoutUrlCredentials(event.name.slice(0, 255)),
      time: momentOf(toMs(event.timeUnixNano)),
      attributes: toAttributes(event.attributes).attributes,
    })),
    links: keptLinks.map((link) => ({
      trace_id: link.traceId,
      span_id: link.spanId,
      attributes: toAttributes(link.attributes).attributes,
    })),
    dropped: dropped + resource.dropped + events.length - keptEvents.length + links.length - keptLinks.length,
  }
}

const momentOf = (ms: number): string => new Date(ms >= 0 && ms <= latest ? ms : 0).toISOString()
