import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Deletion, FileBounds } from '../../gateway/ports/batches.ts'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { type BatchRow, settleBatch, waitingColumns } from './settle-batch.ts'

/** A deletion waits for so many looks at most: an organisation with more open batches deletes files when they have ended. */
const mostLooks = 20

/** The path or the id without the facts behind a question mark, which a statement takes for a parameter. */
const name = 'split_part(b.batch_id, chr(63), 1)'
const ofJob = `(${name} = ? OR right(${name}, length(?) + 1) = '/' || ?)`
/** The answers of responses and of videos are no files. */
const ofFiles = `b.batch_id NOT LIKE 'resp\\_%' AND b.batch_id NOT LIKE 'video\\_%'`

/**
 * Settles the open jobs whose cost could not be read after a deletion: the job that is deleted, or for a file all batches, whose answers it may hold. A
 * job of the last second may not be noted yet; one that has ended so soon is cheap.
 */
export async function settleBefore(deps: Deps, deletion: Deletion): Promise<void> {
  const open = await asSystem(deps.orm, (em) => findOpen(em, deletion))
  if (open.length > mostLooks)
    throw pending(`More than ${mostLooks} batches have not ended, and the file may hold the answers of one. Delete it later.`)
  if (open.length === 0) return
  const { organisationId } = deletion
  if (looking.has(organisationId)) throw pending('The costs of other jobs are being read for another deletion. Delete it later.')
  looking.add(organisationId)
  try {
    const until = performance.now() + mostMs
    for (const row of open) {
      if (performance.now() > until) throw pending('The costs of all jobs could not be read in time. Delete it later.')
      await settleOne(deps, row, deletion)
    }
  } finally {
    looking.delete(organisationId)
  }
}

/** The organisations for which this process reads costs: one deletion of each at a time. */
const looking = new Set<string>()
/** A deletion waits so long. Longer files of answers are read by the job. */
const mostMs = 30_000
const bounds: FileBounds = { timeMs: 20_000, bytes: 64 * 1024 * 1024 }

function findOpen(em: EntityManager, { organisationId, jobId }: Deletion): Promise<BatchRow[]> {
  return em.execute<BatchRow[]>(
    `SELECT ${waitingColumns} FROM provider_batches b
      WHERE b.organisation_id = ? AND b.state = 'open' AND ${jobId === null ? ofFiles : ofJob}
      ORDER BY b.begun_at LIMIT ${mostLooks + 1}`,
    [organisationId, ...(jobId === null ? [] : [jobId, jobId, jobId])],
  )
}

/** Looks at one job. A job that cannot be priced, or that the provider no longer has, can be deleted. */
async function settleOne(deps: Deps, row: BatchRow, { jobId }: Deletion): Promise<void> {
  let ended: boolean
  try {
    ended = await settleBatch(deps, row, bounds)
  } catch (thrown) {
    const { status, message } = toApiError(thrown)
    if (status >= 500) throw pending(`Its cost could not be read yet: ${message}`)
    return
  }
  if (!ended && jobId !== null) throw pending('It has not ended, and its cost is known when it has. Cancel it first, or wait.')
}

const pending = (message: string): ApiError => new ApiError('cost_pending', message, { retryAfter: 60 })
