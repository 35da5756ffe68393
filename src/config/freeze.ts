import { Secret } from '../lib/secret.ts'

/** Freezes a record and all that it holds. */
export function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null && !(child instanceof Secret)) deepFreeze(child)
  }
  return Object.freeze(value)
}

/** A set that cannot be changed; `Object.freeze` alone would let `add` through. */
export function frozenSet<T>(items: Iterable<T>): ReadonlySet<T> {
  const set = new Set(items)
  Object.defineProperties(set, { add: { value: refuse }, delete: { value: refuse }, clear: { value: refuse } })
  return Object.freeze(set)
}

function refuse(): never {
  throw new TypeError('the configuration is frozen')
}
