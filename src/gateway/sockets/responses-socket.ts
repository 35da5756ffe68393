import { ApiError, toApiError } from '../../lib/errors.ts'
import { rememberExact } from '../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { parseJson } from '../../lib/json/json.ts'
import { errorEvent, ownError, type SocketError } from './error-event.ts'
import { flowOf } from './flow.ts'
import { readInOrder } from './in-order.ts'
import { keepConversations } from './kept-conversations.ts'
import { createLanes, mostLanes } from './lanes.ts'
import { type ResponseTurn, runResponseTurn } from './response-turn.ts'
import { shutOut } from './session.ts'
import type { SocketClose, SocketHandler, SocketSession } from './socket-handler.ts'
import { turnHeaders } from './turn-headers.ts'

const longestLane = 256

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
  const lanes = createLanes<ResponseTurn>(run, settle)
  const messages = readInOrder({ organisationId, read, refuse: (thrown) => fail(ownError(toApiError(thrown)), null), done: settle })
  const flow = flowOf(socket)
  let ending: SocketClose | null = null

  const fail = (error: SocketError, lane: unknown): void => void socket.send(errorEvent(error, lane))
  const isBusy = (): boolean => lanes.busy() || messages.waits()

  function read(data: Buffer): void {
    let lane: unknown = null
    try {
      const event = readEvent(data)
      lane = event.lane
      if (event.steers) void socket.send(notSteered(event.asked))
      else if (ending !== null) throw new ApiError('draining', 'The connection is about to end. Open another one.')
      else {
        session.demandRoom()
        if (!lanes.add({ asked: event.asked, lane: laneOf(lane), bytes: data.length })) fail(tooManyLanes, lane)
      }
    } catch (thrown) {
      fail(ownError(toApiError(thrown)), lane)
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
      if (error !== null) fail(error, null)
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
  readonly lane: unknown
  /** True: it is to change a response that runs; else it asks for one. */
  readonly steers: boolean
}

/** Throws `invalid_request`. */
function readEvent(data: Buffer): ClientEvent {
  const event = parseJson(data, undefined, rememberExact)
  if (!isFields(event)) throw invalid('A message must be a JSON object.', 'type')
  const { type, stream_id: lane, ...asked } = event
  if (type !== 'response.create' && type !== 'response.steer') throw invalid('type must be "response.create" or "response.steer".', 'type')
  return { asked, lane, steers: type === 'response.steer' }
}

function laneOf(lane: unknown): string | null {
  if (lane === undefined || lane === null) return null
  if (typeof lane === 'string' && lane !== '' && lane.length <= longestLane) return lane
  throw invalid(`stream_id must be a text of 1 to ${longestLane} characters.`, 'stream_id')
}

const invalid = (message: string, param: string): ApiError => new ApiError('invalid_request', message, { param })

const tooManyLanes: SocketError = {
  status: 400,
  error: {
    type: 'invalid_request_error',
    code: 'websocket_stream_limit_reached',
    message: `At most ${mostLanes} lanes can be open on a connection: wait for one to end, or open another connection.`,
    param: 'stream_id',
  },
}

/** The answer to input that is to change a response while it runs: no request over HTTP can be changed so. */
const notSteered = ({ previous_response_id: id, input }: Fields): string =>
  JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    steer: { previous_response_id: id ?? null, input: input ?? null },
    error: {
      type: 'invalid_request_error',
      code: 'steering_not_supported',
      message: 'Gatehouse cannot steer a response that runs. Send the input with the next response.create.',
    },
  })
