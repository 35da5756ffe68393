import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../lib/errors.ts'
import type { CallHead } from '../call.ts'
import { acceptSockets, type OpenSocket } from '../egress/web-socket.ts'
import type { InnerAnswer, InnerRequest } from '../exchange/inner-exchange.ts'
import { chosenProtocol, type UpgradeExchange } from '../exchange/upgrade-exchange.ts'
import { openSession, type PipelineDeps, recheck } from '../pipeline.ts'
import { demandHandshake, headerLines } from './handshake.ts'
import { boundKeptBytes } from './kept-conversations.ts'
import { serveResponses } from './responses-socket.ts'
import { followSession, type Session, watchSession } from './session.ts'
import type { SocketClose } from './socket-handler.ts'
import { createSlots } from './socket-slots.ts'

/** The WebSockets of one process. */
export interface Sockets {
  /** Takes over a request for a WebSocket: refuses it over HTTP, or accepts it. `demandRoom` throws when the process refuses new work. Never throws. */
  connect(exchange: UpgradeExchange, demandRoom: () => void): void
  open(): number
  /** Lets each connection end after its running turns; from now on none is accepted. */
  stop(): void
  /** Resolves when all have ended. Those that do not within a moment are cut off. */
  end(): Promise<void>
}

/** The conversations that all connections of a process keep together. */
const mostKeptBytes = 256 * 1024 * 1024
/** A client has so long to answer the close of its connection. */
const longestFarewellMs = 500

const away: SocketClose = { code: 1001, reason: 'The gateway is shutting down. Connect again: another replica will answer.' }

interface Accepted {
  readonly exchange: UpgradeExchange
  readonly head: CallHead
  readonly socket: OpenSocket
  readonly demandRoom: () => void
}

export function createSockets(deps: PipelineDeps, perform: (request: InnerRequest) => Promise<InnerAnswer>): Sockets {
  const { settings, responses } = deps
  const { maxJsonBytes } = settings
  const accept = acceptSockets({ maxMessageBytes: maxJsonBytes, protocol: chosenProtocol })
  const slots = createSlots(settings.maxSockets)
  const keptBytes = boundKeptBytes(mostKeptBytes)
  const sessions = new Set<Session>()
  let stopped = false
  let timer: NodeJS.Timeout | null = null
  const { promise: ended, resolve: allEnded } = Promise.withResolvers<void>()

  async function open(exchange: UpgradeExchange, demandRoom: () => void): Promise<void> {
    const head = await openSession(deps, exchange, ({ caller: { key } }) => {
      demandHandshake(exchange)
      if (stopped) throw new ApiError('draining', 'The gateway is shutting down. Try again: another replica will answer.')
      slots.take(key.organisationId)
    })
    if (head === null) return
    const socket = accept(exchange.release(), [`x-request-id: ${exchange.requestId}`, ...headerLines(exchange.edgeHeaders)])
    if (socket === null) leave(head)
    else serve({ exchange, head, socket, demandRoom })
  }

  function leave({ caller: { key } }: CallHead): void {
    slots.give(key.organisationId)
    if (stopped && slots.taken() === 0) allEnded()
  }

  function serve({ exchange, head, socket, demandRoom }: Accepted): void {
    const rechecks = () => recheck({ deps, exchange, headers: head.headers })
    const common = { head, socket, perform, demandRoom, recheck: rechecks, maxJsonBytes, keptBytes }
    const handler = serveResponses({ ...common, storesResponses: responses.keeps })
    const session = followSession({ socket, handler, recheck: rechecks }, () => {
      sessions.delete(session)
      leave(head)
    })
    sessions.add(session)
    if (stopped) handler.stop(away, null)
    timer ??= setInterval(look, settings.socketPingMs).unref()
  }

  function look(): void {
    for (const session of sessions) watchSession(session, settings)
    if (sessions.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    connect: (exchange, demandRoom) => void open(exchange, demandRoom),
    open: () => sessions.size,
    stop() {
      stopped = true
      for (const { handler } of sessions) handler.stop(away, null)
      if (slots.taken() === 0) allEnded()
    },
    async end() {
      if (slots.taken() > 0) await Promise.race([ended, sleep(longestFarewellMs, undefined, { ref: false })])
      for (const { socket } of sessions) socket.terminate()
    },
  }
}
