import { isFields } from '../../lib/fields.ts'
import type { JsonPath } from '../../lib/json-path.ts'
import type { TextPart } from './check.ts'

export const roleOf = (value: unknown, otherwise: string): string =>
  isFields(value) && typeof value['role'] === 'string' ? (roles[value['role']] ?? value['role']) : otherwise

/** One name for each role, whatever the API calls it. */
const roles: Readonly<Record<string, string>> = {
  developer: 'system',
  model: 'assistant',
  function: 'tool',
  chatbot: 'assistant',
  USER: 'user',
  SYSTEM: 'system',
  CHATBOT: 'assistant',
}

/** A text where there is one. */
export const textAt = (value: unknown, path: JsonPath, role: string): TextPart[] =>
  typeof value === 'string' && value !== '' ? [{ path, role, text: value }] : []

/** The items of a list, each with its path. */
export const items = (value: unknown, path: JsonPath): readonly (readonly [item: unknown, path: JsonPath])[] =>
  Array.isArray(value) ? value.map((item: unknown, at) => [item, [...path, at]] as const) : []

/** How deep a value is looked into; a body has at most 128 levels. */
const maxDepth = 128

/** Every text anywhere in a value. */
export function everyText(value: unknown, path: JsonPath, role: string): readonly TextPart[] {
  const found: TextPart[] = []
  const at = [...path]
  const into = (step: string | number, child: unknown): void => {
    at.push(step)
    walk(child)
    at.pop()
  }
  const walk = (part: unknown): void => {
    if (typeof part === 'string' && part !== '') found.push({ path: [...at], role, text: part })
    else if (at.length - path.length > maxDepth || typeof part !== 'object' || part === null) return
    else if (Array.isArray(part)) part.forEach((item: unknown, index) => into(index, item))
    else for (const [name, child] of Object.entries(part)) into(name, child)
  }
  walk(value)
  return found
}

/** So many steps lead to all the objects and texts of the longest conversations. */
const maxSteps = 250_000

/** What checks say of a body whose texts are not collected. */
export const vast = 'It holds too many texts and objects, or holds them too deep, to be looked through.'

/** Whether a value is a heap of crumbs: to collect its texts, each with its path, would cost a thousand times what it says. */
export function isVast(value: unknown): boolean {
  let left = maxSteps
  const count = (part: object, depth: number): void => {
    if (depth > maxDepth) left = -1
    for (const child of Array.isArray(part) ? part : Object.values(part)) {
      if (typeof child !== 'string' && (typeof child !== 'object' || child === null)) continue
      left -= depth
      if (left < 0) return
      if (typeof child === 'object') count(child, depth + 1)
    }
  }
  if (typeof value === 'object' && value !== null) count(value, 1)
  return left < 0
}

/** What a message holds: a text, or a list of parts, in the words of any of the APIs. */
export function contentTexts(content: unknown, path: JsonPath, role: string): TextPart[] {
  if (typeof content === 'string') return textAt(content, path, role)
  if (isFields(content)) return partTexts(content, path, role)
  return items(content, path).flatMap(([item, at]) => (typeof item === 'string' ? textAt(item, at, role) : partTexts(item, at, role)))
}

/** Where a part of a message may say something; results of tools may hold parts again. */
function partTexts(part: unknown, path: JsonPath, role: string): TextPart[] {
  if (!isFields(part)) return []
  const own = part['type'] === 'tool_result' ? 'tool' : role
  return [
    ...['text', 'refusal', 'thinking', 'output', 'arguments'].flatMap((name) =>
      Object.hasOwn(part, name) ? textAt(part[name], [...path, name], own) : [],
    ),
    ...['content', 'parts', 'summary'].flatMap((name) => (Object.hasOwn(part, name) ? contentTexts(part[name], [...path, name], own) : [])),
    ...['input', 'args', 'toolUse', 'toolResult', 'functionCall', 'functionResponse', 'json'].flatMap((name) =>
      isFields(part[name]) ? everyText(part[name], [...path, name], own) : [],
    ),
  ]
}
