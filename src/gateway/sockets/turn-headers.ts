import type { CallHead } from '../call.ts'
import { eachHeader } from '../wire/header-list.ts'
import { spanIdOf } from '../tracing/ids.ts'

/** Headers of the handshake that no turn has: of the hop, of the upgrade, and of the body that it lacks. */
const ofHandshake =
  /^(?:connection|upgrade|keep-alive|content-length|transfer-encoding|content-type|content-encoding|accept|accept-encoding|expect|sec-.*)$/

/** Our own headers of the trace, which each turn has anew. */
const ofTrace = /^x-.*-(?:trace-id|span-id|parent-span-id)$/

/** The header that asks OpenAI for its WebSockets, which a request over HTTP does not want. */
const asksForSockets = /^responses_websockets=/

/**
 * Returns the headers of the turns of a connection: those of its handshake, so that each is checked as if it had come by itself, in the trace of the
 * connection.
 */
export function turnHeaders({ exchange, trace, headers: { service } }: CallHead): readonly string[] {
  const kept: string[] = []
  eachHeader(exchange.headers, (name, value) => {
    const lower = name.toLowerCase()
    const isTrace = ofTrace.test(lower) && traceNames.some((short) => lower.endsWith(short) && service.has(short))
    if (!ofHandshake.test(lower) && !isTrace && !(lower === 'openai-beta' && asksForSockets.test(value))) kept.push(name, value)
  })
  kept.push('content-type', 'application/json')
  kept.push('x-service-trace-id', trace.traceId)
  kept.push('x-service-parent-span-id', trace.spanId ?? spanIdOf(exchange.requestId))
  return kept
}

const traceNames = ['trace-id', 'span-id', 'parent-span-id'] as const
