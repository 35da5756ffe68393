import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { uuidv7 } from '../../lib/uuid.ts'
import { headerValue } from '../wire/header-list.ts'
import type { Exchange } from './exchange.ts'

/** How long a client may go on sending a body that was answered already, altogether and without a byte. */
const drainMs = 5000
const quietMs = 1000

/** Facts of a request that the listener finds out. */
export interface Edge {
  readonly clientAddress: (req: IncomingMessage) => string
  /** The headers of every answer to a request, flat. */
  readonly edgeHeaders: (req: IncomingMessage) => readonly string[]
}

/** An exchange over HTTP. A class, because it is one object per exchange on the hot path. */
export class NodeExchange implements Exchange {
  readonly requestId = uuidv7()
  readonly startedAt = performance.now()
  readonly clientAddress: string
  readonly edgeHeaders: readonly string[]
  readonly caller = null
  readonly #req: IncomingMessage
  readonly #res: ServerResponse

  constructor(req: IncomingMessage, res: ServerResponse, edge: Edge) {
    this.#req = req
    this.#res = res
    this.clientAddress = edge.clientAddress(req)
    this.edgeHeaders = edge.edgeHeaders(req)
    // A provider's answer has its own date, and ours get one where they are made.
    res.sendDate = false
  }

  get method(): string {
    return this.#req.method ?? 'GET'
  }

  get url(): string {
    return this.#req.url ?? '/'
  }

  get headers(): readonly string[] {
    return this.#req.rawHeaders
  }

  header(name: string): string | undefined {
    return headerValue(this.#req.rawHeaders, name)
  }

  get body(): Readable {
    return this.#req
  }

  get complete(): boolean {
    return this.#req.complete
  }

  discardRest(): void {
    if (!this.#req.complete) drain(this.#req)
  }

  get status(): number {
    return this.#res.headersSent ? this.#res.statusCode : 0
  }

  get closed(): boolean {
    return this.#res.destroyed
  }

  /** HTTP/1.0 has no chunks, at whose end trailers stand. */
  get takesTrailers(): boolean {
    return this.#req.httpVersionMinor > 0
  }

  head(status: number, statusText: string, headers: string[]): void {
    this.#res.writeHead(status, statusText, headers)
  }

  flushHead(): void {
    this.#res.flushHeaders()
  }

  hint(): void {
    const res = this.#res
    if (this.#req.httpVersionMinor === 0 || res.headersSent || res.socket?.writableNeedDrain === true) return
    res.writeProcessing()
  }

  write(bytes: Uint8Array): boolean {
    return this.#res.write(bytes)
  }

  onceDrained(listener: () => void): void {
    this.#res.once('drain', listener)
  }

  trailers(pairs: [string, string][]): void {
    this.#res.addTrailers(pairs)
  }

  end(bytes?: Uint8Array | string): void {
    if (bytes === undefined) this.#res.end()
    else this.#res.end(bytes)
  }

  destroy(): void {
    this.#res.destroy()
  }

  onceClosed(listener: () => void): void {
    // It comes once, so that `once` would only add a wrapper.
    this.#res.on('close', listener)
  }

  offClosed(listener: () => void): void {
    this.#res.off('close', listener)
  }
}

/**
 * Reads on and discards while a client still sends a request that was answered already: closing at once would reset the connection before the answer
 * is read. Ends when the body does, when it stalls for a while, or when it goes on for too long.
 */
function drain(req: IncomingMessage): void {
  const end = () => void req.destroy()
  let quiet = setTimeout(end, quietMs)
  const longest = setTimeout(end, drainMs)
  req.on('data', () => {
    clearTimeout(quiet)
    quiet = setTimeout(end, quietMs)
  })
  const stop = () => {
    clearTimeout(quiet)
    clearTimeout(longest)
  }
  req.once('end', stop)
  req.once('close', stop)
  req.resume()
}
