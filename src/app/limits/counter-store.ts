import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { CounterStore, Slice, Limit } from '../../gateway/ports/limits.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { createTakes, type NumberedTakes } from './numbered-takes.ts'
import { countable, createSettlements, leaseMs, type Settlements } from './settlements.ts'

export interface StoredCountersOptions {
  readonly side: SidePool
  readonly log: Logger
}

export interface StoredCounters extends CounterStore {
  /** Writes the settlements of slices, and the heartbeat of this process. */
  flush(): Promise<void>
  /** True after the last question or the last settlement failed. */
  away(): boolean
  stop(): Promise<void>
}

interface Row {
  readonly granted: number
  readonly slot: number
  readonly used: number
  readonly slot_left_ms: number | null
  readonly opens_ms: number | null
  readonly reserved: number
}

const leasing = {
  name: 'lease-limit',
  text: `SELECT granted, slot, used, slot_left_ms, opens_ms, reserved FROM lease_limit($1, ${leaseMs}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
}

interface State {
  readonly connections: SideConnections
  /** The process, as leases name it. */
  readonly id: string
  readonly settlements: Settlements
  readonly takes: NumberedTakes
}

/** The counters in PostgreSQL. */
export function openStoredCounters({ side, log }: StoredCountersOptions): StoredCounters {
  const connections = side.of('limits')
  const id = randomUUID()
  const query = async (text: string, values: readonly unknown[]) => void (await connections.query(text, values))
  const settlements = createSettlements({ id, log, query })
  const takes = createTakes({ id, query, now: () => performance.now() })
  const state: State = { connections, id, settlements, takes }
  const markOf = createMarks(id.slice(0, 8))
  return {
    take: async (limit, wish) => {
      // The returned slices of this process count before it asks for more.
      if (settlements.has(limit.id)) await settlements.flush()
      return askFor(state, limit, wish)
    },
    settle: (limit, slot, part) => markOf(settlements.add(limit.id, slot, part)),
    async flush() {
      await settlements.flush()
      await takes.freeLost()
    },
    away: () => settlements.isStuck(),
    stop: () => settlements.close(),
  }
}

/** Returns the text of marks. Thousands of requests have the same one. */
function createMarks(process: string): (batch: number) => string {
  let last = -1
  let mark = ''
  return (batch) => {
    if (batch !== last) mark = `${process}:${(last = batch)}`
    return mark
  }
}

async function askFor(state: State, limit: Limit, wish: Parameters<CounterStore['take']>[1]): Promise<Slice> {
  const { connections, id, settlements, takes } = state
  const take = takes.begin(limit.id)
  const { needed, queued, wanted } = wish
  const amounts = [limit.value, needed, queued, Math.ceil(wanted)].map(countable)
  const values = [id, subjectOf(limit), limit.id, limit.organisationId, ...amounts, ...windowOf(limit), take.number, take.unheard]
  const { rows } = await connections.query<Row>({ ...leasing, values }).catch((error: unknown) => {
    settlements.fail()
    take.lose(error)
    throw error
  })
  const slice = toSlice(rows[0])
  settlements.hold(slice.granted)
  return slice
}

function subjectOf({ budget, counts }: Limit): string | null {
  if (budget === undefined) return null
  return JSON.stringify({ ...budget, threshold: budget.threshold === null ? null : countable(budget.threshold), counts })
}

const windowOf = ({ window }: Limit) =>
  window.slotMs === null ? [null, null, window.reset, window.days, window.anchor] : [window.slotMs, window.slots, null, null, null]

function toSlice(row: Row | undefined): Slice {
  if (row === undefined) throw new Error('The database granted nothing and refused nothing.')
  return {
    granted: row.granted,
    slot: String(row.slot),
    used: row.used,
    slotLeftMs: row.slot_left_ms,
    opensMs: row.opens_ms,
    reserved: row.reserved,
  }
}
