import { jsonOrUndefined } from '../../../lib/json/json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import { plainEnd } from '../neutral/events.ts'
import { finishOf } from '../neutral/finish.ts'
import { countOf, noUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields, saidText } from '../reading.ts'
import { lastEvent } from '../steps.ts'

const none: readonly NeutralEvent[] = []
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]

/** Returns the usage of a prediction; null: it does not state it. */
function usageOf(prediction: Fields): TokenUsage | null {
  const metrics = saidFields(prediction, 'metrics') ?? {}
  const [input, output] = [countOf(metrics['input_token_count']), countOf(metrics['output_token_count'])]
  return input === null && output === null ? null : { ...noUsage, input, output }
}

const failed = (message: string): NeutralEvent => ({
  type: 'error',
  error: { status: 502, message, type: null, code: null, param: null },
})

/** Reads a whole prediction. */
export function decodeAnswer(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  const status = saidText(json, 'status')
  if (status === 'failed' || status === 'canceled' || status === 'aborted')
    return [failed(saidText(json, 'error') ?? `The prediction was ${status}.`)]
  if (status !== 'succeeded') return none
  const text = textOf(json['output'])
  const usage = usageOf(json)
  return [
    { type: 'start', id: saidText(json, 'id'), model: saidText(json, 'model'), created: secondsOf(json) },
    ...(text === '' ? none : said(text)),
    ...(usage === null ? none : ([{ type: 'usage', usage, tier: null }] as const)),
    { type: 'finish', choice: 0, finish: finishOf(isCut(usage, context) ? 'length' : 'stop', status) },
    { type: 'end' },
  ]
}

const said = (text: string): readonly NeutralEvent[] => [
  { type: 'block-start', choice: 0, block: { kind: 'text' } },
  { type: 'delta', choice: 0, text },
  { type: 'block-end', choice: 0, end: plainEnd },
]

/** Text comes as one, in pieces, or as JSON of a model's own. */
function textOf(output: unknown): string {
  if (output === null || output === undefined) return ''
  if (typeof output === 'string') return output
  if (Array.isArray(output) && output.every((one) => typeof one === 'string')) return output.join('')
  return JSON.stringify(output)
}

const secondsOf = (json: Fields): number | null => {
  const time = Date.parse(saidText(json, 'created_at') ?? '')
  return Number.isNaN(time) ? null : Math.floor(time / 1000)
}

/** Without a word for it an answer that used all of its tokens was cut. */
const isCut = (usage: TokenUsage | null, { request: { maxTokens } }: AnswerContext): boolean =>
  maxTokens !== null && usage !== null && usage.output === maxTokens

/** Reads a stream: pieces of text, and the prediction at its end. A class, because it is a state machine. */
class ReplicateDecoder implements StreamDecoder {
  #state: 'before' | 'within' | 'done' | 'over' = 'before'
  #isOpen = false

  frame({ name, data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    const events: NeutralEvent[] = []
    if (name === lastEvent) this.#last(data, events)
    else if (name === 'output') this.#say(data, events)
    else if (name === 'done') this.#done(data, events)
    else if (name === 'error') this.#fail(detailOf(data), events)
    return events
  }

  end(): readonly NeutralEvent[] {
    if (this.#state !== 'done') return none
    this.#state = 'over'
    return [{ type: 'end' }]
  }

  #start(events: NeutralEvent[]): void {
    if (this.#state !== 'before') return
    this.#state = 'within'
    events.push({ type: 'start', id: null, model: null, created: null })
  }

  #say(text: string, events: NeutralEvent[]): void {
    if (this.#state === 'done' || text === '') return
    this.#start(events)
    if (!this.#isOpen) events.push({ type: 'block-start', choice: 0, block: { kind: 'text' } })
    this.#isOpen = true
    events.push({ type: 'delta', choice: 0, text })
  }

  #done(data: string, events: NeutralEvent[]): void {
    const json = jsonOrUndefined(data)
    const reason = isFields(json) ? saidText(json, 'reason') : null
    if (reason !== null) return this.#fail(`The prediction ended: ${reason}.`, events)
    this.#start(events)
    if (this.#isOpen) events.push({ type: 'block-end', choice: 0, end: plainEnd })
    this.#state = 'done'
    events.push({ type: 'finish', choice: 0, finish: finishOf('stop', 'done') })
  }

  #last(data: string, events: NeutralEvent[]): void {
    const json = jsonOrUndefined(data)
    const usage = isFields(json) ? usageOf(json) : null
    if (usage !== null && this.#state === 'done') events.push({ type: 'usage', usage, tier: null })
  }

  #fail(message: string, events: NeutralEvent[]): void {
    this.#state = 'over'
    events.push(failed(message))
  }
}

const detailOf = (data: string): string => {
  const json = jsonOrUndefined(data)
  return (isFields(json) ? (saidText(json, 'detail') ?? saidText(json, 'error')) : null) ?? data
}

export const streamDecoder = (): StreamDecoder => new ReplicateDecoder()
