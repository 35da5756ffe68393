import { type Limit, type Needs, neededBy } from './limit.ts'

/** The answer to a request for a slice. */
export interface Slice {
  /** 0: the needed amount does not fit. */
  readonly granted: number
  readonly slot: string
  /** Used and granted, by all processes. */
  readonly used: number
  /** When a budget granted none: the part of `used` that processes hold, for requests on their way or still to come. */
  readonly reserved: number
  /** Milliseconds until the slot ends; null: it does not. */
  readonly slotLeftMs: number | null
  /** When none was granted: milliseconds until it could be; null: never by itself. */
  readonly opensMs: number | null
}

/** How large a slice is to be. */
export interface SliceRequest {
  /** Less is no use. */
  readonly needed: number
  /** Requests that wait now need so much. */
  readonly queued: number
  /** Requests may soon need so much: granted while much is left. */
  readonly wanted: number
}

/** The truth about counters, which all processes share. */
export interface CounterStore {
  take(limit: Limit, wish: SliceRequest): Promise<Slice>
  /** Settles a part of a slice. `freed` is below 0 when more was used than it held. Returns a mark of the settlements that carry it. */
  settle(limit: Limit, slot: string, part: SettledAmount): string
}

export interface SettledAmount {
  readonly freed: number
  readonly used: number
}

export interface Counters {
  /**
   * Takes from every limit, or from none; null: a slice is missing. A request that asks `again` takes from the limits in their latest form: two with
   * different forms of a changed limit would take the slice away from each other.
   */
  tryTake(limits: readonly Limit[], needs: Needs, again?: boolean): readonly TakenAmount[] | null
  /** Gets the slices that are missing. Resolves to the limit that refuses; null: try again. Rejects when the store is away. */
  fill(limit: Limit, needed: number): Promise<Refusal | null>
  /** Returns at least how much is left of a limit; null: no request asked lately. */
  left(limit: Limit): number | null
  /** Returns the store's mark. */
  settle(taken: TakenAmount, used: number): string
  /** Resolves when a part of a limit was given back in this process, or after some milliseconds. */
  freed(limit: Limit, ms: number): Promise<void>
  /** Gives back every unused slice. */
  sweep(all?: boolean): void
  size(): number
}

export interface TakenAmount {
  readonly limit: Limit
  readonly slot: string
  readonly amount: number
  /** At least so much is left of the limit after it. */
  readonly left: number
}

export interface Refusal {
  readonly limit: Limit
  /** The period that it was refused for. */
  readonly slot: string
  readonly needed: number
  /** Spent and reserved. */
  readonly used: number
  readonly reserved: number
  readonly opensMs: number | null
}

interface Counter {
  limit: Limit
  slot: string
  free: number
  /** On the monotonic clock: from then on the slice is not used. */
  until: number
  /** Taken since the slice came: the next one is as large. */
  recent: number
  takes: number
  granted: number
  /** Used and granted by all processes, when the slice came. */
  usedByAll: number
  /** Needed by those who wait. */
  queued: number
  asking: Promise<Refusal | null> | null
  refusal: Refusal | null
  refusedUntil: number
  /** Those who wait for a part to be given back. */
  readonly waiting: Set<() => void>
}

interface State {
  readonly counters: Map<string, Counter>
  readonly store: CounterStore
  readonly now: () => number
}

/** A slice serves so long, so that changed limits hold within a second and no amount lies idle in one process while others need it. */
export const sliceMs = 400
/** A refusal is remembered so long: callers who ask on do not ask the store. */
const refusalMs = 200
/** A counter from which so many were taken since its slice came is busy. */
const busyTakes = 4

/** Holds slices of counters in memory. A warm one is taken from without waiting. */
export function createCounters(store: CounterStore, now: () => number): Counters {
  const state: State = { counters: new Map(), store, now }
  return {
    tryTake: (limits, needs, again = false) => tryTake(state, limits, { needs, again }),
    fill: (limit, needed) => fill(state, limit, needed),
    left: (limit) => leftOf(state, limit),
    settle: (taken, used) => settle(state, taken, used),
    freed: (limit, ms) => freed(state, limit, ms),
    sweep: (all = false) => sweep(state, all),
    size: () => state.counters.size,
  }
}

function counterOf(state: State, limit: Limit): Counter {
  const known = state.counters.get(limit.id)
  if (known === undefined) {
    const made = {
      limit,
      slot: '',
      free: 0,
      until: 0,
      recent: 0,
      takes: 0,
      granted: 0,
      usedByAll: 0,
      queued: 0,
      asking: null,
      refusal: null,
      refusedUntil: 0,
      waiting: new Set<() => void>(),
    }
    state.counters.set(limit.id, made)
    return made
  }
  return known
}

/** Returns the counter with the limit in the form of a new request. */
function renewedCounter(state: State, limit: Limit): Counter {
  const counter = counterOf(state, limit)
  if (counter.limit.value !== limit.value) {
    giveUp(state, counter)
    counter.refusal = null
  }
  counter.limit = limit
  return counter
}

function giveUp({ store }: State, counter: Counter): void {
  if (counter.free > 0) store.settle(counter.limit, counter.slot, { freed: counter.free, used: 0 })
  counter.free = 0
  counter.until = 0
}

interface TakeOptions {
  readonly needs: Needs
  readonly again: boolean
}

function tryTake(state: State, limits: readonly Limit[], { needs, again }: TakeOptions): readonly TakenAmount[] | null {
  const at = state.now()
  const counters = limits.map((limit) => (again ? counterOf : renewedCounter)(state, limit))
  for (const counter of counters) if (counter.until <= at || counter.free < neededBy(counter.limit, needs)) return null
  return counters.map((counter) => take(state, counter, needs))
}

function take(state: State, counter: Counter, needs: Needs): TakenAmount {
  const { limit, slot } = counter
  const amount = neededBy(limit, needs)
  counter.free -= amount
  counter.recent += amount
  counter.takes += 1
  renew(state, counter, Math.max(amount, 1))
  return { limit, slot, amount, left: leftIn(counter) }
}

const leftIn = ({ limit, usedByAll, free }: Counter): number => Math.max(0, limit.value - usedByAll + free)

function leftOf({ counters, now }: State, { id }: Limit): number | null {
  const counter = counters.get(id)
  return counter === undefined || counter.until <= now() ? null : leftIn(counter)
}

/** Asks ahead of need, so that no request waits for a busy counter. */
function renew(state: State, counter: Counter, needed: number): void {
  if (counter.takes < busyTakes || counter.asking !== null || counter.free * 4 > counter.granted) return
  askOnce(state, counter, needed).catch(() => {})
}

async function fill(state: State, limit: Limit, needed: number): Promise<Refusal | null> {
  const counter = counterOf(state, limit)
  const at = state.now()
  const { refusal } = counter
  if (refusal !== null && counter.refusedUntil > at && refusal.needed <= needed) return refusal
  if (counter.until > at && counter.free >= needed) return null
  counter.queued += needed
  if (counter.asking === null) return noteRefusal(state, counter, await askOnce(state, counter, needed))
  await counter.asking
  return null
}

/** Remembers a refusal; the rest of the slice may do for a smaller request. */
function noteRefusal({ now }: State, counter: Counter, refusal: Refusal | null): Refusal | null {
  if (refusal === null) return null
  counter.refusal = refusal
  counter.refusedUntil = now() + Math.min(refusalMs, refusal.opensMs ?? refusalMs)
  return refusal
}

/** Asks once for all that wait. */
const askOnce = (state: State, counter: Counter, needed: number): Promise<Refusal | null> =>
  (counter.asking ??= ask(state, counter, needed).finally(() => (counter.asking = null)))

async function ask(state: State, counter: Counter, needed: number): Promise<Refusal | null> {
  const { store, now } = state
  // Those who wait for the same come first, so that one slice does for all of them.
  await new Promise(setImmediate)
  const { limit, queued } = counter
  counter.queued = 0
  const askedAt = now()
  if (counter.until <= askedAt) giveUp(state, counter)
  const missing = Math.max(needed - counter.free, 1)
  const slice = await store.take(limit, {
    needed: missing,
    queued: Math.max(queued - counter.free, missing),
    wanted: missing + counter.recent * 2,
  })
  if (slice.granted === 0) return { limit, slot: slice.slot, needed, used: slice.used, reserved: slice.reserved, opensMs: slice.opensMs }
  if (counter.slot !== slice.slot || counter.until <= now()) giveUp(state, counter)
  counter.slot = slice.slot
  counter.free += slice.granted
  counter.granted = counter.free
  counter.usedByAll = slice.used
  counter.recent = 0
  counter.takes = 0
  counter.refusal = null
  // Counted from before the question, so that the slice ends here no later than there.
  counter.until = askedAt + Math.min(sliceMs, slice.slotLeftMs ?? sliceMs)
  return null
}

function settle({ counters, store, now }: State, { limit, slot, amount }: TakenAmount, used: number): string {
  const counter = counters.get(limit.id)
  if (counter === undefined || counter.slot !== slot) return store.settle(limit, slot, { freed: amount - used, used })
  if (used > amount) {
    // Usage beyond the reservation comes off the slice first, so that it is not given to the next request too.
    const shrunk = Math.min(counter.free, used - amount)
    counter.free -= shrunk
    return store.settle(limit, slot, { freed: amount + shrunk - used, used })
  }
  // The unused part of a slice that still serves goes to the next request.
  const isKept = used < amount && counter.until > now()
  if (isKept) counter.free += amount - used
  const mark = store.settle(limit, slot, { freed: isKept ? 0 : amount - used, used })
  if (used < amount) wake(counter)
  return mark
}

/** Lets waiting requests ask again: an earlier refusal is out of date. */
function wake(counter: Counter): void {
  counter.refusal = null
  for (const go of counter.waiting) go()
  counter.waiting.clear()
}

function freed(state: State, limit: Limit, ms: number): Promise<void> {
  const { waiting } = counterOf(state, limit)
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      waiting.delete(go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    waiting.add(go)
  })
}

function sweep(state: State, all: boolean): void {
  const at = state.now()
  for (const [id, counter] of state.counters) {
    if (!all && counter.until > at) continue
    giveUp(state, counter)
    if (counter.asking === null && counter.waiting.size === 0 && counter.refusedUntil <= at) state.counters.delete(id)
  }
}
