import type { AnswerContext, Frame, StreamEncoder } from '../codec.ts'
import type { BlockStart, NeutralEvent } from '../neutral/events.ts'
import type { Finish } from '../neutral/finish.ts'
import { signatureBehind } from '../neutral/signed-calls.ts'
import { mergeUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { calledIn, namespaceOf } from './namespaces.ts'
import {
  endOf,
  itemId,
  type ItemState,
  writeAnnotation,
  writeCounts,
  writeItem,
  writeLogprobs,
  writePart,
  writeResponse,
} from './output-items.ts'

type EventOf<Type extends NeutralEvent['type']> = Extract<NeutralEvent, { readonly type: Type }>

interface OpenItem extends ItemState {
  text: string
  readonly annotations: object[]
  readonly logprobs: object[]
}

const none: readonly Frame[] = []
const signOfLife: readonly Frame[] = [{ name: null, data: null }]

/** The events of each kind of block: of a piece, and of the end of its text. */
const pieces: Readonly<Partial<Record<BlockStart['kind'], string>>> = {
  text: 'response.output_text',
  refusal: 'response.refusal',
  reasoning: 'response.reasoning_summary_text',
  'tool-call': 'response.function_call_arguments',
}

/** Writes a stream of events, whose last one holds the whole response. A class, because it is a state machine. */
class ResponseEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  readonly #output: object[] = []
  #frames: Frame[] = []
  #sequence = 0
  #head: EventOf<'start'> = { type: 'start', id: null, model: null, created: null }
  #hasBegun = false
  #item: OpenItem | null = null
  #usage: TokenUsage | null = null
  #tier: string | null = null
  #finish: Finish | null = null

  constructor(context: AnswerContext) {
    this.#context = context
  }

  event(event: NeutralEvent): readonly Frame[] {
    if (event.type === 'ping') return signOfLife
    if ('choice' in event && event.choice !== 0) return none
    this.#frames = []
    this.#take(event)
    return this.#frames
  }

  #take(event: NeutralEvent): void {
    if (event.type === 'delta') this.#delta(event.text)
    else if (event.type === 'start') this.#start(event)
    else if (event.type === 'usage') this.#count(event)
    else if (event.type === 'block-start') this.#open(event.block)
    else if (event.type === 'block-end') this.#close(event)
    else if (event.type === 'citation') this.#cite(event)
    else if (event.type === 'logprobs') this.#logprobs(event)
    else if (event.type === 'finish') this.#finish = event.finish
    else if (event.type === 'error') this.#fail(event)
    else if (event.type === 'end') this.#end()
  }

  #count({ usage, tier }: EventOf<'usage'>): void {
    this.#usage = mergeUsage(this.#usage, usage)
    this.#tier = tier ?? this.#tier
  }

  #send(type: string, fields: object): void {
    this.#frames.push({ name: type, data: JSON.stringify({ type, sequence_number: this.#sequence, ...fields }) })
    this.#sequence += 1
  }

  #start(event: EventOf<'start'>): void {
    this.#head = event
    this.#hasBegun = true
    const response = writeResponse(event, this.#context, {})
    this.#send('response.created', { response })
    this.#send('response.in_progress', { response })
  }

  /** The place of the open item in the response. */
  #place(rest: object): object {
    return { item_id: this.#item?.id ?? '', output_index: this.#output.length, ...rest }
  }

  #open(block: BlockStart): void {
    const id = itemId(block, this.#context.requestId, this.#output.length)
    const namespace = namespaceOf(block, this.#context.request.tools)
    const item: OpenItem = { id, block, text: '', annotations: [], logprobs: [], namespace }
    const written = writeItem(item, null)
    this.#item = written === null ? null : item
    if (written === null) return
    this.#send('response.output_item.added', { output_index: this.#output.length, item: written })
    if (block.kind === 'text' || block.kind === 'refusal')
      this.#send('response.content_part.added', this.#place({ content_index: 0, part: writePart(item) }))
  }

  #delta(text: string): void {
    const item = this.#item
    if (item === null) return
    if (item.block.kind === 'reasoning' && item.text === '')
      this.#send('response.reasoning_summary_part.added', this.#place({ summary_index: 0, part: { type: 'summary_text', text: '' } }))
    item.text += text
    this.#piece(item, 'delta', { delta: text })
  }

  #piece({ block, logprobs }: OpenItem, what: 'delta' | 'done', fields: object): void {
    const isCustom = block.kind === 'tool-call' && block.custom
    const name = isCustom ? 'response.custom_tool_call_input' : pieces[block.kind]
    if (name === undefined) return
    const index = block.kind === 'reasoning' ? { summary_index: 0 } : block.kind === 'tool-call' ? {} : { content_index: 0 }
    const odds = block.kind === 'text' ? { logprobs: what === 'done' ? logprobs : none } : {}
    this.#send(`${name}.${what}`, this.#place({ ...index, ...fields, ...odds }))
  }

  #cite({ citation }: EventOf<'citation'>): void {
    const item = this.#item
    if (item?.block.kind !== 'text') return
    const annotation = writeAnnotation(citation, item.text.length)
    this.#send(
      'response.output_text.annotation.added',
      this.#place({ content_index: 0, annotation_index: item.annotations.length, annotation }),
    )
    item.annotations.push(annotation)
  }

  /** They come behind the piece of text that they are about, so that they are told with an empty one. */
  #logprobs({ tokens }: EventOf<'logprobs'>): void {
    const item = this.#item
    if (item?.block.kind !== 'text') return
    const logprobs = writeLogprobs(tokens)
    for (const one of logprobs) item.logprobs.push(one)
    this.#send('response.output_text.delta', this.#place({ content_index: 0, delta: '', logprobs }))
  }

  #close(event: EventOf<'block-end'>): void {
    const { end } = event
    const item = this.#item
    if (item === null) return
    this.#closeText(item)
    const written = writeItem(item, end)
    if (written !== null) {
      this.#send('response.output_item.done', { output_index: this.#output.length, item: written })
      this.#output.push(written)
    }
    this.#item = null
    if (item.block.kind === 'tool-call') for (const behind of signatureBehind(event)) this.#take(behind)
  }

  #closeText(item: OpenItem): void {
    const { block, text } = item
    if (block.kind === 'tool-call') {
      this.#piece(
        item,
        'done',
        block.custom ? { input: text } : { ...calledIn(item.namespace, block.name), arguments: text === '' ? '{}' : text },
      )
    } else if (block.kind === 'reasoning') {
      if (text === '') return
      this.#piece(item, 'done', { text })
      this.#send('response.reasoning_summary_part.done', this.#place({ summary_index: 0, part: { type: 'summary_text', text } }))
    } else if (block.kind !== 'media') {
      this.#piece(item, 'done', block.kind === 'refusal' ? { refusal: text } : { text })
      this.#send('response.content_part.done', this.#place({ content_index: 0, part: writePart(item) }))
    }
  }

  #whole(rest: object): object {
    const usage = this.#usage === null ? null : writeCounts(this.#usage)
    const tier = this.#tier !== null && { service_tier: this.#tier }
    return writeResponse(this.#head, this.#context, { output: this.#output, usage, ...tier, ...rest })
  }

  #end(): void {
    const end = endOf(this.#finish)
    this.#send(`response.${end.status}`, { response: this.#whole({ ...end }) })
  }

  #fail({ error: { message, code, type, param } }: EventOf<'error'>): void {
    const name = code ?? type ?? 'server_error'
    if (this.#hasBegun) this.#send('response.failed', { response: this.#whole({ status: 'failed', error: { code: name, message } }) })
    this.#send('error', { code: name, message, param })
  }
}

export const streamEncoder = (context: AnswerContext): StreamEncoder => new ResponseEncoder(context)
