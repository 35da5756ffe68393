import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** Few enough that no other statement waits. */
const slice = 10_000

const trim = `
  WITH large AS (
    SELECT organisation_id FROM feedbacks GROUP BY organisation_id HAVING count(*) > ?::bigint
  ), counted AS (
    SELECT f.id, row_number() OVER (PARTITION BY f.organisation_id ORDER BY f.created_at DESC, f.id) AS place
      FROM feedbacks f JOIN large USING (organisation_id)
  )
  DELETE FROM feedbacks WHERE id IN (SELECT id FROM counted WHERE place > ?::bigint LIMIT ${slice}) RETURNING 1 AS deleted`

/** Deletes the oldest feedback of organisations that have too much, in slices. */
export const trimFeedback: Job = {
  name: 'feedback.trim',
  every: '47 * * * *',
  irreversible: false,
  async run({ orm, config, log }) {
    const most = config.storedItems.feedbacks
    let all = 0
    for (let deleted = slice; deleted === slice; all += deleted)
      deleted = (await asSystem(orm, (em) => em.execute<object[]>(trim, [most, most]))).length
    if (all > 0) log.info({ feedback: all }, 'the oldest feedback was deleted: STORED_ITEMS_MAX is reached')
  },
}
