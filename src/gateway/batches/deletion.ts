import { decodeSegment } from '../../lib/text/decode-segment.ts'
import type { CallHead } from '../call.ts'
import { plainPath } from '../operations/match.ts'
import { isBatchId } from './begun-batch.ts'

/** Something at a provider that a caller deletes, from which the cost of a job may have yet to be read. */
export interface Deletion {
  readonly organisationId: string
  /** The id at the provider of the job itself; null: a file, which may hold the answers of any batch. */
  readonly jobId: string | null
}

/**
 * Reads the costs that a deletion would take away, before the provider is asked to delete. Rejects with `cost_pending` while one cannot be read.
 */
export type SettleBefore = (deletion: Deletion) => Promise<void>

/** Returns the deletion that a request asks of a provider; null: it asks for something else. */
export function deletionOf({ exchange: { method }, path, caller }: Pick<CallHead, 'exchange' | 'path' | 'caller'>): Deletion | null {
  if (method !== 'DELETE') return null
  // As the most lenient provider would read it.
  const segments = plainPath(path.split('?', 1)[0] ?? '')
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeSegment)
  const id = segments.at(-1) ?? ''
  const { organisationId } = caller.key
  if (segments.some((segment) => segment.toLowerCase() === 'files')) return { organisationId, jobId: null }
  return isBatchId(id) ? { organisationId, jobId: id } : null
}
