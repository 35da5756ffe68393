import { ByteList } from '../../../lib/collections/byte-list.ts'
import { ApiError } from '../../../lib/errors.ts'
import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { duration } from '../../egress/failures.ts'
import type { Egress, EgressCall } from '../../egress/egress.ts'
import { egressFor } from '../../egress/narrowed.ts'
import { type HeaderList, headerValue } from '../../wire/header-list.ts'
import { type McpEvent, McpEventReader } from '../protocol/events.ts'
import type { UpstreamBounds, UpstreamServer } from './upstream-request.ts'

/** One request of HTTP to a server of MCP. */
export interface HttpAsk {
  readonly server: UpstreamServer
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Another address of the same origin; absent: that of the server. */
  readonly url?: string
  readonly headers: HeaderList
  readonly body: string | null
  readonly signal: AbortSignal
  /** True for a stream that may be silent, and open, for as long as its client is there. */
  readonly isStanding?: boolean
}

/** Takes the parts of an answer as they come. */
export interface HttpEars {
  head?(status: number, headers: HeaderList): void
  /** A message that is JSON; `undefined`: it is none. */
  message(value: unknown, event: McpEvent | null): void
}

/** The end of an exchange. */
export interface HttpEnd {
  readonly status: number
  readonly headers: HeaderList
  readonly isStream: boolean
  /** From which event on a broken stream may be asked for again; null: it may not. */
  readonly lastEventId: string | null
  readonly retryMs: number | null
}

export interface HttpDeps {
  readonly egress: Egress
  readonly bounds: UpstreamBounds
}

/** A standing stream is silent for so long before it is taken for broken. */
const standingIdleMs = 60 * 60 * 1000
const userAgent = 'gatehouse'

/** Sends a request to a server and reads its answer, message by message. Rejects with `upstream_*` and `client_closed`. */
export async function exchangeWith(deps: HttpDeps, ask: HttpAsk, ears: HttpEars): Promise<HttpEnd> {
  const { server, signal } = ask
  const url = new URL(ask.url ?? server.url)
  const origin = await egressFor(deps.egress, { allowedHosts: null, ...server }).origin(url.origin, 'url')
  if (signal.aborted) throw left()
  const { promise, resolve, reject } = Promise.withResolvers<HttpEnd>()
  const reader = new AnswerReader(deps.bounds, ears)
  const idleMs = ask.isStanding === true ? standingIdleMs : deps.bounds.idleMs
  const fail = (error: Error) => {
    call.abort()
    reject(error)
  }
  const call: EgressCall = origin.send(
    {
      method: ask.method,
      path: url.pathname + url.search,
      headers: headersOf(ask),
      body: ask.body === null ? null : Buffer.from(ask.body),
      timeouts: { firstByteMs: ask.isStanding === true ? deps.bounds.idleMs : idleMs, idleMs },
    },
    {
      onHeaders: (status, headers) => attempt(() => reader.head(status, headers), fail),
      onData: (chunk) => attempt(() => reader.data(chunk), fail),
      onEnd: () => attempt(() => resolve(reader.end()), fail),
      onError: reject,
    },
  )
  const onAbort = () => fail(left())
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = ask.isStanding === true ? undefined : setTimeout(() => fail(tooLong(deps.bounds.totalMs)), deps.bounds.totalMs)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

function attempt(work: () => void, fail: (error: Error) => void): void {
  try {
    work()
  } catch (thrown) {
    fail(thrown instanceof Error ? thrown : new Error('the answer could not be read', { cause: thrown }))
  }
}

function headersOf({ method, server, headers, body }: HttpAsk): string[] {
  return [
    'user-agent',
    userAgent,
    'accept',
    method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    ...(body === null ? [] : ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))]),
    ...headers,
    ...server.headers,
  ]
}

const left = () => new ApiError('client_closed', 'The call was cancelled.')
const tooLong = (ms: number) => new ApiError('upstream_timeout', `The MCP server did not finish within ${duration(ms)}.`)

/** More of an answer that is no message is not read. */
const mostOfOther = 64 * 1024

/** Reads one answer. A class, because it keeps the part that has come. */
class AnswerReader {
  readonly #bounds: UpstreamBounds
  readonly #ears: HttpEars
  readonly #whole = new ByteList()
  readonly #events: McpEventReader
  #status = 0
  #headers: HeaderList = []
  #isStream = false
  #isJson = false
  #lastEventId: string | null = null
  #retryMs: number | null = null

  constructor(bounds: UpstreamBounds, ears: HttpEars) {
    this.#bounds = bounds
    this.#ears = ears
    this.#events = new McpEventReader(bounds.resultBytes)
  }

  head(status: number, headers: HeaderList): void {
    if (status >= 300 && status < 400)
      throw new ApiError('upstream_bad_response', `The MCP server answered with a redirect (${status}), which is not followed.`)
    const encoding = headerValue(headers, 'content-encoding')?.toLowerCase() ?? 'identity'
    if (encoding !== 'identity') throw new ApiError('upstream_bad_response', 'The MCP server compressed its answer unasked.')
    const type = headerValue(headers, 'content-type')?.toLowerCase() ?? ''
    this.#status = status
    this.#headers = headers
    this.#isStream = type.startsWith('text/event-stream')
    this.#isJson = type.startsWith('application/json')
    this.#ears.head?.(status, headers)
  }

  data(chunk: Buffer): void {
    if (!this.#isStream) {
      this.#whole.push(chunk)
      const most = this.#isJson ? this.#bounds.resultBytes : mostOfOther
      if (this.#whole.size <= most) return
      if (this.#isJson) throw tooBig(most)
      this.#whole.clear()
      return
    }
    const events = this.#events.push(chunk)
    if (events === null) throw tooBig(this.#bounds.resultBytes)
    for (const event of events) this.#take(event)
  }

  #take(event: McpEvent): void {
    this.#lastEventId = event.id ?? this.#lastEventId
    this.#retryMs = event.retryMs ?? this.#retryMs
    if (event.data === '') return
    this.#ears.message(event.name === null || event.name === 'message' ? exactOrUndefined(event.data) : undefined, event)
  }

  end(): HttpEnd {
    if (this.#isJson && this.#whole.size > 0) {
      const value = exactOrUndefined(this.#whole.join().toString('utf8'))
      for (const message of Array.isArray(value) ? value.slice(0, mostInBatch) : [value]) this.#ears.message(message, null)
    }
    return {
      status: this.#status,
      headers: this.#headers,
      isStream: this.#isStream,
      lastEventId: this.#lastEventId,
      retryMs: this.#retryMs,
    }
  }
}

/** A server of 2025-03-26 may answer in a batch. */
const mostInBatch = 1000

const tooBig = (bytes: number) =>
  new ApiError('upstream_bad_response', `The MCP server sent more than ${Math.round(bytes / 1024)} KiB, the most that a result may have.`)

/** Returns the fault of an answer without a message. It never repeats the server's words, which may hold configuration. */
export function statusFault(status: number): ApiError {
  if (status === 401 || status === 403)
    return new ApiError(
      'credential_failed',
      `The MCP server refused the stored credential (HTTP ${status}). An administrator must renew it.`,
    )
  if (status === 404) return new ApiError('upstream_bad_response', 'The MCP server has no endpoint at the stored address (HTTP 404).')
  if (status === 429) return new ApiError('rate_limited', 'The MCP server refuses more requests for now.', { retryAfter: 5 })
  return new ApiError('upstream_bad_response', `The MCP server answered HTTP ${status} without a message of JSON-RPC.`)
}
