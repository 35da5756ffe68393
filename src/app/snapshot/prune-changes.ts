import type { Job } from '../feature.ts'
import { asSystem } from '../database/orm.ts'

/** Removes what every process has long been told; a process that was away for longer starts afresh. */
export const pruneChanges: Job = {
  name: 'prune-changes',
  every: '*/10 * * * *',
  irreversible: true,
  run: ({ orm }) => asSystem(orm, async (em) => void (await em.execute(`DELETE FROM changes WHERE at < now() - interval '1 hour'`))),
}
