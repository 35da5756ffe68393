import { ApiError } from '../../lib/errors.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import { batchesQuery } from '../bounds/queries.ts'
import { readQuery } from '../bounds/validate.ts'
import type { CallHead } from '../call.ts'
import { readerOf } from '../stored-responses/response-readers.ts'
import { toBatch } from './batch-answer.ts'
import type { BatchStore, StoredBatch } from './batch-store.ts'
import { isOfTenant } from './ids.ts'
import { listOf } from './own-files.ts'

export async function listBatches(batches: BatchStore, { caller, path }: CallHead): Promise<object> {
  const { limit = 20, after = null } = readQuery(batchesQuery, path.split('?', 2)[1] ?? '')
  return listOf(await batches.list(readerOf(caller.key), { limit: limit + 1, after }), limit, toBatch)
}

/** The batch of a request, as far as its caller may see it. Throws `not_found`. */
async function batchOf(batches: BatchStore, { caller, operation }: CallHead): Promise<StoredBatch> {
  const id = decodeSegment(operation.params['batch_id'] ?? '')
  const found = isOfTenant('batch', id, caller.key) ? await batches.get(id, readerOf(caller.key)) : null
  if (found !== null) return found
  throw new ApiError(
    'not_found',
    `No batch found with id '${id}'. It belongs to another workspace, or to another key whose logs this one may not view, or ended long ago.`,
    { param: 'batch_id' },
  )
}

export const retrieveBatch = async (batches: BatchStore, head: CallHead): Promise<object> => toBatch(await batchOf(batches, head))

/** Lines on their way end, the others never begin. A batch that has ended cannot be cancelled. */
export async function cancelBatch(batches: BatchStore, head: CallHead): Promise<object> {
  const { id, state } = await batchOf(batches, head)
  if (state !== 'in_progress' && state !== 'cancelling')
    throw new ApiError('AB07', `Cannot cancel a batch with status '${state}'.`, { param: 'batch_id' })
  await batches.cancel(id, readerOf(head.caller.key))
  return toBatch(await batchOf(batches, head))
}
