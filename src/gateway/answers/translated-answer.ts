import { exactJson } from '../../lib/json/exact-json.ts'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { cutShort, tooLarge } from './cut-short.ts'
import type { AnswerContext, ClientCodec, Frame, StreamFraming, ProviderCodec, StreamDecoder, StreamEncoder } from '../dialects/codec.ts'
import { foldEvents } from '../dialects/neutral/answer.ts'
import type { NeutralError } from '../dialects/neutral/error.ts'
import { fitAnswer } from '../dialects/neutral/fit-answer.ts'
import type { NeutralEvent } from '../dialects/neutral/events.ts'
import { inClientWords } from '../dialects/neutral/field-names.ts'
import { mergeUsage, type TokenUsage } from '../dialects/neutral/token-usage.ts'
import { namesContextWindow } from '../dialects/provider-error.ts'
import type { WayBack } from '../dialects/way-back.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { headerValue } from '../wire/header-list.ts'
import { type FrameReader, frameReader, type FrameWriter, frameWriter } from './framing.ts'
import { headersFor } from './inspect/answer-head.ts'
import { SignsOfLife } from './signs-of-life.ts'
import { rateHeaders, withRetryAfter } from './rate-headers.ts'
import { jsonIn, statusFor, textOf, toAnswerFault } from './translated-body.ts'
import { refusedAnswer, type UnusedAnswer } from './unused-answer.ts'

export interface TranslatedAnswerOptions {
  /** Takes the answer in the caller's dialect. */
  readonly inner: EgressHandler
  readonly client: ClientCodec
  readonly provider: ProviderCodec
  readonly context: AnswerContext
  readonly back: WayBack | null
  /** How the caller reads a stream. */
  readonly framing: StreamFraming
  /** The bytes that are held of an answer that the caller wants whole, or of which no byte has gone on. */
  readonly maxHeldBytes: number
  /** The longest wait for the first content of a stream until its head goes on; null: any. */
  readonly opensAfterMs: number | null
  /** Epoch milliseconds. */
  readonly now: () => number
}

interface Head {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly statusMessage: string
}

/** A comment, which is part of no format. */
const signOfLife: Frame = { name: null, data: null }

const noEvents: readonly NeutralEvent[] = []

type Mode = 'head' | 'error' | 'whole' | 'stream' | 'over'

/**
 * Turns an answer of one dialect into one of another: a stream event by event, any other when it is whole. The head of a stream waits for the first
 * event with content, so that a provider that fails at once is answered with its status. A class, because it is one handler object per answer with
 * much state.
 */
export class TranslatedAnswer implements EgressHandler {
  readonly #options: TranslatedAnswerOptions
  readonly #held = new ByteList()
  #heldBytes = 0
  readonly #encoder: StreamEncoder | null
  readonly #writer: FrameWriter
  readonly #life: SignsOfLife
  readonly #fit = fitAnswer()
  #mode: Mode = 'head'
  #head: Head = { status: 0, rawHeaders: [], statusMessage: '' }
  #reader: FrameReader | null = null
  #decoder: StreamDecoder | null = null
  #hasBegun = false
  #isWhole = false
  #waiting: Frame[] = []
  #usage: TokenUsage | null = null
  #providerError: string | null = null
  /** The provider's answer, unless the caller got it: it may state its usage all the same. */
  #unread: string | null = null

  constructor(options: TranslatedAnswerOptions) {
    this.#options = options
    this.#writer = frameWriter(options.framing)
    this.#encoder = options.context.request.stream ? options.client.stream.encoder(options.context) : null
    const open = (): void => this.#try(() => this.#open())
    this.#life = new SignsOfLife(this.#encoder === null ? null : options.opensAfterMs, { open, sign: () => this.#sign() })
  }

  /** Forgets its timer. Returns the milliseconds after which the head of a stream went out without any content; null: it did not. */
  close(): number | null {
    this.#life.stop()
    return this.#life.openedMs
  }

  /** The error of the provider in its own words; null: it gave none. */
  get providerError(): string | null {
    return this.#providerError
  }

  /** The provider's answer that is an error, or none of its API; null: it is neither, or its usage so far was read. */
  get refused(): UnusedAnswer | null {
    return this.#unread === null ? null : refusedAnswer(Buffer.from(this.#unread), this.#options.provider.id)
  }

  /** The tokens that the answer used, as far as it stated them. */
  get usage(): TokenUsage | null {
    return this.#usage
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    this.#options.inner.onInformation?.(status, rawHeaders)
  }

  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    this.#head = { status, rawHeaders, statusMessage }
    const { provider, context } = this.#options
    if (status < 200 || status > 299) this.#mode = 'error'
    else {
      const type = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
      this.#reader = frameReader(provider.framing, type)
      if (this.#reader === null) this.#mode = 'whole'
      else if (headerValue(rawHeaders, 'content-encoding') !== undefined)
        this.#break(cutShort('The provider sent a compressed stream, which was not asked for.'))
      else {
        this.#mode = 'stream'
        this.#decoder = provider.stream.decoder(context)
        this.#life.await()
      }
    }
  }

  onData(chunk: Buffer): void {
    if (this.#mode === 'over') return
    if (this.#mode !== 'stream') this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#isHeld && this.#heldBytes > this.#options.maxHeldBytes) return this.#break(tooLarge(this.#options.maxHeldBytes))
    if (this.#mode === 'stream') this.#try(() => this.#frames(this.#reader?.push(chunk) ?? null))
  }

  /** True while no byte goes on: an answer that the caller wants whole, and a stream before its first event with content. */
  get #isHeld(): boolean {
    return this.#encoder === null || !this.#hasBegun
  }

  onEnd(): void {
    if (this.#mode === 'stream') this.#try(() => this.#endStream())
    else if (this.#mode === 'error') this.#try(() => this.#failWhole())
    else if (this.#mode === 'whole') this.#try(() => this.#translateWhole())
    else if (this.#mode === 'over' && this.#isWhole) this.#options.inner.onEnd([])
    this.#mode = 'over'
    this.#life.stop()
  }

  onError(error: Error): void {
    this.#life.stop()
    if (this.#mode === 'over' && !this.#isWhole) return
    this.#mode = 'over'
    this.#options.inner.onError(error)
  }

  /** A fault of a translator ends its answer only. */
  #try(step: () => void): void {
    try {
      step()
    } catch (thrown) {
      this.#mode = 'over'
      this.#options.inner.onError(toAnswerFault(thrown))
    }
  }

  #break(error: ApiError): void {
    this.#mode = 'over'
    this.#life.stop()
    this.#held.clear()
    this.#options.inner.onError(error)
  }

  #frames(frames: readonly Frame[] | null): void {
    if (frames === null) return this.#break(cutShort('The provider sent an event that is too long, or is damaged.'))
    const written: Frame[] = []
    for (const frame of frames) {
      const events = this.#decoder?.frame(frame) ?? noEvents
      if (events.at(-1)?.type === 'error') this.#providerError = frame.data
      this.#takeAll(events, written)
    }
    this.#write(written)
  }

  #takeAll(events: readonly NeutralEvent[], written: Frame[]): void {
    const { back } = this.#options
    for (const event of events) {
      if (back === null) this.#takeFitted(event, written)
      else for (const turned of back(event)) this.#takeFitted(turned, written)
    }
  }

  #takeFitted(event: NeutralEvent, written: Frame[]): void {
    const fitted = this.#fit(event)
    if ('type' in fitted) this.#take(fitted, written)
    else for (const one of fitted) this.#take(one, written)
  }

  #take(event: NeutralEvent, written: Frame[]): void {
    if (this.#isWhole) return
    if (event.type === 'error') return this.#takeError(event, written)
    if (event.type === 'usage') this.#usage = mergeUsage(this.#usage, event.usage)
    if (event.type === 'end') this.#isWhole = true
    if (event.type !== 'start' && event.type !== 'usage' && event.type !== 'ping') this.#begin()
    if (this.#encoder !== null) written.push(...this.#encoder.event(event))
    else this.#events.push(event)
  }

  #takeError(event: NeutralEvent & { readonly type: 'error' }, written: Frame[]): void {
    this.#isWhole = true
    this.#life.stop()
    if (!this.#hasBegun) {
      if (this.#usage === null) this.#unread = this.#providerError
      return this.#fail(event.error)
    }
    if (this.#encoder === null) this.#events.push(event)
    else written.push(...this.#encoder.event({ type: 'error', error: this.#inClientWords(event.error) }))
  }

  /** Returns an error that names the field in the client's dialect, and has the client's code for a request that is too long for its model. */
  #inClientWords(error: NeutralError): NeutralError {
    const { client, provider } = this.#options
    const named = inClientWords(error, provider.error.fields, client.names)
    const { tooLong } = client.error
    return tooLong !== undefined && namesContextWindow(error) ? { ...named, code: tooLong } : named
  }

  /** The events of a stream that the caller wants whole. */
  readonly #events: NeutralEvent[] = []

  /** The answer was silent for so long that the head goes on, with the provider's facts so far. */
  #open(): void {
    this.#sendHead()
    this.#write([])
  }

  #sign(): void {
    this.#write([signOfLife])
  }

  #begin(): void {
    this.#life.stop()
    if (!this.#hasBegun) this.#sendHead()
  }

  #sendHead(): void {
    this.#hasBegun = true
    if (this.#encoder === null) return
    const { status, statusMessage } = this.#head
    this.#options.inner.onHeaders(status, this.#headers(this.#writer.contentType, null), statusMessage)
  }

  #headers(type: string, length: number | null): readonly string[] {
    const { client, provider, now } = this.#options
    return rateHeaders(headersFor(this.#head.rawHeaders, length, type), { from: provider.id, to: client.id, now: now() })
  }

  #write(frames: readonly Frame[]): void {
    if (!this.#hasBegun) {
      this.#waiting.push(...frames)
      return
    }
    const all = this.#waiting.length === 0 ? frames : [...this.#waiting, ...frames]
    this.#waiting = []
    if (all.length > 0) this.#options.inner.onData(Buffer.from(this.#writer.write(all)))
  }

  #endStream(): void {
    const rest = this.#reader?.end() ?? null
    this.#frames(rest)
    const written: Frame[] = []
    if (!this.#isOver) this.#takeAll(this.#decoder?.end() ?? [], written)
    this.#write(written)
    if (this.#isOver) return
    if (!this.#isWhole) return this.#break(cutShort('The provider broke its stream off before it was complete.'))
    if (this.#encoder === null) this.#send(this.#events)
    else this.#close()
  }

  #close(): void {
    const rest = this.#writer.end()
    if (rest !== '') this.#options.inner.onData(Buffer.from(rest))
    this.#options.inner.onEnd([])
  }

  get #isOver(): boolean {
    return this.#mode === 'over'
  }

  #translateWhole(): void {
    const text = textOf(this.#held, this.#head.rawHeaders)
    const json = jsonIn(text)
    this.#unread = text
    const { provider, context, back } = this.#options
    const events = provider.answer.decode(json, context)
    const turned = (back === null ? events : events.flatMap((event) => back(event))).flatMap(this.#fit)
    const last = turned.at(-1)
    if (last?.type === 'error') {
      this.#providerError = JSON.stringify(json)
      return this.#fail(last.error)
    }
    if (last?.type !== 'end') return this.#break(new ApiError('upstream_bad_response', 'The answer of the provider is not one of its API.'))
    if (this.#encoder === null) this.#send(turned)
    else this.#writeWhole(turned)
    this.#unread = null
  }

  #writeWhole(turned: readonly NeutralEvent[]): void {
    const written: Frame[] = []
    for (const event of turned) this.#take(event, written)
    this.#begin()
    this.#write(written)
    this.#close()
  }

  #send(events: readonly NeutralEvent[]): void {
    const answer = foldEvents(events)
    this.#usage = answer.usage
    if (answer.error !== null) return this.#fail(answer.error)
    this.#answer(this.#options.client.answer.encode(answer, this.#options.context))
  }

  #failWhole(): void {
    const text = textOf(this.#held, this.#head.rawHeaders)
    const json = jsonIn(text)
    this.#unread = text
    this.#providerError = typeof json === 'string' ? json : JSON.stringify(json)
    this.#fail(this.#options.provider.error.decode(this.#head.status, json))
  }

  /** Answers with a provider's failure. */
  #fail(error: NeutralError): void {
    const { client, context } = this.#options
    const status = statusFor(client.id, error)
    const { rawHeaders, statusMessage } = this.#head
    this.#head = {
      status,
      rawHeaders: withRetryAfter(rawHeaders, error.retryAfter),
      statusMessage: status === this.#head.status ? statusMessage : '',
    }
    this.#mode = 'over'
    this.#isWhole = false
    this.#answer(client.error.encode({ ...this.#inClientWords(error), status }, context.requestId))
  }

  #answer(body: object): void {
    const { inner } = this.#options
    const bytes = Buffer.from(exactJson(body))
    inner.onHeaders(this.#head.status, this.#headers('application/json', bytes.length), this.#head.statusMessage)
    inner.onData(bytes)
    inner.onEnd([])
  }
}
