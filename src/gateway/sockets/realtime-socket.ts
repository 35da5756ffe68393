import { ApiError, toApiError } from '../../lib/errors.ts'
import type { Caller } from '../callers/identify.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { InnerAnswer } from '../exchange/inner-exchange.ts'
import { ownError, type SocketError } from './error-event.ts'
import { readInOrder } from './in-order.ts'
import { hearProvider } from './realtime-events.ts'
import { readAsks } from './realtime-asks.ts'
import { linesBetween } from './realtime-lines.ts'
import { createMemory } from './realtime-memory.ts'
import type { RealtimeTurn } from './realtime-turn.ts'
import { createTurns, type TurnRequest } from './realtime-turns.ts'
import { shutOut } from './session.ts'
import type { SocketClose, SocketHandler, SocketSession } from './socket-handler.ts'

export interface RealtimeSession extends Omit<SocketSession, 'perform' | 'recheck'> {
  /** The provider's side. */
  readonly upstream: OpenSocket
  readonly recheck: () => Caller | Promise<Caller>
  /** The model of the session; null: its configuration names it. */
  readonly model: string | null
  /** Makes a turn by the pipeline. */
  readonly run: (request: TurnRequest) => Promise<InnerAnswer>
}

/**
 * Relays a realtime session. Each response of the provider is a turn: an exchange of its own, with its reservation, guardrails, price and log row. A
 * turn that the client asks for goes on when the pipeline lets it; all that is no turn goes on at once.
 */
export function relayRealtime(session: RealtimeSession): SocketHandler {
  const { socket, upstream, head, recheck, run } = session
  const memory = createMemory(session.model)
  const { toClient, toProvider, fail, held, steps } = linesBetween(socket, upstream)
  const ended = () => void shutOut({ handler, recheck }).then(settle)
  const turns = createTurns({ socket, run, recheck, refused, ended, ...steps })
  let ending: SocketClose | null = null

  function demandRoom(): void {
    if (ending !== null) throw new ApiError('draining', 'The connection is about to end. Open another one.')
    session.demandRoom()
  }

  const read = readAsks({ turns, memory, isGuarded: head.guardrails !== null, toProvider, demandRoom })
  const refuse = (thrown: unknown) => fail(ownError(toApiError(thrown)))
  const messages = readInOrder({ organisationId: head.caller.key.organisationId, read, refuse, done: () => {} })

  function refused(turn: RealtimeTurn, error: SocketError): void {
    fail(error)
    if (turn.id === null || turn.isOver()) return
    toProvider(cancelling(turn.id))
    steps.resume()
    handler.stop({ code: 1008, reason: String(error.error['message']) }, null)
  }

  function settle(): void {
    if (ending === null || turns.count() > 0) return
    socket.close(ending.code, ending.reason)
    upstream.close(1000, '')
  }

  const handler: SocketHandler = {
    message(data, isBinary) {
      if (isBinary) handler.stop({ code: 1003, reason: 'Messages are JSON texts.' }, null)
      else messages.add(data)
    },
    busy: () => turns.count() > 0 || messages.waits(),
    paused: () => held(),
    stop(close, error) {
      if (ending !== null) return
      ending = close
      if (error !== null) fail(error)
      settle()
    },
    closed(code) {
      turns.stop()
      messages.clear()
      upstream.close(isSendable(code) ? code : 1000, '')
    },
  }
  upstream.listen({
    message: (data) => hearProvider(data.toString(), { turns, memory, toClient }),
    pong() {},
    closed(code, reason) {
      turns.fail()
      handler.stop(relayedClose(code, reason), null)
    },
  })
  return handler
}

/** A response that the provider has begun costs as long as it goes on. */
const cancelling = (id: string): string => JSON.stringify({ type: 'response.cancel', response_id: id })

/** Returns the close of the provider's as the client gets it. */
const relayedClose = (code: number, reason: string): SocketClose => ({ code: isSendable(code) ? code : 1011, reason })

/** Returns true for a code that a close frame may have; the others state that there was none. */
const isSendable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999)
