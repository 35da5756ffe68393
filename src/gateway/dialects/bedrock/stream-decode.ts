import { exactOrUndefined } from '../../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { AnswerContext, Frame, StreamDecoder } from '../codec.ts'
import { base64Media } from '../media.ts'
import type { BlockStart, NeutralEvent } from '../neutral/events.ts'
import type { NeutralError } from '../neutral/error.ts'
import { BlockTurns } from '../neutral/block-turns.ts'
import { finishOf } from '../neutral/finish.ts'
import { countOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import { argumentsText, hashedId } from '../tool-calls.ts'
import { BlockDecoder } from './block-decode.ts'
import { readCounts } from './counts.ts'
import { decodeError, decodeException } from './error-codec.ts'
import { readFinish } from './finish.ts'

const none: readonly NeutralEvent[] = []
const exception = 'exception:'

/** Reads a stream of Converse. A class, because it is a state machine. */
class ConverseDecoder implements StreamDecoder {
  readonly #context: AnswerContext
  readonly #turns = new BlockTurns()
  readonly #blocks = new Map<number, BlockDecoder>()
  #state: 'before' | 'within' | 'stopped' | 'over' = 'before'
  #calls = 0
  #hasSpoken = false
  #stop: string | null = null

  constructor(context: AnswerContext) {
    this.#context = context
  }

  frame({ name, data }: Frame): readonly NeutralEvent[] {
    if (this.#state === 'over') return none
    if (data === null) return [{ type: 'ping' }]
    const json = exactOrUndefined(data)
    if (name?.startsWith(exception) === true) return this.#fail(decodeException(name.slice(exception.length), json))
    return isFields(json) ? this.event(name, json, data.length) : none
  }

  end(): readonly NeutralEvent[] {
    if (this.#state !== 'stopped') return none
    this.#state = 'over'
    const finish = readFinish(this.#stop ?? 'end_turn', this.#calls > 0)
    if (finish.reason === 'error' && !this.#hasSpoken) {
      const message = `The model ended its answer with ${finish.raw ?? ''}.`
      return [{ type: 'error', error: { status: 502, message, type: finish.raw, code: null, param: null } }]
    }
    return [{ type: 'finish', choice: 0, finish: finish.reason === 'error' ? finishOf('other', finish.raw) : finish }, { type: 'end' }]
  }

  event(name: string | null, json: Fields, size = 0): readonly NeutralEvent[] {
    const events: NeutralEvent[] = []
    if (this.#state === 'before') this.#start(events)
    this.#take(name, json, events)
    this.#turns.give(size, events)
    if (this.#turns.overflows) events.push(...this.#fail(tooMany))
    return events
  }

  #take(name: string | null, json: Fields, events: NeutralEvent[]): void {
    const index = countOf(json['contentBlockIndex']) ?? 0
    if (name === 'contentBlockDelta') this.#delta(saidFields(json, 'delta') ?? {}, index)
    else if (name === 'contentBlockStart') this.#blockStart(saidFields(json, 'start') ?? {}, index)
    else if (name === 'contentBlockStop') this.#close(index)
    else if (name === 'messageStop') {
      for (const open of this.#blocks.keys()) this.#close(open)
      this.#stop = saidText(json, 'stopReason')
      this.#state = 'stopped'
    } else if (name === 'metadata') this.#usage(json, events)
  }

  #start(events: NeutralEvent[]): void {
    this.#state = 'within'
    events.push({ type: 'start', id: null, model: null, created: null })
  }

  #usage(json: Fields, events: NeutralEvent[]): void {
    const usage = saidFields(json, 'usage')
    const tier = saidText(saidFields(json, 'serviceTier') ?? {}, 'type')
    if (usage !== null) events.push({ type: 'usage', usage: readCounts(usage), tier })
  }

  #blockStart(start: Fields, index: number): void {
    const tool = saidFields(start, 'toolUse')
    const image = saidFields(start, 'image')
    if (tool !== null) {
      const id = saidText(tool, 'toolUseId') || `call_${hashedId(`${this.#context.requestId}:${this.#calls}`, 24)}`
      this.#calls += 1
      this.#begin({ kind: 'tool-call', id, name: saidText(tool, 'name') ?? '', custom: false }, index)
    } else if (image !== null) {
      const data = saidText(saidFields(image, 'source') ?? {}, 'bytes') ?? ''
      const source = base64Media(`image/${saidText(image, 'format') ?? 'png'}`, data)
      this.#begin({ kind: 'media', media: 'image', source }, index)
    }
  }

  #begin(block: BlockStart, index: number): BlockDecoder {
    this.#close(index)
    this.#hasSpoken = true
    const made = new BlockDecoder(block, this.#turns.begin())
    this.#blocks.set(index, made)
    return made
  }

  #close(index: number): void {
    this.#blocks.get(index)?.close()
    this.#blocks.delete(index)
  }

  #open(kind: 'text' | 'reasoning', index: number): BlockDecoder {
    const open = this.#blocks.get(index)
    return open !== undefined && open.kind === kind && !open.isOver ? open : this.#begin({ kind }, index)
  }

  #delta(delta: Fields, index: number): void {
    const text = saidText(delta, 'text')
    const [tool, reasoning, citation] = [saidFields(delta, 'toolUse'), saidFields(delta, 'reasoningContent'), saidFields(delta, 'citation')]
    if (text !== null) {
      if (text !== '') this.#open('text', index).say(text)
    } else if (tool !== null) {
      const call = this.#blocks.get(index)
      if (call?.kind === 'tool-call') call.say(saidText(tool, 'input') ?? '')
    } else if (reasoning !== null) this.#open('reasoning', index).reason(reasoning)
    else if (citation !== null) this.#open('text', index).cite(citation)
  }

  #fail(error: ReturnType<typeof decodeException>): readonly NeutralEvent[] {
    this.#state = 'over'
    return [{ type: 'error', error }]
  }
}

const tooMany: NeutralError = { status: 502, message: 'The provider sent too many blocks at once.', type: null, code: null, param: null }

export const streamDecoder = (context: AnswerContext): StreamDecoder => new ConverseDecoder(context)

/** Returns the pieces of a whole block, as a stream would bring them. */
function deltasOf(block: Fields): readonly Fields[] {
  const tool = saidFields(block, 'toolUse')
  const reasoning = saidFields(block, 'reasoningContent')
  const cited = saidFields(block, 'citationsContent')
  if (tool !== null) return [{ toolUse: { input: argumentsText(tool['input']) } }]
  if (reasoning !== null) {
    const text = saidFields(reasoning, 'reasoningText')
    return [{ reasoningContent: text ?? reasoning }]
  }
  if (cited === null) return [block]
  const texts = saidList(cited, 'content').map(({ text }) => ({ text }))
  return [...texts, ...saidList(cited, 'citations').map((citation) => ({ citation }))]
}

/** Reads a whole answer as the events of a stream. */
export function decodeAnswer(json: unknown, context: AnswerContext): readonly NeutralEvent[] {
  if (!isFields(json)) return none
  const message = saidFields(saidFields(json, 'output') ?? {}, 'message')
  if (message === null) return 'message' in json ? [{ type: 'error', error: decodeError(502, json) }] : none
  const decoder = new ConverseDecoder(context)
  const events: NeutralEvent[] = []
  const take = (name: string, data: Fields) => events.push(...decoder.event(name, data))
  for (const [contentBlockIndex, block] of saidList(message, 'content').entries()) {
    if ('toolUse' in block || 'image' in block) take('contentBlockStart', { start: block, contentBlockIndex })
    for (const delta of deltasOf(block)) take('contentBlockDelta', { delta, contentBlockIndex })
    take('contentBlockStop', { contentBlockIndex })
  }
  take('messageStop', { stopReason: saidText(json, 'stopReason') ?? 'end_turn' })
  take('metadata', { usage: json['usage'], serviceTier: json['serviceTier'] })
  return [...events, ...decoder.end()]
}
