import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { randomBytes } from 'node:crypto'
import { notFound, orNotFound } from '../../app/database/find.ts'
import type { Deps } from '../../app/deps.ts'
import { queueMail } from '../../app/mail/outbox.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import type { Actor } from '../../app/route.ts'
import { isAtLeast } from '../../lib/access/roles.ts'
import { ApiError } from '../../lib/errors.ts'
import { searching } from '../../lib/paging.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { checkMayGrant, checkScopesFit, makerOf, missingKeyMetadata, roleOfPerson } from '../api-keys/index.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { demandRank, findWorkspace, findWorkspaces } from '../workspaces/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { Invite, type InvitedWorkspace } from './invite.entity.ts'
import type { CreateInvite, InviteFilter } from './invite.schema.ts'
import { User } from './user.entity.ts'
import { rankedRole } from './users.ts'

const lifeMs = 7 * 24 * 60 * 60 * 1000

/** Returns the stored hash of the secret of a link. */
export const hashToken = ({ vault }: Pick<Deps, 'vault'>, token: string): Buffer => vault.hashKey(`invite:${token}`)

const newToken = (): string => randomBytes(32).toString('base64url')

/** The secret stands behind the #, which browsers send to no server and no other page. */
const linkOf = ({ config }: Deps, token: string): string => `${ownOrigin(config)}/invite#token=${token}`

interface InviteContext {
  readonly actor: Actor
  readonly deps: Deps
}

/** Stores an invitation and queues its mail; returns the link. AB07 for an address that is a member or invited already. */
export async function addInvite(
  em: EntityManager,
  body: CreateInvite,
  { actor, deps }: InviteContext,
): Promise<{ invite: Invite; link: string }> {
  demandRank(actor, rankedRole(body.role), 'role')
  const workspaces = await invitedWorkspaces(em, actor, body)
  if (body.workspace_api_key_details !== undefined) {
    checkScopesFit('workspace-user', body.workspace_api_key_details.scopes)
    checkMayGrant(actor, body.workspace_api_key_details.scopes)
    await demandNoMetadata(em, actor, 'workspace_api_key_details')
  }
  await demandNew(em, actor, { email: body.email, nowMs: deps.clock.now() })
  const token = newToken()
  const invite = em.create(Invite, {
    organisationId: actor.organisationId,
    email: body.email,
    role: body.role,
    workspaces,
    apiKeyScopes: body.workspace_api_key_details?.scopes ?? null,
    tokenHash: hashToken(deps, token),
    invitedBy: actor.userId,
    makerId: makerOf(actor),
    expiresAt: new Date(deps.clock.now() + lifeMs),
  })
  await em.flush()
  return { invite, link: await sendLink(em, { invite, token, deps }) }
}

async function invitedWorkspaces(em: EntityManager, actor: Actor, { workspaces }: CreateInvite): Promise<readonly InvitedWorkspace[]> {
  const named = workspaces.map(({ id: reference, role }, at) => ({ reference, role, param: `workspaces[${at}].id` }))
  const found: InvitedWorkspace[] = []
  for (const [at, { workspace, role, param }] of (await findWorkspaces(em, actor, named)).entries()) {
    demandRank(actor, role, `workspaces[${at}].role`)
    if (found.some(({ id }) => id === workspace.id)) throw new ApiError('AB01', 'A workspace comes twice.', { param })
    found.push({ id: workspace.id, role })
  }
  return found
}

/** AB01 when the organisation asks for metadata: an invitation has none for the keys that it promises. */
export async function demandNoMetadata(em: EntityManager, of: { readonly organisationId: string }, param: string): Promise<void> {
  const missing = await missingKeyMetadata(em, of, undefined)
  if (missing === null) return
  const asked = `The organisation asks that the metadata of every API key holds ${JSON.stringify(missing)}, which keys of an invitation lack.`
  throw new ApiError('AB01', `${asked} Invite without keys, and make the keys afterwards.`, { param })
}

/** Serialises all writes that would give an address a place in an organisation. */
export const lockAddress = async (em: EntityManager, organisationId: string, email: string): Promise<void> =>
  void (await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:invite:${organisationId}:${email}`]))

/** An invitation that has run out makes room for a new one. */
async function demandNew(em: EntityManager, { organisationId }: Actor, { email, nowMs }: { email: string; nowMs: number }): Promise<void> {
  await lockAddress(em, organisationId, email)
  const param = 'email'
  if ((await em.count(User, { organisationId, email, status: 'active' })) > 0)
    throw new ApiError('AB07', `${email} is a user of this organisation already.`, { param })
  const pending = await em.findOne(Invite, { organisationId, email, status: 'pending' })
  if (pending === null) return
  if (pending.expiresAt.getTime() > nowMs)
    throw new ApiError('AB07', `${email} is invited already. Resend the invitation ${pending.id}, or cancel it first.`, { param })
  pending.status = 'cancelled'
  await em.flush()
}

/** Gives an invitation another link, and time. The caller has to be one who could have made it, and it is at their word from now on. */
export async function renewInvite(em: EntityManager, invite: Invite, { actor, deps }: InviteContext): Promise<string> {
  demandRank(actor, rankedRole(invite.role), 'inviteId')
  for (const { id, role } of invite.workspaces) {
    await findWorkspace(em, actor, { reference: id, param: 'inviteId' })
    demandRank(actor, role, 'inviteId')
  }
  if (invite.apiKeyScopes) checkMayGrant(actor, invite.apiKeyScopes)
  invite.makerId = makerOf(actor)
  const token = newToken()
  invite.tokenHash = hashToken(deps, token)
  invite.expiresAt = new Date(deps.clock.now() + lifeMs)
  return sendLink(em, { invite, token, deps })
}

async function sendLink(em: EntityManager, { invite, token, deps }: { invite: Invite; token: string; deps: Deps }): Promise<string> {
  const link = linkOf(deps, token)
  const organisation = await em.findOneOrFail(Organisation, { id: invite.organisationId })
  const workspaces = await em.find(Workspace, { id: { $in: invite.workspaces.map(({ id }) => id) } })
  await queueMail(em, deps, {
    organisationId: invite.organisationId,
    recipient: invite.email,
    template: 'user-invite',
    variables: {
      organisation_name: organisation.name,
      role: invite.role,
      workspaces: workspaces.map(({ name }) => name).join(', '),
      invite_link: link,
      expires_at: invite.expiresAt.toISOString().slice(0, 16).replace('T', ' ').concat(' UTC'),
    },
  })
  return link
}

/** Returns true if the person at whose word an invitation was made may still give the roles that it gives. */
export async function isStillGiven(em: EntityManager, { makerId, organisationId, role, workspaces }: Invite): Promise<boolean> {
  if (!makerId) return true
  if ((await em.count(User, { id: makerId, organisationId, status: 'active' })) === 0) return false
  const own = (await roleOfPerson(em, makerId, { organisationId })) ?? 'member'
  if (!isAtLeast(own, rankedRole(role))) return false
  for (const place of workspaces) {
    const there = await roleOfPerson(em, makerId, { organisationId, workspaceId: place.id })
    if (there === null || !isAtLeast(there, place.role)) return false
  }
  return true
}

/** An invitation of the organisation; AB08 when there is none. AB07 when it must be open and is not. */
export async function findInvite(em: EntityManager, actor: Actor, { id, open = false }: { id: string; open?: boolean }): Promise<Invite> {
  if (!isUuid(id)) throw notFound('invitation', id, 'inviteId')
  const where = { id: id.toLowerCase(), organisationId: actor.organisationId }
  const row = await em.findOne(Invite, where, open ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  const invite = orNotFound(row, 'invitation', { reference: id, param: 'inviteId' })
  if (open && invite.status !== 'pending') throw new ApiError('AB07', `The invitation is ${invite.status}.`, { param: 'inviteId' })
  return invite
}

/** The rows that a list shows. */
export function matchingInvites(actor: Actor, { role, email, status, search }: InviteFilter, now: Date): FilterQuery<Invite> {
  const states: Readonly<Record<NonNullable<InviteFilter['status']>, FilterQuery<Invite>>> = {
    pending: { status: 'pending', expiresAt: { $gt: now } },
    expired: { status: 'pending', expiresAt: { $lte: now } },
    cancelled: { status: 'cancelled' },
    accepted: { status: 'accepted' },
  }
  return {
    $and: [
      { organisationId: actor.organisationId },
      ...(role === undefined ? [] : [{ role }]),
      ...(email === undefined ? [] : [{ email }]),
      searching(search, 'email'),
      ...(status === undefined ? [] : [states[status]]),
    ],
  }
}

/** An invitation as it is answered. */
export const presentInvite = (row: Invite, nowMs: number) => ({
  id: row.id,
  email: row.email,
  role: row.role,
  workspaces: row.workspaces.map(({ id, role }) => ({ id, role })),
  status: row.status === 'pending' && row.expiresAt.getTime() <= nowMs ? ('expired' as const) : row.status,
  invited_by: row.invitedBy ?? null,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
  accepted_at: row.acceptedAt?.toISOString() ?? null,
  object: 'invite' as const,
})
