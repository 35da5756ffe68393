import type { Fields } from '../../../lib/json/fields.ts'
import { type BlockEnd, type BlockStart, type NeutralEvent, plainEnd } from '../neutral/events.ts'
import { readCitation, readLogprobs } from '../openai-chat/answer-parts.ts'
import { base64Media } from '../media.ts'
import { saidList, saidText } from '../reading.ts'
import { writeSealed } from './sealed-item.ts'

/** One item of an answer as its events come. A class, because it is a state machine. */
export class ItemDecoder {
  readonly #type: string
  #open: BlockStart['kind'] | null = null
  /** True if a part of the open block was sent. */
  #told = false
  #summaries = 0
  /** True if any part of the item was sent before it was whole. */
  #streamed = false
  isOver = false

  constructor(item: Fields, events: NeutralEvent[]) {
    this.#type = saidText(item, 'type') ?? ''
    if (this.#type === 'function_call' || this.#type === 'custom_tool_call') this.#start(callOf(item, this.#type), events)
  }

  get isCall(): boolean {
    return this.#type === 'function_call' || this.#type === 'custom_tool_call'
  }

  /** Takes an event that adds to the item. */
  push(type: string, json: Fields, events: NeutralEvent[]): void {
    const kind = kinds[type]
    if (kind !== undefined) this.#say(kind, saidText(json, 'delta') ?? '', events)
    else if (type === 'response.reasoning_summary_part.added') this.#nextSummary(events)
    else if (type === 'response.content_part.done') this.#close(plainEnd, events)
    else if (type === 'response.output_text.annotation.added') this.#cite(json['annotation'], events)
    if (kind === 'text') this.#logprobs(json['logprobs'], events)
  }

  /** Takes the item as it is when it is whole, with the parts that were not sent before. */
  end(item: Fields, events: NeutralEvent[]): void {
    this.isOver = true
    if (this.#type === 'message') {
      if (!this.#streamed) for (const part of saidList(item, 'content')) this.#part(part, events)
    } else if (this.#type === 'reasoning') return this.#endReasoning(item, events)
    else if (this.isCall) {
      const given = saidText(item, this.#type === 'custom_tool_call' ? 'input' : 'arguments') ?? ''
      if (!this.#told && given !== '') events.push({ type: 'delta', choice: 0, text: given })
      else if (!this.#told && this.#type === 'function_call') events.push({ type: 'delta', choice: 0, text: '{}' })
    } else this.#foreign(item, events)
    this.#close(plainEnd, events)
  }

  #start(block: BlockStart, events: NeutralEvent[]): void {
    this.#close(plainEnd, events)
    this.#open = block.kind
    this.#told = false
    events.push({ type: 'block-start', choice: 0, block })
  }

  #say(kind: 'text' | 'refusal' | 'reasoning' | 'tool-call', text: string, events: NeutralEvent[]): void {
    if (text === '') return
    if (this.#open !== kind) {
      if (kind === 'tool-call') return
      this.#start({ kind }, events)
    }
    this.#told = true
    this.#streamed = true
    events.push({ type: 'delta', choice: 0, text })
  }

  #nextSummary(events: NeutralEvent[]): void {
    if (this.#summaries > 0 && this.#told) events.push({ type: 'delta', choice: 0, text: '\n\n' })
    this.#summaries += 1
  }

  #close(end: BlockEnd, events: NeutralEvent[]): void {
    if (this.#open === null) return
    this.#open = null
    events.push({ type: 'block-end', choice: 0, end })
  }

  #part(part: Fields, events: NeutralEvent[]): void {
    const refusal = saidText(part, 'refusal')
    this.#say(refusal === null ? 'text' : 'refusal', refusal ?? saidText(part, 'text') ?? '', events)
    for (const note of saidList(part, 'annotations')) this.#cite(note, events)
    this.#logprobs(part['logprobs'], events)
    this.#close(plainEnd, events)
  }

  #cite(note: unknown, events: NeutralEvent[]): void {
    const citation = typeof note === 'object' && note !== null && this.#open === 'text' ? readCitation({ ...note }) : null
    if (citation !== null) events.push({ type: 'citation', choice: 0, citation })
  }

  #logprobs(list: unknown, events: NeutralEvent[]): void {
    const tokens = Array.isArray(list) && this.#open === 'text' ? readLogprobs({ content: list }) : []
    if (tokens.length > 0) events.push({ type: 'logprobs', choice: 0, tokens })
  }

  #endReasoning(item: Fields, events: NeutralEvent[]): void {
    const texts = [...saidList(item, 'summary'), ...saidList(item, 'content')].map((part) => saidText(part, 'text') ?? '')
    const text = texts.filter((one) => one !== '').join('\n\n')
    const encrypted = saidText(item, 'encrypted_content') ?? ''
    if (!this.#streamed) {
      if (text === '' && encrypted === '') return
      this.#start({ kind: 'reasoning' }, events)
      this.#say('reasoning', text, events)
    }
    const value = writeSealed(saidText(item, 'id') ?? '', encrypted)
    this.#close({ signature: encrypted === '' ? null : { origin: 'openai', value }, redacted: encrypted !== '' && !this.#streamed }, events)
  }

  /** Work of the vendor's own tools: a picture has a counterpart, all else is passed on as it is. */
  #foreign(item: Fields, events: NeutralEvent[]): void {
    const picture = this.#type === 'image_generation_call' ? saidText(item, 'result') : null
    this.#start(
      picture === null
        ? { kind: 'opaque', type: this.#type, raw: item }
        : { kind: 'media', media: 'image', source: base64Media('image/png', picture) },
      events,
    )
  }
}

const kinds: Readonly<Record<string, 'text' | 'refusal' | 'reasoning' | 'tool-call' | undefined>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'tool-call',
  'response.custom_tool_call_input.delta': 'tool-call',
}

const callOf = (item: Fields, type: string): BlockStart => ({
  kind: 'tool-call',
  id: saidText(item, 'call_id') ?? saidText(item, 'id') ?? '',
  name: saidText(item, 'name') ?? '',
  custom: type === 'custom_tool_call',
})
