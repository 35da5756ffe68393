import type { CallHead } from '../call.ts'
import { type ApiError, toApiError } from '../../lib/errors.ts'
import type { Caller } from '../callers/identify.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { InnerAnswer } from '../exchange/inner-exchange.ts'
import { ownError, type SocketError } from './error-event.ts'
import { mostMalformed, readInOrder } from './in-order.ts'
import { hearProvider } from './realtime-events.ts'
import { heldBy } from './shared-bytes.ts'
import { readAsks } from './realtime-asks.ts'
import { endOf } from './realtime-end.ts'
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
  /** True: it goes on from a call that was begun elsewhere. */
  readonly isJoined: boolean
  /** Throws `forbidden` for a model that the provider may not be asked for. */
  readonly demandModel: (name: string) => void
  readonly report: (error: ApiError) => void
  /** Makes a turn by the pipeline. */
  readonly run: (request: TurnRequest) => Promise<InnerAnswer>
}

/**
 * Relays a realtime session. Each response of the provider is a turn: an exchange of its own, with its reservation, guardrails, price and log row. A
 * turn that the client asks for goes on when the pipeline lets it; all that is no turn goes on at once.
 */
export function relayRealtime(session: RealtimeSession): SocketHandler {
  const { socket, upstream, head, waitingBytes, recheck, run, demandModel } = session
  const { organisationId } = head.caller.key
  const { isGuarded, judgesAnswers } = judgedOf(head)
  const memory = createMemory({ named: session.model, isJoined: session.isJoined, isGuarded })
  const { toClient, toProvider, fail, held, holdClient, holdProvider, steps } = linesBetween(socket, upstream)
  const ended = () => void shutOut({ handler, recheck }).then(() => end.settle())
  const cancel = ({ id }: RealtimeTurn) => (id === null ? undefined : toProvider(cancelling(id)))
  const turns = createTurns({ socket, organisationId, run, recheck, refused, left: cancel, ended, steps })
  const end = endOf({ socket, upstream, isBusy: () => turns.count() > 0, fail })
  const asks = readAsks({ turns, memory, toProvider, room: heldBy(waitingBytes, organisationId), demandRoom, demandModel })
  const read = (data: Buffer) => (isShut ? null : asks.read(data))
  const refuse = (thrown: unknown) => fail(ownError(toApiError(thrown)))
  const messages = readInOrder({ organisationId, read, refuse, tooMany: () => end.stop(lostItsWay, null), done: () => holdClient(false) })
  let isShut = false

  function demandRoom(): void {
    end.demandOpen()
    session.demandRoom()
  }

  /** A client whose turn is refused may ask again; a provider that goes on by itself is let go once it has stated the usage. */
  function refused(turn: RealtimeTurn, error: SocketError): void {
    void fail(error)
    if (turn.isSent() ? turn.id === null || turn.isOver() : !turn.isUnasked) return
    if (!turn.isOver()) cancel(turn)
    isShut = true
    setTimeout(() => turns.fail(), longestFarewellMs).unref()
    end.stop({ code: 1008, reason: String(error.error['message']) }, null)
  }

  const handler: SocketHandler = {
    message(data, isBinary) {
      if (isBinary) end.stop({ code: 1003, reason: 'Messages are JSON texts.' }, null)
      else messages.add(data)
      holdClient(messages.waits())
    },
    busy: () => turns.count() > 0 || messages.waits(),
    paused: () => held(),
    stop: (close, error) => end.stop(close, error),
    closed(code) {
      turns.stop()
      messages.clear()
      asks.clear()
      upstream.close(isSendable(code) ? code : 1000, '')
    },
  }
  listenTo(upstream, {
    organisationId,
    hold: holdProvider,
    hear: (text) => hearProvider(text, { turns, memory, toClient, judgesAnswers }),
    lost(error) {
      isShut = true
      session.report(error)
      turns.fail()
      end.stop({ code: 1011, reason: error.message }, ownError(error))
    },
    closed(close) {
      turns.fail()
      end.stop(close, null)
    },
  })
  return handler
}

/** Returns whether guardrails read what a turn asks, and what it is answered. */
const judgedOf = ({ guardrails }: CallHead) => ({
  isGuarded: (guardrails?.input.length ?? 0) > 0,
  judgesAnswers: guardrails?.output.some((guardrail) => !guardrail.async) ?? false,
})

const lostItsWay: SocketClose = { code: 1008, reason: `${mostMalformed} messages in a row were malformed.` }

interface ProviderEvents {
  readonly organisationId: string
  /** Stops reading the provider, or goes on. */
  readonly hold: (holds: boolean) => void
  readonly hear: (text: string) => void
  /** Called when the provider does not keep to the protocol, and has been let go. */
  readonly lost: (error: ApiError) => void
  readonly closed: (close: SocketClose) => void
}

/** Hears the events of a provider in order: those that came before its close, too. */
function listenTo(upstream: OpenSocket, { organisationId, hold, hear, lost, closed }: ProviderEvents): void {
  let close: SocketClose | null = null
  const messages = readInOrder({ organisationId, read, refuse, done: settle })

  function read(data: Buffer): null {
    hear(data.toString())
    return null
  }

  function refuse(thrown: unknown): null {
    messages.clear()
    upstream.terminate()
    lost(toApiError(thrown))
    return null
  }

  function settle(): void {
    hold(messages.waits())
    if (close !== null && !messages.waits()) closed(close)
  }

  upstream.listen({
    message(data) {
      messages.add(data)
      settle()
    },
    pong() {},
    closed(code, reason) {
      close = relayedClose(code, reason)
      settle()
    },
  })
}

/** A provider has so long to state the usage of a response that it was told to cancel. */
const longestFarewellMs = 5000

/** A response that the provider has begun costs as long as it goes on. */
const cancelling = (id: string): string => JSON.stringify({ type: 'response.cancel', response_id: id })

/** Returns the close of the provider's as the client gets it. */
const relayedClose = (code: number, reason: string): SocketClose => ({ code: isSendable(code) ? code : 1011, reason })

/** Returns true for a code that a close frame may have; the others state that there was none. */
const isSendable = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999)
