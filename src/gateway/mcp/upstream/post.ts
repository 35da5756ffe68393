import { ByteList } from '../../../lib/collections/byte-list.ts'
import { ApiError, toApiError } from '../../../lib/errors.ts'
import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { hasTooManyValues, mostValues } from '../../../lib/json/many-values.ts'
import { longBytes, longTurns } from '../../../lib/shares/long-turns.ts'
import { duration } from '../../egress/failures.ts'
import type { Egress, EgressCall } from '../../egress/egress.ts'
import { egressFor } from '../../egress/narrowed.ts'
import { type HeaderList, headerValue } from '../../wire/header-list.ts'
import { type McpEvent, McpEventReader } from '../protocol/events.ts'
import type { RequestMark, UpstreamBounds, UpstreamServer } from './upstream-request.ts'

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
  /** Called when it goes out, and when the server refuses it by its status. */
  readonly mark?: ((mark: RequestMark) => void) | undefined
}

/** Takes the parts of an answer as they come. */
export interface HttpEars {
  head?(status: number, headers: HeaderList): void
  /** Returns whether the message in a long text is wanted at all: others are not read. Absent: all are. */
  wants?(text: string): boolean
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
export async function exchangeOnce(deps: HttpDeps, ask: HttpAsk, ears: HttpEars): Promise<HttpEnd> {
  const { server, signal } = ask
  const url = new URL(ask.url ?? server.url)
  const origin = await egressFor(deps.egress, { allowedHosts: null, ...server }).origin(url.origin, 'url')
  if (signal.aborted) throw faultOfAbort(signal)
  const { promise, resolve, reject } = Promise.withResolvers<HttpEnd>()
  const isStanding = ask.isStanding === true
  let isOver = false
  const fail = (error: Error) => {
    isOver = true
    call.abort()
    reject(error)
  }
  const step = stepsInTurns({
    organisationId: server.organisationId,
    isOver: () => isOver,
    fail,
    pause: () => call.pause(),
    resume: () => call.resume(),
  })
  const reader = new AnswerReader({ bounds: deps.bounds, ears, isStanding, step })
  const idleMs = isStanding ? standingIdleMs : deps.bounds.idleMs
  const end = () => {
    isOver = true
    resolve(reader.end())
  }
  const call: EgressCall = origin.send(
    {
      method: ask.method,
      path: url.pathname + url.search,
      headers: headersOf(ask),
      body: ask.body === null ? null : Buffer.from(ask.body),
      noteSent: () => ask.mark?.('sent'),
      timeouts: { firstByteMs: deps.bounds.idleMs, idleMs },
    },
    {
      onHeaders(status, headers) {
        if (status >= 300 && status < 500) ask.mark?.('refused')
        attempt(() => reader.head(status, headers), fail)
      },
      onData: (chunk) => attempt(() => reader.data(chunk), fail),
      onEnd: () => step({ bytes: reader.wholeBytes, run: end }),
      onError: reject,
    },
  )
  const onAbort = () => fail(faultOfAbort(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = isStanding ? undefined : setTimeout(() => fail(tooLong(deps.bounds.totalMs)), deps.bounds.totalMs)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** A part of reading an answer. */
interface ReadingStep {
  /** The bytes that it reads at once. */
  readonly bytes: number
  readonly run: () => void
}

interface StepMeans {
  readonly organisationId: string
  readonly isOver: () => boolean
  readonly fail: (error: Error) => void
  readonly pause: () => void
  readonly resume: () => void
}

/** Returns a way to take steps in their order. A long one waits for its turn at the event loop, and no more is taken from the server meanwhile. */
function stepsInTurns({ organisationId, isOver, fail, pause, resume }: StepMeans): (step: ReadingStep) => void {
  const waiting: ReadingStep[] = []
  let isBusy = false

  async function work(): Promise<void> {
    isBusy = true
    pause()
    for (let step = waiting.shift(); step !== undefined && !isOver(); step = waiting.shift()) {
      try {
        await longTurns.before(organisationId, step.bytes, { isWanted: () => !isOver() })
      } catch (thrown) {
        return fail(toApiError(thrown))
      }
      if (!isOver()) attempt(step.run, fail)
    }
    isBusy = false
    if (!isOver()) resume()
  }

  return (step) => {
    if (isBusy || step.bytes > longBytes) waiting.push(step)
    else attempt(step.run, fail)
    if (!isBusy && waiting.length > 0) void work()
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

/** A signal ends a request when its time is up, or when its client leaves. */
const faultOfAbort = ({ reason }: AbortSignal): ApiError =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? new ApiError('upstream_timeout', 'The MCP server did not answer in time.')
    : new ApiError('client_closed', 'The call was cancelled.')
/** Returns the error of a call that takes longer than it may. */
export const tooLong = (ms: number): ApiError => new ApiError('upstream_timeout', `The MCP server did not finish within ${duration(ms)}.`)

/** More of an answer that is no message is not read. */
const mostOfOther = 64 * 1024

/** One exchange has so many times the bytes of one result; a standing stream has more in a minute. */
const mostResults = { ofCall: 4, ofMinute: 16 }
const minuteMs = 60_000

interface ReaderParts {
  readonly bounds: UpstreamBounds
  readonly ears: HttpEars
  readonly isStanding: boolean
  readonly step: (step: ReadingStep) => void
}

/** Reads one answer. A class, because it keeps the part that has come. */
class AnswerReader {
  readonly #bounds: UpstreamBounds
  readonly #ears: HttpEars
  readonly #isStanding: boolean
  readonly #step: ReaderParts['step']
  #read = 0
  #countedFrom = performance.now()
  readonly #whole = new ByteList()
  readonly #events: McpEventReader
  #status = 0
  #headers: HeaderList = []
  #isStream = false
  #isJson = false
  #lastEventId: string | null = null
  #retryMs: number | null = null

  constructor({ bounds, ears, isStanding, step }: ReaderParts) {
    this.#bounds = bounds
    this.#ears = ears
    this.#isStanding = isStanding
    this.#step = step
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

  /** The bytes that `end` reads at once. */
  get wholeBytes(): number {
    return this.#isJson ? this.#whole.size : 0
  }

  /** Bounds a stream as a whole: each of its events may be as long as a result. */
  #count(bytes: number): void {
    const now = performance.now()
    if (this.#isStanding && now - this.#countedFrom > minuteMs) {
      this.#countedFrom = now
      this.#read = 0
    }
    this.#read += bytes
    const most = this.#bounds.resultBytes * (this.#isStanding ? mostResults.ofMinute : mostResults.ofCall)
    if (this.#read > most) throw tooMuch(most)
  }

  data(chunk: Buffer): void {
    this.#count(chunk.length)
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
    for (const event of events) this.#step({ bytes: event.data.length, run: () => this.#take(event) })
  }

  #take(event: McpEvent): void {
    this.#lastEventId = event.id ?? this.#lastEventId
    this.#retryMs = event.retryMs ?? this.#retryMs
    if (event.data === '') return
    const isMessage = event.name === null || event.name === 'message'
    if (isMessage && event.data.length > longBytes && this.#ears.wants?.(event.data) === false) return
    this.#ears.message(isMessage ? valueOf(event.data) : undefined, event)
  }

  end(): HttpEnd {
    if (this.#isJson && this.#whole.size > 0) {
      const value = valueOf(this.#whole.join().toString('utf8'))
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

function valueOf(text: string): unknown {
  if (hasTooManyValues(text))
    throw new ApiError(
      'upstream_bad_response',
      `The MCP server sent a message with more than ${mostValues} values, the most that one may have.`,
    )
  return exactOrUndefined(text)
}

const tooMuch = (bytes: number) =>
  new ApiError(
    'upstream_bad_response',
    `The MCP server sent more than ${Math.round(bytes / 1024)} KiB on one stream, the most that one may have.`,
  )
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
