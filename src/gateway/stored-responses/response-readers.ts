import { ownDataOf } from '../../lib/access/rank.ts'
import type { KeyView } from '../callers/key.ts'
import type { ResponseOwner, ResponseReader } from './response-store.ts'

/** Returns the owner of the responses that a key is answered with: the key itself, and its person. */
export const ownerOf = ({ organisationId, workspaceId, id, userId }: KeyView): ResponseOwner => ({
  organisationId,
  workspaceId,
  apiKeyId: id,
  userId,
})

/** Returns the responses that a key may read: its own and its person's, and those of others where it may read their logs. */
export function readerOf(key: KeyView): ResponseReader {
  const { organisationId, workspaceId, id: apiKeyId, userId, scopes } = key
  const limited = ownDataOf({ ...key, keyType: key.type })
  const others = scopes.has('logs.view') ? null : { apiKeyId, userId }
  // A conversation goes on with the key that it began with, whoever made the key.
  const own = limited === null ? others : { apiKeyId, userId: limited.userId }
  return { organisationId, workspaceId, own, isLimited: limited !== null }
}
