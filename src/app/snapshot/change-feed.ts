import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { enter } from '../database/session.ts'
import { sideClient, systemSession } from '../database/side-sessions.ts'

/** One row that changed. `kind` is its table. */
export interface Change {
  readonly kind: string
  readonly entityId: string
}

export interface ChangeFeedOptions {
  /** `Connection.runtime`. */
  readonly client: ClientConfig
  readonly log: Logger
  readonly pollMs: number
  /** The name of its session, in the database's list. */
  readonly sessionName?: string | undefined
  /** May be called twice with the same change: by the notification and by the poll. */
  readonly onChange: (change: Change) => void
  /** Changes may have been missed: all that was read before is in doubt. */
  readonly onGap: () => void
  /** After each poll that succeeded: all changes committed before `at` (monotonic milliseconds) were reported. */
  readonly onContact: (at: number) => void
}

/** Reports every committed change of the control plane, soon, and for certain. */
export interface ChangeFeed {
  /** False when the database failed twice in a row: one lost connection is no sign. */
  connected(): boolean
  /** Polls now; resolves when all changes committed before the call were reported. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

interface State extends ChangeFeedOptions {
  readonly stopped: AbortController
  wake: AbortController
  waiting: (() => void)[]
  failures: number
  /** Every transaction below it had ended, and was reported, at the latest poll. */
  horizon: string | null
  /** Rows reported at the latest poll; they come again until the horizon has passed them. */
  told: ReadonlySet<string>
  polledAt: number
}

/** Changes are pruned after an hour: a follower that was away longer than this cannot see all that it missed. */
const longestAbsenceMs = 15 * 60_000
const longestBackoffMs = 800

/**
 * Follows the change feed over one connection of its own. Notifications bring a change within milliseconds; the poll is the guarantee: it asks for
 * all transactions from the oldest one that had not ended at the poll before, so that it also finds rows that were committed late, and it works where
 * notifications do not arrive (a pooler in between, a lost connection).
 */
export function followChanges(options: ChangeFeedOptions): ChangeFeed {
  const state: State = {
    ...options,
    stopped: new AbortController(),
    wake: new AbortController(),
    waiting: [],
    failures: 0,
    horizon: null,
    told: new Set(),
    polledAt: 0,
  }
  const ended = follow(state)
  return {
    connected: () => state.failures < 2,
    refresh: () =>
      new Promise((resolve) => {
        state.waiting.push(resolve)
        state.wake.abort()
      }),
    stop() {
      state.stopped.abort()
      return ended
    },
  }
}

async function follow(state: State): Promise<void> {
  const { signal } = state.stopped
  while (!signal.aborted) {
    await session(state).catch((error: unknown) => lost(state, error))
    if (signal.aborted) break
    const backoffMs = Math.min(50 * 2 ** Math.min(state.failures, 10), longestBackoffMs)
    await sleep(backoffMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
  }
  for (const resolve of state.waiting) resolve()
}

function lost(state: State, error: unknown): void {
  state.failures += 1
  if (state.failures === 1 && !state.stopped.signal.aborted)
    state.log.warn({ err: error }, 'lost sight of the database; cached keys and providers serve on')
}

async function session(state: State): Promise<void> {
  const config = systemSession(state.client)
  const client = sideClient('snapshot', config, state.sessionName)
  const closed = new AbortController()
  client.on('error', () => closed.abort())
  client.on('end', () => closed.abort())
  client.on('notification', ({ payload }) => notified(state, payload))
  try {
    await enter(client, config)
    await client.query('LISTEN gatehouse_changes')
    while (!state.stopped.signal.aborted && !closed.signal.aborted) {
      await poll(state, client)
      await pause(state, closed.signal)
    }
    if (!state.stopped.signal.aborted) throw new Error('the connection to the database was closed')
  } finally {
    // A connection that hangs does not end either; it is left to its timeouts.
    await Promise.race([client.end().catch(() => {}), sleep(1000, undefined, { ref: false })])
  }
}

async function pause(state: State, closed: AbortSignal): Promise<void> {
  if (state.waiting.length > 0) return
  state.wake = new AbortController()
  await sleep(state.pollMs, undefined, { signal: AbortSignal.any([state.stopped.signal, state.wake.signal, closed]) }).catch(() => {})
}

function notified(state: State, payload: string | undefined): void {
  const [kind, entityId] = payload?.split(':') ?? []
  if (kind !== undefined && entityId !== undefined) state.onChange({ kind, entityId })
}

interface Row {
  readonly horizon: string
  readonly seq: string | null
  readonly kind: string | null
  readonly entity_id: string | null
}

const changesSince = `
  SELECT s.horizon::text AS horizon, c.seq::text AS seq, c.kind, c.entity_id
    FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon) s
    LEFT JOIN changes c ON c.xid >= coalesce($1::xid8, s.horizon)`

async function poll(state: State, client: Client): Promise<void> {
  const { waiting } = state
  state.waiting = []
  const at = performance.now()
  try {
    const { rows } = await client.query<Row>(changesSince, [state.horizon])
    catchUp(state, at, rows[0]?.horizon ?? null)
    tell(state, rows)
  } catch (error) {
    state.waiting.push(...waiting)
    throw error
  }
  state.onContact(at)
  for (const resolve of waiting) resolve()
}

/** A horizon that went back is another server: a standby that was promoted, a backup that was restored. */
function catchUp(state: State, at: number, horizon: string | null): void {
  const rewound = state.horizon !== null && horizon !== null && BigInt(horizon) < BigInt(state.horizon)
  if (rewound || (state.horizon !== null && at - state.polledAt > longestAbsenceMs)) state.onGap()
  if (state.failures > 0) state.log.info('the database is back')
  state.polledAt = at
  state.failures = 0
}

function tell(state: State, rows: readonly Row[]): void {
  const seen = new Set<string>()
  for (const { horizon, seq, kind, entity_id: entityId } of rows) {
    state.horizon = horizon
    if (seq === null || kind === null || entityId === null) continue
    seen.add(seq)
    if (!state.told.has(seq)) state.onChange({ kind, entityId })
  }
  state.told = seen
}
