import type { LogSeal } from '../../gateway/ports/journal.ts'
import { type EndedLine, type EndingBatch, endingMs, type LineQueue } from '../../gateway/ports/managed.ts'
import { ApiError } from '../../lib/errors.ts'
import type { SideConnections } from '../database/side-pool.ts'
import { openCustomId, openResult } from './batch-seals.ts'
import { openColumns, type OpenRow, toOpen } from './open-batch.ts'
import { reachable } from './tenant-query.ts'

interface State {
  readonly connections: SideConnections
  readonly seal: LogSeal
  readonly runner: string
}

const claimed = `interval '${endingMs} milliseconds'`
const linesOfSlice = 5000

/** The end of batches: one process writes the files of one. */
export function endingOf(state: State): Pick<LineQueue, 'ending' | 'ended' | 'hold' | 'leave' | 'close'> {
  const { connections, seal, runner } = state
  return {
    ending: (without) => reachable(() => ending(state, without)),
    ended: (batch, after, most) =>
      reachable(async () => {
        const { rows } = await connections.query<EndedRow>(endedLines, [batch.id, after, most])
        return rows.map((row) => toEnded(seal, batch, row))
      }),
    async hold({ id }) {
      const { rowCount } = await connections.query(`UPDATE batches SET ended_by_until = now() + ${claimed} WHERE ${ours}`, [id, runner])
      return rowCount === 1
    },
    async leave({ id }) {
      await connections.query(`UPDATE batches SET ended_by_until = now() WHERE ${ours}`, [id, runner])
    },
    close: (batch, files) => reachable(() => close(state, batch, files)),
  }
}

/** The batch `$1`, while the process `$2` holds it. */
const ours = `id = $1 AND ended_by = $2 AND state = 'finalizing'`

/**
 * A batch ends when all its lines have a result; or when it is cancelled or its time is over, and no line is on its way. Organisations take turns:
 * many that one of them has cancelled do not go before the results of the others, and one that cannot be ended goes behind all of its organisation.
 */
const claimEnding = `
  UPDATE batches b SET state = 'finalizing', finalizing_at = coalesce(finalizing_at, now()), claimed_at = now(), ended_by = $1, ended_by_until = now() + ${claimed},
         outcome = coalesce(outcome, CASE WHEN b.state = 'cancelling' THEN 'cancelled' WHEN b.completed + b.failed >= b.total THEN 'completed' ELSE 'expired' END)
   WHERE b.id = (
     SELECT e.id FROM batches e
      WHERE e.organisation_id <> ALL ($2::uuid[])
        AND (e.state = 'finalizing' AND e.ended_by_until <= now()
             OR e.state IN ('in_progress', 'cancelling')
                AND (e.completed + e.failed >= e.total
                     OR (e.state = 'cancelling' OR e.expires_at <= now())
                        AND NOT EXISTS (SELECT 1 FROM batch_lines l WHERE l.batch_id = e.id AND l.state = 'running' AND l.free_at > now())))
      ORDER BY (SELECT max(o.claimed_at) FROM batches o WHERE o.organisation_id = e.organisation_id) NULLS FIRST,
               e.claimed_at NULLS FIRST, e.created_at
      LIMIT 1 FOR UPDATE OF e SKIP LOCKED)
  RETURNING ${openColumns}, user_id, output_seconds, outcome`

interface EndingRow extends OpenRow {
  readonly user_id: string | null
  readonly output_seconds: number
  readonly outcome: EndingBatch['outcome']
}

async function ending({ connections, seal, runner }: State, without: readonly string[]): Promise<EndingBatch | null> {
  const { rows } = await connections.query<EndingRow>(claimEnding, [runner, without])
  const [row] = rows
  if (row === undefined) return null
  // The files of a process that died while it wrote them.
  await connections.query('DELETE FROM files WHERE batch_id = $1', [row.id])
  // A process that comes back late writes no result any more.
  await connections.query(`UPDATE batch_lines SET state = 'waiting', runner = NULL WHERE batch_id = $1 AND state = 'running'`, [row.id])
  return { ...toOpen(seal, row), userId: row.user_id, outputSeconds: row.output_seconds, outcome: row.outcome }
}

/** So many bytes of results are in memory at a time, and one result more. */
const bytesOfPage = 8 * 1024 * 1024

const endedLines = `
  SELECT line, custom_id, failed, result FROM (
    SELECT p.*, sum(coalesce(octet_length(result), 0)) OVER (ORDER BY line) - coalesce(octet_length(result), 0) AS bytes_before
      FROM (SELECT * FROM batch_lines WHERE batch_id = $1 AND line > $2 ORDER BY line LIMIT $3) p
  ) q WHERE bytes_before <= ${bytesOfPage} ORDER BY line`

interface EndedRow {
  readonly line: number
  readonly custom_id: Buffer
  readonly failed: boolean | null
  readonly result: Buffer | null
}

function toEnded(seal: LogSeal, batch: EndingBatch, { line, custom_id, failed, result }: EndedRow): EndedLine {
  const sealed = { id: batch.id, scope: batch }
  return {
    line,
    customId: openCustomId(seal, sealed, { line, sealed: custom_id }),
    failed: failed ?? true,
    result: result === null ? null : openResult(seal, sealed, { line, sealed: result }),
  }
}

/** The files become visible with the end of their batch. The counts include the lines that never ran. */
const closeBatch = `
  WITH ended AS (
    UPDATE batches SET state = outcome, ended_by = NULL, ended_by_until = NULL, output_file_id = $3, error_file_id = $4, failed = total - completed,
           completed_at = CASE WHEN outcome = 'completed' THEN now() END, expired_at = CASE WHEN outcome = 'expired' THEN now() END,
           cancelled_at = CASE WHEN outcome = 'cancelled' THEN now() END
     WHERE ${ours} RETURNING id),
  shown AS (UPDATE files SET state = 'ready' WHERE id IN ($3, $4) AND batch_id IN (SELECT id FROM ended))
  SELECT id FROM ended`

/** The lines go in slices, when their results stand in the files: a batch that has ended needs them no more. */
async function close({ connections, runner }: State, { id }: EndingBatch, files: Parameters<LineQueue['close']>[1]): Promise<void> {
  const { rows } = await connections.query(closeBatch, [id, runner, files.output, files.error])
  if (rows.length === 0) throw new ApiError('busy', `Another process writes the files of ${id}.`)
  const slice = `DELETE FROM batch_lines WHERE batch_id = $1 AND line IN (SELECT line FROM batch_lines WHERE batch_id = $1 LIMIT ${linesOfSlice})`
  for (let left = linesOfSlice; left === linesOfSlice;) left = (await connections.query(slice, [id])).rowCount ?? 0
}
