import { hash } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { longestSessionMs, requiresFactor } from '../../lib/access/session-settings.ts'
import type { OrganisationRole, WorkspaceRole } from '../../lib/access/roles.ts'
import { ApiError } from '../../lib/errors.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import type { User } from '../users/user.entity.ts'
import { secretOf, sessionCookie } from './cookie.ts'
import { lockPeople } from './lock-people.ts'
import { csrfToken, hashSecret, isOwnSecret, newSecret } from './secret.ts'
import { providerTokenPlace, Session, type SignInMethod } from './session.entity.ts'

/** A sign-in that succeeded. */
export interface SignIn {
  readonly user: Pick<User, 'id' | 'organisationId' | 'role'>
  readonly method: SignInMethod
  /** The browser of the session. */
  readonly client: { readonly address: string; readonly userAgent: string | null }
  /** The identity provider that vouches for the person; absent for a local sign-in. */
  readonly provider?: {
    readonly issuer: string
    readonly subject: string
    /** Its own session (`sid`, `SessionIndex`), if known. */
    readonly session: string | null
    /** The end that it sets for the session, epoch milliseconds; null: it sets none. */
    readonly endsAt: number | null
    /** The ID token, which the provider asks for when the person signs out; absent: none. */
    readonly token?: string | undefined
  }
}

/** Opens a session for a person, in the transaction of their tenant, and returns the `Set-Cookie` for their browser. */
export async function openSession(
  em: EntityManager,
  deps: Pick<Deps, 'config' | 'vault' | 'clock'>,
  { user, method, client, provider }: SignIn,
): Promise<{ readonly session: Session; readonly cookie: string }> {
  const now = deps.clock.now()
  const { settings } = await em.findOneOrFail(Organisation, { id: user.organisationId })
  const expiresAt = Math.min(now + Math.min(deps.config.sessions.lifetimeMs, longestSessionMs(settings)), provider?.endsAt ?? Infinity)
  const secret = newSecret(deps.vault)
  const place = { id: uuidv7(), organisationId: user.organisationId }
  const session = em.create(Session, {
    ...place,
    userId: user.id,
    tokenHash: hashSecret(deps.vault, secret),
    rights: rightsOf(user.role, await em.find(WorkspaceMember, { userId: user.id })),
    method,
    ...(await providerFields(deps, place, provider)),
    clientAddress: client.address,
    userAgent: client.userAgent?.slice(0, 500) ?? null,
    lastUsedAt: new Date(now),
    expiresAt: new Date(expiresAt),
  })
  await em.flush()
  await demandHere(em, user.id)
  return { session, cookie: sessionCookie(deps, secret, (expiresAt - now) / 1000) }
}

/** Throws AB05 for a person who was just removed. A later removal waits for this sign-in, and ends its session too. */
async function demandHere(em: EntityManager, userId: string): Promise<void> {
  const rows = await em.execute<unknown[]>(`SELECT 1 FROM users WHERE id = ? AND status = 'active' FOR SHARE`, [userId])
  if (rows.length === 0) throw new ApiError('AB05', 'This account is gone.')
}

/** Returns the fields of a session that are about the identity provider. */
async function providerFields({ vault }: Pick<Deps, 'vault'>, place: Pick<Session, 'id' | 'organisationId'>, provider: SignIn['provider']) {
  if (provider === undefined) return { issuer: null, subject: null, providerSession: null, providerToken: null }
  const { issuer, subject, session, token } = provider
  const sealed = token === undefined ? null : Buffer.from(await vault.encrypt(providerTokenPlace(place), token))
  return { issuer, subject, providerSession: session, providerToken: sealed }
}

/** Ends the session that a browser shows, if it is one. */
export async function revokePresented(em: EntityManager, deps: Pick<Deps, 'config' | 'vault'>, header: string | undefined): Promise<void> {
  const secret = secretOf(deps, header)
  if (secret === null || !isOwnSecret(deps.vault, secret)) return
  const hashed = hashSecret(deps.vault, secret)
  await end(em, await em.find(Session, { $or: [{ tokenHash: hashed }, { previousTokenHash: hashed }] }))
}

/** Returns the token that belongs to the session of a `Set-Cookie`. */
export const csrfTokenOf = (deps: Pick<Deps, 'config' | 'vault'>, setCookie: string): string =>
  csrfToken(deps.vault, secretOf(deps, setCookie) ?? '')

/** Ends one session of a person. Returns false if there is none. It is refused from the commit on, in every process. */
export async function revokeSession(em: EntityManager, { id, userId }: { readonly id: string; readonly userId: string }): Promise<boolean> {
  const session = await em.findOne(Session, { id, userId })
  if (session !== null) em.remove(session)
  await em.flush()
  return session !== null
}

/** Gives a session another secret, and returns its `Set-Cookie`. The one before is refused from the commit on. */
export async function rotateSession(
  em: EntityManager,
  deps: Pick<Deps, 'config' | 'vault' | 'clock'>,
  id: string,
): Promise<{ readonly session: Session; readonly cookie: string }> {
  const session = await em.findOneOrFail(Session, { id })
  const secret = newSecret(deps.vault)
  em.assign(session, { tokenHash: hashSecret(deps.vault, secret), previousTokenHash: null, previousUntil: null })
  await em.flush()
  return { session, cookie: sessionCookie(deps, secret, (session.expiresAt.getTime() - deps.clock.now()) / 1000) }
}

/**
 * Ends all sessions of a person, or all but one, and returns how many. They are refused from the commit on, in every process. A sign-in on its
 * way holds the person, and is waited for: its session ends too.
 */
export async function revokeSessionsOf(em: EntityManager, userId: string, but: string | null = null): Promise<number> {
  await lockPeople(em, [userId])
  return end(em, await em.find(Session, { userId, ...(but !== null && { id: { $ne: but } }) }))
}

/** The sessions that an identity provider means: one of its own, or all of a person. */
export interface OfProvider {
  readonly issuer: string
  readonly subject: string | null
  readonly session: string | null
}

/** Reads the sessions that an identity provider means. */
export async function sessionsOfProvider(em: EntityManager, { issuer, subject, session }: OfProvider): Promise<readonly Session[]> {
  if (subject === null && session === null) return []
  const whose = { ...(subject !== null && { subject }), ...(session !== null && { providerSession: session }) }
  return em.find(Session, { issuer, ...whose })
}

/** Ends the sessions that an identity provider has ended. Returns how many. */
export const revokeProviderSessions = async (em: EntityManager, meant: OfProvider): Promise<number> =>
  end(em, await sessionsOfProvider(em, meant))

async function end(em: EntityManager, sessions: readonly Session[]): Promise<number> {
  for (const session of sessions) em.remove(session)
  await em.flush()
  return sessions.length
}

/** The ways to sign in by a password, or by a substitute for it, alone. */
const byPassword: ReadonlySet<SignInMethod> = new Set(['password', 'link'])

/** Returns true if an organisation asks for a second factor of a person who signed in in this way. */
export const needsFactor = (settings: unknown, method: SignInMethod): boolean => byPassword.has(method) && requiresFactor(settings)

/** Returns a digest of the roles of a person. When it changes, the secret of their session is renewed. */
export function rightsOf(
  role: OrganisationRole,
  memberships: readonly { readonly workspaceId: string; readonly role: WorkspaceRole }[],
): Buffer {
  const places = memberships.map(({ workspaceId, role: there }) => `${workspaceId}:${there}`).toSorted()
  return hash('sha256', [role, ...places].join('\n'), 'buffer')
}
