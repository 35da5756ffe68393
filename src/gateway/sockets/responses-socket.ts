import { ApiError, toApiError } from '../../lib/errors.ts'
import { rememberExact } from '../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Taken } from '../egress/web-socket.ts'
import { valueOfMessage } from './client-message.ts'
import { errorEvent, ownError, type SocketError } from './error-event.ts'
import { flowOf } from './flow.ts'
import { mostMalformed, readInOrder } from './in-order.ts'
import { heldBy } from './shared-bytes.ts'
import { keepConversations } from './kept-conversations.ts'
import { createLanes, mostLanes } from './lanes.ts'
import { type ResponseTurn, runResponseTurn } from './response-turn.ts'
import { shutOut } from './session.ts'
import type { SocketClose, SocketHandler, SocketSession } from './socket-handler.ts'
import { turnHeaders } from './turn-headers.ts'

const longestLane = 256
const lostItsWay: SocketClose = { code: 1008, reason: `${mostMalformed} messages in a row were malformed.` }

/**
 * Serves OpenAI's Responses API on a WebSocket. Each `response.create` is a request of its own in the pipeline, with all that belongs to one: so every
 * provider and every fallback is there, also without a WebSocket of the provider's.
 */
export function serveResponses(session: SocketSession): SocketHandler {
  const { socket, head, keptBytes } = session
  const { organisationId } = head.caller.key
  const kept = keepConversations({ organisationId, most: session.maxJsonBytes, bytes: keptBytes })
  const left = new AbortController()
  const means = { ...session, headers: turnHeaders(head), kept, signal: left.signal }
  const lanes = createLanes<ResponseTurn>({ run, done: settle, room: heldBy(session.waitingBytes, organisationId) })
  const refuse = (thrown: unknown) => fail(ownError(toApiError(thrown)), null)
  const messages = readInOrder({ organisationId, read, refuse, tooMany: () => handler.stop(lostItsWay, null), done: settle })
  const flow = flowOf(socket)
  let ending: SocketClose | null = null

  const fail = (error: SocketError, lane: string | null): Taken => socket.send(errorEvent(error, lane))
  const isBusy = (): boolean => lanes.busy() || messages.waits()

  function read(data: Buffer): Taken {
    const { asked, lane, steers } = readEvent(data)
    if (steers) return socket.send(notSteered(asked))
    try {
      if (ending !== null) throw new ApiError('draining', 'The connection is about to end. Open another one.')
      session.demandRoom()
      const refused = lanes.add({ asked, lane, bytes: data.length })
      if (refused === 'no room') throw tooMuchWaits()
      return refused === null ? null : fail(tooManyLanes, lane)
    } catch (thrown) {
      return fail(ownError(toApiError(thrown)), lane)
    }
  }

  async function run(turn: ResponseTurn): Promise<void> {
    await runResponseTurn(turn, means)
    if (!left.signal.aborted && (await shutOut({ handler, recheck: session.recheck }))) lanes.clear()
  }

  /** Reads on when there is room for more turns, and else not; ends the connection after its last turn. */
  function settle(): void {
    flow.hold(lanes.full() || messages.waits())
    if (ending !== null && !isBusy()) socket.close(ending.code, ending.reason)
  }

  const handler: SocketHandler = {
    message(data, isBinary) {
      if (isBinary) handler.stop({ code: 1003, reason: 'Messages are JSON texts.' }, null)
      else messages.add(data)
      settle()
    },
    busy: isBusy,
    paused: () => flow.held(),
    stop(close, error) {
      if (ending !== null) return
      ending = close
      if (error !== null) flow.until(fail(error, null))
      settle()
    },
    closed() {
      left.abort()
      lanes.clear()
      messages.clear()
      kept.clear()
    },
  }
  return handler
}

interface ClientEvent {
  /** The event without its type and its lane. */
  readonly asked: Fields
  readonly lane: string | null
  /** True: it is to change a response that runs; else it asks for one. */
  readonly steers: boolean
}

/** Throws `invalid_request`. */
function readEvent(data: Buffer): ClientEvent {
  const event = valueOfMessage(data, rememberExact)
  if (!isFields(event)) throw invalid('A message must be a JSON object.', 'type')
  const { type, stream_id: lane, ...asked } = event
  if (type !== 'response.create' && type !== 'response.steer') throw invalid('type must be "response.create" or "response.steer".', 'type')
  return { asked, lane: laneOf(lane), steers: type === 'response.steer' }
}

function laneOf(lane: unknown): string | null {
  if (lane === undefined || lane === null) return null
  if (typeof lane === 'string' && lane !== '' && lane.length <= longestLane) return lane
  throw invalid(`stream_id must be a text of 1 to ${longestLane} characters.`, 'stream_id')
}

const invalid = (message: string, param: string): ApiError => new ApiError('invalid_request', message, { param })

const tooMuchWaits = (): ApiError =>
  new ApiError('rate_limited', 'Too many turns of the organisation wait on its connections. Wait for some to end.', { retryAfter: 1 })

const tooManyLanes: SocketError = {
  status: 400,
  error: {
    type: 'invalid_request_error',
    code: 'websocket_stream_limit_reached',
    message: `At most ${mostLanes} lanes can be open on a connection: wait for one to end, or open another connection.`,
    param: 'stream_id',
  },
}

/** The refusal of a steer repeats so much of it. */
const longestRepeated = 16 * 1024

/** Returns the answer to input that is to change a response while it runs: no request over HTTP can be changed so. */
function notSteered({ previous_response_id: id = null, input = null }: Fields): string {
  const isLong = JSON.stringify([id, input]).length > longestRepeated
  return JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    steer: { previous_response_id: isLong ? null : id, input: isLong ? null : input },
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message: 'Gatehouse cannot steer a response that runs. Send the input with the next response.create.',
    },
  })
}
