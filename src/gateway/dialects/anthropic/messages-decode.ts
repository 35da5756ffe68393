import type { Part, ToolResultPart } from '../neutral/parts.ts'
import type { Turn } from '../neutral/request.ts'
import { Turns } from '../neutral/turns.ts'
import { fieldsAt, textIn, unreadable } from '../reading.ts'
import { readBlocks } from './blocks-decode.ts'
import { withoutVendorLine } from './vendor-lines.ts'

interface Conversation {
  readonly system: readonly Part[]
  readonly turns: readonly Turn[]
}

/** Reads a conversation. Results of tools, which stand in messages of the user, are turns of their own. */
export function readMessages(instructions: unknown, messages: readonly unknown[]): Conversation {
  const system = [...readInstructions(instructions, 'system')]
  const turns = new Turns()
  const names = new Map<string, string>()
  for (const [index, item] of messages.entries()) {
    const at = `messages[${index}]`
    const message = fieldsAt(item, at)
    const role = textIn(message, 'role', `${at}.`)
    const read = role === 'system' ? readInstructions : readBlocks
    const parts = read(message['content'], `${at}.content`)
    if (role === 'assistant') {
      for (const part of parts) if (part.kind === 'tool-call') names.set(part.id, part.name)
      turns.add('assistant', parts, at)
    } else if (role === 'user') {
      turns.add(
        'tool',
        parts.flatMap((part) => (isResult(part) ? [named(part, names)] : [])),
        at,
      )
      turns.add(
        'user',
        parts.filter((part) => !isResult(part)),
        at,
      )
    } else if (role !== 'system') throw unreadable(`${at}.role`, 'user, assistant or system')
    else if (turns.isEmpty) system.push(...parts)
    else turns.add('system', parts, at)
  }
  return { system, turns: turns.list }
}

/** Lines for Anthropic alone mean nothing to the other vendors, for which requests are read. */
const readInstructions = (content: unknown, at: string): readonly Part[] =>
  readBlocks(content, at).flatMap((part): readonly Part[] => {
    if (part.kind !== 'text') return [part]
    const text = withoutVendorLine(part.text)
    return text.trim() === '' && text !== part.text ? [] : [{ ...part, text }]
  })

const named = (result: ToolResultPart, names: ReadonlyMap<string, string>): ToolResultPart => ({
  ...result,
  name: names.get(result.callId) ?? null,
})

const isResult = (part: Part): part is ToolResultPart => part.kind === 'tool-result'
