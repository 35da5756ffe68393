import type { Logger } from 'pino'
import type { SettledAmount } from '../../gateway/ports/limits.ts'

export interface SettlementsOptions {
  /** The process, as leases name it. */
  readonly id: string
  readonly log: Logger
  readonly query: (text: string, values: readonly unknown[]) => Promise<void>
}

/** Carries the settlements of slices to the database. */
export interface Settlements {
  /** Returns the number of the batch that will carry it. */
  add(counter: string, slot: string, part: SettledAmount): number
  /** A slice of this size was granted. */
  hold(amount: number): void
  /** True while something of the counter is not written. */
  has(counter: string): boolean
  /** Writes all that was added before. Does not reject: failed writes are repeated later. */
  flush(): Promise<void>
  /** The database did not answer a question for a slice. */
  fail(): void
  /** True from a failure until something was written. */
  isStuck(): boolean
  /** Writes all, and that this process holds no slices any more. */
  close(): Promise<void>
}

/** Returns an amount that fits the columns of counters: up to nine billion US dollars, more than any organisation spends. */
export const countable = (amount: number): number => Math.max(-mostCounted, Math.min(amount, mostCounted))
const mostCounted = 9e18

/** Silence of a process after which all that it holds is free again. */
export const leaseMs = 10_000

const settle = 'SELECT settle_limits($1, $2, $3, $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])'
/** A process that holds slices writes its heartbeat often enough that a few failures do no harm. */
const beatMs = leaseMs / 5

interface Part extends SettledAmount {
  readonly counter: string
  readonly slot: string
}

/** The additions to a slot of a counter since the last batch. */
interface PendingSums {
  freed: number
  used: number
}

interface Batch {
  readonly number: number
  readonly parts: readonly Part[]
  readonly lifeMs: number
}

interface State extends SettlementsOptions {
  /** Pending sums by counter and slot. */
  pending: Map<string, Map<string, PendingSums>>
  /** It is unknown whether the database has carried it out: it is sent again under the same number, which does it once. */
  doubtful: Batch | null
  stuck: boolean
  number: number
  held: number
  writtenAt: number
  writing: Promise<void> | null
}

/** Collects the settlements of slices and writes them in numbered batches, one at a time, each of them once. */
export function createSettlements(options: SettlementsOptions): Settlements {
  const state: State = { ...options, pending: new Map(), doubtful: null, stuck: false, number: 0, held: 0, writtenAt: 0, writing: null }
  return {
    add(counter, slot, { freed, used }) {
      if (freed !== 0 || used !== 0) {
        const pending = pendingOf(state, counter, slot)
        pending.freed = countable(pending.freed + freed)
        pending.used = countable(pending.used + used)
        state.held -= freed + used
      }
      return state.number + 1
    },
    hold: (amount) => (state.held += amount),
    has: (counter) => state.pending.has(counter) || (state.doubtful ?? noBatch).parts.some((part) => part.counter === counter),
    flush: () => flush(state),
    fail: () => void (state.stuck = true),
    isStuck: () => state.stuck,
    async close() {
      await flush(state)
      await send(state, { number: (state.number += 1), parts: drain(state), lifeMs: 0 })
    },
  }
}

const noBatch: Pick<Batch, 'parts'> = { parts: [] }

/** Returns the pending sums of a slot of a counter, to be added to. */
function pendingOf({ pending }: State, counter: string, slot: string): PendingSums {
  let slots = pending.get(counter)
  if (slots === undefined) pending.set(counter, (slots = new Map()))
  let known = slots.get(slot)
  if (known === undefined) slots.set(slot, (known = { freed: 0, used: 0 }))
  return known
}

async function flush(state: State): Promise<void> {
  // A batch that is on its way may lack sums that were added since.
  if (state.writing !== null) await state.writing
  state.writing ??= write(state).finally(() => (state.writing = null))
  await state.writing
}

async function write(state: State): Promise<void> {
  if (state.doubtful !== null && !(await send(state, state.doubtful))) return
  const parts = drain(state)
  const beats = (state.held > 0 || state.stuck) && performance.now() - state.writtenAt > beatMs
  if (parts.length > 0 || beats) await send(state, { number: (state.number += 1), parts, lifeMs: leaseMs })
}

function drain(state: State): readonly Part[] {
  if (state.pending.size === 0) return noBatch.parts
  const parts = [...state.pending].flatMap(([counter, slots]) =>
    [...slots].map(([slot, { freed, used }]) => ({ counter, slot, freed, used })),
  )
  state.pending = new Map()
  // In one order everywhere, so that no two processes wait for each other.
  return parts.toSorted((one, other) => (one.counter < other.counter ? -1 : 1))
}

async function send(state: State, batch: Batch): Promise<boolean> {
  const { number, parts, lifeMs } = batch
  const columns = [
    parts.map(({ counter }) => counter),
    parts.map(({ slot }) => slot),
    parts.map(({ freed }) => freed),
    parts.map(({ used }) => used),
  ]
  state.doubtful = batch
  try {
    await state.query(settle, [state.id, lifeMs, number, ...columns])
  } catch (error) {
    state.stuck = true
    state.log.debug({ err: error }, 'the usage of limits cannot be written yet')
    return false
  }
  state.doubtful = null
  state.stuck = false
  state.writtenAt = performance.now()
  return true
}
