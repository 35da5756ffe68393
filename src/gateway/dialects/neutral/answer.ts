import type { BlockEnd, BlockStart, Citation, NeutralEvent, TokenLogprob } from './events.ts'
import { plainEnd } from './events.ts'
import type { NeutralError } from './error.ts'
import type { Finish } from './finish.ts'
import { mergeUsage, type TokenUsage } from './token-usage.ts'

/** A block of a whole answer. */
export interface AnswerBlock {
  readonly block: BlockStart
  /** Text, reasoning or arguments, by the kind of the block. */
  readonly text: string
  readonly citations: readonly Citation[]
  readonly logprobs: readonly TokenLogprob[]
  readonly end: BlockEnd
}

/** One of the answers to a request. */
export interface AnswerChoice {
  readonly blocks: readonly AnswerBlock[]
  /** Null: it was not told. */
  readonly finish: Finish | null
}

/** A whole answer: what its events add up to. */
export interface NeutralAnswer {
  readonly id: string | null
  readonly model: string | null
  readonly created: number | null
  readonly choices: readonly AnswerChoice[]
  readonly usage: TokenUsage | null
  readonly tier: string | null
  readonly error: NeutralError | null
}

interface OpenBlock {
  readonly block: BlockStart
  text: string
  citations: Citation[]
  logprobs: TokenLogprob[]
  end: BlockEnd
}

interface OpenChoice {
  readonly blocks: OpenBlock[]
  finish: Finish | null
}

const opened = (block: BlockStart): OpenBlock => ({ block, text: '', citations: [], logprobs: [], end: plainEnd })

/** Adds up the events of an answer. */
export function foldEvents(events: Iterable<NeutralEvent>): NeutralAnswer {
  const choices: OpenChoice[] = []
  const head: { id: string | null; model: string | null; created: number | null } = { id: null, model: null, created: null }
  let usage: TokenUsage | null = null
  let tier: string | null = null
  let error: NeutralError | null = null
  for (const event of events) {
    if (event.type === 'start') Object.assign(head, { id: event.id, model: event.model, created: event.created })
    else if (event.type === 'usage') {
      usage = mergeUsage(usage, event.usage)
      tier = event.tier ?? tier
    } else if (event.type === 'error') ({ error } = event)
    else if ('choice' in event) addTo((choices[event.choice] ??= { blocks: [], finish: null }), event)
  }
  return { ...head, choices: Array.from(choices, (choice) => choice ?? { blocks: [], finish: null }), usage, tier, error }
}

type ChoiceEvent = Extract<NeutralEvent, { readonly choice: number }>

function addTo(choice: OpenChoice, event: ChoiceEvent): void {
  if (event.type === 'finish') choice.finish = event.finish
  else if (event.type === 'block-start') choice.blocks.push(opened(event.block))
  else {
    const open = choice.blocks.at(-1)
    if (open !== undefined) addToBlock(open, event)
  }
}

function addToBlock(open: OpenBlock, event: Exclude<ChoiceEvent, { readonly type: 'finish' | 'block-start' }>): void {
  if (event.type === 'delta') open.text += event.text
  else if (event.type === 'citation') open.citations.push(event.citation)
  else if (event.type === 'logprobs') open.logprobs.push(...event.tokens)
  else open.end = event.end
}
