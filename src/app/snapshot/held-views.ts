import type { Change } from './change-feed.ts'
import { anyOf, type View } from './view.ts'
import { createViewCache, type ViewCache } from './view-cache.ts'

/** The caches of all kinds of views. */
export interface HeldViews {
  /** Opens the cache of one more kind. */
  open<One, Other, Result>(view: View<One, Other, Result>): ViewCache<Result>
  /** Drops the views that a change made stale, and the misses that it may have ended. */
  changed(change: Change): void
  clear(): void
  /** How many views are being read now. */
  loading(): number
}

interface HeldCache {
  readonly cache: Pick<ViewCache<unknown>, 'forget' | 'forgetMisses' | 'clear' | 'loading'>
  readonly tables: ReadonlySet<string>
  readonly anyOf: ReadonlySet<string>
}

/** A change of an organisation or a workspace may bring views of every kind. */
const everyKind = ['organisations', 'workspaces']
const misses = { maxMisses: 10_000, missTtlMs: 10_000 } as const

export function createHeldViews(): HeldViews {
  const held: HeldCache[] = []
  return {
    open<One, Other, Result>({ limits, tables, anyOf: whole = [] }: View<One, Other, Result>) {
      const cache = createViewCache<Result>({ ...limits, ...misses, now: () => performance.now() })
      held.push({ cache, tables: new Set([...everyKind, ...tables]), anyOf: new Set(whole) })
      return cache
    },
    changed({ kind, entityId }) {
      for (const one of held) {
        one.cache.forget(entityId)
        if (one.tables.has(kind)) one.cache.forgetMisses()
        if (one.anyOf.has(kind)) one.cache.forget(anyOf(kind))
      }
    },
    clear() {
      for (const { cache } of held) cache.clear()
    },
    loading: () => held.reduce((sum, { cache }) => sum + cache.loading(), 0),
  }
}
