import { ByteList } from '../../lib/collections/byte-list.ts'
import { toApiError } from '../../lib/errors.ts'
import { encodingIn, type VectorEncoding, VectorTurner } from '../dialects/embeddings/vector-turner.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { headerValue } from '../wire/header-list.ts'
import { type AnswerHead, headersFor } from './inspect/answer-head.ts'

/** So much is looked at for the first vector. */
const mostLooked = 64 * 1024

/**
 * Passes an answer with vectors on in the encoding that its caller asked for, which not every provider heeds: OpenAI's client asks for bytes,
 * and reads numbers as zeros. Bytes that have it stay as they came. A class, because it is one handler object per answer.
 */
export class VectorAnswer implements EgressHandler {
  readonly #inner: EgressHandler
  readonly #wanted: VectorEncoding
  readonly #held = new ByteList()
  /** Null: it went on. */
  #head: AnswerHead | null = null
  #turner: VectorTurner | null = null
  /** So much is held before it is looked at once more. */
  #nextLook = 0

  constructor(inner: EgressHandler, wanted: VectorEncoding) {
    this.#inner = inner
    this.#wanted = wanted
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    this.#inner.onInformation?.(status, rawHeaders)
  }

  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void {
    const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase() ?? 'identity'
    const isJson = headerValue(rawHeaders, 'content-type')?.toLowerCase().startsWith('application/json') === true
    if (status < 200 || status > 299 || !isJson || encoding !== 'identity') return this.#inner.onHeaders(status, rawHeaders, statusMessage)
    this.#head = { status, rawHeaders, statusMessage }
  }

  onData(chunk: Buffer): void {
    if (this.#turner !== null) return this.#turn(chunk)
    if (this.#head === null) return this.#inner.onData(chunk)
    this.#held.push(chunk)
    if (this.#held.size < this.#nextLook) return
    this.#nextLook = this.#held.size * 2
    if (this.#look(this.#head) || this.#held.size > mostLooked) this.#pass(this.#head)
  }

  /** Looks for the first vector. Returns true if the answer has the encoding; one that has not is turned from now on. */
  #look(head: AnswerHead): boolean {
    const found = encodingIn(this.#held.join().toString('latin1'))
    if (found !== null && found !== this.#wanted) this.#begin(head)
    return found === this.#wanted
  }

  onEnd(rawTrailers: readonly string[]): void {
    if (this.#head !== null) this.#look(this.#head)
    if (this.#head !== null) this.#pass(this.#head)
    const rest = this.#turner?.end() ?? ''
    if (rest !== '') this.#inner.onData(Buffer.from(rest, 'latin1'))
    this.#inner.onEnd(this.#turner === null ? rawTrailers : [])
  }

  onError(error: Error): void {
    this.#inner.onError(error)
  }

  #pass(head: AnswerHead): void {
    if (this.#head === null) return
    this.#head = null
    const { status, rawHeaders, statusMessage } = head
    this.#inner.onHeaders(status, rawHeaders, statusMessage)
    if (this.#held.size > 0) this.#inner.onData(this.#held.join())
    this.#held.clear()
  }

  #begin({ status, rawHeaders, statusMessage }: AnswerHead): void {
    this.#head = null
    this.#turner = new VectorTurner(this.#wanted)
    this.#inner.onHeaders(status, headersFor(rawHeaders, null), statusMessage)
    const held = this.#held.join()
    this.#held.clear()
    this.#turn(held)
  }

  #turn(chunk: Buffer): void {
    try {
      const text = this.#turner?.push(chunk.toString('latin1')) ?? ''
      if (text !== '') this.#inner.onData(Buffer.from(text, 'latin1'))
    } catch (thrown) {
      this.#inner.onError(toApiError(thrown))
    }
  }
}
