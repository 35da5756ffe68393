import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { notFound, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import type { OrganisationRole, Role } from '../../lib/access/roles.ts'
import { OneTimeLink } from '../auth/one-time-link.entity.ts'
import { ApiKey } from '../api-keys/api-key.entity.ts'
import { revokeSessionsOf } from '../sessions/index.ts'
import { demandRank, removeMember } from '../workspaces/index.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import { User } from './user.entity.ts'

/** A user of the organisation; AB08 when there is none. Locked when it is about to change. */
export async function findUser(em: EntityManager, actor: Actor, { id, lock = false }: { id: string; lock?: boolean }): Promise<User> {
  if (!isUuid(id)) throw notFound('user', id, 'userId')
  const where = { id: id.toLowerCase(), organisationId: actor.organisationId, status: 'active' } as const
  return orNotFound(await em.findOne(User, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {}), 'user', {
    reference: id,
    param: 'userId',
  })
}

/** Returns the rank of an organisation role. */
export const rankedRole = (role: OrganisationRole): Role =>
  role === 'owner' ? 'owner' : role === 'admin' ? 'organisation-admin' : 'member'

/** Refuses a caller that would change a person above themselves, or leave the organisation without an owner. */
export function demandMayChange(actor: Actor, user: User): void {
  demandRank(actor, rankedRole(user.role), 'userId')
  if (user.role === 'owner') throw new ApiError('AB03', 'An organisation keeps its owner.', { param: 'userId' })
}

/** Takes a user out of the organisation: out of its workspaces, and with all their keys. A link that was sent does not wait for their return. */
export async function archiveUser(em: EntityManager, user: User): Promise<void> {
  user.status = 'archived'
  // Before the look at their rows: a concurrent sign-in, or a new key for them, is waited for.
  await em.flush()
  for (const link of await em.find(OneTimeLink, { userId: user.id })) em.remove(link)
  await revokeSessionsOf(em, user.id)
  for (const row of await em.find(WorkspaceMember, { userId: user.id })) await removeMember(em, row)
  const keys = await em.find(ApiKey, { userId: user.id, status: { $ne: 'archived' } })
  for (const key of keys) em.assign(key, { status: 'archived', previousKeyHash: null, previousKeyExpiresAt: null })
}

/** Users as they are answered, with their workspaces. */
export async function presentUsers(em: EntityManager, users: readonly User[]) {
  const members = await em.find(WorkspaceMember, { userId: { $in: users.map(({ id }) => id) } })
  return users.map((user) => ({
    id: user.id,
    first_name: user.firstName ?? null,
    last_name: user.lastName ?? null,
    role: user.role,
    email: user.email,
    workspace_ids: members.filter(({ userId }) => userId === user.id).map(({ workspaceId }) => workspaceId),
    created_at: user.createdAt.toISOString(),
    last_updated_at: user.lastUpdatedAt.toISOString(),
    object: 'user' as const,
  }))
}
