import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import { ApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Caller } from '../callers/identify.ts'
import { eachHeader, headerValue } from '../wire/header-list.ts'
import type { Exchange, LineOfBatch } from './exchange.ts'

/** A call that the process itself makes, as a caller would over HTTP. */
export interface InnerRequest {
  readonly method: string
  /** Path and query, with the version in front: `/v1/chat/completions`. */
  readonly url: string
  /** Flat name, value …; the caller's key among them. */
  readonly headers: readonly string[]
  /** A stream is read as the provider takes it, and destroyed when the rest is not needed. */
  readonly body?: Buffer | Readable
  /** The address that the log keeps: of the client that caused the call. */
  readonly clientAddress: string
  /** Ends the call, as a client that leaves. */
  readonly signal?: AbortSignal
  /** The caller, when that was found out before; absent: by the headers. */
  readonly caller?: Caller
  /** The line of a batch that it is, which acts for a key as that key itself. */
  readonly line?: LineOfBatch
  /** The answer to a call that is only to be checked and logged. */
  readonly ownAnswer?: object
}

/** The answer to an inner call, from its head on. */
export interface InnerAnswer {
  /** The id of its log row. */
  readonly requestId: string
  readonly status: number
  readonly statusText: string
  /** Flat name, value …. */
  readonly headers: readonly string[]
  /** The provider waits while it is not read. Read it to its end, or destroy it; it fails when the answer broke off. */
  readonly body: Readable
  /** Returns the trailers; empty before the end of the body. */
  trailers(): readonly (readonly [name: string, value: string])[]
}

/** Makes a call from within the process by the handler of exchanges. Rejects with `client_closed` when it ends without an answer. */
export function performBy(handle: (exchange: Exchange) => void, request: InnerRequest): Promise<InnerAnswer> {
  const exchange = new InnerExchange(request)
  handle(exchange)
  return exchange.answer
}

/** An exchange without a socket. */
class InnerExchange implements Exchange {
  readonly requestId: string
  readonly line: LineOfBatch | undefined
  readonly startedAt = performance.now()
  readonly clientAddress: string
  readonly edgeHeaders: readonly string[] = []
  readonly caller: Caller | null
  readonly ownAnswer: object | undefined
  readonly method: string
  readonly url: string
  readonly headers: readonly string[]
  readonly body: Readable
  readonly takesTrailers = true
  readonly answer: Promise<InnerAnswer>
  status = 0
  closed = false
  readonly #resolve: (answer: InnerAnswer) => void
  readonly #reject: (error: ApiError) => void
  readonly #output: Readable
  readonly #closeListeners = new Set<() => void>()
  readonly #signal: AbortSignal | undefined
  #drained: (() => void) | null = null
  #trailers: readonly (readonly [string, string])[] = []

  constructor({ method, url, headers, body, clientAddress, signal, caller, ownAnswer, line }: InnerRequest) {
    this.line = line
    this.requestId = line?.requestId ?? uuidv7()
    this.caller = caller ?? null
    this.ownAnswer = ownAnswer
    this.method = method
    this.url = url
    this.headers = [...headers, ...framing(body)]
    this.clientAddress = clientAddress
    this.body = body instanceof Readable ? body : Readable.from(body === undefined ? [] : [body])
    // As over HTTP, breaking the body off means that the caller has left.
    this.body.on('error', this.#onAbort)
    const { promise, resolve, reject } = Promise.withResolvers<InnerAnswer>()
    this.answer = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#output = new Readable({
      read: this.#onRead,
      destroy: (error, done) => {
        this.#close()
        done(error)
      },
    })
    this.#signal = signal
    if (signal?.aborted === true) this.destroy()
    else signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  header(name: string): string | undefined {
    return headerValue(this.headers, name)
  }

  get complete(): boolean {
    return this.body.readableEnded
  }

  discardRest(): void {
    if (!this.complete) this.body.destroy()
  }

  head(status: number, statusText: string, headers: readonly string[]): void {
    eachHeader(headers, (name, value) => {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    })
    const { requestId } = this
    const body = this.#output
    this.status = status
    this.#resolve({ requestId, status, statusText, headers, body, trailers: () => (body.readableEnded ? this.#trailers : []) })
  }

  /** The caller has the head already. */
  flushHead(): void {}

  /** No code in the process acts on hints. */
  hint(): void {}

  /** An answer to HEAD has no body, from any handler. */
  write(bytes: Uint8Array): boolean {
    return this.closed || this.method === 'HEAD' || this.#output.push(bytes)
  }

  onceDrained(listener: () => void): void {
    this.#drained = listener
  }

  trailers(pairs: readonly (readonly [string, string])[]): void {
    this.#trailers = pairs
  }

  end(bytes?: Uint8Array | string): void {
    if (this.closed) return
    if (bytes !== undefined && this.method !== 'HEAD') this.#output.push(bytes)
    this.#output.push(null)
    this.#close()
  }

  destroy(): void {
    if (this.closed) return
    this.#close()
    this.#output.destroy(this.status === 0 ? undefined : new ApiError('client_closed', 'The call ended before its answer was whole.'))
  }

  onceClosed(listener: () => void): void {
    this.#closeListeners.add(listener)
  }

  offClosed(listener: () => void): void {
    this.#closeListeners.delete(listener)
  }

  readonly #onAbort = (): void => this.destroy()

  readonly #onRead = (): void => {
    const drained = this.#drained
    this.#drained = null
    if (drained !== null) process.nextTick(drained)
  }

  /** As on a socket, the listeners run after the code that closed the exchange has returned. */
  #close(): void {
    if (this.closed) return
    this.closed = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    if (!this.complete) this.body.destroy()
    if (this.status === 0) this.#reject(new ApiError('client_closed', 'The call ended before it had an answer.'))
    process.nextTick(this.#tellClosed)
  }

  readonly #tellClosed = (): void => {
    for (const listener of this.#closeListeners) listener()
    this.#closeListeners.clear()
  }
}

/** The headers by which a body is found: those that Node's client would send. */
function framing(body: InnerRequest['body']): readonly string[] {
  if (body === undefined) return []
  return body instanceof Readable ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)]
}
