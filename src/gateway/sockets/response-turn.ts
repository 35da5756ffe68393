import type { Readable } from 'node:stream'
import { ApiError } from '../../lib/errors.ts'
import { exactJson } from '../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { hasTooManyValues } from '../../lib/json/many-values.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import { isOwnResponseId, previousNotFound } from '../dialects/openai-responses/response-id.ts'
import type { InnerAnswer } from '../exchange/inner-exchange.ts'
import { headerValue } from '../wire/header-list.ts'
import { type SseEvent, SseReader } from '../wire/sse-events.ts'
import { errorEvent, errorOfAnswer, ownError, type SocketError, textOf } from './error-event.ts'
import { itemsText, joinItems, type KeptConversations, resentItems } from './kept-conversations.ts'
import type { SocketSession } from './socket-handler.ts'
import { warmedUp } from './warm-up.ts'

/** One `response.create` of a connection. */
export interface ResponseTurn {
  /** The event, without its type. */
  readonly asked: Fields
  /** The lane, which each event of the answer names; null: the client named none. */
  readonly lane: string | null
  readonly bytes: number
}

interface TurnMeans extends Pick<SocketSession, 'socket' | 'perform' | 'head' | 'storesResponses'> {
  readonly headers: readonly string[]
  readonly kept: KeptConversations
  readonly signal: AbortSignal
}

/** Makes one turn: a request over the pipeline of HTTP, whose events go to the client as messages. Resolves when it has ended. Never rejects. */
export async function runResponseTurn(turn: ResponseTurn, means: TurnMeans): Promise<void> {
  const write = writer(turn, means)
  try {
    await run(turn, means, write)
  } catch (thrown) {
    if (means.signal.aborted) return
    const error = thrown instanceof ApiError ? thrown : brokenOff(thrown)
    await write.error(ownError(error, error.param === 'previous_response_id' ? 'previous_response_not_found' : error.code))
  }
}

const brokenOff = (cause: unknown): ApiError =>
  new ApiError('upstream_bad_response', 'The answer broke off before its end. What has come of it is not whole.', { cause })

type Writer = ReturnType<typeof writer>

function writer({ lane }: ResponseTurn, { socket }: Pick<TurnMeans, 'socket'>) {
  const front = lane === null ? null : `{"stream_id":${JSON.stringify(lane)},`
  const event = (text: string): Promise<void> | null => socket.send(front === null ? text : front + text.slice(1))
  return {
    event,
    error: (error: SocketError) => socket.send(errorEvent(error, lane)),
  }
}

async function run({ asked }: ResponseTurn, means: TurnMeans, write: Writer): Promise<void> {
  const { generate, ...sent } = asked
  const { previous_response_id: previousId, input, ...rest } = sent
  const before = typeof previousId === 'string' ? conversation(previousId, means) : null
  const heard: HeardTurn = { before, input, stored: rest['store'] !== false }
  const body = Buffer.from(before === null ? exactJson({ ...sent, stream: true }) : continued(rest, before, input))
  const ownAnswer = generate === false ? warmedUp(rest) : null
  const { head, headers, signal } = means
  const answer = await means.perform({
    method: 'POST',
    url: head.exchange.url,
    headers,
    body,
    clientAddress: head.exchange.clientAddress,
    signal,
    ...(ownAnswer !== null && { ownAnswer }),
  })
  const { organisationId } = head.caller.key
  if (answer.status >= 300) await write.error(protocolError(errorOfAnswer({ ...answer, text: await textOf(answer.body, organisationId) })))
  else if (isEventStream(answer)) await relay(answer.body, { means, write, heard })
  else
    await tellWhole(await textOf(answer.body, organisationId), {
      means,
      write,
      heard: ownAnswer === null ? heard : { ...heard, stored: false },
    })
}

/** The part of a turn that a later one continues. */
interface HeardTurn {
  /** The items of the conversation before it, without brackets; null: none that is kept here. */
  readonly before: string | null
  readonly input: unknown
  /** False: the provider was asked not to store the response. */
  readonly stored: boolean
}

/** Returns the conversation up to a response that is kept here; null: it is kept elsewhere. Throws `invalid_request` for one that never was. */
function conversation(id: string, { kept, storesResponses }: TurnMeans): string | null {
  const items = kept.get(id)
  if (items === null && isOwnResponseId(id) && !storesResponses)
    throw new ApiError('invalid_request', previousNotFound(id), { param: 'previous_response_id' })
  return items
}

const listOf = (input: unknown): readonly unknown[] => {
  if (input === undefined || input === null) return []
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  if (Array.isArray(input)) return input
  throw new ApiError('invalid_request', 'input must be a text or a list of items.', { param: 'input' })
}

/** Returns a body with the whole conversation in place of the id of its last response, as any provider understands it. */
function continued(rest: Fields, before: string, input: unknown): string {
  const text = exactJson({ ...rest, stream: true })
  return `${text.slice(0, -1)},"input":[${joinItems(before, itemsText(listOf(input)))}]}`
}

const isEventStream = ({ headers }: InnerAnswer): boolean => /^text\/event-stream/i.test(headerValue(headers, 'content-type') ?? '')

interface Relaying {
  readonly means: TurnMeans
  readonly write: Writer
  readonly heard: HeardTurn
}

/** A provider may send so many bytes behind the end of a response; then it is let go. */
const mostBehindEnd = 64 * 1024

/**
 * Relays a stream up to the event that ends its response: all that follows is dropped. That event goes on when all has ended: a client that has read it
 * can continue the response in every process, and its record is there.
 */
async function relay(body: Readable, relaying: Relaying): Promise<void> {
  const reader = new SseReader()
  let [last, behindEnd]: [string | null, number] = [null, 0]
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) continue
      if (last === null) last = await tellAll(reader.push(chunk), relaying)
      else behindEnd += chunk.length
      if (behindEnd > mostBehindEnd) break
    }
    last ??= await tellAll(reader.end(), relaying)
  } catch (thrown) {
    // A response that was whole before the connection broke is no broken one.
    if (last === null) throw thrown
  }
  if (last !== null) await relaying.write.event(last)
}

/** The events that end a response, and hold all of it. */
const ending = /^response\.(?:completed|incomplete|failed)$/
const endsResponse = /^\s*\{\s*"type"\s*:\s*"response\.(?:completed|incomplete|failed)"/

/** Sends events on up to the one that ends the response, and returns that. Null: it goes on. */
async function tellAll(events: readonly SseEvent[] | null, { means, write, heard }: Relaying): Promise<string | null> {
  if (events === null) throw new ApiError('upstream_bad_response', 'The provider sent an event that is too long.')
  for (const { name, data } of events) {
    // Signs of life and `[DONE]` belong to server-sent events.
    if (data === null || !data.startsWith('{')) continue
    if (name === null ? endsResponse.test(data) : ending.test(name)) {
      await longTurns.before(means.head.caller.key.organisationId, data.length)
      if (!hasTooManyValues(data)) keep(jsonOrUndefined(data), means, heard)
      return data
    }
    const taken = write.event(data)
    if (taken !== null) await taken
  }
  return null
}

function keep(event: unknown, { kept, storesResponses }: TurnMeans, { before, input, stored }: HeardTurn): void {
  const response = isFields(event) ? event['response'] : null
  if (!isFields(response) || typeof response['id'] !== 'string') return
  const { id } = response
  if (stored && !(isOwnResponseId(id) && !storesResponses)) return
  const asked = joinItems(before ?? '', itemsText(listOf(input)))
  kept.keep(id, joinItems(asked, itemsText(resentItems(response['output']))))
}

/** Sends an answer that came whole as the events that begin and end it. */
async function tellWhole(text: string, { means, write, heard }: Relaying): Promise<void> {
  const response = jsonOrUndefined(text)
  if (!isFields(response) || response['object'] !== 'response')
    throw new ApiError('upstream_bad_response', 'The answer is neither a stream of events nor a response.')
  const status =
    typeof response['status'] === 'string' && /^(?:incomplete|failed)$/.test(response['status']) ? response['status'] : 'completed'
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  keep({ response }, means, heard)
  await write.event(exactJson({ type: 'response.created', sequence_number: 0, response: begun }))
  await write.event(exactJson({ type: `response.${status}`, sequence_number: 1, response }))
}

/** An unknown response is named by the code that clients of this protocol look for: they then send the whole conversation. */
function protocolError(told: SocketError): SocketError {
  const { error } = told
  if (error['param'] !== 'previous_response_id' || error['code'] !== 'not_found') return told
  return { status: 400, error: { ...error, type: 'invalid_request_error', code: 'previous_response_not_found' } }
}
