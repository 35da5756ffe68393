import { z } from 'zod'
import { textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { readTraceCursor } from './cursor.ts'
import { spanKinds, spanStatuses } from './read-spans.ts'

const moment = z.iso.datetime({ offset: true })
const text = z.string().nullable()
const count = z.number()
const cost = z.string().meta({ description: 'Whole pico-US-dollars (10^-12), as a decimal text, with the changes of recomputes.' })

const after = z.string().transform((given, context) => {
  const cursor = readTraceCursor(given)
  if (cursor !== null) return cursor
  context.addIssue({ code: 'custom', message: 'not a next_cursor of an earlier page' })
  return z.NEVER
})

export const traceFilter = z
  .strictObject({
    page_size: z.coerce.number().int().min(1).max(200).default(50).meta({ description: 'Traces in one page.' }),
    after: after.optional().meta({ description: 'The `next_cursor` of the page before; absent for the first one.' }),
    workspace_id: textField(255).optional().meta({ description: 'Id or slug. A workspace key sees its own workspace only.' }),
    time_of_generation_min: moment.optional().meta({ description: 'Only traces whose latest part began then or later.' }),
    time_of_generation_max: moment.optional().meta({ description: 'Only parts that began then or before are looked at.' }),
  })
  .meta({ id: 'TraceFilter', description: 'Which traces to list.' })

export type TraceFilter = z.output<typeof traceFilter>

export const trace = z
  .object({
    object: z.literal('trace'),
    trace_id: z.string(),
    name: text.meta({ description: 'The name of the part that began first.' }),
    workspace_ids: z.array(z.string()),
    start_time: z.string(),
    last_start_time: z.string().meta({ description: 'When the latest part began; the order of the list.' }),
    duration_ms: since('1.3.3', count.meta({ description: 'From the first start to the last end.' })),
    requests: count.meta({ description: 'Requests of the gateway, each of which is a log.' }),
    client_spans: count.meta({ description: 'Spans that clients sent by OTLP.' }),
    errors: since('1.3.3', count.meta({ description: 'Requests with a status of 400 or more, and spans of clients that failed.' })),
    total_units: since('1.6.1', count.meta({ description: 'Tokens of the requests.' })),
    cost_pico_usd: since('1.3.3', cost),
    providers: since('1.3.3', z.array(z.string())),
    models: since('1.3.3', z.array(z.string())),
    services: since('1.3.3', z.array(z.string()).meta({ description: 'The `service.name` of the clients.' })),
  })
  .meta({ id: 'Trace', description: 'Requests and spans that belong together.' })

export const traceList = z
  .object({
    object: z.literal('list'),
    data: z.array(trace),
    has_more: z.boolean(),
    next_cursor: text.meta({ description: 'Give it as `after` to get the next page.' }),
    total: z.null().meta({ description: 'Traces are never counted.' }),
  })
  .meta({ id: 'TraceList', description: 'A page of traces, the one with the latest part first.' })

const fields = z.record(z.string(), z.unknown())

const traceSpan = z
  .object({
    object: z.literal('trace.span'),
    source: z.enum(['request', 'attempt', 'client']).meta({
      description: '`request`: a request of the gateway. `attempt`: one attempt of it at a provider. `client`: a span that a client sent.',
    }),
    span_id: z.string(),
    parent_span_id: text,
    depth: z.int().meta({ description: 'The level in the tree; 0 for a root.' }),
    parent_received: z.boolean().meta({ description: 'False for a root that names a parent which is not here.' }),
    log_id: text.meta({ description: 'The log of a request, or of the request that an attempt belongs to.' }),
    name: z.string(),
    kind: z.enum(spanKinds),
    status: z.enum(spanStatuses),
    status_message: text,
    start_time: z.string(),
    duration_ms: count,
    service: text,
    provider: text,
    model: text,
    req_units: count.nullable(),
    res_units: count.nullable(),
    total_units: count.nullable(),
    cost_pico_usd: text,
    details: z
      .object({ attributes: fields, resource: fields, scope: text, events: z.array(fields), links: z.array(fields), dropped: count })
      .nullable()
      .meta({
        description:
          'The details of spans of clients; null beyond the first 16 MiB of a trace. `dropped` counts attributes, events and links beyond the bounds.',
      }),
    aggregate: z
      .object({
        requests: count,
        errors: count,
        total_units: since(
          '1.6.1',
          count.meta({ description: 'Tokens. Those that a client counted stand in only where no request below it has any.' }),
        ),
        cost_pico_usd: cost,
      })
      .meta({ description: 'The span with all that is below it.' }),
  })
  .meta({ id: 'TraceSpan', description: 'A node of the tree of a trace.' })

export const traceParams = z.object({ traceId: z.string() })
export const traceQuery = z.strictObject({
  workspace_id: textField(255).optional().meta({ description: 'Id or slug. A workspace key sees its own workspace only.' }),
})

export const traceDetail = z
  .object({
    object: z.literal('trace'),
    trace_id: z.string(),
    spans: z.array(traceSpan).meta({ description: 'The tree, each span before those below it, brothers by their start.' }),
    truncated: z.boolean().meta({
      description:
        'True if the trace has more than 2000 requests, 10000 spans of clients or 16 MiB of their details; the first ones are here.',
    }),
  })
  .meta({ id: 'TraceDetail', description: 'A trace as a tree.' })
