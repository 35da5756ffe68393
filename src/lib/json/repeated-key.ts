import { stringEnd } from './json-edit.ts'

/**
 * A key that some object of a JSON text has twice; null when none has. The text is JSON that was parsed before, into the value. To count
 * is enough as long as there is none: only then is it looked for.
 */
export const repeatedKey = (text: string, value: unknown): string | null => (membersIn(text) === keysOf(value) ? null : firstRepeated(text))

/** How many members the objects of a text have: so many colons stand outside of its strings. */
function membersIn(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === 0x22) at = stringEnd(text, at) - 1
    else if (char === 0x3a) count += 1
  }
  return count
}

function keysOf(value: unknown): number {
  let count = 0
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const children: readonly unknown[] = Array.isArray(next) ? next : Object.values(next)
    if (!Array.isArray(next)) count += children.length
    for (const child of children) if (typeof child === 'object' && child !== null) waiting.push(child)
  }
  return count
}

function firstRepeated(text: string): string | null {
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '{' || char === '[') open.push(new Set())
    else if (char === '}' || char === ']') open.pop()
    else if (char === '"') {
      const end = stringEnd(text, at)
      const key = isKey(text, end) ? unquoted(text.slice(at, end)) : null
      if (key !== null && isRepeated(key, open.at(-1))) return key
      at = end - 1
    }
  }
  return null
}

function isRepeated(key: string, keys: Set<string> | undefined): boolean {
  if (keys?.has(key) === true) return true
  keys?.add(key)
  return false
}

function isKey(text: string, end: number): boolean {
  const colon = /\s*:/y
  colon.lastIndex = end
  return colon.test(text)
}

const unquoted = (text: string): string => String(JSON.parse(text))
