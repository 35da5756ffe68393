import { deleteInSlices } from '../../app/database/delete-in-slices.ts'
import type { Job } from '../../app/feature.ts'

const size = 1000

const deleteSome = `
  DELETE FROM stored_responses WHERE (organisation_id, id) IN (
    SELECT organisation_id, id FROM stored_responses WHERE expires_at <= now() ORDER BY expires_at LIMIT ${size})`

/** Deletes the responses whose time is over. */
export const deleteExpiredResponses: Job = {
  name: 'responses.delete-expired',
  every: '*/10 * * * *',
  irreversible: true,
  async run({ orm, log }) {
    const deleted = await deleteInSlices(orm, { sql: deleteSome, size })
    if (deleted > 0) log.info({ responses: deleted }, 'stored responses whose time is over were deleted')
  },
}

const trim = `
  WITH large AS (
    SELECT organisation_id FROM stored_responses GROUP BY organisation_id HAVING sum(octet_length(response)) > ?::bigint
  ), sized AS (
    SELECT r.organisation_id, r.id,
           sum(octet_length(r.response)) OVER (PARTITION BY r.organisation_id ORDER BY r.created_at DESC, r.id) AS up_to
      FROM stored_responses r JOIN large USING (organisation_id)
  )
  DELETE FROM stored_responses WHERE (organisation_id, id) IN (SELECT organisation_id, id FROM sized WHERE up_to > ?::bigint LIMIT ${size})`

/** Deletes the oldest responses of organisations that keep too many. */
export const trimResponses: Job = {
  name: 'responses.trim',
  every: '4-59/10 * * * *',
  irreversible: false,
  async run({ orm, config, log }) {
    const most = config.storedResponseBytes
    const deleted = await deleteInSlices(orm, { sql: trim, values: [most, most], size })
    if (deleted > 0) log.info({ responses: deleted }, 'the oldest stored responses were deleted: KEPT_RESPONSES_STORED_IN_MB is reached')
  },
}
