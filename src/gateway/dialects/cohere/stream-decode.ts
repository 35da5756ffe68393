import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import { type BlockStart, type Citation, type NeutralEvent, plainEnd, type TokenLogprob } from '../neutral/events.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText, hashedId } from '../tool-calls.ts'
import { readCounts } from './counts.ts'
import { decodeError } from './error-codec.ts'
import { readFinish } from './finish.ts'

const none: readonly NeutralEvent[] = []
const nothing: Fields = {}

type Reader = (json: Fields, message: Fields, events: NeutralEvent[]) => void

/** Reads a stream of chat. A text stays open until something else begins: its sources come behind it. A class, because it is a state machine. */
class CohereDecoder implements StreamDecoder {
  readonly #context: AnswerContext
  #state: 'before' | 'within' | 'stopped' | 'over' = 'before'
  #kind: BlockStart['kind'] | null = null
  #hasArguments = false
  #calls = 0

  constructor(context: AnswerContext) {
    this.#context = context
  }

  readonly #readers: Readonly<Record<string, Reader>> = {
    'content-start': (_json, message, events) => this.#content(saidFields(message, 'content') ?? nothing, events),
    'content-delta': (json, message, events) => {
      this.#content(saidFields(message, 'content') ?? nothing, events)
      this.#logprobs(json['logprobs'], events)
    },
    'tool-plan-delta': (_json, message, events) => this.say('text', saidText(message, 'tool_plan') ?? '', events),
    'tool-call-start': (_json, message, events) => this.call(saidFields(message, 'tool_calls') ?? nothing, events),
    'tool-call-delta': (_json, message, events) => this.#argue(saidFields(message, 'tool_calls') ?? nothing, events),
    'tool-call-end': (_json, _message, events) => this.close(events),
    'citation-start': (_json, message, events) => this.cite(saidFields(message, 'citations') ?? nothing, events),
    'message-end': (json, _message, events) => this.stop(saidFields(json, 'delta') ?? nothing, events),
  }

  frame({ name, data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return [{ type: 'ping' }]
    const json = exactOrUndefined(data)
    if (!isFields(json)) return none
    const type = saidText(json, 'type') ?? name
    if (type === null || 'error' in json || 'message' in json) return this.#fail(json)
    return this.#event(type, json)
  }

  #event(type: string, json: Fields): readonly NeutralEvent[] {
    const events: NeutralEvent[] = []
    const isKnown = type === 'message-start' || Object.hasOwn(this.#readers, type)
    if (this.#state === 'before' && isKnown) this.start(saidText(json, 'id'), events)
    const read = this.#state === 'within' && Object.hasOwn(this.#readers, type) ? this.#readers[type] : undefined
    read?.(json, saidFields(saidFields(json, 'delta') ?? nothing, 'message') ?? nothing, events)
    return events
  }

  end(): readonly NeutralEvent[] {
    if (this.#state !== 'stopped') return none
    this.#state = 'over'
    return [{ type: 'end' }]
  }

  start(id: string | null, events: NeutralEvent[]): void {
    this.#state = 'within'
    events.push({ type: 'start', id, model: null, created: null })
  }

  say(kind: 'text' | 'reasoning', text: string, events: NeutralEvent[]): void {
    if (text === '') return
    if (this.#kind !== kind) this.#begin({ kind }, events)
    events.push({ type: 'delta', choice: 0, text })
  }

  call(call: Fields, events: NeutralEvent[]): void {
    const about = saidFields(call, 'function') ?? nothing
    const id = saidText(call, 'id') || `call_${hashedId(`${this.#context.requestId}:${this.#calls}`, 24)}`
    this.#calls += 1
    this.#begin({ kind: 'tool-call', id, name: saidText(about, 'name') ?? '', custom: false }, events)
    this.#argue(call, events)
  }

  cite(citation: Fields, events: NeutralEvent[]): void {
    if (this.#kind !== 'text') this.#begin({ kind: 'text' }, events)
    for (const found of readCitations(citation)) events.push({ type: 'citation', choice: 0, citation: found })
  }

  close(events: NeutralEvent[]): void {
    if (this.#kind === null) return
    if (this.#kind === 'tool-call' && !this.#hasArguments) events.push({ type: 'delta', choice: 0, text: '{}' })
    this.#kind = null
    events.push({ type: 'block-end', choice: 0, end: plainEnd })
  }

  stop(told: Fields, events: NeutralEvent[]): void {
    this.close(events)
    const usage = saidFields(told, 'usage')
    if (usage !== null) events.push({ type: 'usage', usage: readCounts(usage), tier: null })
    const word = saidText(told, 'finish_reason') ?? 'COMPLETE'
    const finish = readFinish(word)
    if (finish.reason !== 'error') {
      this.#state = 'stopped'
      events.push({ type: 'finish', choice: 0, finish })
      return
    }
    this.#state = 'over'
    const message = saidText(told, 'error') ?? `The model ended its answer with ${word}.`
    events.push({ type: 'error', error: { status: word === 'TIMEOUT' ? 504 : 502, message, type: word, code: null, param: null } })
  }

  logprobs(list: readonly Fields[], events: NeutralEvent[]): void {
    const tokens = list.flatMap((one) => readLogprobs(one))
    if (tokens.length > 0 && this.#kind !== null) events.push({ type: 'logprobs', choice: 0, tokens })
  }

  #logprobs(one: unknown, events: NeutralEvent[]): void {
    if (isFields(one)) this.logprobs([one], events)
  }

  #begin(block: BlockStart, events: NeutralEvent[]): void {
    this.close(events)
    this.#kind = block.kind
    this.#hasArguments = false
    events.push({ type: 'block-start', choice: 0, block })
  }

  #content(content: Fields, events: NeutralEvent[]): void {
    this.say('reasoning', saidText(content, 'thinking') ?? '', events)
    this.say('text', saidText(content, 'text') ?? '', events)
  }

  #argue(call: Fields, events: NeutralEvent[]): void {
    const given = (saidFields(call, 'function') ?? nothing)['arguments'] ?? ''
    const text = typeof given === 'string' ? given : argumentsText(given)
    if (text === '' || this.#kind !== 'tool-call') return
    this.#hasArguments = true
    events.push({ type: 'delta', choice: 0, text })
  }

  #fail(body: Fields): readonly NeutralEvent[] {
    this.#state = 'over'
    return [{ type: 'error', error: decodeError(0, body) }]
  }
}

/** Reads the sources of a piece of text; null for what has no address. */
function readCitations(citation: Fields): readonly Citation[] {
  const [start, end] = [countOf(citation['start']), countOf(citation['end'])]
  return saidList(citation, 'sources').map((source) => {
    const document = saidFields(source, 'document') ?? saidFields(source, 'tool_output') ?? nothing
    return {
      url: saidText(document, 'url'),
      title: saidText(document, 'title') ?? saidText(source, 'id'),
      quote: saidText(document, 'text') ?? saidText(document, 'snippet'),
      start,
      end,
      bag: null,
    }
  })
}

/** Cohere tells the text of a piece, and the figures of its tokens. */
function readLogprobs(one: Fields): readonly TokenLogprob[] {
  const { logprobs } = one
  const logprob: unknown = Array.isArray(logprobs) ? logprobs[0] : undefined
  return typeof logprob === 'number' ? [{ token: saidText(one, 'text') ?? '', logprob, bytes: null, top: [] }] : []
}

export const streamDecoder = (context: AnswerContext): StreamDecoder => new CohereDecoder(context)

/** Reads a whole answer as the pieces of a stream. */
export function decodeAnswer(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  const message = isFields(json) ? saidFields(json, 'message') : null
  if (!isFields(json) || message === null) return none
  const decoder = new CohereDecoder(context)
  const events: NeutralEvent[] = []
  decoder.start(saidText(json, 'id'), events)
  decoder.say('text', saidText(message, 'tool_plan') ?? '', events)
  for (const block of saidList(message, 'content')) {
    decoder.say('reasoning', saidText(block, 'thinking') ?? '', events)
    decoder.say('text', saidText(block, 'text') ?? '', events)
  }
  decoder.logprobs(saidList(json, 'logprobs'), events)
  for (const citation of saidList(message, 'citations')) decoder.cite(citation, events)
  for (const call of saidList(message, 'tool_calls')) decoder.call(call, events)
  decoder.stop(json, events)
  return [...events, ...decoder.end()]
}
