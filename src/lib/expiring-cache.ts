import type { MaybePromise } from './maybe-promise.ts'

/** A value and the epoch millisecond until which it may be used. */
export interface Expiring<T> {
  readonly value: T
  readonly usableUntil: number
}

/** A bounded memory of values that expire. All who ask for a value while it is being made wait for the same one; failures are not kept. */
export interface ExpiringCache<T> {
  /** Synchronous when the value is held. */
  get(key: string, now: number, load: () => Promise<Expiring<T>>): MaybePromise<T>
  /** A value that is made at once. */
  getSync(key: string, now: number, make: () => Expiring<T>): T
  size(): number
}

/** Forgets the value that was used longest ago when `maxEntries` are held. */
export function createExpiringCache<T>(maxEntries: number): ExpiringCache<T> {
  const held = new Map<string, Expiring<T>>()
  const loading = new Map<string, Promise<T>>()

  function fresh(key: string, now: number): Expiring<T> | undefined {
    const entry = held.get(key)
    if (entry === undefined) return undefined
    held.delete(key)
    if (entry.usableUntil <= now) return undefined
    held.set(key, entry)
    return entry
  }

  function keep(key: string, entry: Expiring<T>): T {
    held.delete(key)
    held.set(key, entry)
    for (const oldest of held.keys()) {
      if (held.size <= maxEntries) break
      held.delete(oldest)
    }
    return entry.value
  }

  return {
    get(key, now, load) {
      const entry = fresh(key, now)
      if (entry !== undefined) return entry.value
      const running = loading.get(key)
      if (running !== undefined) return running
      const started = load()
        .then((loaded) => keep(key, loaded))
        .finally(() => loading.delete(key))
      loading.set(key, started)
      return started
    },
    getSync(key, now, make) {
      return fresh(key, now)?.value ?? keep(key, make())
    },
    size: () => held.size,
  }
}
