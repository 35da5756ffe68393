import { createWeighed } from './collections/weighed.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** A value and the epoch millisecond until which it may be used. */
export interface ExpiringValue<T> {
  readonly value: T
  readonly usableUntil: number
}

/**
 * A bounded cache of values that expire. Concurrent requests for a missing value share one load; failures are not kept. A value near its end is
 * renewed in the background, so that a failure costs no request anything before the value expires.
 */
export interface ExpiringCache<T> {
  /** Synchronous when the value is held. */
  get(key: string, now: number, load: () => Promise<ExpiringValue<T>>): MaybePromise<T>
  /** A value that is made at once. */
  getSync(key: string, now: number, make: () => ExpiringValue<T>): T
  /** Forgets a value before its time. */
  forget(key: string): void
  size(): number
}

interface CacheEntry<T> extends ExpiringValue<T> {
  renewAt: number
}

const longestEarlyMs = 5 * 60_000
/** Between attempts to make a value anew that still holds. */
const retryMs = 5000

/**
 * Creates an empty cache. When `maxEntries` are held, the value that was used longest ago is evicted, of the owner that has the most: `ownerOf`
 * returns the owner in a key, so that one organisation cannot evict the values of the others. Absent: all values have one owner.
 */
export function createExpiringCache<T>(maxEntries: number, ownerOf: (key: string) => string = () => ''): ExpiringCache<T> {
  const held = createWeighed<CacheEntry<T>>({ most: maxEntries, mostOfOne: maxEntries })
  const loading = new Map<string, Promise<T>>()

  function fresh(key: string, now: number): CacheEntry<T> | undefined {
    const owner = ownerOf(key)
    const entry = held.get(owner, key)
    if (entry === undefined || entry.usableUntil > now) return entry
    held.remove(owner, key)
    return undefined
  }

  function keep(key: string, now: number, entry: ExpiringValue<T>): T {
    const renewAt = entry.usableUntil - Math.min(longestEarlyMs, (entry.usableUntil - now) / 5)
    held.set(ownerOf(key), key, { value: { ...entry, renewAt }, weight: 1 })
    return entry.value
  }

  function start(key: string, now: number, load: () => Promise<ExpiringValue<T>>): Promise<T> {
    const started = load()
      .then((loaded) => keep(key, now, loaded))
      .finally(() => loading.delete(key))
    loading.set(key, started)
    return started
  }

  return {
    get(key, now, load) {
      const entry = fresh(key, now)
      const running = loading.get(key)
      if (entry === undefined) return running ?? start(key, now, load)
      if (now >= entry.renewAt && running === undefined) {
        entry.renewAt = now + retryMs
        start(key, now, load).catch(() => {})
      }
      return entry.value
    },
    getSync(key, now, make) {
      return fresh(key, now)?.value ?? keep(key, now, make())
    },
    forget: (key) => held.remove(ownerOf(key), key),
    size: () => held.weight(),
  }
}
