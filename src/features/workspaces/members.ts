import type { EntityManager } from '@mikro-orm/postgresql'
import { notFound, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { roleIn, scopesOfRole, type WorkspaceRole } from '../../lib/access/roles.ts'
import { userScopes } from '../../lib/access/scopes.ts'
import { ApiKey } from '../api-keys/api-key.entity.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { lockPeople } from '../sessions/index.ts'
import { User } from '../users/user.entity.ts'
import { demandRank } from './access.ts'
import { WorkspaceMember } from './workspace-member.entity.ts'
import type { Workspace } from './workspace.entity.ts'

/** A member with the user behind it. */
export interface Member {
  readonly row: WorkspaceMember
  readonly user: User
}

export interface NewMember {
  readonly id: string
  readonly role: WorkspaceRole
}

/** Adds users of the organisation to a workspace; AB07 for present members. No place outlives a person who is just being removed. */
export async function addMembers(
  em: EntityManager,
  actor: Actor,
  { workspace, users }: { workspace: Workspace; users: readonly NewMember[] },
): Promise<readonly WorkspaceMember[]> {
  await lockPeople(
    em,
    users.map(({ id }) => id),
  )
  const known = await em.find(User, { id: { $in: users.map(({ id }) => id) }, organisationId: actor.organisationId, status: 'active' })
  const there = await em.find(WorkspaceMember, { workspaceId: workspace.id, userId: { $in: known.map(({ id }) => id) } })
  const ids = new Set(known.map(({ id }) => id))
  return users.map(({ id: given, role }, at) => {
    const [id, param] = [given.toLowerCase(), `users[${at}].id`]
    if (!ids.has(id)) throw notFound('user', given, param)
    if (there.some(({ userId }) => userId === id))
      throw new ApiError('AB07', `The user ${id} is a member of this workspace already.`, { param })
    demandRank(actor, role, `users[${at}].role`)
    return em.create(WorkspaceMember, { organisationId: actor.organisationId, workspaceId: workspace.id, userId: id, role })
  })
}

/** A member of the workspace; AB08 when the user is none. */
export async function findMember(em: EntityManager, { id }: Workspace, userId: string): Promise<Member> {
  if (!isUuid(userId)) throw notFound('member', userId, 'userId')
  const row = orNotFound(await em.findOne(WorkspaceMember, { workspaceId: id, userId: userId.toLowerCase() }), 'member', {
    reference: userId,
    param: 'userId',
  })
  const user = orNotFound(await em.findOne(User, { id: row.userId, status: 'active' }), 'member', { reference: userId, param: 'userId' })
  return { row, user }
}

/** Takes a user out of a workspace, with the keys that they have there. */
export async function removeMember(em: EntityManager, row: WorkspaceMember): Promise<void> {
  em.remove(row)
  const keys = await em.find(ApiKey, { workspaceId: row.workspaceId, userId: row.userId, status: { $ne: 'archived' } })
  for (const key of keys) em.assign(key, { status: 'archived', previousKeyHash: null, previousKeyExpiresAt: null })
}

/** All members as answered, with the rights of their roles here. */
export async function presentMembers(em: EntityManager, workspace: Workspace, members: readonly Member[]) {
  const { settings } = await em.findOneOrFail(Organisation, { id: workspace.organisationId })
  const effective = effectiveSettings(settings, workspace.accessOverrides)
  return members.map(({ row, user }) => ({
    id: user.id,
    first_name: user.firstName ?? null,
    last_name: user.lastName ?? null,
    email: user.email,
    org_role: user.role,
    role: row.role,
    status: 'active' as const,
    workspace_id: workspace.id,
    scopes: [...scopesOfRole(userScopes, roleIn(user.role, row.role), effective)],
    settings: null,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'workspace-user' as const,
  }))
}

/** The members of a workspace, oldest first. */
export async function membersOf(em: EntityManager, workspace: Workspace): Promise<readonly Member[]> {
  const rows = await em.find(WorkspaceMember, { workspaceId: workspace.id }, { orderBy: { createdAt: 'asc', id: 'asc' } })
  return withUsers(em, rows)
}

/** Rows with their users. */
export async function withUsers(em: EntityManager, rows: readonly WorkspaceMember[]): Promise<readonly Member[]> {
  const users = await em.find(User, { id: { $in: rows.map(({ userId }) => userId) }, status: 'active' })
  const byId = new Map(users.map((user) => [user.id, user]))
  return rows.flatMap((row) => {
    const user = byId.get(row.userId)
    return user === undefined ? [] : [{ row, user }]
  })
}
