import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Job } from '../../app/feature.ts'
import { toApiError } from '../../lib/errors.ts'
import { type BatchRow, lostAfterDays, settleBatch } from './settle-batch.ts'

/** As many as a minute has room for; the others wait for the next run. */
const mostLooks = 200

/** A batch is looked at after a minute, then later the older it is; providers end batches within a day. */
const due = `
  UPDATE provider_batches b
     SET next_look_at = now() + greatest(interval '1 minute', least((now() - b.begun_at) / 10, interval '15 minutes'))
   WHERE b.id IN (SELECT d.id FROM provider_batches d WHERE d.state = 'open' AND d.next_look_at <= now() ORDER BY d.next_look_at LIMIT ${mostLooks})
  RETURNING b.id, b.organisation_id, b.workspace_id, b.provider, b.provider_slug, b.batch_id, (extract(epoch FROM b.begun_at) * 1000)::float8 AS begun_ms`

const keptDays = 400

/** Asks providers for the batches that were begun through the gateway, and writes what they cost once they have ended. */
export const settleBatches: Job = {
  name: 'costs.settle-batches',
  every: '* * * * *',
  async run(deps) {
    const rows = await asSystem(deps.orm, (em) => em.execute<BatchRow[]>(due))
    for (const row of rows) await settleBatch(deps, row).catch((thrown: unknown) => noteFault(deps, row, toApiError(thrown).message))
    await asSystem(deps.orm, async (em) => {
      await em.execute(`DELETE FROM provider_batches WHERE begun_at < now() - ? * interval '1 day'`, [keptDays])
    })
  },
}

async function noteFault({ orm, log }: Deps, { id, batch_id: batchId }: BatchRow, fault: string): Promise<void> {
  const rows = await asSystem(orm, (em) =>
    em.execute<{ state: string }[]>(
      `UPDATE provider_batches SET fault = ?, state = CASE WHEN begun_at < now() - ? * interval '1 day' THEN 'lost' ELSE state END
        WHERE id = ? AND state = 'open' RETURNING state`,
      [fault, lostAfterDays, id],
    ),
  )
  if (rows[0]?.state === 'lost') log.warn({ log_id: id, batch_id: batchId, fault }, 'the cost of a batch could not be told')
}
