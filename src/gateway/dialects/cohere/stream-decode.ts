import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import type { BlockStart, NeutralEvent } from '../neutral/events.ts'
import { type BlockTurn, BlockTurns } from '../neutral/block-turns.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { hashedId } from '../tool-calls.ts'
import { CallDecoder, endTurn } from './call-decode.ts'
import { readCitations, readLogprobs } from './answer-parts.ts'
import { OpenCalls } from './open-calls.ts'
import { readCounts } from './counts.ts'
import { decodeError } from './error-codec.ts'
import { readFinish } from './finish.ts'

const none: readonly NeutralEvent[] = []
const nothing: Fields = {}

type Reader = (json: Fields, message: Fields, events: NeutralEvent[]) => void

interface OpenBlock {
  readonly kind: BlockStart['kind']
  readonly turn: BlockTurn
}

/** Reads a stream of chat. A text stays open until something else begins: its sources come behind it. A class, because it is a state machine. */
class CohereDecoder implements StreamDecoder {
  readonly #context: AnswerContext
  readonly #turns = new BlockTurns()
  #state: 'before' | 'within' | 'stopped' | 'over' = 'before'
  /** The text or the reasoning to which is added. */
  #said: OpenBlock | null = null
  readonly #open = new OpenCalls()
  #calls = 0

  constructor(context: AnswerContext) {
    this.#context = context
  }

  readonly #readers: Readonly<Record<string, Reader>> = {
    'content-start': (_json, message) => this.#content(saidFields(message, 'content') ?? nothing),
    'content-delta': (json, message) => {
      this.#content(saidFields(message, 'content') ?? nothing)
      this.#logprobs(json['logprobs'])
    },
    'tool-plan-delta': (_json, message) => this.say('text', saidText(message, 'tool_plan') ?? ''),
    'tool-call-start': ({ index }, message) => this.#begin(saidFields(message, 'tool_calls') ?? nothing, index),
    'tool-call-delta': ({ index }, message) => this.#open.at(index)?.push(saidFields(message, 'tool_calls') ?? nothing),
    'tool-call-end': ({ index }) => this.#open.at(index)?.end(),
    'citation-start': (_json, message) => this.cite(saidFields(message, 'citations') ?? nothing),
    'message-end': (json, _message, events) => this.stop(saidFields(json, 'delta') ?? nothing, events),
  }

  frame({ name, data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return [{ type: 'ping' }]
    const json = exactOrUndefined(data)
    if (!isFields(json)) return none
    const type = saidText(json, 'type') ?? name
    if (type === null || 'error' in json || 'message' in json) return this.#fail(json)
    return this.#event(type, json, data.length)
  }

  #event(type: string, json: Fields, size: number): readonly NeutralEvent[] {
    const events: NeutralEvent[] = []
    const isKnown = type === 'message-start' || Object.hasOwn(this.#readers, type)
    if (this.#state === 'before' && isKnown) this.start(saidText(json, 'id'), events)
    const read = this.#state === 'within' && Object.hasOwn(this.#readers, type) ? this.#readers[type] : undefined
    read?.(json, saidFields(saidFields(json, 'delta') ?? nothing, 'message') ?? nothing, events)
    this.#turns.give(size, events)
    if (this.#turns.overflows) events.push(...this.#fail({ message: 'The provider sent too many blocks at once.' }))
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

  say(kind: 'text' | 'reasoning', text: string): void {
    if (text !== '') this.#blockOf(kind).held.push({ type: 'delta', choice: 0, text })
  }

  /** Takes a whole call. */
  call(call: Fields): void {
    this.#begin(call, null).end()
  }

  cite(citation: Fields): void {
    const { held } = this.#blockOf('text')
    for (const found of readCitations(citation)) held.push({ type: 'citation', choice: 0, citation: found })
  }

  /** Gives all that waits. */
  close(events: NeutralEvent[]): void {
    this.#endSaid()
    this.#open.end()
    this.#turns.give(0, events)
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

  logprobs(list: readonly Fields[]): void {
    const tokens = list.flatMap((one) => readLogprobs(one))
    if (tokens.length > 0) this.#said?.turn.held.push({ type: 'logprobs', choice: 0, tokens })
  }

  #logprobs(one: unknown): void {
    if (isFields(one)) this.logprobs([one])
  }

  #start(block: BlockStart): BlockTurn {
    this.#endSaid()
    const turn = this.#turns.begin()
    turn.held.push({ type: 'block-start', choice: 0, block })
    return turn
  }

  #blockOf(kind: 'text' | 'reasoning'): BlockTurn {
    if (this.#said?.kind !== kind) this.#said = { kind, turn: this.#start({ kind }) }
    return this.#said.turn
  }

  #endSaid(): void {
    if (this.#said !== null) endTurn(this.#said.turn)
    this.#said = null
  }

  #begin(call: Fields, index: unknown): CallDecoder {
    const about = saidFields(call, 'function') ?? nothing
    const id = saidText(call, 'id') || `call_${hashedId(`${this.#context.requestId}:${this.#calls}`, 24)}`
    this.#calls += 1
    const turn = this.#start({ kind: 'tool-call', id, name: saidText(about, 'name') ?? '', custom: false })
    const open = new CallDecoder(index, turn)
    this.#open.add(open)
    open.push(call)
    return open
  }

  #content(content: Fields): void {
    this.say('reasoning', saidText(content, 'thinking') ?? '')
    this.say('text', saidText(content, 'text') ?? '')
  }

  #fail(body: Fields): readonly NeutralEvent[] {
    this.#state = 'over'
    return [{ type: 'error', error: decodeError(0, body) }]
  }
}

export const streamDecoder = (context: AnswerContext): StreamDecoder => new CohereDecoder(context)

/** Reads a whole answer as the pieces of a stream. */
export function decodeAnswer(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  const message = isFields(json) ? saidFields(json, 'message') : null
  if (!isFields(json) || message === null) return none
  const decoder = new CohereDecoder(context)
  const events: NeutralEvent[] = []
  decoder.start(saidText(json, 'id'), events)
  decoder.say('text', saidText(message, 'tool_plan') ?? '')
  for (const block of saidList(message, 'content')) {
    decoder.say('reasoning', saidText(block, 'thinking') ?? '')
    decoder.say('text', saidText(block, 'text') ?? '')
  }
  decoder.logprobs(saidList(json, 'logprobs'))
  for (const citation of saidList(message, 'citations')) decoder.cite(citation)
  for (const call of saidList(message, 'tool_calls')) decoder.call(call)
  decoder.stop(json, events)
  return [...events, ...decoder.end()]
}
