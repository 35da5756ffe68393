import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import { readError } from '../error-reading.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { hashedId } from '../tool-calls.ts'
import { ChoiceDecoder } from './choice-decode.ts'
import { readCounts } from './counts.ts'
import { doneMark } from './marks.ts'

/** More candidates than any client asks for. */
const mostChoices = 128
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]
const none: readonly NeutralEvent[] = []

/** Returns true for the begin of an answer; an unknown event is none, and does not identify the sender. */
const isChunk = (json: Fields): boolean => 'choices' in json || 'id' in json || 'usage' in json || 'x_groq' in json

/** Reads a stream whose chunks may be given as they are, for formats that are the like of it. */
export interface ChunkDecoder extends StreamDecoder {
  chunk(json: Fields): readonly NeutralEvent[]
}

/** Reads a stream of chunks, and whole answers as one chunk. A class, because it is a state machine. */
class ChatDecoder implements ChunkDecoder {
  readonly #context: AnswerContext
  readonly #choices = new Map<number, ChoiceDecoder>()
  #state: 'before' | 'within' | 'over' = 'before'
  #sources: readonly string[] = []

  constructor(context: AnswerContext) {
    this.#context = context
  }

  frame({ data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    if (data === doneMark) return this.#finish()
    const json = exactOrUndefined(data)
    return isFields(json) ? this.chunk(json) : none
  }

  end(): readonly NeutralEvent[] {
    const isWhole = this.#state === 'within' && this.#choices.size > 0 && [...this.#choices.values()].every(({ finished }) => finished)
    return isWhole ? this.#finish() : none
  }

  chunk(json: Fields): readonly NeutralEvent[] {
    const groq = saidFields(json, 'x_groq')
    const error = json['error'] ?? groq?.['error'] ?? null
    if (error !== null) return this.#fail({ error })
    const events: NeutralEvent[] = []
    if (this.#state === 'before') {
      if (!isChunk(json)) return none
      this.#start(json, events)
    }
    const { citations } = json
    if (Array.isArray(citations)) this.#sources = citations.filter((one) => typeof one === 'string')
    const isSound = saidList(json, 'choices').every((choice) => this.#choice(choice, events))
    if (!isSound) return this.#fail({ error: { message: broken } }, events)
    const usage = saidFields(json, 'usage') ?? saidFields(groq ?? json, 'usage')
    if (usage !== null) events.push({ type: 'usage', usage: readCounts(usage), tier: saidText(json, 'service_tier') })
    return events
  }

  #start(json: Fields, events: NeutralEvent[]): void {
    this.#state = 'within'
    const id = saidText(json, 'id')
    const created = countOf(json['created'])
    events.push({
      type: 'start',
      id: id === '' ? null : id,
      model: saidText(json, 'model') || null,
      created: created === 0 ? null : created,
      tier: saidText(json, 'service_tier'),
    })
  }

  /** Returns false when the choice broke off. */
  #choice(json: Fields, events: NeutralEvent[]): boolean {
    const index = countOf(json['index']) ?? 0
    const choice = index < mostChoices ? this.#decoderOf(index) : null
    if (choice === null || choice.finished) return true
    const delta = saidFields(json, 'delta') ?? saidFields(json, 'message')
    if (delta !== null) choice.push(delta, events, json['logprobs'])
    const finish = saidText(json, 'finish_reason') ?? ''
    if (failures.has(finish) || choice.overflows) return false
    if (finish !== '') this.#finishChoice(index, finish, events)
    return true
  }

  #decoderOf(index: number): ChoiceDecoder {
    const found = this.#choices.get(index)
    if (found !== undefined) return found
    const { requestId, traits } = this.#context
    const made = new ChoiceDecoder({
      choice: index,
      makeId: (call) => `call_${hashedId(`${requestId}:${index}:${call}`, 24)}`,
      readsDetails: traits.reasoningDetails,
    })
    this.#choices.set(index, made)
    return made
  }

  #finishChoice(index: number, finish: string, events: NeutralEvent[]): void {
    const decoder = this.#decoderOf(index)
    if (index === 0) for (const url of this.#sources) decoder.cite({ url }, events)
    decoder.finish(finish, events)
  }

  #fail(body: unknown, events: NeutralEvent[] = []): readonly NeutralEvent[] {
    this.#state = 'over'
    events.push({ type: 'error', error: readError(0, body) })
    return events
  }

  /** A stream without a choice is no answer. */
  #finish(): readonly NeutralEvent[] {
    if (this.#state !== 'within' || this.#choices.size === 0) return none
    this.#state = 'over'
    const events: NeutralEvent[] = []
    for (const choice of this.#choices.values()) choice.finish('stop', events)
    events.push({ type: 'end' })
    return events
  }
}

const failures: ReadonlySet<string> = new Set(['error', 'abort', 'insufficient_system_resource'])
const broken = 'The provider broke its answer off.'

export const streamDecoder = (context: AnswerContext): ChunkDecoder => new ChatDecoder(context)

/** Reads a whole answer: its messages are pieces that come all at once. */
export function decodeAnswer(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  const decoder = new ChatDecoder(context)
  const events = decoder.chunk(json)
  return [...events, ...decoder.end()]
}
