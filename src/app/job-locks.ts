import type { Client, ClientConfig, QueryResult, QueryResultRow } from 'pg'
import { enter, streamOf } from './database/session.ts'
import { sideClient } from './database/side-sessions.ts'

/** Locks that keep each job to one process at a time. PostgreSQL gives the locks of a process back when that process dies. */
export interface JobLocks {
  /** Runs `work` while this process holds the lock. Returns false, without running it, while another run holds it. */
  hold(lock: string, work: (held: HeldLock) => Promise<void>): Promise<boolean>
}

/** A lock that this process holds. */
export interface HeldLock {
  /** Asks the session that holds the lock. Jobs at work share it, and take turns: a client of pg takes one query at a time. */
  query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
  /** Aborted when the session ends, and the lock with it. */
  readonly lost: AbortSignal
}

interface Session extends HeldLock {
  readonly client: Client
}

/** The session of all jobs at work, and the number of runs that use it. */
interface SharedSession {
  readonly opening: Promise<Session>
  users: number
}

/** A server that does not answer for so long loses its session, and the locks in it. */
const answersWithinMs = 10_000

/** All jobs of a process hold their locks in one session, which is open while a job runs: many are due in the same second. */
export function createJobLocks(config: ClientConfig): JobLocks {
  const running = new Set<string>()
  let current: SharedSession | null = null

  const join = (): SharedSession => {
    if (current === null) {
      const opened: SharedSession = { opening: openSession(config, () => forget(opened)), users: 0 }
      current = opened
    }
    current.users += 1
    return current
  }
  /** The next run opens another session. */
  const forget = (shared: SharedSession) => void (current === shared && (current = null))
  const leave = async (shared: SharedSession): Promise<void> => {
    shared.users -= 1
    if (shared.users > 0) return
    forget(shared)
    const session = await shared.opening.catch(() => null)
    await session?.client.end().catch(() => {})
  }
  return {
    async hold(lock, work) {
      // A session may take its own lock twice.
      if (running.has(lock)) return false
      running.add(lock)
      const shared = join()
      try {
        return await holdIn(await shared.opening, lock, work)
      } finally {
        running.delete(lock)
        await leave(shared)
      }
    },
  }
}

async function holdIn(session: Session, lock: string, work: (held: HeldLock) => Promise<void>): Promise<boolean> {
  const { rows } = await session.query<{ held: boolean }>('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held', [lock])
  if (rows[0]?.held !== true) return false
  try {
    await work(session)
    return true
  } finally {
    // A session that cannot give the lock back must end with it.
    await session.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [lock]).catch(() => streamOf(session.client).destroy())
  }
}

async function openSession(config: ClientConfig, onEnd: () => void): Promise<Session> {
  const client = sideClient('jobs', { ...config, query_timeout: answersWithinMs, keepAlive: true })
  const lost = new AbortController()
  client.on('end', () => {
    onEnd()
    lost.abort()
  })
  await enter(client, config)
  // The idle limits of a usual session would end the locks in the middle of a long job.
  await client.query('SET idle_session_timeout = 0')
  let before: Promise<unknown> = Promise.resolve()
  return {
    client,
    lost: lost.signal,
    query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      const answer = before.then(() => client.query<Row>(sql, [...values]))
      before = answer.catch(() => {})
      return answer
    },
  }
}
