import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** Few enough that no other statement waits. */
const slice = 10_000

/** Deletes spans of clients that are older than LOG_RETENTION_DAYS, in slices. */
export const forgetSpans: Job = {
  name: 'traces.forget-spans',
  every: '37 * * * *',
  async run({ orm, config }) {
    for (let deleted = slice; deleted === slice;) {
      deleted = await asSystem(orm, async (em) => {
        const rows = await em.execute<object[]>(
          `DELETE FROM trace_spans WHERE ctid IN (SELECT ctid FROM trace_spans WHERE received_at < now() - ? * interval '1 day' LIMIT ${slice})
           RETURNING 1 AS deleted`,
          [config.logRetentionDays],
        )
        return rows.length
      })
    }
  },
}
