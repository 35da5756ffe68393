import type { RelayResult } from '../answers/relay.ts'
import type { Operation } from '../front/operations.ts'
import type { Trail } from '../trail.ts'
import { isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'

const begin: ReadonlySet<string> = new Set<Operation>(['createBatch', 'createMessageBatch'])

/** The ids that a provider gives to batches and files: nothing else is put into a path. */
export const isBatchId = (id: unknown): id is string => typeof id === 'string' && /^\w[\w.-]{0,199}$/.test(id)

/** Returns true for the id of a video, which is made as a job too. */
export const isVideoId = (id: string): boolean => id.startsWith('video_')

/** Returns the id of the batch or the video that an exchange began; null, as for nearly every exchange: it began none. */
export function begunBatch({ operation: { name }, work }: Pick<Trail, 'operation' | 'work'>, result: RelayResult | null): string | null {
  const isBatch = begin.has(name)
  if (!isBatch && !(name === 'proxy' && work?.beginsJob === true)) return null
  if (result === null || result.status >= 300) return null
  const answer = jsonOrUndefined(result.capture.plain(result.encoding).toString('utf8'))
  const id = isFields(answer) ? answer['id'] : null
  return isBatchId(id) && (isBatch || isVideoId(id)) ? id : null
}
