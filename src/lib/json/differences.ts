import { isDeepStrictEqual } from 'node:util'
import { isFields } from './fields.ts'

/** A place at which two JSON values differ. Null: a value is absent. */
export interface Difference {
  /** Such as `inputSchema.properties.q.type` or `icons[0]`; empty: the whole. */
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

const most = 100

/** Returns the places at which two JSON values differ, the first hundred. */
export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = []
  const compare = (one: unknown, other: unknown, path: string): void => {
    if (found.length >= most || isDeepStrictEqual(one, other)) return
    if (isFields(one) && isFields(other))
      for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
        compare(one[name], other[name], path === '' ? name : `${path}.${name}`)
    else if (Array.isArray(one) && Array.isArray(other))
      for (let at = 0; at < Math.max(one.length, other.length); at += 1) compare(one[at], other[at], `${path}[${at}]`)
    else found.push({ path, before: one ?? null, after: other ?? null })
  }
  compare(before, after, '')
  return found
}
