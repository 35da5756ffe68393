import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientBase, ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { enter, sessionClient } from '../session.ts'

/** The two halves of the advisory lock's name; free to choose, fixed forever. */
const lockKey = [1_734_440_040, 1] as const
const isOurLock = `locktype = 'advisory' AND granted AND classid = $1 AND objid = $2 AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
const pollMs = 200
const reportEveryMs = 5000
const maxWaitMs = 10 * 60_000

export interface LockOptions {
  readonly log: Logger
  /** Ends the wait for the lock. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `work` while no other process migrates this database. The lock is polled, never waited for: a blocked waiter holds a
 * snapshot, and CREATE INDEX CONCURRENTLY would wait for it forever. It lives on a connection that stays idle outside any
 * transaction for the same reason. `lost` aborts when that connection, and with it the lock, goes away.
 */
export async function withMigrationLock<T>(
  client: ClientConfig,
  options: LockOptions,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const config = { ...client, application_name: 'gatehouse-migrate' }
  const keeper = sessionClient(config)
  const lost = new AbortController()
  let released = false
  keeper.on('end', () => released || lost.abort(new Error('the connection that held the migration lock was closed')))
  await enter(keeper, config)
  try {
    await acquire(keeper, options)
    return await work(lost.signal)
  } finally {
    released = true
    await keeper.end().catch(() => {})
  }
}

async function acquire(keeper: Client, { log, signal }: LockOptions): Promise<void> {
  const startedAt = Date.now()
  let reportAt = startedAt
  while (!(await tryLock(keeper))) {
    if (Date.now() >= reportAt) {
      const holder = await describeHolder(keeper)
      log.info({ waitedMs: Date.now() - startedAt }, `another process migrates this database; waiting for ${holder}`)
      if (Date.now() - startedAt > maxWaitMs) throw new Error(`gave up waiting for the migration lock after 10 minutes: ${holder}`)
      reportAt = Date.now() + reportEveryMs
    }
    await sleep(pollMs, undefined, signal === undefined ? {} : { signal })
  }
}

/** In transaction mode a pooler gives the lock's server connection to the next client: to us, or to another migrator. */
export async function assertLockHeldElsewhere(worker: Client): Promise<void> {
  const { rows } = await worker.query<{ elsewhere: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_locks WHERE ${isOurLock} AND pid <> pg_backend_pid()) AS elsewhere`,
    [...lockKey],
  )
  if (rows[0]?.elsewhere === true) return
  throw new Error(
    'the database is reached through a connection pooler in transaction mode, where migrations cannot be locked: set DB_HOST and DB_PORT to PostgreSQL itself to migrate',
  )
}

/** Returns true if a process works on the schema of this database now. */
export async function migrationLockHeld(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(`SELECT EXISTS (SELECT FROM pg_locks WHERE ${isOurLock}) AS held`, [...lockKey])
  return rows[0]?.held ?? false
}

async function tryLock(keeper: Client): Promise<boolean> {
  const { rows } = await keeper.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS held', [...lockKey])
  return rows[0]?.held ?? false
}

async function describeHolder(keeper: Client): Promise<string> {
  const { rows } = await keeper.query<{ pid: number; address: string; seconds: number }>(
    `SELECT a.pid, coalesce(host(a.client_addr), 'a local socket') AS address, extract(epoch FROM now() - a.backend_start)::int AS seconds
       FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE ${isOurLock}`,
    [...lockKey],
  )
  const [holder] = rows
  return holder === undefined
    ? 'a process that has just ended'
    : `server process ${holder.pid} from ${holder.address}, connected for ${holder.seconds} s`
}
