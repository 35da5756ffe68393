import { z } from 'zod'

/** Most spans in one request; collectors send 512 by default, some up to 8192. */
const mostSpans = 10_000

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

/** OTLP asks receivers to take fields that they do not know. */
export const traceRequestBody = z
  .looseObject({ resourceSpans: z.array(resourceSpans).default([]) })
  .refine(
    ({ resourceSpans: all }) =>
      all.reduce((sum, { scopeSpans }) => sum + scopeSpans.reduce((spans, scope) => spans + scope.spans.length, 0), 0) <= mostSpans,
    `At most ${mostSpans} spans are allowed in one request. Make the batches of the exporter smaller.`,
  )
  .meta({ id: 'OtlpTraces', description: '`ExportTraceServiceRequest` of OTLP 1.x, as JSON or as `application/x-protobuf`.' })

export const traceAnswer = z
  .object({
    partialSuccess: z
      .object({ rejectedSpans: z.string(), errorMessage: z.string() })
      .optional()
      .meta({ description: 'Absent when every span was taken.' }),
  })
  .meta({ id: 'OtlpTracesTaken', description: '`ExportTraceServiceResponse` of OTLP 1.x.' })
