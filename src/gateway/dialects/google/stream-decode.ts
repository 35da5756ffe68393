import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { hashedId } from '../tool-calls.ts'
import { CandidateDecoder } from './candidate-decode.ts'
import { readCounts, tierOf } from './counts.ts'
import { decodeError } from './error-codec.ts'
import { blockedFinish } from './finish.ts'

/** More candidates than any client asks for. */
const mostCandidates = 16
const tooLong = 'The provider sent a call with too many arguments.'
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]
const none: readonly NeutralEvent[] = []

/** Returns true for the begin of an answer; an unknown value is none, and does not identify the sender. */
const isAnswer = (json: Fields): boolean =>
  'candidates' in json || 'usageMetadata' in json || 'promptFeedback' in json || 'responseId' in json

/** Reads a stream of contents, and whole answers as one frame. A class, because it is a state machine. */
class GoogleDecoder implements StreamDecoder {
  readonly #context: AnswerContext
  readonly #candidates = new Map<number, CandidateDecoder>()
  #state: 'before' | 'within' | 'over' = 'before'
  #isBlocked = false

  constructor(context: AnswerContext) {
    this.#context = context
  }

  frame({ data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    const json = exactOrUndefined(data)
    return isFields(json) || Array.isArray(json) ? this.chunk(json) : none
  }

  chunk(given: Fields | readonly unknown[]): readonly NeutralEvent[] {
    const json: unknown = Array.isArray(given) ? given[0] : given
    if (!isFields(json)) return none
    if ('error' in json && json['error'] !== null) return this.#fail(json)
    const events: NeutralEvent[] = []
    if (this.#state === 'before') {
      if (!isAnswer(json)) return none
      this.#start(json, events)
    }
    const isBounded = saidList(json, 'candidates').every((candidate) => this.#candidate(candidate, events))
    if (!isBounded) return this.#fail({ error: { message: tooLong } })
    const feedback = saidFields(json, 'promptFeedback')
    if (feedback !== null && this.#candidates.size === 0) this.#block(feedback, events)
    const usage = saidFields(json, 'usageMetadata')
    if (usage !== null) events.push({ type: 'usage', usage: readCounts(usage), tier: tierOf(usage) })
    return events
  }

  /** `lenient`: a whole answer without a finish is one that the model ended. */
  end(lenient = false): readonly NeutralEvent[] {
    if (this.#state !== 'within') return none
    const candidates = [...this.#candidates.values()]
    const isWhole = this.#isBlocked || (candidates.length > 0 && (lenient || candidates.every(({ isFinished }) => isFinished)))
    if (!isWhole) return none
    this.#state = 'over'
    const events: NeutralEvent[] = []
    for (const candidate of candidates) {
      if (candidate.end(events)) continue
      events.push({ type: 'error', error: { status: 502, message: candidate.failure, type: null, code: null, param: null } })
      return events
    }
    events.push({ type: 'end' })
    return events
  }

  #start(json: Fields, events: NeutralEvent[]): void {
    this.#state = 'within'
    const time = Date.parse(saidText(json, 'createTime') ?? '')
    events.push({
      type: 'start',
      id: saidText(json, 'responseId') || null,
      model: saidText(json, 'modelVersion') || null,
      created: Number.isNaN(time) ? null : Math.floor(time / 1000),
    })
  }

  /** Returns false when more is held of the candidate than may be. */
  #candidate(json: Fields, events: NeutralEvent[]): boolean {
    const index = countOf(json['index']) ?? 0
    if (index >= mostCandidates) return true
    let candidate = this.#candidates.get(index)
    if (candidate === undefined) {
      candidate = new CandidateDecoder(index, (call) => `call_${hashedId(`${this.#context.requestId}:${index}:${call}`, 24)}`)
      this.#candidates.set(index, candidate)
    }
    candidate.push(json, events)
    return !candidate.overflows
  }

  /** A prompt that is blocked has no candidates. */
  #block(feedback: Fields, events: NeutralEvent[]): void {
    const word = saidText(feedback, 'blockReason')
    if (word === null || this.#isBlocked) return
    this.#isBlocked = true
    events.push({ type: 'finish', choice: 0, finish: blockedFinish(word, saidText(feedback, 'blockReasonMessage')) })
  }

  #fail(body: Fields): readonly NeutralEvent[] {
    this.#state = 'over'
    return [{ type: 'error', error: decodeError(0, body) }]
  }
}

export const streamDecoder = (context: AnswerContext): StreamDecoder => new GoogleDecoder(context)

/** Reads a whole answer. */
export function decodeAnswer(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  const decoder = new GoogleDecoder(context)
  const events = decoder.chunk(json)
  return [...events, ...decoder.end(true)]
}
