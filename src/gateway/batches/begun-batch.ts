import type { RelayResult } from '../answers/relay.ts'
import type { MatchedOperation } from '../front/match.ts'
import type { Operation } from '../front/operations.ts'
import { isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'

const begin: ReadonlySet<string> = new Set<Operation>(['createBatch', 'createMessageBatch'])

/** The ids that a provider gives to batches and files: nothing else is put into a path. */
export const isBatchId = (id: unknown): id is string => typeof id === 'string' && /^\w[\w.-]{0,199}$/.test(id)

/** Returns the id of the batch that an exchange began; null, as for nearly every exchange: it began none. */
export function begunBatch({ name }: MatchedOperation, result: RelayResult | null): string | null {
  if (!begin.has(name) || result === null || result.status >= 300) return null
  const answer = jsonOrUndefined(result.capture.plain(result.encoding).toString('utf8'))
  return isFields(answer) && isBatchId(answer['id']) ? answer['id'] : null
}
