import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { cutShort, tooLarge } from './cut-short.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { choicesOf, joinedCompletions, summedUsage } from '../dialects/completions/prompts.ts'
import { doneMark } from '../dialects/openai-chat/marks.ts'
import type { TokenUsage } from '../dialects/neutral/token-usage.ts'
import { saidFields, saidList } from '../dialects/reading.ts'
import type { EgressHandler } from '../egress/egress.ts'
import { type HeaderList, headersWithout } from '../wire/header-list.ts'
import { SseReader, sseText } from '../wire/sse-events.ts'
import { headersFor } from './inspect/answer-head.ts'
import type { JoinedAnswerParts } from './joined-answer.ts'
import { isEvents, isSuccess } from './whole-answer.ts'
import { cutAnswer, noUnused, type UnusedAnswer } from './unused-answer.ts'

export interface JoinedCompletionsOptions {
  /** Takes the one answer. */
  readonly inner: EgressHandler
  /** So many prompts are completed. */
  readonly parts: number
  /** So many choices each of them has. */
  readonly perPrompt: number
  /** Returns the translator of a provider's answer to one prompt into a completion. */
  readonly answerFor: (part: number, inner: EgressHandler) => EgressHandler
  /** The usage of the answer to one prompt, as far as it was read; null: it is not known. */
  readonly usageOf: (part: number) => TokenUsage | null
  /** The provider's answer to one prompt that is no completion; none: it is one, or none came. */
  readonly refusedOf: (part: number) => readonly UnusedAnswer[]
  /** So much of all answers is held. */
  readonly maxHeldBytes: number
}

interface Head {
  readonly status: number
  readonly rawHeaders: HeaderList
}

/**
 * Makes one completion out of those of several prompts: their streams run beside each other, each with choices of its own. The first failure
 * is the answer, or ends it where it has begun. A class, because it holds much state.
 */
export class JoinedCompletions implements JoinedAnswerParts {
  readonly #options: JoinedCompletionsOptions
  readonly #answers: (Fields | null)[]
  readonly #usages: (Fields | null)[]
  /** The prompts that were sent, each with whether its answer has ended. */
  readonly #begun = new Map<number, boolean>()
  #hasFailed = false
  /** The beginning of the last chunk, which holds the usage of all. */
  #last: Fields | null = null
  #heldBytes = 0
  #missing: number
  #hasBegun = false
  #isOver = false

  constructor(options: JoinedCompletionsOptions) {
    this.#options = options
    this.#missing = options.parts
    this.#answers = Array.from({ length: options.parts }, () => null)
    this.#usages = Array.from({ length: options.parts }, () => null)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Returns nothing for streams that the caller cut: their usage so far is that of the whole. */
  unused(): readonly UnusedAnswer[] {
    if (this.#missing === 0 || (this.#hasBegun && !this.#hasFailed)) return noUnused
    return [...this.#begun].flatMap(([part, hasEnded]): readonly UnusedAnswer[] => {
      const { refusedOf, usageOf } = this.#options
      const refused = refusedOf(part)
      return refused.length > 0 ? refused : [{ ...cutAnswer, state: hasEnded ? 'made' : 'cut', usage: usageOf(part) }]
    })
  }

  handlerFor(part: number): EgressHandler {
    this.#begun.set(part, false)
    const held = new ByteList()
    const reader = new SseReader()
    let head: Head = { status: 0, rawHeaders: [] }
    let streams = false
    return this.#options.answerFor(part, {
      onHeaders: (status, rawHeaders) => {
        head = { status, rawHeaders }
        streams = isSuccess(status) && isEvents(rawHeaders)
        if (streams) this.#begin(head)
      },
      onData: (chunk) => {
        if (this.#isOver) return
        if (streams) return this.#try(() => this.#frames(part, reader.push(chunk) ?? tooLong()))
        held.push(chunk)
        this.#hold(chunk.length)
      },
      onEnd: () => this.#try(() => (streams ? this.#endPart(part) : this.#take(part, head, held.join()))),
      onError: (error) => this.break(error),
    })
  }

  break(error: Error): void {
    if (this.#isOver) return
    this.#isOver = this.#hasFailed = true
    this.#options.inner.onError(error)
  }

  #try(step: () => void): void {
    if (this.#isOver) return
    try {
      step()
    } catch (thrown) {
      this.break(toApiError(thrown))
    }
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    const { maxHeldBytes } = this.#options
    if (this.#heldBytes > maxHeldBytes) this.break(tooLarge(maxHeldBytes))
  }

  #begin({ status, rawHeaders }: Head): void {
    if (this.#hasBegun || this.#isOver) return
    this.#hasBegun = true
    this.#options.inner.onHeaders(status, rawHeaders, '')
  }

  /** Passes the pieces of one prompt on. Its counts and its end mark wait for those of the others. */
  #frames(part: number, events: ReturnType<SseReader['end']>): void {
    let text = ''
    for (const { data } of events) {
      if (data === doneMark) continue
      const json = data === null ? undefined : jsonOrUndefined(data)
      if (!isFields(json)) text += sseText({ name: null, data })
      else if (isFields(json['error'])) return this.#fail(`${text}${sseText({ name: null, data })}`)
      else text += this.#chunk(part, json)
    }
    if (text !== '') this.#options.inner.onData(Buffer.from(text))
  }

  #chunk(part: number, json: Fields): string {
    if (saidList(json, 'choices').length === 0) {
      this.#usages[part] = saidFields(json, 'usage')
      this.#last = json
      return ''
    }
    return sseText({ name: null, data: JSON.stringify({ ...json, choices: choicesOf(json, part, this.#options.perPrompt) }) })
  }

  #endPart(part: number): void {
    this.#begun.set(part, true)
    this.#missing -= 1
    if (this.#missing > 0) return
    this.#isOver = true
    const { inner } = this.#options
    const usage = this.#last === null ? null : summedUsage(this.#usages)
    const told = usage === null ? '' : sseText({ name: null, data: JSON.stringify({ ...this.#last, usage }) })
    inner.onData(Buffer.from(told + sseText({ name: null, data: doneMark })))
    inner.onEnd([])
  }

  #take(part: number, head: Head, bytes: Buffer): void {
    if (!isSuccess(head.status)) return this.#refuse(head, bytes)
    const json = jsonOrUndefined(bytes.toString('utf8'))
    if (!isFields(json)) return this.break(new ApiError('upstream_bad_response', 'The answer of the provider is no completion.'))
    this.#answers[part] = json
    this.#begun.set(part, true)
    this.#missing -= 1
    if (this.#missing > 0) return
    const answers = this.#answers.filter((one) => one !== null)
    this.#answer(head, Buffer.from(JSON.stringify(joinedCompletions(answers, this.#options.perPrompt))))
  }

  /** Answers with the failure of one prompt, or ends the stream of the others with it. */
  #refuse(head: Head, bytes: Buffer): void {
    this.#hasFailed = true
    if (this.#hasBegun) this.#fail(sseText({ name: null, data: bytes.toString('utf8') }))
    else this.#answer(head, bytes)
  }

  #fail(text: string): void {
    this.#isOver = this.#hasFailed = true
    this.#options.inner.onData(Buffer.from(text))
    this.#options.inner.onEnd([])
  }

  #answer({ status, rawHeaders }: Head, bytes: Buffer): void {
    this.#isOver = true
    const { inner } = this.#options
    const headers = headersWithout(headersFor(rawHeaders, bytes.length), (name) => name === 'transfer-encoding')
    inner.onHeaders(status, headers, '')
    inner.onData(bytes)
    inner.onEnd([])
  }
}

function tooLong(): never {
  throw cutShort('The provider sent an event that is too long.')
}
