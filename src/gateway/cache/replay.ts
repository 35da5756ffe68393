import type { EgressCall, EgressHandler } from '../egress/egress.ts'
import type { CachedAnswer } from './answer-store.ts'

/** Bytes that are passed on before the reader is asked whether it keeps up. */
const chunkBytes = 64 * 1024

/** Gives a kept answer to a handler as a provider would: with back-pressure, and so that guardrails see it too. */
export function replay(answer: CachedAnswer, handler: EgressHandler): EgressCall {
  return new Replay(answer, handler)
}

class Replay implements EgressCall {
  readonly #answer: CachedAnswer
  readonly #handler: EgressHandler
  /** The byte that comes next; -1: the head. */
  #at = -1
  #paused = false
  #ended = false

  constructor(answer: CachedAnswer, handler: EgressHandler) {
    this.#answer = answer
    this.#handler = handler
    // As with a provider, no byte arrives before the caller of `send` has the means to stop it.
    process.nextTick(this.#run)
  }

  abort(): void {
    this.#ended = true
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    process.nextTick(this.#run)
  }

  readonly #run = (): void => {
    while (!this.#paused && !this.#ended) this.#step()
  }

  #step(): void {
    const { status, rawHeaders, body, stream } = this.#answer
    if (this.#at === -1) {
      this.#at = 0
      this.#handler.onHeaders(status, stream ? rawHeaders : [...rawHeaders, 'content-length', String(body.length)], '')
    } else if (this.#at < body.length) {
      const chunk = body.subarray(this.#at, this.#at + chunkBytes)
      this.#at += chunk.length
      this.#handler.onData(chunk)
    } else {
      this.#ended = true
      this.#handler.onEnd([])
    }
  }
}
