import { isFields } from '../../lib/json/fields.ts'
import type { RequestBody } from '../wire/body.ts'

/** The beginning of an escape that may stand for a letter of ASCII. */
const escape = '\\u00'

/**
 * Returns true if a body has a word as the name of a field or as a whole text, however it is written. Its bytes are searched, which costs nothing;
 * its values are looked through where escapes may hide the word.
 */
export function holdsWord({ bytes, json }: Pick<RequestBody, 'bytes' | 'json'>, word: string): boolean {
  if (bytes === null) return false
  return bytes.includes(`"${word}"`) || (bytes.includes(escape) && isIn(json, word))
}

/** Goes without calls of itself, since bodies may be deep. */
function isIn(json: unknown, word: string): boolean {
  const left: unknown[] = [json]
  while (left.length > 0) {
    const value = left.pop()
    if (value === word) return true
    if (Array.isArray(value)) for (const one of value as readonly unknown[]) left.push(one)
    else if (isFields(value)) {
      if (Object.hasOwn(value, word)) return true
      for (const name in value) left.push(value[name])
    }
  }
  return false
}
