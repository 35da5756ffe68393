import { ApiError, toApiError } from '../../lib/errors.ts'
import type { Member } from '../../lib/collections/indexed-set.ts'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { Capture } from '../wire/capture.ts'
import { decompress } from '../wire/encoding.ts'
import type { Outcome } from '../journal/log-record.ts'
import type { EgressCall, EgressHandler } from '../egress/egress.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { FrameCutter } from '../wire/sse.ts'
import { headerValue, type HeaderList, removeHeader } from '../wire/header-list.ts'
import { answerHeaders, answerTrailers } from '../wire/headers.ts'
import { AnswerReader } from '../dialects/answer-reader.ts'
import type { ClientDialectId, DialectId } from '../dialects/dialect.ts'
import type { TokenUsage } from '../dialects/neutral/token-usage.ts'
import { type ToldAnswer, toldNothing } from '../dialects/told-answer.ts'
import { ownAnswers } from '../dialects/own-answers.ts'
import { inertHeaders, privacyOf } from './inert.ts'
import { redirectOf } from './redirect.ts'

export interface RelayOptions {
  readonly exchange: Exchange
  readonly dialect: ClientDialectId
  /** Called before the head is written. Returns our own headers for the answer, flat; null: its attempt does not stand, and another follows. */
  readonly begin: (status: number, theirs: HeaderList) => readonly string[] | null
  /** How many body bytes to keep for the log. */
  readonly keepBytes: number
  /** Header prefixes that are ours: a provider does not speak in our name. */
  readonly prefixes: readonly string[]
  /** `performance.now()` at which an answer that is no stream must be complete. */
  readonly deadlineAt: number
  /** Receives the bytes that the caller gets; null: there is no such listener. */
  readonly heard: { add(chunk: Buffer): void } | null
  /** The format of an answer that may cost; its dialect is null where it is unknown. Null: the answer is free, even if it states usage. */
  readonly metered: { readonly dialect: DialectId | null } | null
  /** Returns the token usage of a translated answer, whose counts may be missing in the caller's bytes. Null: its bytes hold them. */
  readonly counted: () => TokenUsage | null
}

/** How an exchange went, from the provider's first header on. Times are `performance.now()`. */
export interface RelayResult {
  readonly status: number
  readonly outcome: Outcome
  readonly error: ApiError | null
  readonly stream: boolean
  readonly rawHeaders: readonly string[]
  readonly encoding: string | undefined
  readonly capture: Capture
  /** Returns the facts about its cost that it holds. */
  readonly told: () => ToldAnswer
  /** The tokens that a translation counted; null: look at the facts of the answer. */
  readonly counted: TokenUsage | null
  readonly headersAt: number
  readonly firstByteAt: number | null
  readonly lastByteAt: number
}

/** The end of an answer, known before its last byte is written. */
export type RelayEnd =
  /** Passed on, whole or cut off. `release` writes the rest: call it once, when the exchange is recorded. */
  | { readonly kind: 'relayed'; readonly result: RelayResult; readonly release: () => void }
  /** No byte of it was passed on: the provider failed, or the exchange was cut off. */
  | { readonly kind: 'failed'; readonly error: ApiError }
  /** The provider answered, a guardrail keeps the answer back, and one of ours takes its place. */
  | { readonly kind: 'denied'; readonly error: ApiError; readonly result: RelayResult }

/** A provider sends one or two hints, if any. One that sends them without end would fill the memory in which they are kept for the caller. */
const mostForwardedHints = 8
const mostHints = 100

/** The one hint that goes on. Early hints (103) would have a browser load the addresses that a provider names. */
const stillWorking = 102

/**
 * Passes one answer on: status, headers and bytes as they come, frame by frame for server-sent events, with back-pressure both ways.
 * A class, because it is one handler object per exchange on the hot path.
 */
export class Relay implements EgressHandler, Member {
  slot = -1
  readonly ended: Promise<RelayEnd>
  readonly #options: RelayOptions
  readonly #resolve: (end: RelayEnd) => void
  readonly #capture: Capture
  readonly #packed = new ByteList()
  /** Undefined before the first byte. */
  #reader: AnswerReader | null | undefined
  #call: EgressCall | null = null
  #frames: FrameCutter | null = null
  #timer: NodeJS.Timeout | null = null
  #status = 0
  #statusMessage = ''
  #begun = false
  #rawHeaders: readonly string[] = []
  #stream = false
  #expected = -1
  #last: Buffer | null = null
  #headersAt = 0
  #firstByteAt: number | null = null
  #settled = false
  #denied = false
  #waiting = false
  #hints = 0

  constructor(options: RelayOptions) {
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<RelayEnd>()
    this.ended = promise
    this.#resolve = resolve
    this.#capture = new Capture(options.keepBytes)
    options.exchange.onceClosed(this.#onClose)
  }

  /** Sets the call to stop when the client leaves. */
  attach(call: EgressCall): void {
    this.#call = call
    if (!this.#settled && this.#options.exchange.closed) this.#onClose()
  }

  /** Hints may be lost, and are where the caller does not read them; an answer may not. */
  onInformation(status: number): void {
    this.#hints += 1
    if (this.#hints > mostHints) {
      this.cut(new ApiError('upstream_bad_response', `The provider sent more than ${mostHints} informational answers and no other.`))
    }
    if (status === stillWorking && this.#hints <= mostForwardedHints) this.#options.exchange.hint()
  }

  /** True while the answer has not ended. */
  get open(): boolean {
    return !this.#settled
  }

  /** Notes when the answer began, for one whose head is held back. */
  arrived(): void {
    if (this.#headersAt === 0) this.#headersAt = performance.now()
  }

  /** Lets the provider wait. */
  pauseProvider(): void {
    this.#call?.pause()
  }

  /** Lets it go on, unless the caller does not keep up. */
  resumeProvider(): void {
    if (!this.#waiting) this.#call?.resume()
  }

  /** Gives the answer another head. Only before its first byte. */
  replaceHead(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    this.#status = status
    this.#statusMessage = statusMessage
    this.#rawHeaders = rawHeaders
    const length = headerValue(rawHeaders, 'content-length')
    this.#expected = length === undefined ? -1 : Number(length)
  }

  /** Ends an answer that may not be passed on, and of which no byte has been; `seen` is its withheld body. */
  deny(error: ApiError, seen: Buffer): void {
    if (this.#settled) return
    this.#call?.abort()
    this.#denied = true
    this.#take(seen)
    this.#forget()
    this.#resolve({ kind: 'denied', error, result: this.#result('error', error) })
  }

  /** Shows the client of a stream that has begun that more will come. Only before its first content. */
  sign(): void {
    if (this.#begun && !this.#settled && this.#frames !== null && !this.#waiting) this.#write(signOfLife)
  }

  /** A stream begins at once. For any other answer the head waits for the first byte, so that a provider that falls silent can still be reported. */
  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    const redirect = redirectOf(status, rawHeaders)
    if (redirect !== null) return this.cut(redirect)
    this.#status = status
    this.#statusMessage = statusMessage
    this.#rawHeaders = rawHeaders
    this.arrived()
    this.#stream = headerValue(rawHeaders, 'content-type')?.toLowerCase().startsWith('text/event-stream') ?? false
    const length = headerValue(rawHeaders, 'content-length')
    this.#expected = length === undefined ? -1 : Number(length)
    if (!this.#stream) {
      this.#timer = setTimeout(cutLate, Math.max(1, this.#options.deadlineAt - this.#headersAt), this)
    } else if (this.#begin()) {
      this.#options.exchange.flushHead()
      if (headerValue(rawHeaders, 'content-encoding') === undefined) this.#frames = new FrameCutter()
    }
  }

  /** Writes the head, once. Node refuses header values that no client may see; then the answer is not passed on at all. */
  #begin(): boolean {
    if (this.#begun || this.#settled) return this.#begun
    const { exchange, begin, prefixes } = this.#options
    const theirs = answerHeaders(this.#rawHeaders, prefixes)
    const ownHeaders = begin(this.#status, theirs)
    if (ownHeaders === null) {
      this.deny(new ApiError('hooks_failed', 'A guardrail has failed for this answer, and another target is tried.'), nothingSeen)
      return false
    }
    // Node takes a `Trailer` header in a chunked answer only.
    if (this.#expected !== -1 || !mayBeChunked(exchange, this.#status)) removeHeader(theirs, 'trailer')
    const inert = inertHeaders(exchange, theirs)
    const headers = theirs.concat(ownHeaders, privacyOf(this.#rawHeaders), inert, requestIds(theirs, exchange.requestId))
    try {
      exchange.head(this.#status, this.#statusMessage, headers)
      this.#begun = true
    } catch (cause) {
      this.cut(new ApiError('upstream_bad_response', 'The provider answered with headers that are not valid HTTP.', { cause }))
    }
    return this.#begun
  }

  onData(chunk: Buffer): void {
    // The content of a denied answer is not passed on, but its usage is read.
    if (!this.#begin()) return this.#denied ? this.#take(chunk) : undefined
    this.#firstByteAt ??= performance.now()
    this.#take(chunk)
    this.#options.heard?.add(chunk)
    if (this.#frames !== null) {
      const whole = this.#frames.push(chunk)
      if (whole !== null) this.#write(whole)
    } else if (this.#capture.size === this.#expected) this.#last = chunk
    else this.#write(chunk)
  }

  /** Keeps and reads a chunk. Compressed bytes are read when all are there. */
  #take(chunk: Buffer): void {
    this.#capture.add(chunk)
    if (this.#reader === undefined) this.#reader = this.#encoding === undefined ? this.#newReader() : null
    if (this.#reader !== null) this.#reader.add(chunk)
    else if (this.#options.metered !== null && this.#packed.size < mostPacked) this.#packed.push(chunk)
  }

  #newReader(): AnswerReader | null {
    const { metered } = this.#options
    const type = headerValue(this.#rawHeaders, 'content-type')?.toLowerCase() ?? ''
    return metered === null ? null : new AnswerReader(metered.dialect, type)
  }

  get #encoding(): string | undefined {
    const encoding = headerValue(this.#rawHeaders, 'content-encoding')?.toLowerCase()
    return encoding === 'identity' ? undefined : encoding
  }

  readonly #told = (): ToldAnswer => {
    const encoding = this.#encoding
    if (encoding === undefined) return this.#reader?.told() ?? toldNothing
    const reader = this.#newReader()
    const isKept = this.#capture.head().length === this.#capture.size
    reader?.add(isKept ? this.#capture.plain(encoding) : decompress(this.#packed.join(), encoding))
    return reader?.told() ?? toldNothing
  }

  onEnd(rawTrailers: readonly string[]): void {
    if (!this.#begin()) return
    const { exchange, prefixes } = this.#options
    const rest = this.#frames?.rest() ?? this.#last
    if (rawTrailers.length > 0) exchange.trailers(answerTrailers(rawTrailers, prefixes))
    this.#settle('complete', null, () => {
      if (rest === null) exchange.end()
      else exchange.end(rest)
    })
  }

  onError(thrown: Error): void {
    this.#end(toApiError(thrown))
  }

  /** Ends an exchange that may not run on: before the head with an answer of our own, later as a provider's failure would. */
  cut(error: ApiError, outcome: Outcome = 'incomplete'): void {
    if (this.#settled) return
    this.#call?.abort()
    this.#end(error, outcome)
  }

  #end(error: ApiError, outcome: Outcome = 'incomplete'): void {
    if (this.#begun) {
      this.#breakOff(error, outcome)
      return
    }
    this.#forget()
    this.#resolve({ kind: 'failed', error })
  }

  readonly #onClose = (): void => {
    if (this.#settled) return
    this.#call?.abort()
    this.#settle('client_closed', new ApiError('client_closed', 'The client left before the answer was complete.'), nothingLeft)
  }

  #write(bytes: Buffer): void {
    const { exchange } = this.#options
    if (exchange.write(bytes) || this.#waiting) return
    this.#waiting = true
    this.#call?.pause()
    exchange.onceDrained(() => {
      this.#waiting = false
      this.#call?.resume()
    })
  }

  /**
   * After the first byte a failure can only be reported in-band, in a stream; elsewhere the connection ends short, so that no client takes it for
   * whole.
   */
  #breakOff(error: ApiError, outcome: Outcome): void {
    const { exchange, dialect } = this.#options
    this.#settle(outcome, error, () => {
      if (this.#frames === null) exchange.destroy()
      else exchange.end(ownAnswers[dialect].errorEvent(error, exchange.requestId))
    })
  }

  #settle(outcome: Outcome, error: ApiError | null, release: () => void): void {
    if (this.#settled) return
    this.#forget()
    this.#resolve({ kind: 'relayed', result: this.#result(outcome, error), release })
  }

  #result(outcome: Outcome, error: ApiError | null): RelayResult {
    return {
      status: this.#status === 0 ? (error?.status ?? 0) : this.#status,
      outcome,
      error,
      stream: this.#stream,
      rawHeaders: this.#rawHeaders,
      encoding: this.#encoding,
      capture: this.#capture,
      told: this.#told,
      counted: this.#options.counted(),
      headersAt: this.#headersAt,
      firstByteAt: this.#firstByteAt,
      lastByteAt: performance.now(),
    }
  }

  #forget(): void {
    this.#settled = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#options.exchange.offClosed(this.#onClose)
  }
}

const cutLate = (relay: Relay): void => relay.cut(new ApiError('upstream_timeout', 'The provider did not finish its answer in time.'))
const signOfLife = Buffer.from(': ping\n\n')
/** Bytes of a compressed answer that are held to be read, independent of the log's bound. */
const mostPacked = 2 * 1024 * 1024
const nothingLeft = (): void => {}
const nothingSeen = Buffer.alloc(0)

/** Returns true if this answer may come in chunks, and so with trailers. */
function mayBeChunked({ takesTrailers, method }: Exchange, status: number): boolean {
  return takesTrailers && method !== 'HEAD' && status !== 204 && status !== 304
}

/** OpenAI's clients read the one header, Anthropic's the other; a provider's own stays. */
function requestIds(theirs: readonly string[], requestId: string): readonly string[] {
  const hasOne = headerValue(theirs, 'x-request-id') !== undefined
  const hasOther = headerValue(theirs, 'request-id') !== undefined
  if (hasOne) return hasOther ? none : ['request-id', requestId]
  return hasOther ? ['x-request-id', requestId] : ['x-request-id', requestId, 'request-id', requestId]
}

const none: readonly string[] = []
