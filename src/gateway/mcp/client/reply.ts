import { STATUS_CODES } from 'node:http'
import type { Exchange } from '../../exchange/exchange.ts'
import { eventText, signOfLife } from '../protocol/events.ts'

export interface ReplyOptions {
  readonly exchange: Exchange
  /** More headers of the answer, flat. */
  readonly headers: readonly string[]
  /** True if the client reads streams of events. */
  readonly takesStream: boolean
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string
}

/** Bytes that a client may leave unread before it is cut off. */
const mostUnread = 32 * 1024 * 1024
/** After so long without an answer its stream begins, and from then on it gets signs of life. */
const lifeMs = 15_000

/** The answer to one message of a client: JSON, or a stream if a message comes before its end. A class, because it counts its bytes. */
export class Reply {
  readonly exchange: Exchange
  readonly #options: ReplyOptions
  #unread = 0
  #timer: NodeJS.Timeout | null = null
  bytes = 0
  firstByteAt: number | null = null

  constructor(options: ReplyOptions) {
    this.exchange = options.exchange
    this.#options = options
    if (options.takesStream) this.#timer = setInterval(() => this.#live(), lifeMs).unref()
    this.exchange.onceClosed(() => this.#rest())
  }

  get isStream(): boolean {
    return this.#began
  }
  #began = false

  /** Begins the stream, if the client reads streams. */
  begin(): boolean {
    const { exchange } = this
    if (this.#began) return !exchange.closed
    if (!this.#options.takesStream || exchange.closed || exchange.status !== 0) return false
    this.#began = true
    exchange.head(200, 'OK', [...this.#headers('text/event-stream'), 'x-accel-buffering', 'no'])
    exchange.flushHead()
    return true
  }

  /** Writes a message before the end. A client that reads no streams misses it. */
  say(text: string): void {
    if (this.begin()) this.#write(eventText(this.#options.hide(text)))
  }

  /** Writes an event of another name. */
  sayEvent(name: string, data: string): void {
    if (this.begin()) this.#write(eventText(data, name))
  }

  /** Ends with the last message. */
  finish(status: number, text: string | null, more: readonly string[] = []): void {
    const { exchange } = this
    this.#rest()
    if (exchange.closed) return
    const shown = text === null ? null : this.#options.hide(text)
    this.#count(shown ?? '')
    if (this.#began) {
      exchange.end(shown === null ? undefined : eventText(shown))
      return
    }
    const length = shown === null ? '0' : String(Buffer.byteLength(shown))
    const headers = shown === null ? this.#headers(null) : this.#headers('application/json; charset=utf-8')
    exchange.head(status, STATUS_CODES[status] ?? 'Refused', [...headers, 'content-length', length, ...more])
    exchange.end(shown ?? undefined)
    exchange.discardRest()
  }

  #headers(type: string | null): string[] {
    const { requestId, edgeHeaders } = this.exchange
    const own = ['x-request-id', requestId, 'cache-control', 'no-store', 'date', new Date().toUTCString()]
    return (type === null ? [] : ['content-type', type]).concat(own, edgeHeaders, this.#options.headers)
  }

  #live(): void {
    if (this.begin()) this.#write(signOfLife)
  }

  #write(text: string): void {
    this.#count(text)
    if (this.exchange.write(Buffer.from(text))) return
    if (this.#unread === 0) this.exchange.onceDrained(() => (this.#unread = 0))
    this.#unread += text.length
    if (this.#unread > mostUnread) this.exchange.destroy()
  }

  #count(text: string): void {
    this.bytes += Buffer.byteLength(text)
    this.firstByteAt ??= performance.now()
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}
