import { stream } from '../../app/answer-shapes.ts'
import { LaterAnswer, route, type DataPlaneCall } from '../../app/route.ts'
import { headersWithout } from '../../gateway/ports/headers.ts'
import { readLoggedRequest } from '../explain/index.ts'
import { ApiError } from '../../lib/errors.ts'
import { parseJson } from '../../lib/json/json.ts'
import { replayBody, replayed, replayParams } from './replay.schema.ts'

export const replayLog = route({
  method: 'POST',
  path: '/logs/:logId/replay',
  summary: 'Send the request of a log again, as the caller, and stream its answer',
  permission: 'logs.view',
  resource: 'log',
  effect: 'none',
  // The data plane requires a key, even of a signed-in person.
  callers: ['key'],
  params: replayParams,
  body: replayBody,
  answers: stream(['application/json', 'text/event-stream']),
  response: replayed,
})(async ({ em, actor, deps, params: { logId }, body: { headers: given, body: changes }, forward }) => {
  const { call, log } = await readLoggedRequest(logId, given, { em, actor, deps, use })
  const headers = headersOf(call, { given, replayOf: log.id, metadata: log.metadata })
  const again = { ...call, headers, ...bodyOf(call, changes) }
  return new LaterAnswer((signal) => forward(again, signal))
})

const use = { participle: 'sent again', param: 'logId', advice: 'Send the request itself.' } as const

/** The headers by which the first request was traced: by default the second one is no part of that trace. */
const ofTrace = /^(?:x-service-(?:trace-id|span-id|parent-span-id|span-name|metadata)|traceparent|tracestate|baggage)$/

/** The metadata of a request has at most so many keys. */
const mostKeys = 64

interface ReplayHeaders {
  readonly given: Readonly<Record<string, string>>
  readonly replayOf: string
  readonly metadata: Readonly<Record<string, string>>
}

function headersOf({ headers, body }: DataPlaneCall, { given, replayOf, metadata }: ReplayHeaders): readonly string[] {
  const own = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  const marked = Object.keys(metadata).length < mostKeys ? { ...metadata, _replay_of: replayOf } : metadata
  return [
    ...headersWithout(headers, (name) => name === 'content-type' || (ofTrace.test(name) && !own.has(name))),
    ...(own.has('x-service-metadata') ? [] : ['x-service-metadata', JSON.stringify(marked)]),
    ...(body === undefined ? [] : ['content-type', 'application/json']),
  ]
}

function bodyOf({ body }: DataPlaneCall, changes: Readonly<Record<string, unknown>> | undefined): Pick<DataPlaneCall, 'body'> {
  if (changes === undefined) return {}
  const logged: unknown = body === undefined ? {} : parseJson(body)
  if (typeof logged !== 'object' || logged === null || Array.isArray(logged))
    throw new ApiError('AB01', 'The logged body is no JSON object, of which fields could be different.', { param: 'body' })
  const merged = Object.entries({ ...logged, ...changes }).filter(([name]) => changes[name] !== null)
  return { body: Buffer.from(JSON.stringify(Object.fromEntries(merged))) }
}
