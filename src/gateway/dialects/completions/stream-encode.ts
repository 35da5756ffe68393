import type { AnswerContext, Frame, StreamEncoder } from '../codec.ts'
import type { NeutralEvent } from '../neutral/events.ts'
import { mergeUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { writeCounts } from '../openai-chat/counts.ts'
import { writeError } from '../openai-chat/error-codec.ts'
import { doneMark } from '../openai-chat/marks.ts'
import { headOf, prefixOf, spoken, wordOf } from './answer-encode.ts'

const none: readonly Frame[] = []
const signOfLife: readonly Frame[] = [{ name: null, data: null }]

/** Writes a stream of chunks. A class, because it is a state machine. */
class CompletionEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  readonly #prefix: string
  readonly #tail: string
  /** For each choice: true while the model's text is in the open block. */
  readonly #speaks: boolean[] = []
  /** The choices that have begun, and have the prompt in front of them. */
  readonly #begun = new Set<number>()
  #head = ''
  #usage: TokenUsage | null = null

  constructor(context: AnswerContext) {
    this.#context = context
    this.#prefix = prefixOf(context)
    this.#tail = context.request.streamUsage ? ',"usage":null}' : '}'
  }

  event(event: NeutralEvent): readonly Frame[] {
    switch (event.type) {
      case 'delta':
        return this.#speaks[event.choice] === true ? this.#text(event.choice, event.text) : none
      case 'start':
        this.#head = `${JSON.stringify(headOf(event, this.#context)).slice(0, -1)},"choices":[`
        return none
      case 'block-start':
        this.#speaks[event.choice] = spoken.has(event.block.kind)
        return none
      case 'finish':
        return [...this.#text(event.choice, ''), this.#chunk(event.choice, '', wordOf(event.finish))]
      case 'usage':
        this.#usage = mergeUsage(this.#usage, event.usage)
        return none
      case 'error':
        return [{ name: null, data: JSON.stringify(writeError(event.error, this.#context.requestId)) }]
      case 'ping':
        return signOfLife
      case 'end':
        return this.#end()
      default:
        return none
    }
  }

  /** Writes a piece of text, behind the prompt where that is wanted. */
  #text(choice: number, text: string): readonly Frame[] {
    const whole = this.#prefix !== '' && !this.#begun.has(choice) ? this.#prefix + text : text
    this.#begun.add(choice)
    return whole === '' ? none : [this.#chunk(choice, whole, null)]
  }

  #chunk(index: number, text: string, finish: string | null): Frame {
    const said = `"finish_reason":${finish === null ? 'null' : `"${finish}"`}`
    return { name: null, data: `${this.#head}{"text":${JSON.stringify(text)},"index":${index},"logprobs":null,${said}}]${this.#tail}` }
  }

  #end(): readonly Frame[] {
    const done: Frame = { name: null, data: doneMark }
    if (!this.#context.request.streamUsage || this.#usage === null) return [done]
    return [{ name: null, data: `${this.#head}],"usage":${JSON.stringify(writeCounts(this.#usage))}}` }, done]
  }
}

export const streamEncoder = (context: AnswerContext): StreamEncoder => new CompletionEncoder(context)
