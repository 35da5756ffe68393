import type { Call, CallHead } from '../call.ts'
import type { Caller } from '../callers/identify.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AskedWork } from '../operations/asked-work.ts'
import { passThrough } from '../operations/match.ts'
import { unknownWork } from '../operations/work.ts'
import { spanIdOf } from '../tracing/ids.ts'
import type { AskedTurn } from './realtime-body.ts'

const nothingMade = { model: null, shortenedBy: 0, prompt: null, promptRequest: null, previousResponse: null, mirror: null } as const

/** Returns the handshake as a call to a provider. It runs no model, and holds no words. */
export const handshakeCall = (head: CallHead): Call => ({
  ...head,
  ...nothingMade,
  guardrails: null,
  upstreamPath: head.path,
  work: null,
  body: { kind: 'none', bytes: null, json: undefined, stream: null, length: null },
})

/** The path of turns in the logs. */
const path = '/realtime'

/** A response is a conversation, in events of its own. */
const response: AskedWork = { ...unknownWork, task: 'conversation' }

interface TurnParts {
  readonly caller: Caller
  readonly exchange: Exchange
  readonly bytes: Buffer
  readonly asked: AskedTurn
  readonly isOwed: boolean
}

/** Returns a turn of a session as a call of its own, in the trace of the session. */
export function turnCall(head: CallHead, { caller, exchange, bytes, asked, isOwed }: TurnParts): Call {
  const { trace } = head
  const { json, before } = asked
  return {
    ...head,
    ...nothingMade,
    exchange,
    caller,
    headers: { ...head.headers, contentType: 'application/json' },
    trace: { traceId: trace.traceId, spanId: null, parentSpanId: trace.spanId ?? spanIdOf(head.exchange.requestId), spanName: null },
    path,
    upstreamPath: path,
    operation: passThrough,
    work: before === null ? unknownWork : response,
    ...(before !== null && { before }),
    ...(isOwed && { isOwed, guardrails: null }),
    body: { kind: 'json', bytes, json, stream: null, length: bytes.length },
  }
}
