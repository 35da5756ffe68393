import { setImmediate as nextTurn } from 'node:timers/promises'
import { formerResponseId, type ResponseReader } from '../../gateway/ports/stored-responses.ts'

/** The owner of a response, as far as it is stored. */
export interface StoredOwner {
  readonly api_key_id: string | null
  readonly user_id: string | null
}

/** The log of a request that a response may be the answer to. */
export interface AnsweredLog extends StoredOwner {
  readonly id: string
}

/** A response was kept at the end of its request, which began at most an hour before. */
const mostLogs = 2000

/** SQL of the logs that may have made a stored response without an owner, the newest first. Parameters: organisation, workspace, time of the response. */
export const answeredLogs = `
  SELECT id, api_key_id, user_id FROM logs
   WHERE organisation_id = $1 AND workspace_id IS NOT DISTINCT FROM $2 AND operation = 'createModelResponse'
     AND created_at BETWEEN $3::timestamptz - interval '1 hour' AND $3::timestamptz + interval '1 minute'
   ORDER BY created_at DESC LIMIT ${mostLogs}`

const atOnce = 100

/** Returns the log whose request a response answers that was kept without its owner, as earlier releases did; null: there is none. */
export async function logOfFormer(id: string, logs: readonly AnsweredLog[]): Promise<AnsweredLog | null> {
  for (const [at, log] of logs.entries()) {
    if (formerResponseId(log.id) === id) return log
    if (at % atOnce === atOnce - 1) await nextTurn()
  }
  return null
}

/** Returns true if a caller may read a response. Without an owner it belongs to all of its workspace that are not limited to data of their own. */
export function mayRead({ own, isLimited }: ResponseReader, { api_key_id: keyId, user_id: userId }: StoredOwner): boolean {
  if (own === null) return true
  if (keyId === null) return !isLimited
  return keyId === own.apiKeyId || (userId !== null && userId === own.userId)
}
