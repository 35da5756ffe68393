import { exactJson } from '../../../lib/json/exact-json.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamEncoder } from '../codec.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import { mergeUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { madeId } from './answer-encode.ts'
import { CandidateEncoder } from './candidate-encode.ts'
import { writeCounts } from './counts.ts'
import { encodeError } from './error-codec.ts'

/** Google's client forgets a turn of which one frame has no content. */
const emptyContent = { parts: [{ text: '' }], role: 'model' }
const none: readonly Frame[] = []
const signOfLife: readonly Frame[] = [{ name: null, data: null }]

type ChoiceEvent = Extract<NeutralEvent, { readonly choice: number }>

/** Writes a stream of contents. The finish comes with the token counts in the last frame, as Google sends them. A class, because it is a state machine. */
class GoogleEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  readonly #candidates: CandidateEncoder[] = []
  #tail = '}'
  #usage: TokenUsage | null = null

  constructor(context: AnswerContext) {
    this.#context = context
  }

  event(event: NeutralEvent): readonly Frame[] {
    switch (event.type) {
      case 'start': {
        const about = { modelVersion: event.model ?? this.#context.model, responseId: event.id ?? madeId(this.#context.requestId) }
        this.#tail = `,${JSON.stringify(about).slice(1)}`
        return none
      }
      case 'usage':
        this.#usage = mergeUsage(this.#usage, event.usage)
        return none
      case 'error':
        return [{ name: null, data: JSON.stringify(encodeError(event.error)) }]
      case 'ping':
        return signOfLife
      case 'end':
        return [this.#end()]
      default:
        return this.#ofChoice(event)
    }
  }

  #ofChoice(event: ChoiceEvent): readonly Frame[] {
    const { choice } = event
    const candidate = (this.#candidates[choice] ??= new CandidateEncoder(this.#context))
    switch (event.type) {
      case 'delta':
        return this.#piece(event, candidate)
      case 'block-start':
        return this.#parts(choice, candidate.open(event.block))
      case 'block-end':
        return this.#parts(choice, candidate.close(event.end))
      case 'finish':
        candidate.finish(event.finish)
        return this.#parts(choice, candidate.rest())
      default:
        if (event.type === 'citation') candidate.cite(event.citation)
        else candidate.logprobs(event.tokens)
        return none
    }
  }

  #piece({ choice, text }: Extract<NeutralEvent, { readonly type: 'delta' }>, candidate: CandidateEncoder): readonly Frame[] {
    const kind = candidate.piece(text)
    if (kind === null || text === '') return none
    return [this.#frame(choice, `{"text":${JSON.stringify(text)}${kind === 'thought' ? ',"thought":true}' : '}'}`)]
  }

  #parts(choice: number, parts: readonly Fields[]): readonly Frame[] {
    return parts.length === 0 ? none : [this.#frame(choice, parts.map((part) => exactJson(part)).join(','))]
  }

  #frame(choice: number, parts: string): Frame {
    return { name: null, data: `{"candidates":[{"content":{"parts":[${parts}],"role":"model"},"index":${choice}}]${this.#tail}` }
  }

  #end(): Frame {
    const candidates = this.#candidates.map((candidate, index) => ({ content: emptyContent, ...candidate.tail(), index }))
    const usage = this.#usage === null ? '' : `,"usageMetadata":${JSON.stringify(writeCounts(this.#usage))}`
    return { name: null, data: `{"candidates":${JSON.stringify(candidates)}${usage}${this.#tail}` }
  }
}

export const streamEncoder = (context: AnswerContext): StreamEncoder => new GoogleEncoder(context)
