import { deleteInSlices } from '../../app/database/delete-in-slices.ts'
import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

const size = 10_000

/** Deletes spans of clients that are older than LOG_RETENTION_DAYS, or than their workspace keeps its logs. */
export const forgetSpans: Job = {
  name: 'traces.forget-spans',
  every: '37 * * * *',
  irreversible: true,
  async run({ orm, config }) {
    const forget = (condition: string, values: readonly unknown[]) => deleteInSlices(orm, { sql: deletion(condition), values, size })
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
  `DELETE FROM trace_spans WHERE ctid IN (SELECT ctid FROM trace_spans WHERE ${condition} LIMIT ${size})`

/** Beside its details a span takes so many bytes. */
const rest = 300

const trim = `
  WITH large AS (
    SELECT organisation_id FROM trace_spans GROUP BY organisation_id HAVING sum(octet_length(details) + ${rest}) > ?::bigint
  ), sized AS (
    SELECT s.ctid AS place, sum(octet_length(s.details) + ${rest}) OVER (PARTITION BY s.organisation_id ORDER BY s.received_at DESC, s.ctid) AS up_to
      FROM trace_spans s JOIN large USING (organisation_id)
  )
  DELETE FROM trace_spans WHERE ctid IN (SELECT place FROM sized WHERE up_to > ?::bigint LIMIT ${size})`

/** Deletes the oldest spans of organisations that keep too many. */
export const trimSpans: Job = {
  name: 'traces.trim-spans',
  every: '43 * * * *',
  irreversible: false,
  async run({ orm, config, log }) {
    const most = config.storedSpanBytes
    const deleted = await deleteInSlices(orm, { sql: trim, values: [most, most], size })
    if (deleted > 0) log.info({ spans: deleted }, 'the oldest spans of clients were deleted: TRACE_SPANS_STORED_IN_MB is reached')
  },
}
