import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { addKey } from '../api-keys/index.ts'
import { makeLink } from '../sessions/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import { Invite } from './invite.entity.ts'
import { demandNoMetadata, hashToken, isStillGiven } from './invites.ts'
import { User } from './user.entity.ts'

/** One answer for every link that does not work. */
const invalid = () =>
  new ApiError('AB05', 'This invitation link does not work: it was used, cancelled or renewed, or its time is over.', { param: 'token' })

/** The holder of the secret of an invitation acts for the invited person, in the organisation that invites; whether it is still open is checked later. */
export async function identifyInvited(deps: Deps, token: string): Promise<Actor> {
  const invite = await asSystem(deps.orm, (em) => em.findOne(Invite, { tokenHash: hashToken(deps, token) }))
  if (invite === null) throw invalid()
  return {
    type: 'invite',
    id: invite.id,
    name: invite.email,
    keyType: 'workspace-user',
    organisationId: invite.organisationId,
    workspaceId: null,
    userId: null,
    role: null,
    settings: effectiveSettings({}, {}),
    permissions: new Set(),
  }
}

interface Names {
  readonly first_name?: string | undefined
  readonly last_name?: string | undefined
}

/** Makes the user with their places and keys. The second of two concurrent calls finds the link used. */
export async function acceptInvite(em: EntityManager, { actor, deps, names }: { actor: Actor; deps: Deps; names: Names }) {
  const invite = await em.findOne(Invite, { id: actor.id, status: 'pending' }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (invite === null || invite.expiresAt.getTime() <= deps.clock.now() || !(await isStillGiven(em, invite))) throw invalid()
  const { organisationId, email, role } = invite
  if ((await em.count(User, { organisationId, email, status: 'active' })) > 0)
    throw new ApiError('AB07', `${email} is a user of this organisation already.`, { param: 'token' })
  const user = em.create(User, { organisationId, email, role, firstName: names.first_name ?? null, lastName: names.last_name ?? null })
  await em.flush()
  const api_keys = await joinWorkspaces(em, invite, { user, actor, deps })
  Object.assign(invite, { status: 'accepted', userId: user.id, acceptedAt: new Date(deps.clock.now()) })
  const made = deps.config.authMode === 'SSO' ? null : await makeLink(em, deps, { organisationId, userId: user.id, purpose: 'password' })
  return { user, answer: { user_id: user.id, organisation_id: organisationId, email, role, api_keys, password_token: made?.token ?? null } }
}

interface InvitedPerson {
  /** The id of the new person. */
  readonly id: string
  readonly organisationId: string
  readonly email: string
  readonly names: { readonly firstName: string | null; readonly lastName: string | null }
  readonly nowMs: number
}

/**
 * Makes the user to whom an open invitation went, with their places, when they prove in another way that they have the address; null: there is no
 * invitation. A removed person with this id returns. The keys that it promises are left out, since they would never be shown: a signed-in person
 * makes keys.
 */
export async function acceptByAddress(em: EntityManager, { id, organisationId, email, names, nowMs }: InvitedPerson): Promise<User | null> {
  const invite = await em.findOne(Invite, { organisationId, email, status: 'pending' }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (invite === null || invite.expiresAt.getTime() <= nowMs || !(await isStillGiven(em, invite))) return null
  const user = (await em.findOne(User, { id, organisationId })) ?? em.create(User, { id, organisationId, email, role: invite.role })
  em.assign(user, { email, role: invite.role, status: 'active', ...names })
  await em.flush()
  // This role is given by hand: earlier roles from groups are no part of it, and present ones still come beside it when places are settled.
  await em.execute('UPDATE scim_users SET given_role = NULL WHERE id = ?', [user.id])
  await takePlaces(em, invite, user)
  Object.assign(invite, { status: 'accepted', userId: user.id, acceptedAt: new Date(nowMs) })
  await em.flush()
  return user
}

/** Gives a person the places of their invitation, and returns the workspaces. One that was archived since is left out. */
async function takePlaces(em: EntityManager, { organisationId, workspaces }: Invite, user: User): Promise<readonly string[]> {
  const taken: string[] = []
  for (const { id, role } of workspaces) {
    if ((await em.findOne(Workspace, { id, status: 'active' })) === null) continue
    em.create(WorkspaceMember, { organisationId, workspaceId: id, userId: user.id, role })
    taken.push(id)
  }
  await em.flush()
  return taken
}

async function joinWorkspaces(em: EntityManager, invite: Invite, { user, actor, deps }: { user: User; actor: Actor; deps: Deps }) {
  const keys = []
  for (const id of await takePlaces(em, invite, user)) {
    if (!invite.apiKeyScopes) continue
    await demandNoMetadata(em, invite, 'token')
    const making = { actor: { ...actor, workspaceId: id }, deps, type: 'workspace-user', workspaceId: id } as const
    const { key, secret } = await addKey(em, making, {
      name: `Key of ${invite.email}`.slice(0, 255),
      scopes: invite.apiKeyScopes,
      user_id: user.id,
    })
    keys.push({ workspace_id: id, id: key.id, key: secret })
  }
  return keys
}
