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

/** Forgets the value that was used longest ago when `maxEntries` are held. */
export function createExpiringCache<T>(maxEntries: number): ExpiringCache<T> {
  const held = new Map<string, CacheEntry<T>>()
  const loading = new Map<string, Promise<T>>()

  function fresh(key: string, now: number): CacheEntry<T> | undefined {
    const entry = held.get(key)
    if (entry === undefined) return undefined
    held.delete(key)
    if (entry.usableUntil <= now) return undefined
    held.set(key, entry)
    return entry
  }

  function keep(key: string, now: number, entry: ExpiringValue<T>): T {
    held.delete(key)
    const left = entry.usableUntil - now
    held.set(key, { ...entry, renewAt: entry.usableUntil - Math.min(longestEarlyMs, left / 5) })
    for (const oldest of held.keys()) {
      if (held.size <= maxEntries) break
      held.delete(oldest)
    }
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
    forget: (key) => void held.delete(key),
    size: () => held.size,
  }
}
