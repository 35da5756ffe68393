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
  /** Null: it has not come. */
  readonly finish: Finish | null
}

/** A whole answer: the sum of its events. */
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
export function foldEvents(events: readonly NeutralEvent[]): NeutralAnswer {
  const choices: OpenChoice[] = []
  let [id, model, created]: [string | null, string | null, number | null] = [null, null, null]
  let usage: TokenUsage | null = null
  let tier: string | null = null
  let error: NeutralError | null = null
  for (const event of events) {
    switch (event.type) {
      case 'start':
        ;({ id, model, created } = event)
        tier = event.tier ?? tier
        break
      case 'usage':
        usage = mergeUsage(usage, event.usage)
        tier = event.tier ?? tier
        break
      case 'error':
        ;({ error } = event)
        break
      case 'ping':
      case 'end':
        break
      default:
        addTo(choiceAt(choices, event.choice), event)
    }
  }
  return { id, model, created, choices, usage, tier, error }
}

/** Returns a choice, with those before it, since a provider may begin with any of them. */
function choiceAt(choices: OpenChoice[], place: number): OpenChoice {
  for (let at = choices.length; at <= place; at += 1) choices.push({ blocks: [], finish: null })
  return choices[place] ?? { blocks: [], finish: null }
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
  else if (event.type === 'logprobs') {
    for (const token of event.tokens) open.logprobs.push(token)
  } else open.end = event.end
}
