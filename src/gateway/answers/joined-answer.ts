import { ByteList } from '../../lib/collections/byte-list.ts'
import { toApiError } from '../../lib/errors.ts'
import { tooLarge } from './cut-short.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { TaskBody, TaskStream } from '../dialects/tasks/task.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { type HeaderList, headersWithout, headerValue } from '../wire/header-list.ts'
import { headersFor } from './inspect/answer-head.ts'
import { withRetryAfter } from './rate-headers.ts'
import { eventHeaders, TurnedStream } from './turned-stream.ts'
import { isSuccess, typedBytes, wholeAnswer, type WholeAnswer } from './whole-answer.ts'
import { cutAnswer, noUnused, refusedAnswer, type UnusedAnswer } from './unused-answer.ts'

/** The answer of a caller. */
export interface OneAnswer {
  readonly body: TaskBody
  /** Absent: that of the provider's answer. */
  readonly status?: number
}

/** One answer out of those of several calls. */
export interface JoinedAnswerParts {
  /** True if no part is awaited any more. */
  readonly isOver: boolean
  /** Returns the handler of the answer to one of the calls. */
  handlerFor(part: number): EgressHandler
  /** Ends the answer with an error. */
  break(error: Error): void
  /** Returns the answers to the calls that were made, where the caller does not get all of them. */
  unused(): readonly UnusedAnswer[]
}

export interface JoinedAnswerOptions {
  /** Takes the one answer. */
  readonly inner: EgressHandler
  /** So many calls are answered. */
  readonly parts: number
  /** So much of all answers is held. */
  readonly maxHeldBytes: number
  /** Returns the caller's answer out of all of them, in the order of the calls. May throw an ApiError. `as it comes`: the one call answers the caller. */
  readonly write: ((answers: readonly WholeAnswer[]) => OneAnswer) | 'as it comes'
  /** How one of several answers is read; absent: there is one. */
  readonly part?: {
    /** Throws an ApiError for one that is none. */
    check(answer: WholeAnswer, part: number): void
    /** Returns it, for its charge, as if it were all of them. */
    unused(answer: WholeAnswer, part: number): UnusedAnswer
  }
  /** The format of the provider's answers. */
  readonly dialect: DialectId
  /** Turns the stream of the one call into the caller's; absent: it is answered whole. */
  readonly stream?: TaskStream
  /** Returns the answer to the caller for a call that failed. */
  readonly fail: (answer: WholeAnswer) => { readonly status: number; readonly body: object; readonly retryAfter?: number | undefined }
}

/** Makes one answer out of those of one or several calls, all of them or none: the first that fails is the answer. A class, because it holds much state. */
export class JoinedAnswer implements JoinedAnswerParts {
  readonly #options: JoinedAnswerOptions
  readonly #answers: (WholeAnswer | null)[]
  /** The calls that were made. */
  readonly #begun = new Set<number>()
  /** The call whose answer is none; null: there is no such call. */
  #refused: { readonly part: number; readonly answer: UnusedAnswer } | null = null
  #heldBytes = 0
  #missing: number
  #isOver = false

  constructor(options: JoinedAnswerOptions) {
    this.#options = options
    this.#missing = options.parts
    this.#answers = Array.from({ length: options.parts }, () => null)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Returns nothing for a single call that was cut: the attempt itself was. */
  unused(): readonly UnusedAnswer[] {
    const { parts, part: reading } = this.#options
    if (this.#missing === 0) return noUnused
    return [...this.#begun].flatMap((part): readonly UnusedAnswer[] => {
      if (this.#refused?.part === part) return [this.#refused.answer]
      const answer = this.#answers[part] ?? null
      if (answer === null) return parts === 1 ? [] : [cutAnswer]
      return reading === undefined ? [] : [reading.unused(answer, part)]
    })
  }

  handlerFor(part: number): EgressHandler {
    this.#begun.add(part)
    const held = new ByteList()
    const { inner, write } = this.#options
    let head: Pick<WholeAnswer, 'status' | 'rawHeaders'> = { status: 0, rawHeaders: [] }
    let passes = false
    let turned: TurnedStream | null = null
    return {
      onHeaders: (status, rawHeaders, message) => {
        head = { status, rawHeaders }
        turned = this.#turned(head)
        if (turned !== null) return inner.onHeaders(status, eventHeaders(rawHeaders), message)
        passes = write === 'as it comes' && isSuccess(status)
        if (passes) inner.onHeaders(status, rawHeaders, message)
      },
      onData: (chunk) => {
        if (this.#isOver) return
        if (turned !== null) return this.#try(() => turned?.push(chunk))
        if (passes) return inner.onData(chunk)
        held.push(chunk)
        this.#heldBytes += chunk.length
        if (this.#heldBytes > this.#options.maxHeldBytes) this.break(tooLarge(this.#options.maxHeldBytes))
      },
      onEnd: (trailers) => {
        if (this.#isOver) return
        if (turned !== null) this.#try(() => turned?.end())
        else if (!passes) return this.#take(part, { ...head, bytes: held })
        if (this.#isOver) return
        this.#isOver = true
        inner.onEnd(turned === null ? trailers : [])
      },
      onError: (error) => this.break(error),
    }
  }

  /** Returns the translator of a stream that is the answer; null: the answer is none. */
  #turned({ status, rawHeaders }: Pick<WholeAnswer, 'status' | 'rawHeaders'>): TurnedStream | null {
    const { stream, inner } = this.#options
    const type = headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? ''
    return stream !== undefined && isSuccess(status) && type.startsWith('text/event-stream') ? new TurnedStream(stream, inner) : null
  }

  #try(act: () => void): void {
    try {
      act()
    } catch (thrown) {
      this.break(toApiError(thrown))
    }
  }

  break(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.inner.onError(error)
  }

  #take(part: number, { status, rawHeaders, bytes }: Pick<WholeAnswer, 'status' | 'rawHeaders'> & { readonly bytes: ByteList }): void {
    if (this.#isOver) return
    try {
      this.#read(part, wholeAnswer(bytes.join(), { status, rawHeaders }))
    } catch (thrown) {
      this.break(toApiError(thrown))
    }
  }

  #read(part: number, answer: WholeAnswer): void {
    const { status, rawHeaders } = answer
    const { write, fail, part: reading } = this.#options
    if (!isSuccess(status) || write === 'as it comes') {
      this.#refuse(part, answer)
      const failed = fail(answer)
      return this.#answer(failed.status, withRetryAfter(rawHeaders, failed.retryAfter), { json: { ...failed.body } })
    }
    try {
      reading?.check(answer, part)
      this.#answers[part] = answer
      if (this.#missing > 1) return void (this.#missing -= 1)
      const written = write(this.#answers.filter((one) => one !== null))
      this.#missing = 0
      this.#answer(written.status ?? status, rawHeaders, written.body)
    } catch (thrown) {
      this.#refuse(part, answer)
      throw thrown
    }
  }

  #refuse(part: number, { bytes }: WholeAnswer): void {
    this.#refused = { part, answer: refusedAnswer(bytes, this.#options.dialect) }
  }

  #answer(status: number, rawHeaders: HeaderList, body: TaskBody): void {
    this.#isOver = true
    const { inner } = this.#options
    const { bytes, contentType } = typedBytes(body)
    const headers = headersWithout(headersFor(rawHeaders, bytes.length), (name) => name === 'content-type' || name === 'transfer-encoding')
    inner.onHeaders(status, [...headers, 'content-type', contentType], '')
    inner.onData(bytes)
    inner.onEnd([])
  }
}
