import type { Job } from '../feature.ts'
import { asSystem } from '../database/orm.ts'

/** Removes changes that every process has long received; a process that was away for longer starts afresh. */
export const pruneChanges: Job = {
  name: 'prune-changes',
  every: '*/10 * * * *',
  irreversible: true,
  run: ({ orm }) => asSystem(orm, async (em) => void (await em.execute(`DELETE FROM changes WHERE at < now() - interval '1 hour'`))),
}
