import { z } from 'zod'

/** Text that PostgreSQL can store in text and jsonb columns: no NUL, no half of a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Free text of a caller, at most `max` characters. A longer one is looked at no further. */
export const textField = (max: number) =>
  z.string().max(max, { abort: true }).refine(isStorable, 'NUL characters and broken Unicode are not allowed.')

/** Returns true if PostgreSQL can store a JSON value in a jsonb column: every text and field name in it is storable. */
export function isStorableJson(value: unknown): boolean {
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'string' && !isStorable(next)) return false
    if (typeof next !== 'object' || next === null) continue
    for (const [name, child] of Object.entries(next)) {
      if (!isStorable(name)) return false
      waiting.push(child)
    }
  }
  return true
}
