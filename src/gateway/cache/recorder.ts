import { ByteList } from '../../lib/collections/byte-list.ts'
import type { EgressCall, EgressHandler } from '../egress/egress.ts'
import { headerValue } from '../wire/header-list.ts'
import type { CachedAnswer } from './answer-store.ts'
import type { AnsweredWork } from '../answers/answer-fault.ts'
import { isWhole } from './cacheable.ts'

/** An answer that arrived to its end. */
export type HeardAnswer = Pick<CachedAnswer, 'status' | 'rawHeaders' | 'body' | 'stream'>

export interface RecorderOptions {
  readonly maxBodyBytes: number
  readonly work: AnsweredWork
  /** Called once: with the answer, or with null when it is not to be kept. */
  readonly heard: (answer: HeardAnswer | null) => void
}

/** Headers that describe the body; all others are about the exchange in which it came. */
const kept = ['content-type', 'content-encoding']

/** Passes an answer on unchanged, and listens. A class, because it is one handler object per exchange. */
class Recorder implements EgressHandler {
  readonly #next: EgressHandler
  readonly #options: RecorderOptions
  #status = 0
  #rawHeaders: readonly string[] = []
  readonly #body = new ByteList()
  #listening = true

  constructor(next: EgressHandler, options: RecorderOptions) {
    this.#next = next
    this.#options = options
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    this.#next.onInformation?.(status, rawHeaders)
  }

  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    this.#status = status
    this.#rawHeaders = kept.flatMap((name) => {
      const value = headerValue(rawHeaders, name)
      return value === undefined ? [] : [name, value]
    })
    const length = Number(headerValue(rawHeaders, 'content-length') ?? 0)
    if (status !== 200 || length > this.#options.maxBodyBytes) this.stop()
    this.#next.onHeaders(status, rawHeaders, statusMessage)
  }

  onData(chunk: Buffer): void {
    if (this.#listening) {
      this.#body.push(chunk)
      if (this.#body.size > this.#options.maxBodyBytes) this.stop()
    }
    this.#next.onData(chunk)
  }

  onEnd(rawTrailers: readonly string[]): void {
    this.#end()
    this.#next.onEnd(rawTrailers)
  }

  onError(error: Error): void {
    this.stop()
    this.#next.onError(error)
  }

  /** Stops keeping this answer. */
  stop(): void {
    if (!this.#listening) return
    this.#listening = false
    this.#body.clear()
    this.#options.heard(null)
  }

  #end(): void {
    if (!this.#listening) return
    this.#listening = false
    const body = this.#body.join()
    const rawHeaders = this.#rawHeaders
    const stream = (headerValue(rawHeaders, 'content-type') ?? '').toLowerCase().startsWith('text/event-stream')
    const encoding = (headerValue(rawHeaders, 'content-encoding') ?? '').toLowerCase().replace('identity', '')
    const contentType = (headerValue(rawHeaders, 'content-type') ?? '').toLowerCase()
    const whole = body.length > 0 && isWhole(body, { stream, encoding, contentType, work: this.#options.work })
    this.#options.heard(whole ? { status: this.#status, rawHeaders, body, stream } : null)
  }
}

/** Sends a request, and listens to its answer; the answer to a call that is stopped is not kept. */
export function listen(options: RecorderOptions, send: (handler: EgressHandler) => EgressCall, handler: EgressHandler): EgressCall {
  const recorder = new Recorder(handler, options)
  const call = send(recorder)
  return {
    pause: () => call.pause(),
    resume: () => call.resume(),
    abort() {
      call.abort()
      recorder.stop()
    },
  }
}
