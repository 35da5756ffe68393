import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { type AnswerFault, type AnsweredWork, faultOfWhole, isMedia, StreamJudge } from '../answers/answer-fault.ts'
import { type Frame, readFrames, frameJson } from '../answers/inspect/stream-frames.ts'
import { redirectOf } from '../answers/redirect.ts'
import type { Relay } from '../answers/relay.ts'
import { SignsOfLife } from '../answers/signs-of-life.ts'
import { readProviderError } from '../dialects/provider-error.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { duration } from '../egress/failures.ts'
import { decompress } from '../wire/encoding.ts'
import { FrameCutter, dataOf } from '../wire/sse.ts'
import { headerValue } from '../wire/header-list.ts'
import type { EndReport, FailedAnswer } from './report.ts'

export interface GateOptions {
  /** Takes the answer when its attempt stands. */
  readonly inner: EgressHandler
  readonly relay: Relay
  readonly work: AnsweredWork
  /** Returns true if the attempt stands, since no other follows; called once at most. */
  readonly stands: (report: EndReport) => boolean
  /** True if errors are held: another attempt may follow. */
  readonly holdsErrors: boolean
  /** The longest wait for the first token; null: any. */
  readonly firstTokenMs: number | null
  /** The longest wait for the first content of a stream until its head goes on; null: any. */
  readonly opensAfterMs: number | null
  /** Reports how an answer failed, with the attempt's own part. */
  readonly report: (answer: FailedAnswer) => EndReport
}

/** So much of an error is read before it is decided on, and so long. */
const mostErrorBytes = 64 * 1024
const longestErrorMs = 5000
/** So much of a stream is held before its first content. */
const mostStreamBytes = 64 * 1024
/** So much of an answer that is no stream is held: one that is none is short. */
const mostWholeBytes = 256 * 1024

/** An error of a provider in a stream that names no status stands for this one. */
const unnamedFailure = 500

type HeldPart = 'head' | 'error' | 'whole' | 'stream' | 'nothing'

interface Head {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly statusMessage: string
}

/**
 * Holds the head of an answer, and as much of the rest as decides whether it is one, until the attempt stands. A standing answer goes on as it came.
 * A class, because it is one handler object per attempt with much state.
 */
export class Gate implements EgressHandler {
  readonly #options: GateOptions
  readonly #bytes = new ByteList()
  readonly #life: SignsOfLife
  #holding: HeldPart = 'head'
  #head: Head | null = null
  #cutter: FrameCutter | null = null
  #judge: StreamJudge | null = null
  #timer: NodeJS.Timeout | null = null
  #late = false

  constructor(options: GateOptions) {
    this.#options = options
    const { firstTokenMs, opensAfterMs, relay } = options
    this.#life = new SignsOfLife(opensAfterMs, { open: this.#onLongWait, sign: () => relay.sign() })
    if (firstTokenMs !== null) this.#timer = setTimeout(this.#onNoToken, firstTokenMs)
  }

  /** Milliseconds after which the head went on without any content; null: it did not. */
  get openedMs(): number | null {
    return this.#life.openedMs
  }

  /** Hints may be of an attempt that fails, and so they go no further. */
  onInformation(): void {}

  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    const redirect = redirectOf(status, rawHeaders)
    if (redirect !== null) return this.#refuse(redirect)
    this.#head = { status, rawHeaders, statusMessage }
    this.#options.relay.arrived()
    const { holdsErrors, work } = this.#options
    if (status < 200 || status > 299) {
      if (!holdsErrors) return this.#pass()
      this.#holding = 'error'
      return this.#arm(longestErrorMs, this.#onSlowError)
    }
    if (!isStream(rawHeaders)) return this.#holdWhole(rawHeaders)
    if (headerValue(rawHeaders, 'content-encoding') !== undefined) return this.#pass()
    this.#holding = 'stream'
    this.#cutter = new FrameCutter()
    this.#judge = holdsErrors ? new StreamJudge(work) : null
    this.#life.await()
  }

  #holdWhole(rawHeaders: readonly string[]): void {
    const { holdsErrors, work, opensAfterMs } = this.#options
    const type = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
    if (!holdsErrors || work.task === null || isMedia(type)) return this.#pass()
    this.#holding = 'whole'
    this.#arm(opensAfterMs ?? longestErrorMs, this.#onSlowWhole)
  }

  #refuse(fault: ApiError): void {
    this.close()
    this.#options.relay.cut(fault)
  }

  onData(chunk: Buffer): void {
    if (this.#holding === 'nothing') {
      if (this.#life.isWaiting) this.#awaitContent(chunk)
      return this.#options.inner.onData(chunk)
    }
    this.#bytes.push(chunk)
    if (this.#holding === 'error') {
      if (this.#bytes.size > mostErrorBytes) this.#decideError(null)
    } else if (this.#holding === 'whole') {
      if (this.#bytes.size > mostWholeBytes || beginsArray(chunk, this.#bytes.size)) this.#pass()
    } else this.#hear(chunk)
  }

  #hear(chunk: Buffer): void {
    const frames = this.#cutter?.push(chunk) ?? null
    if (frames !== null && this.#decideStream(frames)) return
    if (this.#bytes.size > mostStreamBytes) this.#pass()
  }

  onEnd(rawTrailers: readonly string[]): void {
    if (this.#holding === 'error') return this.#decideError(rawTrailers)
    if (this.#holding === 'whole' && !this.#decideWhole()) return
    if (this.#holding === 'stream' && !this.#endStream()) return
    if (this.#holding !== 'nothing') this.#pass()
    this.#life.stop()
    this.#options.inner.onEnd(rawTrailers)
  }

  onError(error: Error): void {
    this.close()
    if (this.#holding === 'nothing') this.#options.inner.onError(error)
    else this.#options.relay.onError(error)
  }

  /** Forgets its timers, since the attempt has ended. Returns true if the first token came too late. */
  close(): boolean {
    this.#disarm()
    this.#life.stop()
    return this.#late
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #arm(ms: number, onTime: () => void): void {
    this.#disarm()
    this.#timer = setTimeout(onTime, ms)
  }

  #pass(): void {
    this.close()
    this.#go()
  }

  #go(): void {
    this.#holding = 'nothing'
    const { inner, relay } = this.#options
    if (this.#head === null || !relay.open) return
    inner.onHeaders(this.#head.status, this.#head.rawHeaders, this.#head.statusMessage)
    if (this.#bytes.size > 0 && relay.open) inner.onData(this.#bytes.join())
    this.#bytes.clear()
  }

  /** Decides on an answer that is an error. `rawTrailers`: null when it goes on. */
  #decideError(rawTrailers: readonly string[] | null): void {
    const { relay, inner } = this.#options
    if (this.#head === null || !relay.open) return
    if (!this.#stands({ ...this.#head, body: this.#bytes.join() }, `The provider answered with ${this.#head.status}.`)) return
    this.#pass()
    if (rawTrailers !== null) inner.onEnd(rawTrailers)
  }

  /** Returns true if the answer goes on. */
  #decideWhole(): boolean {
    if (this.#head === null) return true
    const { rawHeaders } = this.#head
    const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase() ?? 'identity'
    const held = this.#bytes.join()
    const bytes = encoding === 'identity' ? held : decompress(held, encoding)
    // Unreadable bytes do not decide.
    if (bytes.length === 0 && held.length > 0) return true
    const contentType = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
    const fault = faultOfWhole({ bytes, contentType }, this.#options.work)
    return fault === null || this.#standsWith(fault)
  }

  /** Decides on a stream at its first content, or its failure. Returns true when it is decided. */
  #decideStream(bytes: Buffer): boolean {
    for (const frame of readFrames(bytes, this.#options.work.dialect)) {
      const fault = this.#faultOf(frame)
      if (fault === null && frame.texts.length === 0 && !frame.last) continue
      if (fault === null || this.#standsWith(fault)) this.#pass()
      return true
    }
    return false
  }

  #faultOf({ bytes, last }: Frame): AnswerFault | null {
    const error = readProviderError(frameJson(bytes))
    if (error !== null) return { status: error.status ?? unnamedFailure, message: 'The provider began its stream with an error.', error }
    const fault = this.#judge?.frame(dataOf(bytes)) ?? null
    return fault === null && last ? (this.#judge?.end() ?? null) : fault
  }

  /** Looks for the first content of a stream that was opened without. */
  #awaitContent(chunk: Buffer): void {
    const frames = this.#cutter?.push(chunk) ?? null
    if (frames === null) return
    if (readFrames(frames, this.#options.work.dialect).some(({ texts, last }) => texts.length > 0 || last)) this.close()
  }

  /** Decides on a stream that has ended before its first content. Returns true if it goes on. */
  #endStream(): boolean {
    const rest = this.#cutter?.rest() ?? null
    if (rest !== null && this.#decideStream(rest)) return this.#options.relay.open
    const fault = this.#judge?.end() ?? null
    return fault === null || this.#standsWith(fault)
  }

  #standsWith({ status, message, error }: AnswerFault): boolean {
    if (this.#head === null || !this.#options.relay.open) return true
    const { rawHeaders } = this.#head
    const within = { isStream: this.#holding === 'stream', error, message }
    return this.#stands({ status, rawHeaders, body: this.#bytes.join(), within }, message)
  }

  /** Returns true if this failure is final. Otherwise the answer is withheld but kept: it may hold usage. */
  #stands(answer: FailedAnswer, message: string): boolean {
    const { relay, report, stands } = this.#options
    const ended = report(answer)
    if (stands(ended)) return true
    relay.replaceHead(ended.status, answer.rawHeaders, '')
    relay.deny(new ApiError('upstream_bad_response', message), answer.body)
    return false
  }

  readonly #onSlowError = (): void => this.#decideError(null)

  /** Some providers send blanks while they work, which keep the connections of clients alive. */
  readonly #onSlowWhole = (): void => {
    if (this.#bytes.size > 0) this.#pass()
    else this.#arm(this.#options.opensAfterMs ?? longestErrorMs, this.#onSlowWhole)
  }

  /** The first token may still be too late, in a stream that has begun. */
  readonly #onLongWait = (): void => {
    if (this.#holding === 'stream') this.#go()
  }

  readonly #onNoToken = (): void => {
    if (this.#holding === 'error' || (this.#holding === 'nothing' && !this.#life.isWaiting)) return
    const { relay, firstTokenMs } = this.#options
    this.#late = true
    relay.cut(new ApiError('upstream_timeout', `The provider did not send its first token within ${duration(firstTokenMs ?? 0)}.`))
  }
}

const isStream = (rawHeaders: readonly string[]): boolean =>
  headerValue(rawHeaders, 'content-type')?.toLowerCase().startsWith('text/event-stream') === true

const openingBracket = 0x5b

/** Returns true for the beginning of an array that comes in pieces, as streams of Google's may. */
const beginsArray = (chunk: Buffer, size: number): boolean =>
  size === chunk.length && chunk[0] === openingBracket && !errorFirst.test(chunk.toString('latin1', 0, 64))
const errorFirst = /^\[\s*\{\s*"error"/
