import { Pool, type ClientConfig } from 'pg'
import type { Logger } from 'pino'
import type { CounterStore, Slice } from '../../gateway/limits/counters.ts'
import type { Limit } from '../../gateway/limits/limit.ts'
import { systemSession } from '../snapshot/change-feed.ts'

export interface StoredCountersOptions {
  /** `Connection.runtime`. */
  readonly client: ClientConfig
  readonly log: Logger
}

export interface StoredCounters extends CounterStore {
  /** Writes what is to be given back. */
  flush(): Promise<void>
  stop(): Promise<void>
}

interface Row {
  readonly granted: number
  readonly slot: number
  readonly used: number
  readonly slot_left_ms: number | null
  readonly opens_ms: number | null
}

const take = {
  name: 'take-limit',
  text: 'SELECT granted, slot, used, slot_left_ms, opens_ms FROM take_limit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
}
const giveBack = 'SELECT give_back_limit(id, slot, amount) FROM unnest($1::text[], $2::text[], $3::bigint[]) AS g (id, slot, amount)'

type Amounts = Map<string, number>

interface State {
  readonly pool: Pool
  readonly log: Logger
  /** Amounts to give back, by counter and slot. */
  readonly pending: Map<string, Amounts>
}

/** The counters in PostgreSQL. A connection of their own keeps them from waiting behind slow queries. */
export function openStoredCounters({ client, log }: StoredCountersOptions): StoredCounters {
  const pool = new Pool({ ...systemSession(client), max: 3, idleTimeoutMillis: 10_000, application_name: 'gatehouse-limits' })
  pool.on('error', (error) => log.debug({ err: error }, 'an idle connection of the limits was lost'))
  const state: State = { pool, log, pending: new Map() }
  return {
    async take(limit, { needed, queued, wanted }) {
      if (state.pending.has(limit.id)) await write(state, [limit.id])
      const values = [limit.id, limit.organisationId, limit.value, needed, queued, Math.ceil(wanted), ...windowOf(limit)]
      const { rows } = await pool.query<Row>({ ...take, values })
      return toSlice(rows[0])
    },
    giveBack(limit, slot, amount) {
      add(state.pending, { id: limit.id, slot, amount })
    },
    flush: () => write(state, [...state.pending.keys()]),
    async stop() {
      await write(state, [...state.pending.keys()])
      await pool.end().catch(() => {})
    },
  }
}

const windowOf = ({ window }: Limit) =>
  window.slotMs === null ? [null, null, window.reset, window.days, window.anchor] : [window.slotMs, window.slots, null, null, null]

function toSlice(row: Row | undefined): Slice {
  if (row === undefined) throw new Error('The database granted nothing and refused nothing.')
  return { granted: row.granted, slot: String(row.slot), used: row.used, slotLeftMs: row.slot_left_ms, opensMs: row.opens_ms }
}

function add(pending: State['pending'], { id, slot, amount }: { id: string; slot: string; amount: number }): void {
  const amounts = pending.get(id) ?? new Map<string, number>()
  pending.set(id, amounts)
  amounts.set(slot, (amounts.get(slot) ?? 0) + amount)
}

/**
 * Writes what these counters get back. Nobody knows of a statement that failed whether it was carried out: what would free an amount is
 * forgotten then, and what was used beyond its slice is written again. Both ways a counter stands at least as high as it should.
 */
async function write({ pool, pending, log }: State, ids: readonly string[]): Promise<void> {
  const parts = ids.flatMap((id) => {
    const amounts = pending.get(id)
    pending.delete(id)
    return amounts === undefined ? [] : [...amounts].flatMap(([slot, amount]) => (amount === 0 ? [] : [{ id, slot, amount }]))
  })
  if (parts.length === 0) return
  // In one order everywhere, so that no two processes wait for each other.
  parts.sort((one, other) => (one.id < other.id ? -1 : 1))
  try {
    await pool.query(giveBack, [parts.map(({ id }) => id), parts.map(({ slot }) => slot), parts.map(({ amount }) => amount)])
  } catch (error) {
    log.debug({ err: error }, 'what limits did not use cannot be given back')
    for (const part of parts) if (part.amount < 0) add(pending, part)
  }
}
