import { stringEnd } from './json-edit.ts'

/** One message has no more values: to read and write a million takes as long as a turn at the event loop may. */
export const mostValues = 1_000_000
/** A shorter text has no such number of values. */
const shortText = mostValues

/** Returns true if a JSON text has more values than a message may: each costs more memory than its letters. */
export function hasTooManyValues(text: string): boolean {
  if (text.length <= shortText) return false
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === 0x22) at = stringEnd(text, at) - 1
    else if (char === 0x2c || char === 0x5b || char === 0x7b) {
      values += 1
      if (values > mostValues) return true
    }
  }
  return false
}
