import { deleteInSlices } from '../../app/database/delete-in-slices.ts'
import type { Job } from '../../app/feature.ts'

/** A file has up to two thousand pieces. */
const filesAtOnce = 10

/** Files whose time is over, and uploads whose process died. The files of a batch come with its end, which begins them again. */
const deleteFiles = `
  DELETE FROM files WHERE id IN (
    SELECT id FROM files WHERE expires_at <= now() OR (state = 'uploading' AND created_at < now() - interval '1 day') LIMIT ${filesAtOnce})`

/** Deletes the files whose time is over. */
export const deleteExpiredFiles: Job = {
  name: 'batches.delete-files',
  every: '*/10 * * * *',
  irreversible: true,
  async run({ orm, log }) {
    const deleted = await deleteInSlices(orm, { sql: deleteFiles, size: filesAtOnce })
    if (deleted > 0) log.info({ files: deleted }, 'files whose time is over were deleted')
  },
}

const linesAtOnce = 5000
const batchesAtOnce = 10

/** Lines of batches that have ended, or never began: the process that made or ended them died. */
const deleteLines = `
  DELETE FROM batch_lines WHERE (batch_id, line) IN (
    SELECT l.batch_id, l.line FROM batches b JOIN batch_lines l ON l.batch_id = b.id
     WHERE b.state IN ('completed', 'expired', 'cancelled') OR (b.state = 'validating' AND b.created_at < now() - interval '1 hour')
     LIMIT ${linesAtOnce})`

const keptDays = 90

const deleteBatches = `
  DELETE FROM batches WHERE id IN (
    SELECT id FROM batches
     WHERE state = 'validating' AND created_at < now() - interval '1 hour'
        OR state IN ('completed', 'expired', 'cancelled') AND created_at < now() - interval '${keptDays} days'
     LIMIT ${batchesAtOnce})`

/** Deletes the rests of batches that never began, and batches that ended long ago. */
export const deleteOldBatches: Job = {
  name: 'batches.delete-old',
  every: '7-59/10 * * * *',
  irreversible: true,
  async run({ orm, log }) {
    await deleteInSlices(orm, { sql: deleteLines, size: linesAtOnce })
    const deleted = await deleteInSlices(orm, { sql: deleteBatches, size: batchesAtOnce })
    if (deleted > 0) log.info({ batches: deleted }, 'old batches were deleted')
  },
}
