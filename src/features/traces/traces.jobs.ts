import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** Few enough that no other statement waits. */
const slice = 10_000

/** Deletes spans of clients that are older than LOG_RETENTION_DAYS, or than their workspace keeps its logs, in slices. */
export const forgetSpans: Job = {
  name: 'traces.forget-spans',
  every: '37 * * * *',
  irreversible: true,
  async run({ orm, config }) {
    const forget = async (condition: string, values: readonly unknown[]) => {
      for (let deleted = slice; deleted === slice;)
        deleted = (await asSystem(orm, (em) => em.execute<object[]>(deletion(condition), [...values]))).length
    }
    await forget(`received_at < now() - ? * interval '1 day'`, [config.logRetentionDays])
    const workspaces = await asSystem(orm, (em) =>
      em.execute<{ id: string; organisation_id: string; days: number }[]>(
        'SELECT id, organisation_id, log_retention_days AS days FROM workspaces WHERE log_retention_days < ?',
        [config.logRetentionDays],
      ),
    )
    for (const { id, organisation_id: organisationId, days } of workspaces)
      await forget(`organisation_id = ? AND workspace_id = ? AND created_at < now() - ? * interval '1 day'`, [organisationId, id, days])
  },
}

const deletion = (condition: string): string =>
  `DELETE FROM trace_spans WHERE ctid IN (SELECT ctid FROM trace_spans WHERE ${condition} LIMIT ${slice}) RETURNING 1 AS deleted`
