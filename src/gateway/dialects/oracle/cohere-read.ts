import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { readFinish } from '../cohere/finish.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { type BlockStart, type NeutralEvent, plainEnd } from '../neutral/events.ts'
import { readCounts } from '../openai-chat/counts.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText, hashedId } from '../tool-calls.ts'
import { readUsage } from './generic-read.ts'

const none: readonly NeutralEvent[] = []
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]

/**
 * Reads a stream of a model of Cohere's, in the format of its first version (`text`) or its second (`message.content`). The last event repeats the
 * whole text, and has the calls. A class, because it is a state machine.
 */
class CohereOnOracleDecoder implements StreamDecoder {
  readonly #context: AnswerContext
  #state: 'before' | 'within' | 'stopped' | 'over' = 'before'
  #kind: BlockStart['kind'] | null = null
  #hasSaid = false
  #calls = 0

  constructor(context: AnswerContext) {
    this.#context = context
  }

  frame({ data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    const json = exactOrUndefined(data)
    return isFields(json) ? this.take(json) : none
  }

  take(json: Fields): readonly NeutralEvent[] {
    if ('code' in json && typeof json['message'] === 'string') {
      const { message, status } = readError(0, json)
      return this.#fail(message, status)
    }
    const events: NeutralEvent[] = []
    const answer = saidFields(json, 'chatResponse') ?? json
    if (this.#state === 'before') {
      this.#state = 'within'
      events.push({ type: 'start', id: saidText(answer, 'id'), model: saidText(json, 'modelId'), created: null })
    }
    const word = saidText(answer, 'finishReason')
    if (this.#state === 'within') this.#say(answer, word !== null && this.#hasSaid, events)
    const usage = saidFields(answer, 'usage')
    if (usage !== null) events.push({ type: 'usage', usage: readCounts(readUsage(usage)), tier: null })
    if (word !== null && this.#state === 'within') this.#stop(word, answer, events)
    return events
  }

  end(): readonly NeutralEvent[] {
    if (this.#state !== 'stopped') return none
    this.#state = 'over'
    return [{ type: 'end' }]
  }

  #say(answer: Fields, repeats: boolean, events: NeutralEvent[]): void {
    const message = saidFields(answer, 'message') ?? {}
    if (!repeats) {
      this.#tell('text', saidText(answer, 'text') ?? saidText(message, 'toolPlan') ?? '', events)
      for (const part of saidList(message, 'content')) {
        this.#tell('reasoning', saidText(part, 'thinking') ?? '', events)
        this.#tell('text', saidText(part, 'text') ?? '', events)
      }
    }
    for (const citation of saidList(answer, 'citations')) this.#cite(citation, events)
    for (const call of [...saidList(answer, 'toolCalls'), ...saidList(message, 'toolCalls')]) this.#call(call, events)
  }

  #tell(kind: 'text' | 'reasoning', text: string, events: NeutralEvent[]): void {
    if (text === '') return
    this.#hasSaid = true
    if (this.#kind !== kind) this.#begin({ kind }, events)
    events.push({ type: 'delta', choice: 0, text })
  }

  /** Documents have names alone. */
  #cite(citation: Fields, events: NeutralEvent[]): void {
    const ids = Array.isArray(citation['documentIds']) ? citation['documentIds'].filter((id) => typeof id === 'string') : []
    if (ids.length > 0 && this.#kind !== 'text') this.#begin({ kind: 'text' }, events)
    const [start, end] = [countOf(citation['start']), countOf(citation['end'])]
    for (const title of ids)
      events.push({ type: 'citation', choice: 0, citation: { url: null, title, quote: saidText(citation, 'text'), start, end, bag: null } })
  }

  /** A call comes whole. The first version gives it no id. */
  #call(call: Fields, events: NeutralEvent[]): void {
    const about = saidFields(call, 'function') ?? call
    const id = saidText(call, 'id') || `call_${hashedId(`${this.#context.requestId}:${this.#calls}`, 24)}`
    this.#calls += 1
    this.#begin({ kind: 'tool-call', id, name: saidText(about, 'name') ?? '', custom: false }, events)
    events.push({ type: 'delta', choice: 0, text: argumentsText(about['parameters'] ?? about['arguments']) })
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

  #stop(word: string, answer: Fields, events: NeutralEvent[]): void {
    this.#close(events)
    const finish = readFinish(this.#calls > 0 && word === 'COMPLETE' ? 'TOOL_CALL' : word)
    if (finish.reason === 'error') {
      events.push(...this.#fail(saidText(answer, 'errorMessage') ?? `The model ended its answer with ${word}.`, 502))
      return
    }
    this.#state = 'stopped'
    events.push({ type: 'finish', choice: 0, finish })
  }

  #fail(message: string, status: number): readonly NeutralEvent[] {
    this.#state = 'over'
    return [{ type: 'error', error: { status, message, type: null, code: null, param: null } }]
  }
}

export const cohereDecoder = (context: AnswerContext): StreamDecoder => new CohereOnOracleDecoder(context)

/** Reads a whole answer. */
export function decodeCohere(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  const decoder = new CohereOnOracleDecoder(context)
  const events = decoder.take(json)
  return [...events, ...decoder.end()]
}
