import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../lib/errors.ts'
import type { Caller } from '../callers/identify.ts'
import type { Call, CallHead } from '../call.ts'
import type { Egress } from '../egress/egress.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { acceptSockets, type OpenSocket } from '../egress/web-socket.ts'
import type { InnerAnswer, InnerRequest } from '../exchange/inner-exchange.ts'
import { chosenProtocol, type UpgradeExchange } from '../exchange/upgrade-exchange.ts'
import { openSession, type PipelineDeps, recheck } from '../pipeline.ts'
import { demandHandshake, headerLines } from './handshake.ts'
import { shareBytes, type SharedBytes } from './shared-bytes.ts'
import { connectProvider, demandModels, joinsCall, modelOfQuery, turnRunner } from './provider-session.ts'
import { relayRealtime } from './realtime-socket.ts'
import { serveResponses } from './responses-socket.ts'
import { followSession, type Session, watchSession } from './session.ts'
import type { SocketClose, SocketHandler } from './socket-handler.ts'
import { createSlots } from './socket-slots.ts'

/** The WebSockets of one process. */
export interface Sockets {
  /** Takes over a request for a WebSocket: refuses it over HTTP, or accepts it. `demandRoom` throws when the process refuses new work. Never throws. */
  connect(exchange: UpgradeExchange, demandRoom: () => void): void
  open(): number
  /** The number of those that were accepted so far. */
  accepted(): number
  /** Lets each connection end after its running turns; from now on none is accepted. */
  stop(): void
  /** Resolves when all have ended. Those that do not within a moment are cut off. */
  end(): Promise<void>
}

/** The conversations that all connections of a process keep together, and the messages of their clients that wait for a turn. */
const [mostKeptBytes, mostWaitingBytes] = [256 * 1024 * 1024, 256 * 1024 * 1024]
/** A client has so long to answer the close of its connection. */
const longestFarewellMs = 500

const away: SocketClose = { code: 1001, reason: 'The gateway is shutting down. Connect again: another replica will answer.' }

interface Accepted {
  readonly exchange: UpgradeExchange
  readonly head: CallHead
  readonly socket: OpenSocket
  readonly demandRoom: () => void
  /** The provider's side; null: the pipeline of HTTP serves the connection. */
  readonly upstream: OpenSocket | null
  /** Throws for a model that the provider may not be asked for. */
  readonly demandModel: (name: string) => void
}

interface SocketDeps {
  readonly perform: (request: InnerRequest) => Promise<InnerAnswer>
  /** Runs a call as an exchange of its own, whose requests go by an egress. */
  readonly run: (exchange: Exchange, call: Call, egress: Egress) => void
}

export function createSockets(deps: PipelineDeps, { perform, run }: SocketDeps): Sockets {
  const { maxJsonBytes, maxSockets, socketPingMs } = deps.settings
  const accept = acceptSockets({ maxMessageBytes: maxJsonBytes, protocol: chosenProtocol })
  const slots = createSlots(maxSockets)
  const bytes = { keptBytes: shareBytes(mostKeptBytes), waitingBytes: shareBytes(mostWaitingBytes) }
  const sessions = new Set<Session>()
  let [stopped, count, timer]: [boolean, number, NodeJS.Timeout | undefined] = [false, 0, undefined]
  const { promise: ended, resolve: allEnded } = Promise.withResolvers<void>()

  async function open(exchange: UpgradeExchange, demandRoom: () => void): Promise<void> {
    const head = await openSession(deps, exchange, (found) => {
      if (stopped) throw new ApiError('draining', 'The gateway is shutting down. Try again: another replica will answer.')
      demandOpenable(exchange, found)
      slots.take(found.caller.key.organisationId)
      return isRelayed(found) ? 'goes on' : 'logged'
    })
    if (head === null) return
    const upstream = isRelayed(head) ? await connectProvider(exchange, head, deps) : null
    const demandModel = upstream === null ? takesAny : await demandModels(head, deps)
    if (upstream === null && isRelayed(head)) return leave(head)
    const socket = accept(exchange.release(), [`x-request-id: ${exchange.requestId}`, ...headerLines(exchange.edgeHeaders)])
    if (socket !== null) return serve({ exchange, head, socket, demandRoom, upstream, demandModel })
    upstream?.terminate()
    leave(head)
  }

  function leave({ caller: { key } }: CallHead): void {
    slots.give(key.organisationId)
    if (stopped && slots.taken() === 0) allEnded()
  }

  function serve(accepted: Accepted): void {
    const { head, socket, exchange } = accepted
    const rechecks = () => recheck({ deps, exchange, headers: head.headers })
    const handler = handlerOf(accepted, { ...deps, perform, run, ...bytes, recheck: rechecks })
    const session = followSession({ socket, handler, recheck: rechecks }, () => {
      sessions.delete(session)
      leave(head)
    })
    sessions.add(session)
    count += 1
    if (stopped) handler.stop(away, null)
    timer ??= setInterval(look, socketPingMs).unref()
  }

  function look(): void {
    for (const session of sessions) watchSession(session, deps.settings)
  }

  return {
    connect: (exchange, demandRoom) => void open(exchange, demandRoom),
    open: () => sessions.size,
    accepted: () => count,
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

const takesAny = (): void => {}

interface HandlerParts extends SocketDeps, Pick<PipelineDeps, 'egress' | 'responses' | 'settings' | 'report'> {
  readonly keptBytes: SharedBytes
  readonly waitingBytes: SharedBytes
  readonly recheck: () => Caller | Promise<Caller>
}

/** Returns the driver of an accepted connection. */
function handlerOf(accepted: Accepted, { egress, responses, settings, report, perform, run, ...shared }: HandlerParts): SocketHandler {
  const { exchange, head, socket, demandRoom, upstream, demandModel } = accepted
  const common = { ...shared, head, socket, demandRoom, storesResponses: responses.keeps, maxJsonBytes: settings.maxJsonBytes }
  if (upstream === null) return serveResponses({ ...common, perform })
  return relayRealtime({
    ...common,
    upstream,
    demandModel,
    model: modelOfQuery(exchange.url),
    isJoined: joinsCall(exchange.url),
    report: (error) => report(error, exchange.requestId),
    run: turnRunner(head, egress, run),
  })
}

/** Returns true for a connection that the provider serves itself. */
const isRelayed = ({ operation }: CallHead): boolean => operation.name === 'connectRealtime'

/** Throws for a request that can be no connection. */
function demandOpenable(exchange: UpgradeExchange, head: CallHead): void {
  demandHandshake(exchange)
  if (head.course === null || !isRelayed(head)) return
  throw new ApiError(
    'unsupported_operation',
    'A realtime session has one target, and this config has several. Name a config with one, or a provider.',
    {
      param: 'x-service-config',
    },
  )
}
