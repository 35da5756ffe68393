import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { readFrames, frameJson } from '../answers/inspect/stream-frames.ts'
import type { Relay } from '../answers/relay.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { readProviderError } from '../dialects/provider-error.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { duration } from '../egress/failures.ts'
import { FrameCutter } from '../wire/sse.ts'
import { headerValue } from '../wire/header-list.ts'
import type { Ended, FailedAnswer } from './report.ts'

export interface GateOptions {
  /** Takes the answer when its attempt stands. */
  readonly inner: EgressHandler
  readonly relay: Relay
  /** The dialect of the operation; null: not known. */
  readonly dialect: DialectId | null
  /** Returns true if the attempt stands, since no other follows; called once at most. */
  readonly stands: (report: Ended) => boolean
  /** True if errors are held: another attempt may follow. */
  readonly holdsErrors: boolean
  /** The longest wait for the first token; null: any. */
  readonly firstTokenMs: number | null
  /** Reports how an answer failed, with what the attempt itself adds. */
  readonly report: (answer: FailedAnswer) => Ended
}

/** So much of an error is read before it is decided on, and so long. */
const mostErrorBytes = 64 * 1024
const longestErrorMs = 5000
/** So much of a stream is held before its first content. */
const mostStreamBytes = 64 * 1024

type Held = 'head' | 'error' | 'stream' | 'nothing'

interface Head {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly statusMessage: string
}

/**
 * Holds the head of an answer, and of a stream all up to its first content, until the attempt stands. What stands goes on as it came.
 * A class, because it is one handler object per attempt with much state.
 */
export class Gate implements EgressHandler {
  readonly #options: GateOptions
  readonly #bytes = new ByteList()
  #holding: Held = 'head'
  #head: Head | null = null
  #cutter: FrameCutter | null = null
  #timer: NodeJS.Timeout | null = null
  #late = false

  constructor(options: GateOptions) {
    this.#options = options
    if (options.firstTokenMs !== null) this.#timer = setTimeout(this.#onNoToken, options.firstTokenMs)
  }

  /** Hints may be of an attempt that fails, and so they go no further. */
  onInformation(): void {}

  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    this.#head = { status, rawHeaders, statusMessage }
    this.#options.relay.arrived()
    const failed = status < 200 || status > 299
    if (failed && this.#options.holdsErrors) {
      this.#holding = 'error'
      this.#arm(longestErrorMs, this.#onSlowError)
      return
    }
    const type = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
    const isPlainStream = type.startsWith('text/event-stream') && headerValue(rawHeaders, 'content-encoding') === undefined
    if (failed || !isPlainStream) return this.#pass()
    this.#holding = 'stream'
    this.#cutter = new FrameCutter()
  }

  onData(chunk: Buffer): void {
    if (this.#holding === 'nothing') return this.#options.inner.onData(chunk)
    this.#bytes.push(chunk)
    if (this.#holding === 'error') {
      if (this.#bytes.size > mostErrorBytes) this.#decideError(null)
      return
    }
    const frames = this.#cutter?.push(chunk) ?? null
    if (frames !== null && this.#decideStream(frames)) return
    if (this.#bytes.size > mostStreamBytes) this.#pass()
  }

  onEnd(rawTrailers: readonly string[]): void {
    if (this.#holding === 'error') return this.#decideError(rawTrailers)
    const rest = this.#holding === 'stream' ? (this.#cutter?.rest() ?? null) : null
    if (rest !== null && this.#decideStream(rest) && !this.#options.relay.open) return
    if (this.#holding !== 'nothing') this.#pass()
    this.#options.inner.onEnd(rawTrailers)
  }

  onError(error: Error): void {
    this.close()
    if (this.#holding === 'nothing') this.#options.inner.onError(error)
    else this.#options.relay.onError(error)
  }

  /** Forgets its timer, since the attempt has ended. Returns true if the first token came too late. */
  close(): boolean {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    return this.#late
  }

  #arm(ms: number, onTime: () => void): void {
    this.close()
    this.#timer = setTimeout(onTime, ms)
  }

  #pass(): void {
    this.close()
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

  /** Decides on a stream when it says something, or that it failed. Returns true when it is decided. */
  #decideStream(bytes: Buffer): boolean {
    for (const frame of readFrames(bytes, this.#options.dialect)) {
      const error = readProviderError(frameJson(frame.bytes))
      if (error !== null) {
        this.#failStream(error)
        return true
      }
      if (frame.texts.length > 0 || frame.last) {
        this.#pass()
        return true
      }
    }
    return false
  }

  #failStream(error: NonNullable<ReturnType<typeof readProviderError>>): void {
    if (this.#head === null || !this.#options.relay.open) return
    const answer: FailedAnswer = { ...this.#head, body: this.#bytes.join(), inStream: error }
    if (this.#stands(answer, 'The provider began its stream with an error.')) this.#pass()
  }

  /** Returns true if the attempt stands that failed so. Of one that does not the answer is kept back: it may tell what it cost. */
  #stands(answer: FailedAnswer, message: string): boolean {
    const { relay, report, stands } = this.#options
    const ended = report(answer)
    if (stands(ended)) return true
    relay.replaceHead(ended.status, answer.rawHeaders, '')
    relay.deny(new ApiError('upstream_bad_response', message), answer.body)
    return false
  }

  readonly #onSlowError = (): void => this.#decideError(null)

  readonly #onNoToken = (): void => {
    if (this.#holding === 'nothing' || this.#holding === 'error') return
    const { relay, firstTokenMs } = this.#options
    this.#late = true
    relay.cut(new ApiError('upstream_timeout', `The provider did not send its first token within ${duration(firstTokenMs ?? 0)}.`))
  }
}
