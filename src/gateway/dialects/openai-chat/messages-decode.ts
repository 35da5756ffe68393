import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Part, ReasoningPart, ToolCallPart } from '../neutral/parts.ts'
import type { Turn } from '../neutral/request.ts'
import { readSignature } from '../neutral/signature.ts'
import { withReasoning } from '../neutral/reasoning-place.ts'
import { Turns } from '../neutral/turns.ts'
import { fieldsAt, fieldsIn, listIn, neededText, numberIn, textIn, unreadable } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'
import { cacheMarkIn, readContent } from './parts-decode.ts'

interface Conversation {
  readonly system: readonly Part[]
  readonly turns: readonly Turn[]
}

/** Reads the messages of a chat. The names of tools that results answer are those of the calls before them. */
export function readMessages(messages: readonly unknown[]): Conversation {
  const system: Part[] = []
  const turns = new Turns()
  // Made where there are calls: most conversations have none.
  let names: Map<string, string> | null = null
  for (const [index, item] of messages.entries()) {
    const at = `messages[${index}]`
    const message = fieldsAt(item, at)
    const role = textIn(message, 'role', `${at}.`)
    if (role === 'system' || role === 'developer') {
      const parts = readContent(message['content'], `${at}.content`, cacheMarkIn(message))
      if (turns.isEmpty) system.push(...parts)
      else turns.add('system', parts, at)
    } else if (role === 'assistant') turns.add('assistant', readAssistant(message, at, (names ??= new Map())), at)
    else if (role === 'tool' || role === 'function') turns.add('tool', [readResult(message, at, (names ??= new Map()))], at)
    else if (role === 'user') turns.add('user', readContent(message['content'], `${at}.content`, cacheMarkIn(message)), at)
    else throw unreadable(`${at}.role`, 'system, developer, user, assistant, tool or function')
  }
  return { system, turns: turns.list }
}

function readAssistant(message: Fields, at: string, names: Map<string, string>): readonly Part[] {
  const refusal = textIn(message, 'refusal', `${at}.`)
  const audio = fieldsIn(message, 'audio', `${at}.`)
  const calls = readCalls(message, at)
  for (const { id, name } of calls) names.set(id, name)
  const said = readContent(message['content'], `${at}.content`, cacheMarkIn(message))
  const parts = [...said]
  if (refusal !== null && refusal !== '') parts.push({ kind: 'refusal', text: refusal, at: `${at}.refusal`, cache: null, bag: null })
  if (audio !== null)
    parts.push({ kind: 'opaque', dialect: 'openai-chat', type: 'audio', raw: audio, at: `${at}.audio`, cache: null, bag: null })
  return inOrder(readReasoning(message, at), parts, calls)
}

/** Returns the parts of a message in the order of the model's output. */
function inOrder(reasoning: readonly PlacedReasoning[], said: readonly Part[], calls: readonly ToolCallPart[]): readonly Part[] {
  if (reasoning.every((one) => one.calls === 0))
    return withReasoning(
      said,
      reasoning.map(({ part }) => part),
    ).concat(calls)
  const behind = new Map<number, ReasoningPart[]>()
  for (const { part, calls: before } of reasoning) {
    const place = Math.min(before, calls.length)
    const list = behind.get(place)
    if (list === undefined) behind.set(place, [part])
    else list.push(part)
  }
  return [
    ...withReasoning(said, behind.get(0) ?? []),
    ...calls.flatMap((call, index): readonly Part[] => [call, ...(behind.get(index + 1) ?? [])]),
  ]
}

interface PlacedReasoning {
  readonly part: ReasoningPart
  /** So many calls stand before it. */
  readonly calls: number
}

/** Reasoning comes back in blocks with their signatures where the client keeps them, else as an unsigned text. */
function readReasoning(message: Fields, at: string): readonly PlacedReasoning[] {
  const blocks = message['thinking_blocks']
  if (Array.isArray(blocks) && blocks.length > 0)
    return blocks.map((block, index) => readBlock(fieldsAt(block, `${at}.thinking_blocks[${index}]`), `${at}.thinking_blocks[${index}]`))
  const field = typeof message['reasoning_content'] === 'string' ? 'reasoning_content' : 'reasoning'
  const text = message[field]
  if (typeof text !== 'string' || text === '') return []
  return [{ part: { kind: 'reasoning', text, signature: null, redacted: false, at: `${at}.${field}`, cache: null, bag: null }, calls: 0 }]
}

function readBlock(block: Fields, at: string): PlacedReasoning {
  const place = fieldsIn(block, 'after', `${at}.`) ?? {}
  const after = numberIn(place, 'text', `${at}.after.`) ?? 0
  const calls = numberIn(place, 'calls', `${at}.after.`) ?? 0
  return { part: { ...readThinking(block, at), after }, calls }
}

function readThinking(block: Fields, at: string): ReasoningPart {
  const base = { kind: 'reasoning', at, cache: null, bag: null } as const
  if (block['type'] === 'redacted_thinking')
    return { ...base, text: '', signature: readSignature(block['data'], 'anthropic'), redacted: true }
  const signature = readSignature(block['signature'], 'anthropic')
  return { ...base, text: textIn(block, 'thinking', `${at}.`) ?? '', signature, redacted: false }
}

function readCalls(message: Fields, at: string): readonly ToolCallPart[] {
  const old = fieldsIn(message, 'function_call', `${at}.`)
  if (old !== null) {
    const { extra_content, ...plain } = old
    return [readCall({ id: oldId(neededText(old, 'name', `${at}.function_call.`)), function: plain, extra_content }, `${at}.function_call`)]
  }
  return listIn(message, 'tool_calls', `${at}.`).map((call, index) =>
    readCall(fieldsAt(call, `${at}.tool_calls[${index}]`), `${at}.tool_calls[${index}]`),
  )
}

/** Calls of the old form have no id: a result is that of the last call of its name. */
const oldId = (name: string): string => `call_${name}`

function readCall(call: Fields, at: string): ToolCallPart {
  const custom = fieldsIn(call, 'custom', `${at}.`)
  const about = custom ?? fieldsIn(call, 'function', `${at}.`) ?? {}
  const extra = call['extra_content']
  const google = isFields(extra) && isFields(extra['google']) ? extra['google'] : null
  return {
    kind: 'tool-call',
    id: neededText(call, 'id', `${at}.`),
    name: neededText(about, 'name', `${at}.function.`),
    arguments: custom === null ? argumentsText(about['arguments']) : (textIn(custom, 'input', `${at}.custom.`) ?? ''),
    custom: custom !== null,
    signature: google === null ? null : readSignature(google['thought_signature'], 'google'),
    at,
    cache: cacheMarkIn(call),
    bag: null,
  }
}

function readResult(message: Fields, at: string, names: ReadonlyMap<string, string>): Part {
  const isOld = message['role'] === 'function'
  const callId = isOld ? oldId(neededText(message, 'name', `${at}.`)) : neededText(message, 'tool_call_id', `${at}.`)
  return {
    kind: 'tool-result',
    callId,
    name: names.get(callId) ?? textIn(message, 'name', `${at}.`),
    parts: readContent(message['content'], `${at}.content`, null),
    isError: false,
    at,
    cache: cacheMarkIn(message),
    bag: null,
  }
}
