import { exactJson } from '../../../lib/json/exact-json.ts'
import type { AnswerContext, Frame, StreamEncoder } from '../codec.ts'
import type { BlockStart, NeutralEvent } from '../neutral/events.ts'
import { type Finish, finishOf } from '../neutral/finish.ts'
import { signatureBehind } from '../neutral/signed-calls.ts'
import { mergeUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { madeId } from './answer-encode.ts'
import { mediaText, signatureText, writeStart } from './blocks-encode.ts'
import { writeCitation } from './citations.ts'
import { writeCounts, writeTier } from './counts.ts'
import { writeError } from './error-codec.ts'
import { withRefusal, writeFinish } from './finish.ts'

type EventOf<Type extends NeutralEvent['type']> = Extract<NeutralEvent, { readonly type: Type }>

const none: readonly Frame[] = []

/** Writes a stream of events. A class, because it is a state machine. */
class MessageEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  #index = -1
  /** Null: none is open. */
  #block: BlockStart | null = null
  /** True when the start of the open block was written. */
  #isWritten = false
  #usage: TokenUsage | null = null
  #finish: Finish = finishOf('stop')
  #isRefusal = false
  #tier: string | null = null
  #start: EventOf<'start'> | null = null

  constructor(context: AnswerContext) {
    this.#context = context
  }

  event(event: NeutralEvent): readonly Frame[] {
    if (event.type === 'delta') return event.choice === 0 ? this.#delta(event.text) : none
    if (event.type === 'usage') return this.#count(event)
    const frames: Frame[] = []
    this.#begin(frames)
    if ('choice' in event) {
      if (event.choice === 0) this.#ofBlock(event, frames)
    } else if (event.type === 'start') this.#note(event)
    else if (event.type === 'ping') frames.push({ name: 'ping', data: '{"type":"ping"}' })
    else if (event.type === 'error') frames.push({ name: 'error', data: JSON.stringify(writeError(event.error, this.#context.requestId)) })
    else if (event.type === 'end') this.#end(frames)
    return frames
  }

  #note(event: EventOf<'start'>): void {
    this.#start = event
    this.#tier = event.tier ?? this.#tier
  }

  #count({ usage, tier }: EventOf<'usage'>): readonly Frame[] {
    this.#usage = mergeUsage(this.#usage, usage)
    this.#tier = tier ?? this.#tier
    return none
  }

  /** The beginning waits for the next event: counts of the input may come right behind. */
  #begin(frames: Frame[]): void {
    const start = this.#start
    if (start === null) return
    this.#start = null
    const { requestId, model } = this.#context
    const message = {
      id: start.id ?? madeId(requestId),
      type: 'message',
      role: 'assistant',
      model: start.model ?? model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: { ...writeCounts(this.#usage), output_tokens: 1, service_tier: writeTier(this.#tier) },
    }
    frames.push({ name: 'message_start', data: JSON.stringify({ type: 'message_start', message }) })
  }

  #delta(text: string): readonly Frame[] {
    const frames: Frame[] = []
    this.#begin(frames)
    this.#open(frames)
    const piece = this.#pieceOf(text)
    if (piece !== null) frames.push(this.#piece(piece))
    return frames
  }

  #piece(delta: string): Frame {
    return { name: 'content_block_delta', data: `{"type":"content_block_delta","index":${this.#index},"delta":${delta}}` }
  }

  #pieceOf(text: string): string | null {
    const written = JSON.stringify(text)
    switch (this.#block?.kind) {
      case 'text':
      case 'refusal':
        return `{"type":"text_delta","text":${written}}`
      case 'reasoning':
        return `{"type":"thinking_delta","thinking":${written}}`
      case 'tool-call':
        return `{"type":"input_json_delta","partial_json":${written}}`
      default:
        return null
    }
  }

  #ofBlock(event: EventOf<'block-start' | 'block-end' | 'citation' | 'logprobs' | 'finish'>, frames: Frame[]): void {
    if (event.type === 'block-start') this.#take(event.block, frames)
    else if (event.type === 'block-end') this.#close(event, frames)
    else if (event.type === 'finish') this.#finish = event.finish
    else if (event.type === 'citation') {
      this.#open(frames)
      if (this.#isWritten) frames.push(this.#piece(JSON.stringify({ type: 'citations_delta', citation: writeCitation(event.citation) })))
    }
  }

  /** A text, and reasoning that may turn out to be sealed, begin with their first piece. */
  #take(block: BlockStart, frames: Frame[]): void {
    this.#block = block
    this.#isRefusal ||= block.kind === 'refusal'
    this.#isWritten = false
    if (block.kind === 'tool-call' || block.kind === 'opaque' || block.kind === 'media') this.#open(frames)
    const text = mediaText(block)
    if (text !== '') frames.push(this.#piece(`{"type":"text_delta","text":${JSON.stringify(text)}}`))
  }

  #open(frames: Frame[]): void {
    if (this.#isWritten || this.#block === null) return
    const start = writeStart(this.#block)
    if (start !== null) this.#write(start, frames)
  }

  #write(block: object, frames: Frame[]): void {
    this.#isWritten = true
    this.#index += 1
    const data = exactJson({ type: 'content_block_start', index: this.#index, content_block: block })
    frames.push({ name: 'content_block_start', data })
  }

  #close(event: EventOf<'block-end'>, frames: Frame[]): void {
    const { end } = event
    const block = this.#block
    if (block?.kind === 'reasoning') {
      const signature = signatureText(end)
      if (end.redacted) this.#write({ type: 'redacted_thinking', data: signature }, frames)
      else {
        this.#open(frames)
        frames.push(this.#piece(JSON.stringify({ type: 'signature_delta', signature })))
      }
    }
    this.#block = null
    const wasWritten = this.#isWritten
    this.#isWritten = false
    if (wasWritten) frames.push({ name: 'content_block_stop', data: `{"type":"content_block_stop","index":${this.#index}}` })
    if (block?.kind === 'tool-call') for (const behind of signatureBehind(event)) frames.push(...this.event(behind))
  }

  #end(frames: Frame[]): void {
    const finish = withRefusal(this.#finish, this.#isRefusal)
    const details = finish.reason === 'content-filter' ? { type: 'refusal', category: null, explanation: finish.explanation } : null
    const delta = { ...writeFinish(finish, this.#context.request.stop), stop_details: details, container: null }
    const data = JSON.stringify({
      type: 'message_delta',
      delta,
      usage: { ...writeCounts(this.#usage), service_tier: writeTier(this.#tier) },
    })
    frames.push({ name: 'message_delta', data }, { name: 'message_stop', data: '{"type":"message_stop"}' })
  }
}

export const streamEncoder = (context: AnswerContext): StreamEncoder => new MessageEncoder(context)
