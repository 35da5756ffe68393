import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import { nineCharacterId } from '../tool-calls.ts'
import { reasoningFieldFor, type Traits } from '../traits.ts'

/** The fields in which clients of chat carry signatures of other dialects, as a body writes them. */
const marks = ['"thinking_blocks"', '"thought_signature"', '"reasoning_content"'].map((name) => Buffer.from(name))

/** The fields in which ids of calls of tools stand, all of which begin so. */
const callMark = Buffer.from('"tool_call')

/** Returns true if a body may carry parts of an answer in another dialect that we gave its client, or ids of calls that its provider does not take. */
export const mayHoldOwnFields = (bytes: Buffer, toolIds: Traits['toolIds']): boolean =>
  marks.some((mark) => bytes.includes(mark)) || (toolIds !== 'any' && bytes.includes(callMark))

/**
 * Returns a chat without the parts that its client carries for providers of other dialects: one that supports chat itself refuses unknown fields.
 * Reasoning stays where the provider reads it, and ids of calls have the form that it takes. The same body: there were no such parts.
 */
export function withoutOwnFields(
  body: Fields,
  traits: Pick<Traits, 'reasoningField' | 'refusesReasoning' | 'toolIds'>,
  loss: Loss,
): Fields {
  const { messages, model } = body
  if (!Array.isArray(messages)) return body
  const given: readonly unknown[] = messages
  const reasoningField = reasoningFieldFor(traits, typeof model === 'string' ? model : null)
  const plain = given.map((message, at) =>
    isFields(message) ? plainMessage(message, `messages[${at}]`, { reasoningField, toolIds: traits.toolIds, loss }) : message,
  )
  return plain.every((message, at) => message === given[at]) ? body : { ...body, messages: plain }
}

interface Plain extends Pick<Traits, 'reasoningField' | 'toolIds'> {
  readonly loss: Loss
}

function plainMessage(message: Fields, at: string, { reasoningField, toolIds, loss }: Plain): Fields {
  const plain = withPlainCalls(withLegalId(message, 'tool_call_id', toolIds), toolIds)
  const { thinking_blocks: blocks, reasoning_content: text, ...rest } = plain
  if (blocks === undefined && (text === undefined || reasoningField === 'reasoning_content')) return plain
  if (blocks !== undefined) loss.dropAt(`${at}.thinking_blocks`, 'was signed for another provider')
  if (text === undefined) return rest
  if (reasoningField !== null) return { ...rest, [reasoningField]: text }
  loss.dropAt(`${at}.reasoning_content`, 'does not go back there')
  return rest
}

function withPlainCalls(message: Fields, toolIds: Traits['toolIds']): Fields {
  const { tool_calls: calls, function_call: old } = message
  const plainOld = plainCall(old)
  if (plainOld !== old) return { ...message, function_call: plainOld }
  if (!Array.isArray(calls)) return message
  const given: readonly unknown[] = calls
  const plain = given.map((call) => plainCall(isFields(call) ? withLegalId(call, 'id', toolIds) : call))
  return plain.every((call, at) => call === given[at]) ? message : { ...message, tool_calls: plain }
}

function plainCall(call: unknown): unknown {
  if (!isFields(call) || !isFields(call['extra_content']) || !isFields(call['extra_content']['google'])) return call
  const { extra_content: _, ...rest } = call
  return rest
}

/** Returns an object whose id of a call its provider takes. A conversation may come from a provider with ids of another form. */
function withLegalId(of: Fields, name: 'id' | 'tool_call_id', toolIds: Traits['toolIds']): Fields {
  const id = of[name]
  if (toolIds === 'any' || typeof id !== 'string') return of
  const legal = nineCharacterId(id)
  return legal === id ? of : { ...of, [name]: legal }
}
