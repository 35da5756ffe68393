import { ApiError } from '../../lib/errors.ts'
import { toText } from './context.ts'
import type { Output } from './render.ts'

/**
 * Writes values into a JSON document that a raw template spells out. The template's own text decides whether a tag stands within a string. There a
 * value is escaped; elsewhere it becomes one JSON value. So no value can end a string, add a field or a message. Only `{{{name}}}` of a variable that
 * the prompt declares as JSON puts a whole document in.
 */
export function jsonOutput(declared: ReadonlySet<string>): Output {
  const state: Position = { inString: false, escaped: false }
  // A loop may put the same document in again and again.
  const documents = new Map<string, string>()
  return {
    text(text) {
      advance(state, text)
      return text
    },
    value(value, { name, asIs }) {
      if (asIs && !declared.has(name)) throw undeclared(name)
      const json = asIs ? document(value, name, documents) : null
      if (!state.inString) return json ?? oneValue(value)
      const text = inside(json ?? toText(value))
      return state.escaped ? unescaped(state, text) : text
    },
  }
}

interface Position {
  inString: boolean
  /** The character before was a backslash that escapes the next one. */
  escaped: boolean
}

function advance(state: Position, text: string): void {
  for (const character of text) {
    if (state.escaped) state.escaped = false
    else if (character === '"') state.inString = !state.inString
    else if (character === '\\' && state.inString) state.escaped = true
  }
}

/** A backslash of the template right before the tag stands for itself: else it would undo the first escape in the value. */
function unescaped(state: Position, text: string): string {
  state.escaped = false
  return `\\${text}`
}

const inside = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Empty for a missing value, as everywhere; numbers and booleans as they are; all else as a string. */
function oneValue(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : JSON.stringify(toText(value))
}

/** The JSON that a variable holds, or that its text spells. */
function document(value: unknown, name: string, known: Map<string, string>): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') return JSON.stringify(value)
  const before = known.get(value)
  if (before !== undefined) return before
  try {
    const json = JSON.stringify(JSON.parse(value))
    known.set(value, json)
    return json
  } catch {
    throw new ApiError('invalid_request', `The variable ${name} must be JSON, or text that is JSON.`, { param: `variables.${name}` })
  }
}

/** Why `{{{name}}}` is refused in a raw template. */
export const undeclared = (name: string): ApiError =>
  new ApiError(
    'invalid_request',
    `A raw template puts {{{${name}}}} in as JSON: name ${name} in template_metadata.json_variables to allow it, or write {{${name}}}.`,
    { param: 'string' },
  )
