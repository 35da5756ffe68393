import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { type BlockStart, type NeutralEvent, plainEnd, type TokenLogprob } from '../neutral/events.ts'
import { type FinishReason, finishOf } from '../neutral/finish.ts'
import { countOf, noUsage } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText, hashedId } from '../tool-calls.ts'

const none: readonly NeutralEvent[] = []
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]
const nothing: Fields = {}

const reasons: Readonly<Record<string, FinishReason>> = { stop: 'stop', length: 'length', load: 'stop', unload: 'stop' }

/** Reads a stream of chat, a JSON to a line; a whole answer is its one line. A class, because it is a state machine. */
class OllamaDecoder implements StreamDecoder {
  readonly #context: AnswerContext
  #state: 'before' | 'within' | 'stopped' | 'over' = 'before'
  #kind: BlockStart['kind'] | null = null
  #calls = 0

  constructor(context: AnswerContext) {
    this.#context = context
  }

  frame({ data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    const json = exactOrUndefined(data)
    return isFields(json) ? this.line(json) : none
  }

  line(json: Fields): readonly NeutralEvent[] {
    if ('error' in json && json['error'] !== null) {
      this.#state = 'over'
      return [{ type: 'error', error: readError(0, json) }]
    }
    const events: NeutralEvent[] = []
    if (this.#state === 'before') this.#start(json, events)
    if (this.#state !== 'within') return events
    const message = saidFields(json, 'message') ?? nothing
    this.#say('reasoning', saidText(message, 'thinking') ?? '', events)
    this.#say('text', saidText(message, 'content') ?? '', events)
    this.#logprobs(saidList(json, 'logprobs'), events)
    for (const call of saidList(message, 'tool_calls')) this.#call(call, events)
    if (json['done'] === true) this.#stop(json, events)
    return events
  }

  end(): readonly NeutralEvent[] {
    if (this.#state !== 'stopped') return none
    this.#state = 'over'
    return [{ type: 'end' }]
  }

  #start(json: Fields, events: NeutralEvent[]): void {
    if (saidFields(json, 'message') === null && json['done'] !== true) return
    this.#state = 'within'
    const time = Date.parse(saidText(json, 'created_at') ?? '')
    events.push({
      type: 'start',
      id: null,
      model: saidText(json, 'model') || null,
      created: Number.isNaN(time) ? null : Math.floor(time / 1000),
    })
  }

  #say(kind: 'text' | 'reasoning', text: string, events: NeutralEvent[]): void {
    if (text === '') return
    if (this.#kind !== kind) this.#begin({ kind }, events)
    events.push({ type: 'delta', choice: 0, text })
  }

  /** A call comes whole, and mostly without an id. */
  #call(call: Fields, events: NeutralEvent[]): void {
    const about = saidFields(call, 'function') ?? nothing
    const id = saidText(call, 'id') || `call_${hashedId(`${this.#context.requestId}:${this.#calls}`, 24)}`
    this.#calls += 1
    this.#begin({ kind: 'tool-call', id, name: saidText(about, 'name') ?? '', custom: false }, events)
    events.push({ type: 'delta', choice: 0, text: argumentsText(about['arguments']) })
    this.#close(events)
  }

  #begin(block: BlockStart, events: NeutralEvent[]): void {
    this.#close(events)
    this.#kind = block.kind
    events.push({ type: 'block-start', choice: 0, block })
  }

  #close(events: NeutralEvent[]): void {
    if (this.#kind === null) return
    this.#kind = null
    events.push({ type: 'block-end', choice: 0, end: plainEnd })
  }

  #logprobs(list: readonly Fields[], events: NeutralEvent[]): void {
    const tokens = list.flatMap((one) => readLogprob(one))
    if (tokens.length > 0 && this.#kind === 'text') events.push({ type: 'logprobs', choice: 0, tokens })
  }

  #stop(json: Fields, events: NeutralEvent[]): void {
    this.#close(events)
    this.#state = 'stopped'
    const [input, output] = [countOf(json['prompt_eval_count']), countOf(json['eval_count'])]
    if (input !== null || output !== null) events.push({ type: 'usage', usage: { ...noUsage, input, output }, tier: null })
    const word = saidText(json, 'done_reason')
    const reason = word === null ? 'stop' : Object.hasOwn(reasons, word) ? (reasons[word] ?? 'other') : 'other'
    events.push({ type: 'finish', choice: 0, finish: finishOf(reason === 'stop' && this.#calls > 0 ? 'tool-calls' : reason, word) })
  }
}

function readLogprob(one: Fields): readonly TokenLogprob[] {
  const { token, logprob } = one
  if (typeof token !== 'string' || typeof logprob !== 'number') return []
  const bytes = Array.isArray(one['bytes']) ? one['bytes'].filter((byte) => typeof byte === 'number') : null
  return [{ token, logprob, bytes, top: saidList(one, 'top_logprobs').flatMap((other) => readLogprob({ ...other, top_logprobs: null })) }]
}

export const streamDecoder = (context: AnswerContext): StreamDecoder => new OllamaDecoder(context)

/** Reads a whole answer. */
export function decodeAnswer(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  const decoder = new OllamaDecoder(context)
  const events = decoder.line(json)
  return [...events, ...decoder.end()]
}
