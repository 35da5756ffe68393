import type { Fields } from '../../lib/json/fields.ts'

/** Returns the fields that hold a value: null is none. */
export function compact(fields: Fields): Fields {
  const kept: Record<string, unknown> = {}
  for (const name in fields) {
    const value = fields[name]
    if (value !== null && value !== undefined) kept[name] = value
  }
  return kept
}
