import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { decompress } from '../wire/encoding.ts'
import { type HeaderList, headersWithout, headerValue } from '../wire/header-list.ts'
import { headersFor } from './inspect/answer-head.ts'

/** An answer that is whole. */
export interface WholeAnswer {
  readonly status: number
  readonly rawHeaders: HeaderList
  readonly text: string
  /** Undefined: the text is no JSON. */
  readonly json: unknown
}

export interface JoinedAnswerOptions {
  /** Takes the one answer. */
  readonly inner: EgressHandler
  /** So many calls are answered. */
  readonly parts: number
  /** So much of all answers is held. */
  readonly maxHeldBytes: number
  /** Returns the body of the caller's answer out of all of them, in the order of the calls. May throw an ApiError. */
  readonly write: (answers: readonly WholeAnswer[]) => object
  /** Returns what the caller is told of a call that failed. */
  readonly fail: (answer: WholeAnswer) => { readonly status: number; readonly body: object }
}

/** Makes one answer out of those of one or several calls, all of them or none: the first that fails is the answer. A class, because it holds much state. */
export class JoinedAnswer {
  readonly #options: JoinedAnswerOptions
  readonly #answers: (WholeAnswer | null)[]
  #heldBytes = 0
  #missing: number
  #isOver = false

  constructor(options: JoinedAnswerOptions) {
    this.#options = options
    this.#missing = options.parts
    this.#answers = Array.from({ length: options.parts }, () => null)
  }

  /** True if nothing more is awaited. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Returns what takes the answer to one of the calls. */
  handlerFor(part: number): EgressHandler {
    const held = new ByteList()
    let head: Pick<WholeAnswer, 'status' | 'rawHeaders'> = { status: 0, rawHeaders: [] }
    return {
      onHeaders: (status, rawHeaders) => {
        head = { status, rawHeaders }
      },
      onData: (chunk) => {
        if (this.#isOver) return
        held.push(chunk)
        this.#heldBytes += chunk.length
        if (this.#heldBytes > this.#options.maxHeldBytes)
          this.break(new ApiError('upstream_bad_response', `The provider's answer is larger than ${this.#options.maxHeldBytes} bytes.`))
      },
      onEnd: () => this.#take(part, { ...head, bytes: held }),
      onError: (error) => this.break(error),
    }
  }

  /** Ends the answer with an error. */
  break(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.inner.onError(error)
  }

  #take(part: number, { status, rawHeaders, bytes }: Pick<WholeAnswer, 'status' | 'rawHeaders'> & { readonly bytes: ByteList }): void {
    if (this.#isOver) return
    try {
      const text = textOf(bytes.join(), rawHeaders)
      const answer: WholeAnswer = { status, rawHeaders, text, json: jsonOrUndefined(text) }
      if (status < 200 || status > 299) {
        const failed = this.#options.fail(answer)
        return this.#answer(failed.status, rawHeaders, failed.body)
      }
      this.#answers[part] = answer
      this.#missing -= 1
      if (this.#missing > 0) return
      this.#answer(status, rawHeaders, this.#options.write(this.#answers.filter((one) => one !== null)))
    } catch (thrown) {
      this.break(toApiError(thrown))
    }
  }

  #answer(status: number, rawHeaders: HeaderList, body: object): void {
    this.#isOver = true
    const { inner } = this.#options
    const bytes = Buffer.from(JSON.stringify(body))
    const headers = headersWithout(headersFor(rawHeaders, bytes.length), (name) => name === 'content-type' || name === 'transfer-encoding')
    inner.onHeaders(status, [...headers, 'content-type', 'application/json'], '')
    inner.onData(bytes)
    inner.onEnd([])
  }
}

function textOf(bytes: Buffer, rawHeaders: HeaderList): string {
  const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase() ?? 'identity'
  return (encoding === 'identity' ? bytes : decompress(bytes, encoding)).toString('utf8')
}
