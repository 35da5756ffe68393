import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import type { Actor, EarlyCall, Call, AnonymousCall } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { csrfTokenOf, demandNoForeignOrigin, isForeign, openSession, revokePresented, type SignIn } from '../sessions/index.ts'
import { User } from '../users/user.entity.ts'
import { accountOf, wrongPassword, type Account } from './accounts.ts'
import type { Login } from './auth.schema.ts'
import { deviceCookie, isKnownDevice } from './device.ts'
import { prove, type Proof } from './factors/prove.ts'
import { demandLocal } from './local.ts'
import { demandPace, forgive, type PaceSubject } from './pace.ts'
import { UserPassword } from './user-password.entity.ts'

/** The hashes of the passwords that people have shown. */
const shown = new WeakMap<Actor, string>()

/** Returns the person whom a password shows. AB05, or AB06 after too many attempts. */
export async function identifyByPassword({ body, ...asked }: AnonymousCall<unknown, unknown, Login>, deps: Deps): Promise<Actor> {
  demandLocal(deps)
  const counted = countedOf(deps, body.email, asked)
  await demandPace(deps, counted)
  const account = await accountOf(deps, { ...body, network: asked.clientNetwork })
  const actor = toActor(account)
  if (account.hash !== null) shown.set(actor, account.hash)
  return actor
}

/**
 * Returns the person who has shown a password. AB05 if they are gone, or have another password by now; a later removal or change waits for this
 * sign-in, and ends its session too.
 */
export async function holdPerson(em: EntityManager, actor: Actor): Promise<User> {
  const user = await em.findOne(User, { id: actor.id, status: 'active' }, { lockMode: LockMode.PESSIMISTIC_READ })
  const passwordHash = shown.get(actor)
  if (user === null || passwordHash === undefined) throw wrongPassword()
  if ((await em.count(UserPassword, { userId: user.id, passwordHash })) === 0) throw wrongPassword()
  return user
}

/** Returns the second factor of a person whose password was right. Attempts are forgiven only when both are good. */
export async function proveBeside({ actor, body, ...asked }: EarlyCall<unknown, unknown, Login>, deps: Deps): Promise<Proof | null> {
  const proof = await prove(deps, { ...body, cookie: asked.headers.cookie, userId: actor.id, organisationId: actor.organisationId })
  await forgive(
    deps,
    countedOf(deps, body.email, asked).filter(([pace]) => pace !== 'account'),
  )
  return proof
}

/** Returns the keys by which attempts against an account are counted. */
export function countedOf(
  deps: Deps,
  email: string,
  { headers, clientNetwork }: Pick<AnonymousCall<unknown, unknown, unknown>, 'headers' | 'clientNetwork'>,
): readonly PaceSubject[] {
  if (isKnownDevice(deps, email, headers.cookie)) return [['device', email]]
  return [
    ['network', `${email} ${clientNetwork}`],
    ['account', email],
  ]
}

/** A known person without a session yet: they may do nothing else. */
export const toActor = ({ userId, organisationId, email }: Omit<Account, 'hash' | 'isBound'>): Actor => ({
  type: 'user',
  id: userId,
  name: email,
  keyType: 'workspace-user',
  organisationId,
  workspaceId: null,
  userId,
  role: null,
  settings: effectiveSettings({}, {}),
  permissions: new Set(),
})

type SignInCall = Pick<Call<unknown, unknown, unknown>, 'em' | 'deps' | 'reply' | 'clientAddress' | 'headers'>

/**
 * Opens a session for a person in the browser that asks. One that it had before ends, so that a person never continues in a session that another gave
 * them. Throws AB03 if the page of another site asks, which would sign people in as a person of its choice; providers alone send people here.
 */
export async function signIn(
  { em, deps, reply, clientAddress, headers }: SignInCall,
  user: User,
  { method, provider }: Pick<SignIn, 'method' | 'provider'>,
) {
  if (provider === undefined && isForeign(headers)) throw new ApiError('AB03', 'This request comes from a page of another site.')
  if (provider === undefined) demandNoForeignOrigin(deps, headers)
  const client = { address: clientAddress, userAgent: headers['user-agent'] ?? null }
  // First: a request that ends all sessions of a person locks the person before the sessions, too.
  const { session, cookie } = await openSession(em, deps, { user, method, client, ...(provider !== undefined && { provider }) })
  await revokePresented(em, deps, headers.cookie)
  for (const text of [cookie, deviceCookie(deps, user.email)]) reply.cookie(text)
  return {
    session,
    answer: {
      user_id: user.id,
      organisation_id: user.organisationId,
      csrf_token: csrfTokenOf(deps, cookie),
      expires_at: session.expiresAt.toISOString(),
    },
  }
}
