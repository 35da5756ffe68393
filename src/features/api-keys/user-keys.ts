import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isAtLeast, roleIn } from '../../lib/access/roles.ts'
import { userKeySettings, type UserKeySettings } from '../../lib/access/user-key-settings.ts'
import { rankOf } from '../../lib/access/rank.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { User } from '../users/user.entity.ts'
import type { Level } from '../../release/level.ts'
import { demandRank } from '../workspaces/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import { ApiKey } from './api-key.entity.ts'

/** The person that a new user key is for, where it acts, and the level that decides who may make it. */
export interface NewOwner {
  readonly workspaceId: string
  readonly userId: string | undefined
  readonly level: Pick<Level, 'atLeast'>
}

/** AB03 for a person who makes no keys for others. */
function demandMaker(actor: Actor, level: NewOwner['level']): void {
  const rank = rankOf(actor)
  if (!isAtLeast(rank, 'manager')) throw new ApiError('AB03', 'Members make keys for themselves only.', { param: 'user_id' })
  if (rank !== 'manager' || actor.userId === null || level.atLeast('1.8.0')) return
  const said = 'Managers make keys for others from release 1.8.0 on, and this installation is at an earlier level.'
  throw new ApiError('AB03', said, { param: 'user_id' })
}

/** Returns the owner of a new user key: the caller, or the member whom a manager, an admin or a service key names. */
export async function ownerOfNewKey(em: EntityManager, actor: Actor, { workspaceId, userId, level }: NewOwner): Promise<string> {
  const wanted = (userId ?? actor.userId)?.toLowerCase()
  if (wanted === undefined) throw new ApiError('AB01', 'A service key has to name the owner of the key.', { param: 'user_id' })
  const isOther = wanted !== actor.userId && actor.type !== 'invite'
  if (isOther) demandMaker(actor, level)
  const here = { id: wanted, organisationId: actor.organisationId, status: 'active' } as const
  const user = await em.findOne(User, here, { lockMode: LockMode.PESSIMISTIC_READ })
  if (user === null) throw notFound('user', wanted, 'user_id')
  const member = await em.findOne(WorkspaceMember, { workspaceId, userId: wanted })
  const role = roleIn(user.role, member?.role ?? null)
  if (role === null) throw new ApiError('AB01', 'The user is not a member of this workspace.', { param: 'user_id' })
  if (isOther) demandRank(actor, role, 'user_id')
  return user.id
}

/** Reads the rules of the organisation and the workspace for user keys. The workspace stays locked, so that its keys can be counted. */
export async function userKeyRules(em: EntityManager, { organisationId }: Actor, workspaceId: string): Promise<UserKeySettings> {
  const workspace = await em.findOneOrFail(Workspace, { id: workspaceId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  const { settings } = await em.findOneOrFail(Organisation, { id: organisationId })
  return userKeySettings(settings, workspace.accessOverrides)
}

interface Room {
  readonly max: number | null
  readonly now: Date
  /** The field that asks for one more. */
  readonly param?: string
}

/** AB07 when the workspace has as many live user keys as it may. */
export async function demandRoom(em: EntityManager, workspaceId: string, { max, now, param = 'workspace_id' }: Room): Promise<void> {
  if (max === null) return
  const live = { workspaceId, type: 'workspace-user', status: { $in: ['active', 'exhausted'] } } as const
  const count = await em.count(ApiKey, { ...live, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] })
  if (count >= max) throw new ApiError('AB07', `This workspace has ${count} user keys, and may have ${max}. Delete one first.`, { param })
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * The end of a user key, from its maker's request; AB01 beyond the longest life, which begins when it is made. Undefined stays undefined for a
 * change.
 */
export function userKeyExpiry(
  asked: Date | null | undefined,
  { user_api_key_ttl: ttl, user_api_key_max_ttl: most }: UserKeySettings,
  { bornMs, isNew }: { bornMs: number; isNew: boolean },
): Date | null | undefined {
  if (asked === undefined && !isNew) return undefined
  const days = asked === undefined ? (ttl ?? most) : null
  const expiry = days === null ? (asked ?? null) : new Date(bornMs + Math.min(days, most ?? days) * dayMs)
  if (most !== null && (expiry === null || expiry.getTime() > bornMs + most * dayMs))
    throw new ApiError('AB01', `A user key lives for ${most} days at most, from when it was made.`, { param: 'expires_at' })
  return expiry
}
