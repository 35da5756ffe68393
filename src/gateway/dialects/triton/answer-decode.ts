import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../../lib/json/json.ts'
import type { Frame, StreamDecoder } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { type NeutralEvent, plainEnd } from '../neutral/events.ts'
import { finishOf, type FinishReason } from '../neutral/finish.ts'
import { countOf, noUsage, sumOf } from '../neutral/token-usage.ts'
import { saidText } from '../reading.ts'

const none: readonly NeutralEvent[] = []

const reasonOf = (word: string | null): FinishReason => (word === 'length' || word === 'stop' ? word : 'other')

/** Reads the pieces of one answer: a whole one has one piece. A class, because it is a state machine. */
class TritonDecoder implements StreamDecoder {
  #state: 'before' | 'within' | 'over' = 'before'
  /** The engine's word for the end; empty: it has not sent one yet. Null: it never sends one, so that the end of the bytes is that of the answer. */
  #finish: string | null = null
  #input: number | null = null
  #output: number | null = null

  frame({ data }: Frame): readonly NeutralEvent[] {
    const json = data === null || this.#state === 'over' ? undefined : jsonOrUndefined(data)
    return isFields(json) ? this.take(json) : none
  }

  take(json: Fields): readonly NeutralEvent[] {
    if (typeof json['error'] === 'string') {
      this.#state = 'over'
      return [{ type: 'error', error: readError(0, json) }]
    }
    const text = saidText(json, 'text_output')
    if (text === null) return none
    const events: NeutralEvent[] = []
    if (this.#state === 'before') {
      events.push(
        { type: 'start', id: saidText(json, 'id'), model: saidText(json, 'model_name'), created: null },
        { type: 'block-start', choice: 0, block: { kind: 'text' } },
      )
      this.#state = 'within'
    }
    if (text !== '') events.push({ type: 'delta', choice: 0, text })
    this.#count(json)
    return events
  }

  end(): readonly NeutralEvent[] {
    if (this.#state !== 'within' || this.#finish === '') return none
    this.#state = 'over'
    const usage = { ...noUsage, input: this.#input, output: this.#output }
    return [
      { type: 'block-end', choice: 0, end: plainEnd },
      ...(this.#output === null ? none : ([{ type: 'usage', usage, tier: null }] as const)),
      { type: 'finish', choice: 0, finish: finishOf(reasonOf(this.#finish), this.#finish) },
      { type: 'end' },
    ]
  }

  /** Each piece has the tokens of its own, and `None` until it is the last. */
  #count(json: Fields): void {
    const finish = saidText(json, 'finish_reason')
    if (finish !== null) this.#finish = finish === 'None' ? '' : finish
    this.#input = countOf(json['num_input_tokens']) ?? this.#input
    const output = countOf(json['num_output_tokens'])
    if (output !== null) this.#output = sumOf(this.#output ?? 0, output)
  }
}

/** Reads a whole answer. */
export function decodeAnswer(json: unknown): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  const whole = new TritonDecoder()
  return [...whole.take(json), ...whole.end()]
}

export const streamDecoder = (): StreamDecoder => new TritonDecoder()
