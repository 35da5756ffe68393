import { z } from 'zod'
import { isFields } from '../../lib/json/fields.ts'

/** Most spans in one request; collectors send 512 by default, some up to 8192. */
const mostSpans = 10_000
/** Most attributes, events and links: real ones would not fit into the longest body. */
const mostParts = 100_000

const attributes = z.array(z.looseObject({ key: z.string(), value: z.unknown() })).default([])
/** JSON may have a number or, as protobuf's JSON of 64 bits, a text. */
const nanos = z.union([z.string().max(20), z.number()], { error: 'Expected nanoseconds, as a text or a number.' }).default('0')
const id = z.string().max(64).default('')

const span = z.looseObject({
  traceId: id,
  spanId: id,
  parentSpanId: id,
  name: z.string().default(''),
  kind: z.union([z.int(), z.string()]).default(0),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  events: z.array(z.looseObject({ timeUnixNano: nanos, name: z.string().default(''), attributes })).default([]),
  links: z.array(z.looseObject({ traceId: id, spanId: id, attributes })).default([]),
  status: z.looseObject({ code: z.union([z.int(), z.string()]).default(0), message: z.string().default('') }).optional(),
})

const resourceSpans = z.looseObject({
  resource: z.looseObject({ attributes }).optional(),
  scopeSpans: z
    .array(z.looseObject({ scope: z.looseObject({ name: z.string().default('') }).optional(), spans: z.array(span).default([]) }))
    .default([]),
})

export type OtlpSpan = z.output<typeof span>
export type OtlpResourceSpans = z.output<typeof resourceSpans>

/** Empty spans and attributes take few bytes to send and many to check: they are counted first. */
function withinBounds(body: unknown, ctx: z.RefinementCtx): unknown {
  const resources = listsIn([body], 'resourceSpans')
  const scopes = listsIn(resources, 'scopeSpans')
  const spans = listsIn(scopes, 'spans')
  const parts = [...listsIn(spans, 'events'), ...listsIn(spans, 'links')]
  const pairs = [...resources.map((one) => fieldOf(one, 'resource')), ...spans, ...parts].reduce<number>(
    (sum, one) => sum + listOf(one, 'attributes').length,
    0,
  )
  const message =
    Math.max(resources.length, scopes.length, spans.length) > mostSpans
      ? `At most ${mostSpans} spans are allowed in one request. Make the batches of the exporter smaller.`
      : parts.length + pairs > mostParts
        ? `At most ${mostParts} attributes, events and links are allowed in one request. Make the batches of the exporter smaller.`
        : null
  if (message === null) return body
  ctx.issues.push({ code: 'custom', message, path: ['resourceSpans'], input: body })
  return z.NEVER
}

const fieldOf = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined)

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name)
  return Array.isArray(list) ? list : []
}

const listsIn = (values: readonly unknown[], name: string): readonly unknown[] => values.flatMap((value) => listOf(value, name))

/** OTLP asks receivers to accept unknown fields. */
export const traceRequestBody = z
  .preprocess(withinBounds, z.looseObject({ resourceSpans: z.array(resourceSpans).default([]) }))
  .meta({ id: 'OtlpTraces', description: '`ExportTraceServiceRequest` of OTLP 1.x, as JSON or as `application/x-protobuf`.' })

export const traceAnswer = z
  .object({
    partialSuccess: z
      .object({ rejectedSpans: z.string(), errorMessage: z.string() })
      .optional()
      .meta({ description: 'Absent when every span was taken.' }),
  })
  .meta({ id: 'OtlpTracesTaken', description: '`ExportTraceServiceResponse` of OTLP 1.x.' })
