import { setTimeout as sleep } from 'node:timers/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { isLockTrouble } from '../../app/database/lock-trouble.ts'
import { asSystem } from '../../app/database/orm.ts'

const dayMs = 24 * 60 * 60 * 1000

/**
 * Readers and writers of logs wait behind work on partitions that waits itself. So it gives way after some milliseconds and tries again, each time a
 * little later: on a database that is never at rest it would never finish otherwise.
 */
const patience = { firstMs: 50, mostMs: 500, factor: 1.1 }
const pauseMs = 200
/** A run tries for at most two minutes; the next one goes on. */
const mostTries = 200

interface PartitionDeps extends Pick<Deps, 'orm' | 'log'> {
  readonly clock: Pick<Deps['clock'], 'now'>
  readonly config: Pick<Deps['config'], 'logRetentionDays'>
}

/** Makes the partitions of today and tomorrow. */
export async function makePartitions({ orm, clock }: Pick<PartitionDeps, 'orm' | 'clock'>): Promise<void> {
  const now = clock.now()
  const gently = createGentle({ orm })
  for (const day of [now, now + dayMs]) await gently((em) => em.execute('SELECT ensure_log_partitions(?::date)', [dateOf(day)]))
}

/** Drops the partitions whose last log is older than LOG_RETENTION_DAYS, one day in a transaction. */
export async function dropOldPartitions({ orm, config, clock, log }: PartitionDeps): Promise<void> {
  const now = clock.now()
  const gently = createGentle({ orm })
  const keptFrom = dateOf(now - config.logRetentionDays * dayMs)
  for (const day of await asSystem(orm, (em) => daysBefore(em, keptFrom))) {
    await gently((em) => em.execute('SELECT drop_log_partitions(?::date + 1)', [day]))
    log.info({ day }, 'the logs of a day were deleted with their retention')
  }
}

/** Returns the days before another that have partitions, the oldest first. */
async function daysBefore(em: EntityManager, day: string): Promise<readonly string[]> {
  const rows = await em.execute<{ readonly day: string }[]>(
    `SELECT DISTINCT partition_day(c.relname)::text AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent IN ('logs'::regclass, 'log_bodies'::regclass, 'log_words'::regclass) AND partition_day(c.relname) < ?::date ORDER BY 1`,
    [day],
  )
  return rows.map((row) => row.day)
}

/** Returns a runner of work in a transaction that gives way to others. It throws when the tries of a run are over. */
function createGentle({ orm }: Pick<Deps, 'orm'>) {
  let [tries, patienceMs] = [mostTries, patience.firstMs]
  return async (work: (em: EntityManager) => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        await asSystem(orm, async (em) => {
          await em.execute(`SET LOCAL lock_timeout = '${Math.round(patienceMs)}ms'`)
          await work(em)
        })
        return
      } catch (error) {
        tries--
        patienceMs = Math.min(patienceMs * patience.factor, patience.mostMs)
        if (tries <= 0 || !isLockTrouble(error)) throw error
        await sleep(pauseMs)
      }
    }
  }
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
