import { deleteInSlices } from '../../app/database/delete-in-slices.ts'
import type { Job } from '../../app/feature.ts'

const size = 10_000

const trim = `
  WITH large AS (
    SELECT organisation_id FROM feedbacks GROUP BY organisation_id HAVING count(*) > ?::bigint
  ), counted AS (
    SELECT f.id, row_number() OVER (PARTITION BY f.organisation_id ORDER BY f.created_at DESC, f.id) AS place
      FROM feedbacks f JOIN large USING (organisation_id)
  )
  DELETE FROM feedbacks WHERE id IN (SELECT id FROM counted WHERE place > ?::bigint LIMIT ${size})`

/** Deletes the oldest feedback of organisations that have too much. */
export const trimFeedback: Job = {
  name: 'feedback.trim',
  every: '47 * * * *',
  irreversible: false,
  async run({ orm, config, log }) {
    const most = config.storedItems.feedbacks
    const deleted = await deleteInSlices(orm, { sql: trim, values: [most, most], size })
    if (deleted > 0) log.info({ feedback: deleted }, 'the oldest feedback was deleted: STORED_ITEMS_MAX is reached')
  },
}
