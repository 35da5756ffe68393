import cron from 'node-cron'
import type pg from 'pg'
import type { Logger } from 'pino'
import { apartInWords, databaseTime } from './database/clock-offset.ts'
import type { Deps } from './deps.ts'
import type { Job } from './feature.ts'
import { createJobLocks, type HeldLock, type JobLocks } from './job-locks.ts'

export interface Jobs {
  /** Starts no job any more, and signals the end to those that run; resolves when they have ended, or after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/**
 * Runs background work by its cron patterns. One process of all runs a job at a time: the holder of its advisory lock, which PostgreSQL releases when
 * that process dies. A run that is still going when the next is due is not doubled.
 */
export function startJobs(jobs: readonly Job[], deps: Deps, client: pg.ClientConfig): Jobs {
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const locks = createJobLocks(client)
  const tasks = jobs.map((job) =>
    cron.schedule(
      job.every,
      async () => {
        const run = runJob(job, deps, { locks, stopping: stopping.signal })
        running.add(run)
        await run
        running.delete(run)
      },
      { name: job.name, noOverlap: true, timezone: 'UTC', logger: quietLogger(deps.log) },
    ),
  )
  return {
    async stop(graceMs) {
      for (const task of tasks) await task.destroy()
      stopping.abort()
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, graceMs)
      await Promise.race([Promise.all(running), late])
      clearTimeout(timer)
    },
  }
}

/** Sends the scheduler's messages (a run that still goes on, a late tick) to our log instead of the terminal. */
function quietLogger(log: Logger) {
  const say = (message: string | Error) => log.debug({ err: message instanceof Error ? message : undefined }, String(message))
  return { info: say, warn: say, error: say, debug: say }
}

interface RunOptions {
  readonly locks: JobLocks
  /** Aborted when the process stops; absent: there is no such signal. */
  readonly stopping?: AbortSignal
}

/** One run of one job, if no other process is at it. Never throws: a failure is logged and counted. */
export async function runJob(job: Job, deps: Deps, { locks, stopping }: RunOptions): Promise<void> {
  const startedAt = performance.now()
  try {
    const led = await locks.hold(`gatehouse:job:${job.name}`, async (held) => {
      const clock = job.irreversible ? await agreedClock(held, deps) : deps.clock
      await job.run({ ...deps, clock }, stopping === undefined ? held.lost : AbortSignal.any([stopping, held.lost]))
    })
    deps.metrics.jobRan(job.name, led ? 'done' : 'skipped')
    if (led) deps.log.debug({ job: job.name, duration_ms: Math.round(performance.now() - startedAt) }, 'job done')
  } catch (error) {
    deps.metrics.jobRan(job.name, 'failed')
    deps.log.error({ err: error, job: job.name }, 'job failed')
  }
}

/** Returns the clock of the database. Rejects while that of the process differs: one of them is wrong, and it is unknown which. */
async function agreedClock(held: HeldLock, { clock }: Deps): Promise<Deps['clock']> {
  const { ms, aheadMs } = await databaseTime(
    async (sql) => (await held.query<{ ms: number }>(sql)).rows,
    () => clock.now(),
  )
  const apart = apartInWords(aheadMs)
  if (apart !== null) throw new Error(`no data is deleted or ended by its age, because ${apart}`)
  const startedAt = performance.now()
  return { now: () => Math.round(ms + performance.now() - startedAt) }
}
