import type { Client } from 'pg'
import { encodeLogObject, type LogBodies } from './log-object.ts'
import { type LogStore, LogStoreError } from './log-store.ts'
import { objectKey, type PathFormat, type StoredLog } from './object-key.ts'

export interface MoverOptions {
  readonly client: () => Promise<Client>
  readonly store: LogStore
  readonly retentionDays: number
  readonly pathFormat: PathFormat
  readonly timeoutMs: number
  readonly longestBackoffMs: number
  readonly failureThreshold: number
}

/** The outcome of one pass. */
export interface MoveOutcome {
  readonly moved: number
  readonly failed: number
  /** Why the store does not take objects; null: it does, or there was none to take. */
  readonly fault: string | null
  /** True when more may be due at once. */
  readonly more: boolean
}

/** A claimed log; `at` is `created_at` as PostgreSQL writes it, `workspaceDays` how long its workspace keeps it, if it has a rule of its own. */
type ClaimedLog = StoredLog & { readonly at: string; readonly tries: number; readonly workspaceDays: number | null }

const largestBatch = 64
/** So many objects are in memory at a time, and on their way. */
const groupSize = 16

/**
 * Moves bodies of logs from the database to the store. A claim is a lease, so that several processes share the work and the claims of a dead one are
 * taken up again; an object is written before the database forgets its bodies, and a second write of it does no harm.
 */
export function createMover(options: MoverOptions): { pass(): Promise<MoveOutcome> } {
  const { client, store, retentionDays, pathFormat, timeoutMs } = options
  let batch = largestBatch

  const move = async (log: ClaimedLog, bodies: LogBodies | undefined): Promise<Outcome> => {
    if (bodies === undefined) return { log, key: null, fault: null }
    const key = objectKey(log, Math.min(log.workspaceDays ?? retentionDays, retentionDays), pathFormat)
    try {
      await store.put(key, encodeLogObject(log, bodies))
      return { log, key, fault: null }
    } catch (error) {
      if (!(error instanceof LogStoreError)) throw error
      return { log, key: null, fault: error.message }
    }
  }

  return {
    async pass() {
      const claimed = await claim(await client(), batch, timeoutMs * 2 + 60_000)
      const outcomes: Outcome[] = []
      while (outcomes.length < claimed.length) {
        const group = claimed.slice(outcomes.length, outcomes.length + groupSize)
        const bodies = await readBodies(await client(), group)
        outcomes.push(...(await Promise.all(group.map((log) => move(log, bodies.get(log.id))))))
        if (outcomes.every(({ fault }) => fault !== null)) break
      }
      const moved = outcomes.filter(({ fault }) => fault === null)
      const faults = outcomes.flatMap(({ fault }) => fault ?? [])
      const left = claimed.filter((log) => !moved.some((outcome) => outcome.log === log))
      await settle(await client(), { ...options, moved, left })
      const away = moved.length === 0 && faults.length > 0
      batch = away ? 1 : Math.min(largestBatch, batch * 2)
      return { moved: moved.length, failed: faults.length, fault: away ? (faults[0] ?? null) : null, more: moved.length > 0 }
    },
  }
}

/** The outcome of one log; `key` is null for one whose bodies are not in the database. */
interface Outcome {
  readonly log: ClaimedLog
  readonly key: string | null
  readonly fault: string | null
}

/** Runs statements as the system: bodies belong to organisations. */
async function asSystem<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query(`BEGIN; SET LOCAL statement_timeout = '30s'; SELECT set_config('app.scope', 'system', true)`)
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

const claimStatement = `
  WITH due AS (SELECT created_at, id FROM log_uploads WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  UPDATE log_uploads u SET due_at = now() + $2 * interval '1 millisecond', tries = u.tries + 1
    FROM due WHERE u.created_at = due.created_at AND u.id = due.id
  RETURNING u.id, u.organisation_id AS "organisationId", u.workspace_id AS "workspaceId", u.tries, u.created_at::text AS at,
            (SELECT w.log_retention_days FROM workspaces w WHERE w.id = u.workspace_id) AS "workspaceDays", (extract(epoch FROM u.created_at) * 1000)::float8 AS "createdAt"`

const claim = (client: Client, most: number, leaseMs: number): Promise<readonly ClaimedLog[]> =>
  asSystem(client, async () => (await client.query<ClaimedLog>(claimStatement, [most, leaseMs])).rows)

/** The bounds let PostgreSQL leave out the partitions of other days. */
const inBounds = `b.created_at BETWEEN (SELECT min(t) FROM unnest($1::timestamptz[]) t) AND (SELECT max(t) FROM unnest($1::timestamptz[]) t)`

const bodyStatement = `
  SELECT b.id, b.request_headers, b.response_headers, b.request_body, b.response_body, b.hook_results, b.sealed
    FROM unnest($1::timestamptz[], $2::uuid[]) AS m (created_at, id) JOIN log_bodies b ON b.created_at = m.created_at AND b.id = m.id
   WHERE b.object_key IS NULL AND ${inBounds}`

/** Returns bodies by the ids of their logs, without those that are moved already or gone with their retention. */
async function readBodies(client: Client, logs: readonly ClaimedLog[]): Promise<ReadonlyMap<string, LogBodies>> {
  const keys = [logs.map(({ at }) => at), logs.map(({ id }) => id)]
  const { rows } = await asSystem(client, () => client.query<LogBodies & { readonly id: string }>(bodyStatement, keys))
  return new Map(rows.map((row) => [row.id, row]))
}

const emptyStatement = `
  UPDATE log_bodies b SET object_key = m.key, request_headers = '{}', response_headers = '{}', request_body = NULL, response_body = NULL,
         hook_results = NULL, sealed = NULL
    FROM unnest($1::timestamptz[], $2::uuid[], $3::text[]) AS m (created_at, id, key)
   WHERE b.created_at = m.created_at AND b.id = m.id AND m.key IS NOT NULL AND ${inBounds}`

const forgetStatement = `
  DELETE FROM log_uploads u USING unnest($1::timestamptz[], $2::uuid[]) AS m (created_at, id)
   WHERE u.created_at = m.created_at AND u.id = m.id`

/** The first wait is a second, the next twice as long, each with jitter. */
const laterStatement = `
  UPDATE log_uploads u SET due_at = now() + least($3, CASE WHEN u.tries < $4 THEN 1000 * 2 ^ (u.tries - 1) ELSE $3 END) * (0.5 + random() / 2) * interval '1 millisecond'
    FROM unnest($1::timestamptz[], $2::uuid[]) AS m (created_at, id)
   WHERE u.created_at = m.created_at AND u.id = m.id`

interface Settlement extends Pick<MoverOptions, 'longestBackoffMs' | 'failureThreshold'> {
  readonly moved: readonly Outcome[]
  readonly left: readonly ClaimedLog[]
}

/** Takes moved bodies out of the database, and makes the rest due again. */
async function settle(client: Client, { moved, left, longestBackoffMs, failureThreshold }: Settlement): Promise<void> {
  if (moved.length + left.length === 0) return
  const keys = [moved.map(({ log }) => log.at), moved.map(({ log }) => log.id)]
  await asSystem(client, async () => {
    if (moved.length > 0) {
      await client.query(emptyStatement, [...keys, moved.map(({ key }) => key)])
      await client.query(forgetStatement, keys)
    }
    if (left.length === 0) return
    await client.query(laterStatement, [left.map(({ at }) => at), left.map(({ id }) => id), longestBackoffMs, failureThreshold])
  })
}

const mostCounted = 1_000_000

/** Returns how many logs wait for the store; more than a million are not counted. */
export async function countWaiting(client: Client): Promise<number> {
  const statement = `SELECT count(*)::float8 AS count FROM (SELECT FROM log_uploads LIMIT ${mostCounted}) w`
  const { rows } = await asSystem(client, () => client.query<{ count: number }>(statement))
  return rows[0]?.count ?? 0
}
