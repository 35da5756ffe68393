/** A view as it was read, with the references that it depends on. */
export interface LoadedView<View> {
  readonly view: View
  /** Ids of all rows that the view was made of: a change of any of them makes it stale. */
  readonly dependsOn: readonly string[]
  /** When it stops being true by itself, on the cache's clock; Infinity: never. */
  readonly until: number
  /** How much of `maxWeight` it takes. */
  readonly weight?: number
  /** The organisation that it weighs on. */
  readonly owner?: string
}

/** About how many bytes a text, and the values made of it, take in memory. */
export const weightOf = (text: string, made: number): number => text.length * 10 + made

/** Views by key, in memory, bounded. Independent of their source. */
export interface ViewCache<View> {
  /** The view; null: known to be absent; undefined: not known. */
  hit(key: string): View | null | undefined
  /** Reads the view, once for all concurrent callers. A view that changed while it was read is read again. */
  load(key: string, read: () => Promise<LoadedView<View> | null>): Promise<View | null>
  /** Drops every view made of this row. */
  forget(entityId: string): void
  /** Drops the misses: the views may be there now. */
  forgetMisses(): void
  clear(): void
  /** How many different keys are being read. */
  loading(): number
}

export interface ViewCacheOptions {
  readonly maxViews: number
  /** The most that the views may weigh together; Infinity when absent. */
  readonly maxWeight?: number
  /** The most that those of one owner may weigh together; Infinity when absent. */
  readonly maxWeightOfOwner?: number
  readonly maxMisses: number
  readonly missTtlMs: number
  /** A monotonic clock, milliseconds. */
  readonly now: () => number
}

interface State<View> extends ViewCacheOptions {
  readonly views: Map<string, LoadedView<View>>
  /** Key to the time until which it counts as absent. */
  readonly misses: Map<string, number>
  readonly keysOf: Map<string, Set<string>>
  readonly flights: Map<string, Promise<View | null>>
  /** When a row changed last, counted in changes; kept only while something is being read. */
  readonly changedAt: Map<string, number>
  /** The weight of all views together. */
  weight: number
  /** The weights of the views of each owner. */
  readonly weights: Map<string, number>
  /** How many reads are under way. */
  reading: number
  changes: number
  missesForgottenAt: number
  clearedAt: number
}

/** After so many reads that were all overtaken by changes the latest one is given out, and not kept. */
const maxReads = 3

/** An empty cache. */
export function createViewCache<View>(options: ViewCacheOptions): ViewCache<View> {
  const state: State<View> = {
    ...options,
    views: new Map(),
    misses: new Map(),
    keysOf: new Map(),
    flights: new Map(),
    changedAt: new Map(),
    weight: 0,
    weights: new Map(),
    reading: 0,
    changes: 0,
    missesForgottenAt: 0,
    clearedAt: 0,
  }
  return {
    hit: (key) => hit(state, key),
    load: (key, read) => state.flights.get(key) ?? fly(state, key, read),
    forget: (entityId) => forget(state, entityId),
    forgetMisses() {
      state.missesForgottenAt = ++state.changes
      state.misses.clear()
    },
    clear() {
      state.clearedAt = ++state.changes
      state.views.clear()
      state.weight = 0
      state.weights.clear()
      state.misses.clear()
      state.keysOf.clear()
    },
    loading: () => state.flights.size,
  }
}

function hit<View>(state: State<View>, key: string): View | null | undefined {
  const found = state.views.get(key)
  if (found === undefined) return missed(state, key)
  if (found.until !== Infinity && found.until <= state.now()) {
    drop(state, key, found)
    return undefined
  }
  // Below the limit no view is evicted, so that the order matters only near it.
  if (state.views.size * 2 > state.maxViews || isHeavy(state)) {
    state.views.delete(key)
    state.views.set(key, found)
  }
  return found.view
}

function missed<View>(state: State<View>, key: string): null | undefined {
  const until = state.misses.get(key)
  if (until === undefined) return undefined
  if (until > state.now()) return null
  state.misses.delete(key)
  return undefined
}

function fly<View>(state: State<View>, key: string, read: () => Promise<LoadedView<View> | null>): Promise<View | null> {
  state.reading += 1
  const flight = readFresh(state, key, read).finally(() => {
    state.flights.delete(key)
    state.reading -= 1
    if (state.reading === 0) state.changedAt.clear()
  })
  state.flights.set(key, flight)
  return flight
}

async function readFresh<View>(state: State<View>, key: string, read: () => Promise<LoadedView<View> | null>): Promise<View | null> {
  for (let reads = 1; ; reads += 1) {
    const startedAt = state.changes
    const loaded = await read()
    const outdated = changedSince(state, loaded, startedAt)
    if (!outdated) keep(state, key, loaded)
    if (!outdated || reads === maxReads) return loaded?.view ?? null
  }
}

function changedSince<View>(state: State<View>, loaded: LoadedView<View> | null, startedAt: number): boolean {
  if (state.clearedAt > startedAt) return true
  if (loaded === null) return state.missesForgottenAt > startedAt
  return loaded.dependsOn.some((id) => (state.changedAt.get(id) ?? 0) > startedAt)
}

function keep<View>(state: State<View>, key: string, loaded: LoadedView<View> | null): void {
  if (loaded === null) {
    evict(state.misses, state.maxMisses)
    state.misses.set(key, state.now() + state.missTtlMs)
    return
  }
  const held = state.views.get(key)
  if (held !== undefined) drop(state, key, held)
  makeRoom(state, loaded)
  state.views.set(key, loaded)
  weigh(state, loaded, 1)
  for (const id of loaded.dependsOn) keysOf(state, id).add(key)
}

/** Returns true if more than half of a bound of weight is used, so that the order of use may soon matter. */
const isHeavy = <View>({ weight, maxWeight = Infinity, maxWeightOfOwner = Infinity }: State<View>): boolean =>
  weight * 2 > Math.min(maxWeight, maxWeightOfOwner)

function makeRoom<View>(state: State<View>, { weight = 0, owner = '' }: LoadedView<View>): void {
  const { maxWeight = Infinity, maxWeightOfOwner = Infinity } = state
  for (const [key, held] of state.views) {
    const isOwn = (state.weights.get(owner) ?? 0) + weight > maxWeightOfOwner
    if (state.views.size < state.maxViews && state.weight + weight <= maxWeight && !isOwn) return
    if (!isOwn || held.owner === owner) drop(state, key, held)
  }
}

function weigh<View>(state: State<View>, { weight = 0, owner }: LoadedView<View>, times: 1 | -1): void {
  state.weight += times * weight
  if (owner === undefined) return
  const own = (state.weights.get(owner) ?? 0) + times * weight
  if (own === 0) state.weights.delete(owner)
  else state.weights.set(owner, own)
}

function keysOf<View>(state: State<View>, entityId: string): Set<string> {
  const known = state.keysOf.get(entityId)
  if (known !== undefined) return known
  const created = new Set<string>()
  state.keysOf.set(entityId, created)
  return created
}

function evict(map: Map<string, unknown>, limit: number): void {
  if (map.size < limit) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

function drop<View>(state: State<View>, key: string, loaded: LoadedView<View>): void {
  if (state.views.delete(key)) weigh(state, loaded, -1)
  for (const id of loaded.dependsOn) {
    const keys = state.keysOf.get(id)
    keys?.delete(key)
    if (keys?.size === 0) state.keysOf.delete(id)
  }
}

function forget<View>(state: State<View>, entityId: string): void {
  state.changes += 1
  if (state.reading > 0) state.changedAt.set(entityId, state.changes)
  for (const key of state.keysOf.get(entityId) ?? []) {
    const found = state.views.get(key)
    if (found !== undefined) drop(state, key, found)
  }
}
