import { exactJson, parseExact } from '../../lib/json/exact-json.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { Memory } from './codec.ts'
import type { BlockStart, NeutralEvent } from './neutral/events.ts'

/** Turns the events of a provider into those of the caller's format. */
export type WayBack = (event: NeutralEvent) => readonly NeutralEvent[]

type CallStart = BlockStart & { readonly kind: 'tool-call' }

/**
 * Returns how the events of an answer become those that the caller asked for: tools have their own names, tools that take a plain text get
 * one, the tool that stands for structured output is the text of the answer, and fences around JSON fall. Null: they are so already.
 */
export function wayBack(memory: Memory): WayBack | null {
  const { toolNames, customTools, schemaTool, unwrapsJson, wrapsAnswer } = memory
  const renames = toolNames !== null && toolNames.size > 0
  if (!renames && customTools === null && schemaTool === null && !unwrapsJson && !wrapsAnswer) return null
  const back = new AnswerRestorer(memory)
  return (event) => back.event(event)
}

/** A block that is held until it is whole. */
interface HeldBlock {
  text: string
  readonly finish: (text: string) => string
}

/** A class, because it is a state machine. */
class AnswerRestorer {
  readonly #memory: Memory
  /** The open blocks that are held, by their choice; all others pass. */
  readonly #held = new Map<number, HeldBlock>()
  #isAnswer = false
  #calls = 0

  constructor(memory: Memory) {
    this.#memory = memory
  }

  event(event: NeutralEvent): readonly NeutralEvent[] {
    if (event.type === 'block-start') return [this.#start(event)]
    const held = event.type === 'delta' ? this.#held.get(event.choice) : undefined
    if (event.type === 'delta' && held !== undefined) {
      held.text += event.text
      return []
    }
    if (event.type === 'block-end') return this.#end(event)
    // A model that only called the tool for the answer has not called anything.
    if (event.type === 'finish' && this.#isAnswer && this.#calls === 0 && event.finish.reason === 'tool-calls')
      return [{ ...event, finish: { ...event.finish, reason: 'stop' } }]
    return [event]
  }

  #start(event: NeutralEvent & { readonly type: 'block-start' }): NeutralEvent {
    const { block, choice } = event
    this.#held.delete(choice)
    if (block.kind === 'text' && this.#memory.unwrapsJson) this.#hold(choice, withoutFences)
    if (block.kind === 'text' && this.#memory.wrapsAnswer) this.#hold(choice, (text) => valueOf(text, 'value'))
    if (block.kind !== 'tool-call') return event
    const { schemaTool, customTools } = this.#memory
    if (schemaTool !== null && block.name === schemaTool.name) {
      this.#isAnswer = true
      if (schemaTool.wrapped) this.#hold(choice, (text) => valueOf(text, 'value'))
      return { ...event, block: { kind: 'text' } }
    }
    this.#calls += 1
    const renamed = this.#renamed(block)
    if (customTools?.has(renamed.name) !== true) return { ...event, block: renamed }
    this.#hold(choice, (text) => valueOf(text, 'input'))
    return { ...event, block: { ...renamed, custom: true } }
  }

  #hold(choice: number, finish: HeldBlock['finish']): void {
    this.#held.set(choice, { text: '', finish })
  }

  #renamed(block: CallStart): CallStart {
    const name = this.#memory.toolNames?.get(block.name)
    return name === undefined ? block : { ...block, name }
  }

  #end(event: NeutralEvent & { readonly type: 'block-end' }): readonly NeutralEvent[] {
    const held = this.#held.get(event.choice)
    if (held === undefined) return [event]
    this.#held.delete(event.choice)
    return [{ type: 'delta', choice: event.choice, text: held.finish(held.text) }, event]
  }
}

/** Models give the one parameter a name of their own at times. Returns the only text of some fields; null: there is none, or there are several. */
function onlyText(fields: Fields): string | null {
  const texts = Object.values(fields).filter((value) => typeof value === 'string')
  const [only] = texts
  return texts.length === 1 && only !== undefined ? only : null
}

/**
 * Returns the value of one field of a JSON object, as a text: a string as it is, all else as JSON. An object without it is the text that the model
 * wrote.
 */
function valueOf(text: string, field: string): string {
  try {
    const parsed = parseExact(text)
    if (!isFields(parsed)) return typeof parsed === 'string' && field === 'input' ? parsed : text
    if (!Object.hasOwn(parsed, field)) return (field === 'input' ? onlyText(parsed) : null) ?? text
    const value = parsed[field]
    return typeof value === 'string' && field === 'input' ? value : exactJson(value)
  } catch {
    return text
  }
}

const fence = '```'
const opening = /^```(?:json)?/

/** Returns the lines between two fences; a text that is not between fences is returned as it is. */
function withoutFences(text: string): string {
  const trimmed = text.trim()
  const [open = ''] = opening.exec(trimmed) ?? []
  if (open === '' || !trimmed.endsWith(fence) || trimmed.length < open.length + fence.length) return text
  const inside = trimmed.slice(open.length, -fence.length)
  const [space = ''] = /^\s*/.exec(inside) ?? []
  const at = space.lastIndexOf('\n')
  if (at === -1) return text
  const lines = inside.slice(at + 1)
  return lines.endsWith('\n') ? lines.slice(0, -1) : lines
}
