import { exactJson, exactOrUndefined } from '../../lib/json/exact-json.ts'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { writeError } from '../dialects/anthropic/error-codec.ts'
import { decodeError, decodeException } from '../dialects/bedrock/error-codec.ts'
import type { NeutralError } from '../dialects/neutral/error.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { EventStreamReader } from '../wire/event-stream.ts'
import { decompress } from '../wire/encoding.ts'
import { headersWithout, headerValue } from '../wire/header-list.ts'
import { headersFor } from './inspect/answer-head.ts'

/** The longest error; bytes beyond it are not read. */
const mostErrorBytes = 256 * 1024

interface Head {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly statusMessage: string
}

/**
 * Passes the answer of a cloud that serves Anthropic's own format on: its bytes as they are, its events out of AWS's binary frames as
 * server-sent ones, and its errors, which are the cloud's own, in Anthropic's form. A class, because it is one handler object per answer.
 */
export class HostedAnswer implements EgressHandler {
  readonly #inner: EgressHandler
  readonly #requestId: string
  readonly #held = new ByteList()
  #mode: 'plain' | 'frames' | 'error' | 'over' = 'plain'
  #head: Head = { status: 0, rawHeaders: [], statusMessage: '' }
  #reader = new EventStreamReader()
  #hasBegun = false
  #isWhole = false

  constructor(inner: EgressHandler, requestId: string) {
    this.#inner = inner
    this.#requestId = requestId
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    this.#inner.onInformation?.(status, rawHeaders)
  }

  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    this.#head = { status, rawHeaders, statusMessage }
    const type = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
    if (status < 200 || status > 299) this.#mode = 'error'
    else if (type.startsWith('application/vnd.amazon.eventstream')) this.#mode = 'frames'
    else this.#inner.onHeaders(status, rawHeaders, statusMessage)
  }

  onData(chunk: Buffer): void {
    if (this.#mode === 'plain') this.#inner.onData(chunk)
    else if (this.#mode === 'frames') this.#frames(this.#reader.push(chunk))
    else if (this.#mode === 'error' && this.#held.size < mostErrorBytes) this.#held.push(chunk)
  }

  onEnd(rawTrailers: readonly string[]): void {
    const mode = this.#mode
    if (mode === 'plain') return this.#inner.onEnd(rawTrailers)
    this.#mode = 'over'
    if (mode === 'error') this.#endError()
    else if (mode === 'frames' && (this.#reader.end() === null || !this.#isWhole))
      this.#break('The provider broke its stream off before it was complete.')
    else if (mode === 'frames') this.#inner.onEnd([])
  }

  onError(error: Error): void {
    if (this.#mode === 'over') return
    this.#mode = 'over'
    this.#inner.onError(error)
  }

  #frames(messages: ReturnType<EventStreamReader['push']>): void {
    if (messages === null) return this.#break('The provider sent an event that is too long, or is damaged.')
    let text = ''
    for (const { name, data } of messages) {
      if (this.#mode !== 'frames') break
      const json = jsonOrUndefined(data ?? '')
      if (name?.startsWith('exception:') === true) this.#fail(decodeException(name.slice('exception:'.length), json), text)
      else text += this.#event(json)
    }
    if (this.#mode === 'frames' && text !== '') this.#write(text)
  }

  /** Returns an event as Anthropic writes it; empty for any other value. */
  #event(json: unknown): string {
    const bytes = isFields(json) ? json['bytes'] : null
    const event = typeof bytes === 'string' ? exactOrUndefined(Buffer.from(bytes, 'base64').toString('utf8')) : null
    if (!isFields(event) || typeof event['type'] !== 'string') return ''
    if (event['type'] === 'message_stop') this.#isWhole = true
    return `event: ${event['type']}\ndata: ${exactJson(withoutMetrics(event))}\n\n`
  }

  #write(text: string): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      const { status, rawHeaders, statusMessage } = this.#head
      this.#inner.onHeaders(status, headersOf(rawHeaders, 'text/event-stream; charset=utf-8', null), statusMessage)
    }
    this.#inner.onData(Buffer.from(text))
  }

  /** An exception before the first event has its status; a later one is an event, behind which no other comes. */
  #fail(error: NeutralError, before: string): void {
    this.#mode = 'over'
    if (!this.#hasBegun && before === '') return this.#answer(error)
    this.#write(`${before}event: error\ndata: ${JSON.stringify(writeError(error, this.#requestId))}\n\n`)
    this.#inner.onEnd([])
  }

  #break(message: string): void {
    this.#mode = 'over'
    this.#inner.onError(new ApiError('upstream_bad_response', message))
  }

  #endError(): void {
    const { status, rawHeaders, statusMessage } = this.#head
    const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase() ?? 'identity'
    const bytes = this.#held.join()
    const text = (encoding === 'identity' ? bytes : decompress(bytes, encoding)).toString('utf8')
    const json = jsonOrUndefined(text)
    if (!isFields(json) || json['type'] !== 'error') return this.#answer(decodeError(status, json ?? text))
    this.#inner.onHeaders(status, rawHeaders, statusMessage)
    this.#inner.onData(bytes)
    this.#inner.onEnd([])
  }

  #answer(error: NeutralError): void {
    const bytes = Buffer.from(JSON.stringify(writeError(error, this.#requestId)))
    this.#inner.onHeaders(error.status, headersOf(this.#head.rawHeaders, 'application/json', bytes.length), '')
    this.#inner.onData(bytes)
    this.#inner.onEnd([])
  }
}

const headersOf = (rawHeaders: readonly string[], type: string, length: number | null): readonly string[] => [
  ...headersWithout(headersFor(rawHeaders, length), (name) => name === 'content-type'),
  'content-type',
  type,
]

/** AWS adds figures of its own to the last event. */
function withoutMetrics(event: Fields): Fields {
  const { 'amazon-bedrock-invocationMetrics': _, ...rest } = event
  return rest
}
