/** A bounded map that keeps recently used entries; a hit costs one look-up. */
export interface Lru<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
}

/** Two generations of at most `size / 2`: the older one is dropped when the newer is full, and a used entry moves to the newer. */
export function createLru<T>(size: number): Lru<T> {
  let newer = new Map<string, T>()
  let older = new Map<string, T>()
  function set(key: string, value: T): void {
    if (newer.size >= size / 2) {
      older = newer
      newer = new Map()
    }
    newer.set(key, value)
  }
  return {
    set,
    get(key) {
      const fresh = newer.get(key)
      if (fresh !== undefined) return fresh
      const old = older.get(key)
      if (old !== undefined) set(key, old)
      return old
    },
  }
}
