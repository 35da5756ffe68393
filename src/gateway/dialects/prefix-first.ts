import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import { heldBelow } from './provider-options.ts'

/** The fields that stay the same from one request of a conversation to the next, by all names that they have. */
const prefix = [
  'model',
  'anthropic_version',
  'instructions',
  'system',
  'systemInstruction',
  'preambleOverride',
  'tools',
  'toolConfig',
  'tool_choice',
  'toolChoice',
]

/** Returns a body that begins with the parts that the next request repeats: caches of providers and of hosts before them keep beginnings. */
export function prefixFirst(body: Fields, dialect: DialectId): Fields {
  const inner = heldBelow[dialect]
  const held = inner === undefined ? null : body[inner]
  const whole = inner !== undefined && isFields(held) ? { ...body, [inner]: ordered(held) } : body
  return ordered(whole)
}

function ordered(body: Fields): Fields {
  const first: Record<string, unknown> = {}
  for (const name of prefix) if (Object.hasOwn(body, name)) first[name] = body[name]
  return Object.assign(first, body)
}
