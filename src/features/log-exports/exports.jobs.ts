import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'
import { makeParts } from './run.ts'

/** Makes the files of exports that were started. */
export const makeExports: Job = { name: 'log-exports.make', every: '*/3 * * * * *', run: makeParts }

/** Deletes files whose time is over. What was exported stays known. */
export const deleteFiles: Job = {
  name: 'log-exports.delete-files',
  every: '41 * * * *',
  run: ({ orm }) =>
    asSystem(orm, async (em) => {
      await em.execute('DELETE FROM log_export_parts p USING log_exports e WHERE e.id = p.export_id AND e.expires_at <= now()')
    }),
}
