import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'
import { dropOldPartitions, makePartitions } from './partitions.ts'
import { expireOfWorkspaces } from './workspace-retention.ts'

const dayMs = 24 * 60 * 60 * 1000

/** Hourly, so that a process that was down at one time of the day does not miss it; most runs have no work to do. */
export const keepPartitions: Job = { name: 'logs.keep-partitions', every: '7 * * * *', irreversible: false, run: makePartitions }

/** Deletes the logs of days that are older than LOG_RETENTION_DAYS. */
export const dropPartitions: Job = { name: 'logs.drop-partitions', every: '9 * * * *', irreversible: true, run: dropOldPartitions }

/** Deletes the logs of workspaces that keep theirs for a shorter time. */
export const keepWorkspaces: Job = { name: 'logs.expire-of-workspaces', every: '*/5 * * * *', irreversible: true, run: expireOfWorkspaces }

/** Deletes bodies older than LOG_RETENTION_DAYS from a log store that does not delete old objects itself, such as a folder. */
export const expireObjects: Job = {
  name: 'logs.expire-objects',
  every: '41 2 * * *',
  irreversible: true,
  async run({ logStore, config, clock, log }) {
    const expire = logStore?.expire ?? null
    if (expire === null) return
    const objects = await expire(Date.parse(dateOf(clock.now() - config.logRetentionDays * dayMs)))
    if (objects > 0) log.info({ objects }, 'bodies of logs were deleted from the log store with their retention')
  },
}

/** Cursors of segments that went away without a trace, for example with their disk. */
export const forgetCursors: Job = {
  name: 'logs.forget-cursors',
  every: '23 3 * * *',
  irreversible: true,
  run: ({ orm, config }) =>
    asSystem(orm, async (em) => {
      await em.execute(`DELETE FROM journal_cursors WHERE updated_at < now() - ? * interval '1 day'`, [config.logRetentionDays])
    }),
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
