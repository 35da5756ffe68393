import type { AnswerContext, Frame, StreamEncoder } from '../codec.ts'
import { urlOfMedia } from '../media.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import { mergeUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { madeId, writeThinking } from './answer-encode.ts'
import { writeCitation, writeLogprobs } from './answer-parts.ts'
import { writeCounts } from './counts.ts'
import { writeError } from './error-codec.ts'
import { writeFinish } from './finish.ts'
import { doneMark } from './marks.ts'
import { type ChoiceState, newChoice } from './choice-state.ts'
import { mostPictured, retellList, takePictures } from './whole-lists.ts'

interface AtChoice {
  readonly choice: number
  readonly state: ChoiceState
}

type EventOf<Type extends NeutralEvent['type']> = Extract<NeutralEvent, { readonly type: Type }>

const none: readonly Frame[] = []
const signOfLife: readonly Frame[] = [{ name: null, data: null }]

/** Writes a stream of chunks. A class, because it is a state machine. */
class ChatEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  readonly #isOld: boolean
  readonly #choices: ChoiceState[] = []
  #head = ''
  #tail: string
  #usage: TokenUsage | null = null
  #tier: string | null = null
  /** The characters of all pictures so far. */
  #pictured = 0

  constructor(context: AnswerContext) {
    this.#context = context
    this.#isOld = context.request.echo['functions'] === true
    this.#tail = context.request.streamUsage ? ',"usage":null}' : '}'
  }

  event(event: NeutralEvent): readonly Frame[] {
    switch (event.type) {
      case 'delta':
        return this.#delta(event)
      case 'start':
        return this.#start(event)
      case 'usage':
        this.#usage = mergeUsage(this.#usage, event.usage)
        if (event.tier !== null && event.tier !== this.#tier) this.#tellTier(event.tier)
        return none
      case 'error':
        return [{ name: null, data: JSON.stringify(writeError(event.error, this.#context.requestId)) }]
      case 'ping':
        return signOfLife
      case 'end':
        return this.#end()
      default:
        return this.#ofChoice(event)
    }
  }

  /** OpenAI sends the tier in each chunk; here it stands in the later ones. */
  #tellTier(tier: string): void {
    this.#tier = tier
    this.#tail = `,${this.#tierField.slice(0, -1)}${this.#context.request.streamUsage ? ',"usage":null}' : '}'}`
  }

  get #tierField(): string {
    return this.#tier === null ? '' : `"service_tier":${JSON.stringify(this.#tier)},`
  }

  #start({ id, model, created, tier = null }: EventOf<'start'>): readonly Frame[] {
    if (tier !== null) this.#tellTier(tier)
    const { requestId, now, model: asked } = this.#context
    const about = { id: id ?? madeId(requestId), object: 'chat.completion.chunk', created: created ?? now, model: model ?? asked }
    this.#head = `${JSON.stringify(about).slice(0, -1)},"choices":[`
    this.#stateOf(0).begun = true
    return [this.#chunk(0, roleDelta)]
  }

  #stateOf(choice: number): ChoiceState {
    return (this.#choices[choice] ??= newChoice())
  }

  #chunk(choice: number, delta: string, rest = '"logprobs":null,"finish_reason":null'): Frame {
    return { name: null, data: `${this.#head}{"index":${choice},"delta":${delta},${rest}}]${this.#tail}` }
  }

  #delta({ choice, text }: EventOf<'delta'>): readonly Frame[] {
    const state = this.#stateOf(choice)
    const written = JSON.stringify(text)
    state.length += text.length
    switch (state.block?.kind) {
      case 'text':
        return [this.#chunk(choice, `{"content":${written}}`)]
      case 'reasoning':
        state.reasoning += text
        return [this.#chunk(choice, `{"reasoning_content":${written}}`)]
      case 'refusal':
        return [this.#chunk(choice, `{"refusal":${written}}`)]
      case 'tool-call':
        return [this.#chunk(choice, this.#arguments(state, written))]
      default:
        return none
    }
  }

  #arguments({ calls, block }: ChoiceState, written: string): string {
    if (this.#isOld) return `{"function_call":{"arguments":${written}}}`
    const isCustom = block?.kind === 'tool-call' && block.custom
    return `{"tool_calls":[{"index":${calls - 1},${isCustom ? `"custom":{"input":${written}}` : `"function":{"arguments":${written}}`}}]}`
  }

  #ofChoice(event: EventOf<'block-start' | 'block-end' | 'citation' | 'logprobs' | 'finish'>): readonly Frame[] {
    const { choice } = event
    const state = this.#stateOf(choice)
    const frames: Frame[] = []
    if (!state.begun) {
      state.begun = true
      frames.push(this.#chunk(choice, roleDelta))
    }
    if (event.type === 'block-start') this.#open(event, state, frames)
    else if (event.type === 'block-end') this.#close(event, state, frames)
    else if (event.type === 'citation') state.lists.annotations.push(writeCitation(event.citation, state.offset, state.length))
    else if (event.type === 'logprobs')
      frames.push(this.#chunk(choice, '{}', `"logprobs":${JSON.stringify(writeLogprobs(event.tokens))},"finish_reason":null`))
    else this.#finish(event, state, frames)
    return frames
  }

  #open({ choice, block }: EventOf<'block-start'>, state: ChoiceState, frames: Frame[]): void {
    state.block = block
    state.reasoning = ''
    state.length = 0
    const at = { choice, state }
    if (block.kind !== 'reasoning') this.#tell(retellList(state.lists, 'thinking_blocks', false), at, frames)
    if (block.kind === 'tool-call') this.#tell(retellList(state.lists, 'annotations', false), at, frames)
    if (block.kind === 'media' && block.media === 'image') this.#picture(urlOfMedia(block.source), at, frames)
    if (block.kind !== 'tool-call') return
    const { id, name, custom } = block
    const index = state.calls++
    const called = custom
      ? { index, id, type: 'custom', custom: { name, input: '' } }
      : { index, id, type: 'function', function: { name, arguments: '' } }
    frames.push(this.#chunk(choice, JSON.stringify(this.#isOld ? { function_call: { name, arguments: '' } } : { tool_calls: [called] })))
  }

  #close({ choice, end }: EventOf<'block-end'>, state: ChoiceState, frames: Frame[]): void {
    const { block, reasoning } = state
    state.block = null
    if (block === null) return
    if (block.kind === 'text') state.offset += state.length
    if (block.kind === 'tool-call' && state.length === 0 && !block.custom)
      frames.push(this.#chunk(choice, this.#arguments({ ...state, block }, '"{}"')))
    if (block.kind === 'tool-call' && end.signature?.origin === 'google') {
      const extra = { extra_content: { google: { thought_signature: end.signature.value } } }
      const told = this.#isOld ? { function_call: extra } : { tool_calls: [{ index: state.calls - 1, ...extra }] }
      frames.push(this.#chunk(choice, JSON.stringify(told)))
    }
    const after = { text: state.offset, calls: state.calls }
    state.lists.thinking_blocks.push(...writeThinking(reasoning, { block, end }, after))
  }

  #picture(url: string | null, at: AtChoice, frames: Frame[]): void {
    at.state.lists.images.push({ type: 'image_url', image_url: { url } })
    this.#pictured += url?.length ?? 0
    if (this.#pictured > mostPictured) this.#tell(takePictures(at.state.lists), at, frames)
  }

  #tell(delta: string | null, { choice }: AtChoice, frames: Frame[]): void {
    if (delta !== null) frames.push(this.#chunk(choice, delta))
  }

  #finish({ choice, finish }: EventOf<'finish'>, state: ChoiceState, frames: Frame[]): void {
    const { lists } = state
    const rest = [retellList(lists, 'thinking_blocks', true), retellList(lists, 'annotations', true), takePictures(lists)]
    for (const delta of rest) this.#tell(delta, { choice, state }, frames)
    if (finish.explanation !== null) frames.push(this.#chunk(choice, JSON.stringify({ refusal: finish.explanation })))
    frames.push(this.#chunk(choice, '{}', `"logprobs":null,"finish_reason":"${writeFinish(finish, this.#isOld)}"`))
  }

  #end(): readonly Frame[] {
    const frames: Frame[] = []
    if (this.#context.request.streamUsage && this.#usage !== null)
      frames.push({ name: null, data: `${this.#head}],${this.#tierField}"usage":${JSON.stringify(writeCounts(this.#usage))}}` })
    frames.push({ name: null, data: doneMark })
    return frames
  }
}

const roleDelta = '{"role":"assistant","content":"","refusal":null}'

export const streamEncoder = (context: AnswerContext): StreamEncoder => new ChatEncoder(context)
