import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'

const keptDays = 30
const mostKept = 1000

const prune = `
  DELETE FROM scim_activity a
   USING (SELECT id, row_number() OVER (PARTITION BY organisation_id ORDER BY created_at DESC, id DESC) AS nth FROM scim_activity) n
   WHERE n.id = a.id AND (n.nth > ${mostKept} OR a.created_at <= ?)`

/** Deletes notes that are older than a month, and all but the latest thousand of each organisation: the audit trail keeps every write. */
export const pruneScimActivity: Job = {
  name: 'prune-scim-activity',
  every: '*/10 * * * *',
  irreversible: true,
  run: ({ orm, clock }) => asSystem(orm, async (em) => void (await em.execute(prune, [new Date(clock.now() - keptDays * 86_400_000)]))),
}
