import { type Fields, isFields } from '../../../lib/json/fields.ts'

/**
 * Anthropic's own client begins the system prompt with a line for Anthropic's billing. Other hosts of Claude refuse it, and to other models it
 * is noise: it changes with each request, so that no request begins as the one before and no cache of prefixes ever hits.
 */
const vendorLine = /^(?:\s*x-anthropic-[\w-]+:[^\n]*(?:\n|$))+/i

const begins = Buffer.from('x-anthropic-')

/** Returns true if a body may hold such a line. */
export const mayHoldVendorLines = (body: Buffer): boolean => body.includes(begins)

/** Returns a text of instructions without the lines for Anthropic that it begins with. */
export const withoutVendorLine = (text: string): string => text.replace(vendorLine, '')

/** Returns instructions without lines for Anthropic; null: there were no others. */
function plainInstructions(given: unknown): unknown {
  if (typeof given === 'string') return withoutVendorLine(given) || null
  if (!Array.isArray(given)) return given
  const blocks: readonly unknown[] = given
  const plain = blocks.flatMap((block) => {
    if (!isFields(block) || typeof block['text'] !== 'string') return [block]
    const text = withoutVendorLine(block['text'])
    if (text === block['text']) return [block]
    return text.trim() === '' ? [] : [{ ...block, text }]
  })
  return plain.length === 0 && blocks.length > 0 ? null : plain
}

/** Returns a request of Anthropic's for another host, without the lines that are for Anthropic alone. */
export function withoutVendorLines(body: Fields): Fields {
  const plain: Record<string, unknown> = {}
  for (const name in body) {
    const value = name === 'system' ? plainInstructions(body[name]) : name === 'messages' ? plainTurns(body[name]) : body[name]
    if (name !== 'system' || value !== null) plain[name] = value
  }
  return plain
}

function plainTurns(turns: unknown): unknown {
  if (!Array.isArray(turns)) return turns
  const given: readonly unknown[] = turns
  return given.flatMap((turn) => {
    if (!isFields(turn) || turn['role'] !== 'system') return [turn]
    const content = plainInstructions(turn['content'])
    return content === null ? [] : [{ ...turn, content }]
  })
}
