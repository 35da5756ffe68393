import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Frame, StreamDecoder } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { type BlockEnd, type BlockStart, type NeutralEvent, plainEnd } from '../neutral/events.ts'
import { readSignature } from '../neutral/signature.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'
import { readCitation } from './citations.ts'
import { CountReader } from './counts.ts'
import { readFinish } from './finish.ts'

const none: readonly NeutralEvent[] = []
const nothing: Fields = {}
const fieldsOf = (json: Fields, field: string): Fields => saidFields(json, field) ?? nothing
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]

/** Reads a stream of events, and whole messages as if they came in pieces. A class, because it is a state machine. */
class MessageDecoder implements StreamDecoder {
  readonly #counts = new CountReader()
  #state: 'before' | 'within' | 'over' = 'before'
  #open: BlockStart['kind'] | null = null
  #end: BlockEnd = plainEnd
  #isTold = false
  #finished = false

  frame({ data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    const json = exactOrUndefined(data)
    return isFields(json) ? this.#event(json) : none
  }

  end(): readonly NeutralEvent[] {
    return none
  }

  #event(json: Fields): readonly NeutralEvent[] {
    const { type } = json
    if (type === 'ping') return ping
    const events: NeutralEvent[] = []
    if (type === 'content_block_delta') this.#delta(fieldsOf(json, 'delta'), events)
    else if (type === 'message_start') this.start(fieldsOf(json, 'message'), events)
    else if (type === 'content_block_start') this.open(fieldsOf(json, 'content_block'), events)
    else if (type === 'content_block_stop') this.close(events)
    else if (type === 'message_delta') this.finish(fieldsOf(json, 'delta'), saidFields(json, 'usage'), events)
    else if (type === 'message_stop') this.stop(events)
    else if (type === 'error') this.#fail(json, events)
    return events
  }

  #fail(json: Fields, events: NeutralEvent[]): void {
    this.#state = 'over'
    events.push({ type: 'error', error: readError(0, json) })
  }

  start(message: Fields, events: NeutralEvent[]): void {
    if (this.#state !== 'before') return
    this.#state = 'within'
    events.push({ type: 'start', id: saidText(message, 'id'), model: saidText(message, 'model'), created: null })
    this.#count(saidFields(message, 'usage'), events)
  }

  #count(usage: Fields | null, events: NeutralEvent[]): void {
    if (usage === null) return
    const tier = saidText(usage, 'service_tier')
    events.push({ type: 'usage', usage: this.#counts.read(usage), tier: tier === 'standard' ? 'default' : tier })
  }

  open(block: Fields, events: NeutralEvent[]): void {
    this.close(events)
    const start = readBlock(block)
    this.#open = start.kind
    this.#isTold = false
    events.push({ type: 'block-start', choice: 0, block: start })
    if (block['type'] === 'redacted_thinking') this.#end = { signature: readSignature(block['data'], 'anthropic'), redacted: true }
    if (block['type'] === 'thinking') this.#sign(saidText(block, 'signature'))
    if (start.kind === 'text' || start.kind === 'reasoning') this.#say(saidText(block, start.kind === 'text' ? 'text' : 'thinking'), events)
    for (const citation of saidList(block, 'citations')) events.push({ type: 'citation', choice: 0, citation: readCitation(citation) })
  }

  #sign(signature: string | null): void {
    const read = readSignature(signature, 'anthropic')
    if (read !== null) this.#end = { signature: read, redacted: false }
  }

  #say(text: string | null, events: NeutralEvent[]): void {
    if (text === null || text === '') return
    this.#isTold = true
    events.push({ type: 'delta', choice: 0, text })
  }

  #delta(delta: Fields, events: NeutralEvent[]): void {
    if (this.#open === null || this.#open === 'opaque') return
    const citation = saidFields(delta, 'citation')
    if (citation !== null) events.push({ type: 'citation', choice: 0, citation: readCitation(citation) })
    this.#sign(saidText(delta, 'signature'))
    this.#say(saidText(delta, 'text') ?? saidText(delta, 'thinking') ?? saidText(delta, 'partial_json'), events)
  }

  /** Gives the arguments of a call that came whole. */
  argue(input: unknown, events: NeutralEvent[]): void {
    this.#say(argumentsText(input), events)
  }

  close(events: NeutralEvent[]): void {
    if (this.#open === null) return
    if (this.#open === 'tool-call' && !this.#isTold) events.push({ type: 'delta', choice: 0, text: '{}' })
    events.push({ type: 'block-end', choice: 0, end: this.#end })
    this.#open = null
    this.#end = plainEnd
  }

  finish(delta: Fields, usage: Fields | null, events: NeutralEvent[]): void {
    this.#count(usage, events)
    const finish = readFinish(delta)
    if (finish === null || this.#finished || this.#state !== 'within') return
    this.close(events)
    this.#finished = true
    events.push({ type: 'finish', choice: 0, finish })
  }

  /** Only a message that told its finish is whole. */
  stop(events: NeutralEvent[]): void {
    if (this.#state !== 'within' || !this.#finished) return
    this.#state = 'over'
    events.push({ type: 'end' })
  }
}

function readBlock(block: Fields): BlockStart {
  const type = saidText(block, 'type') ?? ''
  if (type === 'text') return { kind: 'text' }
  if (type === 'thinking' || type === 'redacted_thinking') return { kind: 'reasoning' }
  if (type === 'tool_use') return { kind: 'tool-call', id: saidText(block, 'id') ?? '', name: saidText(block, 'name') ?? '', custom: false }
  return { kind: 'opaque', type, raw: block }
}

export const streamDecoder = (): StreamDecoder => new MessageDecoder()

/** Reads a whole message. */
export function decodeAnswer(json: unknown): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  if (json['type'] === 'error') return [{ type: 'error', error: readError(0, json) }]
  if (!Array.isArray(json['content'])) return none
  const decoder = new MessageDecoder()
  const events: NeutralEvent[] = []
  decoder.start(json, events)
  for (const block of saidList(json, 'content')) {
    decoder.open(block, events)
    if (block['type'] === 'tool_use') decoder.argue(block['input'], events)
    decoder.close(events)
  }
  decoder.finish(json, null, events)
  decoder.stop(events)
  return events
}
