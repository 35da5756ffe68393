import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'
import { renewPartitions } from './partitions.ts'
import { expireOfWorkspaces } from './workspace-retention.ts'

const dayMs = 24 * 60 * 60 * 1000

/** Hourly, so that a process that was down at one time of the day does not miss it; most runs find nothing to do. */
export const keepPartitions: Job = { name: 'logs.keep-partitions', every: '7 * * * *', run: renewPartitions }

/** Deletes the logs of workspaces that keep theirs for a shorter time. */
export const keepWorkspaces: Job = { name: 'logs.expire-of-workspaces', every: '*/5 * * * *', run: expireOfWorkspaces }

/** Deletes the bodies of logs that are gone from a log store that has no rules for it. */
export const expireObjects: Job = {
  name: 'logs.expire-objects',
  every: '41 2 * * *',
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
  run: ({ orm, config }) =>
    asSystem(orm, async (em) => {
      await em.execute(`DELETE FROM journal_cursors WHERE updated_at < now() - ? * interval '1 day'`, [config.logRetentionDays])
    }),
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
