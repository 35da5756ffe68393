import { asSystem } from '../../app/database/orm.ts'
import type { Job } from '../../app/feature.ts'
import { makeParts } from './run.ts'

/** Makes the files of exports that were started, and measures how many there are. */
export const makeExports: Job = {
  name: 'log-exports.make',
  every: '*/3 * * * * *',
  irreversible: false,
  async run(deps) {
    await makeParts(deps)
    const rows = await asSystem(deps.orm, (em) =>
      em.execute<RunCounts[]>(
        `SELECT count(*)::int AS running, count(*) FILTER (WHERE attempts > 0)::int AS retrying FROM log_exports WHERE status = 'in_progress'`,
      ),
    )
    const [{ running, retrying } = { running: 0, retrying: 0 }] = rows
    deps.metrics.measure('gateway_exports_running', () => running)
    deps.metrics.measure('gateway_exports_retrying', () => retrying)
  },
}

interface RunCounts {
  readonly running: number
  readonly retrying: number
}

/** Deletes expired files. The facts about the export stay. */
export const deleteFiles: Job = {
  name: 'log-exports.delete-files',
  every: '41 * * * *',
  irreversible: true,
  run: ({ orm }) =>
    asSystem(orm, async (em) => {
      await em.execute('DELETE FROM log_export_parts p USING log_exports e WHERE e.id = p.export_id AND e.expires_at <= now()')
    }),
}
