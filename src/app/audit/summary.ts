import { createHash } from 'node:crypto'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { isFields } from '../../lib/json/fields.ts'

/** The most that a column of a row has as JSON. A caller writes as many rows as it likes, and others have to read them. */
export const mostColumnBytes = 32 * 1024

/** The most of a part that stays beside the summary of the whole. */
const mostPartBytes = 1024
const mostNames = 200
const longestName = 255

/**
 * Returns a JSON value as a row keeps it: one that is too large by its small parts, with `summarised`: the names of all its fields, or the
 * number of its items, and its size and SHA-256 as JSON with sorted keys, by which a copy of the whole can be proved.
 */
export function bounded(value: unknown, mostBytes = mostColumnBytes): unknown {
  if (bytesOf(value) <= mostBytes) return value
  const text = canonicalJson(value)
  const whole = { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') }
  const room = mostBytes / 2
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => bounded(item, mostPartBytes))
    return [...fitting(items, room), { summarised: { ...whole, items: value.length } }]
  }
  if (!isFields(value)) return { summarised: whole }
  const names = Object.keys(value).map((name) => name.slice(0, longestName))
  const small = Object.entries(value).filter((part) => bytesOf(part) <= mostPartBytes / 4)
  const summarised = { ...whole, fields: fitting(names.slice(0, mostNames), room / 2), field_count: names.length }
  return { ...Object.fromEntries(fitting(small, room / 2)), summarised }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** Returns the first parts, as far as there is room for them. */
function fitting<Part>(parts: readonly Part[], room: number): Part[] {
  let left = room
  const end = parts.findIndex((part) => (left -= bytesOf(part) + 1) < 0)
  return end === -1 ? [...parts] : parts.slice(0, end)
}
