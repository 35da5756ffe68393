import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { ownDataOf, rankOf, type Maker } from '../../lib/access/rank.ts'
import { roleIn, type Role } from '../../lib/access/roles.ts'
import { User } from '../users/user.entity.ts'
import { demandRank } from '../workspaces/index.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import type { ApiKey } from './api-key.entity.ts'

/** Returns the person at whose word a caller makes a credential; null: none is known. */
export const makerOf = ({ userId, maker }: Actor): string | null => userId ?? maker?.userId ?? null

/** Returns the present role of a person in a workspace, or, without one, in the organisation; null: they have none there. */
export async function roleOfPerson(
  em: EntityManager,
  userId: string,
  { organisationId, workspaceId = null }: { readonly organisationId: string; readonly workspaceId?: string | null | undefined },
): Promise<Role | null> {
  const user = await em.findOne(User, { id: userId, organisationId, status: 'active' })
  const place = workspaceId === null ? null : await em.findOne(WorkspaceMember, { workspaceId, userId })
  return user === null ? null : roleIn(user.role, place?.role ?? null)
}

/** Returns the maker of a key with their present role; null: none is known. */
export const makerOfKey = async (em: EntityManager, key: ApiKey): Promise<Maker | null> =>
  key.makerId ? { userId: key.makerId, role: await roleOfPerson(em, key.makerId, key) } : null

/** Returns the rank of a key: of its holder, or of a service key at most its maker's. */
export async function rankOfKey(em: EntityManager, key: ApiKey): Promise<Role> {
  if (key.type === 'workspace-user') return (key.userId ? await roleOfPerson(em, key.userId, key) : null) ?? 'member'
  return rankOf({ keyType: key.type, role: null, maker: await makerOfKey(em, key) })
}

/** Refuses with AB03 to give a secret, which speaks for its key, to a caller below the rank of the key. */
export const demandRankOfKey = async (em: EntityManager, actor: Actor, key: ApiKey): Promise<void> =>
  demandRank(actor, await rankOfKey(em, key), 'id')

/** Refuses with AB03 to give the secret of another person's key, which shows the logs of this key, to a caller that sees no data of others. */
export function demandSightOfKey(actor: Actor, { userId, makerId }: Pick<ApiKey, 'userId' | 'makerId'>): void {
  const person = makerOf(actor)
  if (ownDataOf(actor) === null || (person !== null && (userId ?? makerId) === person)) return
  throw new ApiError('AB03', 'This key shows the logs of another person, whose data you do not see.', { param: 'id' })
}
