import { isFields } from './fields.ts'
import { stringEnd } from './json-edit.ts'

/**
 * A key that some object of a JSON text has twice; null when none has. The text is JSON that was parsed before, into the value. To count
 * is enough as long as there is none: only then is it looked for.
 */
export const repeatedKey = (text: string, value: unknown): string | null => (membersIn(text) === keysOf(value) ? null : firstRepeated(text))

/** So many digits of a number survive in a double. */
const exactDigits = 15

/**
 * Returns true if a JSON text holds more than the value that was parsed from it: a key comes twice, or a number may have been rounded. Scans the
 * bytes directly, because a text of them would be one more copy.
 */
export function saysMore(bytes: Uint8Array, value: unknown): boolean {
  let members = 0
  let digits = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === quote) at = closingQuote(bytes, at)
    else if (byte === 0x3a) members += 1
    digits = isDigit(byte) || (byte === 0x2e && digits > 0) ? digits + 1 : 0
    if (digits > exactDigits || (isExponent(byte) && isDigit(bytes[at - 1] ?? 0))) return true
  }
  return members !== keysOf(value)
}

const quote = 0x22
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
const isExponent = (byte: number): boolean => byte === 0x65 || byte === 0x45

function closingQuote(bytes: Uint8Array, opening: number): number {
  let at = opening + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === 0x5c ? 2 : 1
  return at
}

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

/** Counts the keys of a value that was read with a bound for its depth. */
function keysOf(value: unknown): number {
  if (!isFields(value)) return Array.isArray(value) ? value.reduce<number>((sum, child) => sum + keysOf(child), 0) : 0
  let count = 0
  for (const name in value) count += 1 + keysOf(value[name])
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
