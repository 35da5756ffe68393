import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { inWorkTable, turnOf, workOff } from '../../app/due-work.ts'
import type { Job } from '../../app/feature.ts'
import type { FileBounds } from '../../gateway/ports/batches.ts'
import { toApiError } from '../../lib/errors.ts'
import { type BatchRow, lostAfterDays, settleBatch, waitingColumns } from './settle-batch.ts'

const atOnce = 32
/** So many looks of one organisation at once leave room for all others, however long its hosts take. */
const atOnceOfOne = 4

/**
 * Organisations take turns. A batch is looked at after a minute, then later the older it is; providers end batches within a day. One that is being
 * looked at is not claimed again.
 */
const due = `
  WITH ${inWorkTable},
       waiting AS (SELECT d.id, d.next_look_at, ${turnOf('d.next_look_at')} AS turn
                     FROM provider_batches d
                    WHERE d.state = 'open' AND d.next_look_at <= now() AND d.id NOT IN (SELECT l.id FROM in_work l))
  UPDATE provider_batches b
     SET next_look_at = now() + greatest(interval '1 minute', least((now() - b.begun_at) / 10, interval '15 minutes'))
   WHERE b.id IN (SELECT w.id FROM waiting w WHERE w.turn <= ${atOnceOfOne} ORDER BY w.turn, w.next_look_at LIMIT ?)
  RETURNING ${waitingColumns}`

const keptDays = 400

/** A file of 50,000 vectors is two gigabytes long. */
const usualBounds: FileBounds = { timeMs: 10 * 60_000, bytes: 4 * 1024 ** 3 }

/** Returns the job that asks providers for the batches that were begun through the gateway, and writes their costs once they have ended. */
export const settlingOf = (bounds: FileBounds): Job => ({
  name: 'costs.settle-batches',
  every: '* * * * *',
  irreversible: false,
  run: (deps, ending) =>
    workOff<BatchRow>({
      claim: (inWork, room) => asSystem(deps.orm, (em) => em.execute<BatchRow[]>(due, [inWork, room])),
      work: (row) => look(deps, row, { bounds, ending }),
      atOnce,
      ending,
    }),
})

export const settleBatches = settlingOf(usualBounds)

/** Forgets batches that began long ago. */
export const forgetBatches: Job = {
  name: 'costs.forget-batches',
  every: '53 3 * * *',
  irreversible: true,
  run: ({ orm }) =>
    asSystem(orm, async (em) => {
      await em.execute(`DELETE FROM provider_batches WHERE begun_at < now() - ? * interval '1 day'`, [keptDays])
    }),
}

interface BatchLimits {
  readonly bounds: FileBounds
  readonly ending: AbortSignal | undefined
}

/** Settles a batch, or notes the reason why it could not be. A failure in a run that ends is no fact about the batch. */
async function look(deps: Deps, row: BatchRow, { bounds, ending }: BatchLimits): Promise<void> {
  try {
    await settleBatch(deps, row, bounds)
  } catch (thrown) {
    if (ending?.aborted !== true) await noteFault(deps, row, toApiError(thrown).message)
  }
}

async function noteFault({ orm, log }: Deps, { id, log_id: logId, batch_id: batchId }: BatchRow, fault: string): Promise<void> {
  const rows = await asSystem(orm, (em) =>
    em.execute<{ state: string }[]>(
      `UPDATE provider_batches SET fault = ?, state = CASE WHEN begun_at < now() - ? * interval '1 day' THEN 'lost' ELSE state END
        WHERE id = ? AND state = 'open' RETURNING state`,
      [fault, lostAfterDays, id],
    ),
  )
  if (rows[0]?.state === 'lost') log.warn({ log_id: logId ?? id, batch_id: batchId, fault }, 'the cost of a batch could not be told')
}
