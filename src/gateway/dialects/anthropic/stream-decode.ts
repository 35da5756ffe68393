import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Frame, StreamDecoder } from '../codec.ts'
import { readError } from '../error-reading.ts'
import { type BlockEnd, type BlockStart, type NeutralEvent, plainEnd } from '../neutral/events.ts'
import { readSignature } from '../neutral/signature.ts'
import { type BlockTurn, BlockTurns } from '../neutral/block-turns.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'
import { readCitation } from './citations.ts'
import { CountReader } from './counts.ts'
import { readFinish } from './finish.ts'

const none: readonly NeutralEvent[] = []
const nothing: Fields = {}
const fieldsOf = (json: Fields, field: string): Fields => saidFields(json, field) ?? nothing
const ping: readonly NeutralEvent[] = [{ type: 'ping' }]

/** One block as its events come. A class, because it is a state machine. */
class BlockDecoder {
  readonly #kind: BlockStart['kind']
  readonly #turn: BlockTurn
  #end: BlockEnd = plainEnd
  #isTold = false

  constructor(block: Fields, turn: BlockTurn) {
    const start = readBlock(block)
    this.#kind = start.kind
    this.#turn = turn
    turn.held.push({ type: 'block-start', choice: 0, block: start })
    if (block['type'] === 'redacted_thinking') this.#end = { signature: readSignature(block['data'], 'anthropic'), redacted: true }
    if (block['type'] === 'thinking') this.#sign(saidText(block, 'signature'))
    if (start.kind === 'text' || start.kind === 'reasoning') this.#say(saidText(block, start.kind === 'text' ? 'text' : 'thinking'))
    for (const citation of saidList(block, 'citations')) this.#cite(citation)
  }

  push(delta: Fields): void {
    if (this.#turn.isOver || this.#kind === 'opaque') return
    const citation = saidFields(delta, 'citation')
    if (citation !== null) this.#cite(citation)
    this.#sign(saidText(delta, 'signature'))
    this.#say(saidText(delta, 'text') ?? saidText(delta, 'thinking') ?? saidText(delta, 'partial_json'))
  }

  /** Takes the arguments of a call that came whole. */
  argue(input: unknown): void {
    this.#say(argumentsText(input))
  }

  close(): void {
    if (this.#turn.isOver) return
    this.#turn.isOver = true
    if (this.#kind === 'tool-call' && !this.#isTold) this.#say('{}')
    this.#turn.held.push({ type: 'block-end', choice: 0, end: this.#end })
  }

  #sign(signature: string | null): void {
    const read = readSignature(signature, 'anthropic')
    if (read !== null) this.#end = { signature: read, redacted: false }
  }

  #say(text: string | null): void {
    if (text === null || text === '') return
    this.#isTold = true
    this.#turn.held.push({ type: 'delta', choice: 0, text })
  }

  #cite(citation: Fields): void {
    if (this.#kind === 'text') this.#turn.held.push({ type: 'citation', choice: 0, citation: readCitation(citation) })
  }
}

/** Reads a stream of events, and whole messages as if they came in pieces. A class, because it is a state machine. */
class MessageDecoder implements StreamDecoder {
  readonly #counts = new CountReader()
  readonly #turns = new BlockTurns()
  readonly #blocks = new Map<number, BlockDecoder>()
  #state: 'before' | 'within' | 'over' = 'before'
  #last = 0
  #finished = false

  frame({ data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return ping
    const json = exactOrUndefined(data)
    return isFields(json) ? this.#event(json, data.length) : none
  }

  end(): readonly NeutralEvent[] {
    return none
  }

  #event(json: Fields, size: number): readonly NeutralEvent[] {
    const { type } = json
    if (type === 'ping') return ping
    const events: NeutralEvent[] = []
    if (type === 'content_block_delta') this.#blocks.get(this.#place(json))?.push(fieldsOf(json, 'delta'))
    else if (type === 'message_start') this.start(fieldsOf(json, 'message'), events)
    else if (type === 'content_block_start') this.open(fieldsOf(json, 'content_block'), this.#place(json))
    else if (type === 'content_block_stop') this.#close(this.#place(json))
    else if (type === 'message_delta') this.finish(fieldsOf(json, 'delta'), saidFields(json, 'usage'), events)
    else if (type === 'message_stop') this.stop(events)
    else if (type === 'error') this.#fail(json, events)
    if (this.#state !== 'over') this.#turns.give(size, events)
    if (this.#turns.overflows) this.#fail({ error: { message: 'The provider sent too many blocks at once.' } }, events)
    return events
  }

  /** Servers that number no blocks mean the last one. */
  #place({ index }: Fields): number {
    return typeof index === 'number' ? index : this.#last
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

  open(block: Fields, index: number): BlockDecoder {
    this.#close(index)
    this.#last = index
    const made = new BlockDecoder(block, this.#turns.begin())
    this.#blocks.set(index, made)
    return made
  }

  #close(index: number): void {
    this.#blocks.get(index)?.close()
    this.#blocks.delete(index)
  }

  finish(delta: Fields, usage: Fields | null, events: NeutralEvent[]): void {
    this.#count(usage, events)
    const finish = readFinish(delta)
    if (finish === null || this.#finished || this.#state !== 'within') return
    for (const block of this.#blocks.values()) block.close()
    this.#blocks.clear()
    this.#turns.give(0, events)
    this.#finished = true
    events.push({ type: 'finish', choice: 0, finish })
  }

  /** Only a message with a finish is whole. */
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
  for (const [index, block] of saidList(json, 'content').entries()) {
    const open = decoder.open(block, index)
    if (block['type'] === 'tool_use') open.argue(block['input'])
    open.close()
  }
  decoder.finish(json, null, events)
  decoder.stop(events)
  return events
}
