import type { Logger } from 'pino'
import { type BreakerState, createRoutingState, type RoutingState, type BreakerEvent } from '../../gateway/ports/routing.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import type { Change } from '../snapshot/change-feed.ts'
import type { Follower } from '../snapshot/snapshot.ts'

export interface SharedBreakersOptions {
  readonly side: SidePool
  readonly log: Logger
}

/** The routing state of a process, whose breakers are those of every process. */
export interface SharedBreakers extends Follower {
  readonly routing: RoutingState
  /** The number of breakers that are not closed. */
  open(): number
  /** The number of changes that have not been shared with the other processes yet. */
  untold(): number
  stop(): void
}

interface Row {
  readonly id: string
  readonly organisation_id: string
  readonly age_ms: number
  readonly left_ms: number
}

const table = 'breakers'
/** The clocks of machines differ, so that times are those of the database's clock. */
const read = `
  SELECT id, organisation_id, extract(epoch FROM now() - opened_at)::float8 * 1000 AS age_ms, extract(epoch FROM until - now())::float8 * 1000 AS left_ms
    FROM breakers`
/** So many are taken over at a start: a process holds no more. */
const readLatest = `${read} ORDER BY opened_at DESC LIMIT 10000`
/** One organisation shares so many: requests bring configs, and with them as many targets as they like. */
const mostShared = 200
const write = `
  INSERT INTO breakers (id, organisation_id, workspace_id, config, option, provider, opened_at, until)
    SELECT $1::uuid, $2::uuid, $3::uuid, $4, $5, $6, now(), now() + $7::float8 * interval '1 millisecond'
     WHERE EXISTS (SELECT FROM breakers WHERE id = $1) OR (SELECT count(*) FROM breakers WHERE organisation_id = $2) < ${mostShared}
    ON CONFLICT (id) DO UPDATE SET opened_at = excluded.opened_at, until = excluded.until`

interface State {
  readonly log: Logger
  readonly connections: SideConnections
  readonly routing: RoutingState
  /** Statements that were not answered yet. */
  waiting: number
  /** True if some were left out, so that all is read again when there is time. */
  behind: boolean
  /** Changes that the database has not taken yet, by their breaker. */
  readonly untold: Map<string, BreakerEvent>
  retry: NodeJS.Timeout | null
  stopped: boolean
}

/** More would fill the memory faster than the database takes them. */
const mostWaiting = 500
const retryAfterMs = 1000

/**
 * Shares breakers over a table and its changes. A database that is away costs the sharing only: each process goes on with its own.
 */
export function openSharedBreakers({ side, log }: SharedBreakersOptions): SharedBreakers {
  const state: State = {
    log,
    connections: side.of('breakers'),
    waiting: 0,
    behind: false,
    untold: new Map(),
    retry: null,
    stopped: false,
    routing: createRoutingState((told) => share(state, told)),
  }
  attempt(state, () => readAll(state))
  return {
    routing: state.routing,
    open: () => statesOf(state.routing).filter((breaker) => breaker.state !== 'closed').length,
    untold: () => state.untold.size,
    changed: ({ kind, entityId }: Change) => {
      if (kind === table) attempt(state, () => readOne(state, entityId))
    },
    clear: () => attempt(state, () => readAll(state)),
    stop() {
      state.stopped = true
      if (state.retry !== null) clearTimeout(state.retry)
    },
  }
}

/** Runs a statement. Returns false, and leaves it out, if it would have to wait for too many others: that costs the sharing for a while. */
function attempt(state: State, run: () => Promise<void>): boolean {
  if (state.waiting >= mostWaiting) {
    state.behind = true
    return false
  }
  state.waiting += 1
  run()
    .catch((error: unknown) => state.log.debug({ err: error }, 'circuit breakers cannot be shared with other processes'))
    .finally(() => {
      state.waiting -= 1
      if (!state.behind || state.waiting > 0) return
      state.behind = false
      attempt(state, () => readAll(state))
    })
  return true
}

/** Shares a change with the other processes, and retries for as long as the database does not take it. */
function share(state: State, told: BreakerEvent): void {
  const { untold } = state
  const { target } = told.change
  if (untold.has(target) || untold.size < mostWaiting) untold.set(target, told)
  const again = () => {
    if (!state.stopped) state.retry ??= setTimeout(() => shareAgain(state), retryAfterMs).unref()
  }
  const tried = attempt(state, async () => {
    try {
      await tell(state, told)
      // A later change of the same breaker is still to be shared.
      if (untold.get(target) === told) untold.delete(target)
    } catch (error) {
      again()
      throw error
    }
  })
  if (!tried) again()
}

function shareAgain(state: State): void {
  state.retry = null
  for (const told of state.untold.values()) share(state, told)
}

async function tell({ connections }: State, { change, about }: BreakerEvent): Promise<void> {
  if (change.kind === 'closed') {
    await connections.query('DELETE FROM breakers WHERE id = $1', [change.target])
    return
  }
  const { organisationId, workspaceId, config, option, provider } = about
  const leftMs = change.until - Date.now()
  if (leftMs > 0) await connections.query(write, [change.target, organisationId, workspaceId, config, option, provider, leftMs])
}

async function readOne({ connections, routing }: State, id: string): Promise<void> {
  const { rows } = await connections.query<Row>(`${read} WHERE id = $1`, [id])
  const [row] = rows
  if (row === undefined) close(routing, id)
  else applyRow(routing, row)
}

async function readAll({ connections, routing, untold }: State): Promise<void> {
  const { rows } = await connections.query<Row>(readLatest)
  const open = new Set(rows.map(({ id }) => id))
  for (const { target, state } of statesOf(routing))
    if (state !== 'closed' && !open.has(target) && !untold.has(target)) close(routing, target)
  for (const row of rows) if (!untold.has(row.id)) applyRow(routing, row)
}

const statesOf = (routing: RoutingState): readonly BreakerState[] => routing.all().flatMap(({ breakers }) => breakers.states(Date.now()))

/** Closes a breaker. The row that named its organisation is gone, so that all of them are looked through. */
function close(routing: RoutingState, target: string): void {
  for (const { breakers } of routing.all()) breakers.apply({ kind: 'closed', target })
}

function applyRow(routing: RoutingState, { id, organisation_id: organisationId, age_ms: ageMs, left_ms: leftMs }: Row): void {
  const now = Date.now()
  routing.of(organisationId).breakers.apply({ kind: 'opened', target: id, openedAt: now - ageMs, until: now + leftMs })
}
