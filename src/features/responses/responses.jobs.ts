import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

/** One run deletes so many at a time, so that no statement is long. */
const batch = 1000

const deleteSome = `
  DELETE FROM stored_responses WHERE (organisation_id, id) IN (
    SELECT organisation_id, id FROM stored_responses WHERE expires_at <= now() ORDER BY expires_at LIMIT ${batch})`

/** Deletes the responses whose time is over. */
export const deleteExpiredResponses: Job = {
  name: 'responses.delete-expired',
  every: '*/10 * * * *',
  irreversible: true,
  async run({ orm, log }) {
    let [all, deleted] = [0, batch]
    while (deleted === batch) {
      const { affectedRows } = await asSystem(orm, (em) => em.execute<{ affectedRows: number }>(deleteSome, [], 'run'))
      deleted = affectedRows
      all += deleted
    }
    if (all > 0) log.info({ responses: all }, 'stored responses whose time is over were deleted')
  },
}
