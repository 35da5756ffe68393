import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import type { Actor, EarlyCall, Call, AnonymousCall } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { csrfTokenOf, demandNoForeignOrigin, isForeign, openSession, revokePresented, type SignIn } from '../sessions/index.ts'
import { User } from '../users/user.entity.ts'
import { accountsOf, openedAccount, wrongPassword, type Account } from './accounts.ts'
import type { Login } from './auth.schema.ts'
import { deviceCookie, isKnownDevice } from './device.ts'
import { prove, type Proof } from './factors/prove.ts'
import { demandLocal } from './local.ts'
import { boundToProvider } from './of-provider.ts'
import { demandPace, forgive, type PaceSubject } from './pace.ts'
import { UserPassword } from './user-password.entity.ts'

/** An attempt whose password was right. */
interface Attempt {
  readonly passwordHash: string
  /** The counters that the attempt clears when the second factor is right too. */
  readonly forgiven: readonly PaceSubject[]
}

const attempts = new WeakMap<Actor, Attempt>()

/** Returns the person whom a password shows. AB05, or AB06 after too many attempts. */
export async function identifyByPassword({ body, ...asked }: AnonymousCall<unknown, unknown, Login>, deps: Deps): Promise<Actor> {
  demandLocal(deps)
  const accounts = await accountsOf(deps, body.email, body.organisation)
  const known = accounts.find(({ userId }) => isKnownDevice(deps, userId, asked.headers.cookie))
  const shown = { password: body.password, network: asked.clientNetwork }
  if (known !== undefined) {
    const counted = [['device', known.userId]] as const
    await demandPace(deps, counted)
    const opened = await openedAccount([known], shown)
    if (opened !== null) return identified(opened, counted)
    if (accounts.length === 1) throw wrongPassword()
  }
  // By the address, so that the count reveals no account.
  const network = ['network', `${body.email} ${asked.clientNetwork}`] as const
  await demandPace(deps, [network, ['account', body.email]])
  const opened = await openedAccount(
    accounts.filter((account) => account !== known),
    shown,
  )
  if (opened === null) throw wrongPassword()
  // Else an account of the address in another organisation would clear the guesses at this one.
  return identified(opened, opened.isOnly ? [network] : [])
}

function identified(account: Account, forgiven: readonly PaceSubject[]): Actor {
  // Only a person who has shown the password learns that it does not serve.
  if (account.isBound) throw boundToProvider()
  const actor = toActor(account)
  if (account.hash !== null) attempts.set(actor, { passwordHash: account.hash, forgiven })
  return actor
}

/**
 * Returns the person who has shown a password. AB05 if they are gone, or have another password by now; a later removal or change waits for this
 * sign-in, and ends its session too.
 */
export async function holdPerson(em: EntityManager, actor: Actor): Promise<User> {
  const user = await em.findOne(User, { id: actor.id, status: 'active' }, { lockMode: LockMode.PESSIMISTIC_READ })
  const passwordHash = attempts.get(actor)?.passwordHash
  if (user === null || passwordHash === undefined) throw wrongPassword()
  if ((await em.count(UserPassword, { userId: user.id, passwordHash })) === 0) throw wrongPassword()
  return user
}

/** Returns the second factor of a person whose password was right. Attempts are forgiven only when both are good. */
export async function proveBeside({ actor, body, headers }: EarlyCall<unknown, unknown, Login>, deps: Deps): Promise<Proof | null> {
  const proof = await prove(deps, { ...body, cookie: headers.cookie, userId: actor.id, organisationId: actor.organisationId })
  await forgive(deps, attempts.get(actor)?.forgiven ?? [])
  return proof
}

/** A known person without a session yet: they may do nothing else. */
export const toActor = ({ userId, organisationId, email }: Omit<Account, 'hash' | 'isBound' | 'isOnly'>): Actor => ({
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
  for (const text of [cookie, deviceCookie(deps, user.id)]) reply.cookie(text)
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
