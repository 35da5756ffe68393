import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { deliverMails, queueMail } from '../../app/mail/outbox.ts'
import { mostStrangersBytes, route, type EarlyCall, type AuditedResource, type WriteElsewhere } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isPassword } from '../../lib/password.ts'
import { holderOf, lockPeople, makeLink, useLink } from '../sessions/index.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { User } from '../users/user.entity.ts'
import { accountsOf, type Account } from './accounts.ts'
import { ownPasswordBody, resetBody, setPasswordBody, signedIn, type SetPassword } from './auth.schema.ts'
import { prove, spend, type Proof } from './factors/prove.ts'
import { demandLocal } from './local.ts'
import { demandNoProvider } from './of-provider.ts'
import { demandFreshSession } from './fresh-session.ts'
import { countOwnAttempt } from './own-password.ts'
import { nobody } from './nobody.ts'
import { demandPace } from './pace.ts'
import { setPassword } from './passwords.ts'
import { signIn } from './sign-in.ts'
import { UserPassword } from './user-password.entity.ts'

const resource = 'password'

export const changePassword = route({
  method: 'POST',
  path: '/auth/password',
  below: '/',
  summary: 'Change your password; every session ends, and this browser gets a new one',
  permission: [],
  callers: ['session'],
  resource,
  action: 'change',
  body: ownPasswordBody,
  mostBytes: mostStrangersBytes,
  before: countOwnAttempt,
  response: signedIn,
})(async (call) => {
  const { em, deps, actor, body, audit } = call
  // The second of two concurrent changes has to show the new password.
  const user = await em.findOneOrFail(User, { id: actor.id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  const known = await em.findOne(UserPassword, { userId: user.id })
  if (known === null) {
    await demandNoProvider(em, user.id)
    await demandFreshSession(call)
  } else if (!(await isPassword(body.current_password ?? '', known.passwordHash, user.id)))
    throw new ApiError('AB03', 'This is not your current password.', { param: 'current_password' })
  await setPassword(em, deps, { user, password: body.password, keeps: null })
  const { answer } = await signIn(call, user, { method: 'password' })
  audit({ id: user.id })
  return answer
})

export const setPasswordByLink = route({
  method: 'PUT',
  path: '/auth/password',
  below: '/',
  summary: 'Set a new password by the link that was sent; every session ends, and this browser gets a new one',
  permission: [],
  identify: ({ body }, deps) => (demandLocal(deps), holderOf(deps, body.token, ['password'])),
  resource,
  action: 'reset',
  body: setPasswordBody,
  before: proveBesideLink,
  response: signedIn,
})(async (call) => {
  const { em, deps, actor, body, found, audit } = call
  const { userId } = await useLink(em, actor, deps)
  const user = await em.findOne(User, { id: userId ?? '', status: 'active' })
  if (user === null) throw new ApiError('AB05', 'This link does not work: its account is gone.', { param: 'token' })
  await demandNoProvider(em, user.id)
  await spend(em, deps, { userId: user.id, proof: found })
  await setPassword(em, deps, { user, password: body.password, keeps: null })
  const { answer } = await signIn(call, user, { method: 'link' })
  audit({ id: user.id })
  return answer
})

/** A link that came by e-mail stands for the password, and not for the second factor. */
async function proveBesideLink({ actor, body, headers }: EarlyCall<unknown, unknown, SetPassword>, deps: Deps): Promise<Proof | null> {
  if (actor.userId === null) return null
  await demandPace(deps, [['device', `link ${actor.userId}`]])
  return prove(deps, { ...body, cookie: headers.cookie, userId: actor.userId, organisationId: actor.organisationId })
}

export const resetPassword = route({
  method: 'POST',
  path: '/auth/password/reset',
  below: '/',
  summary: 'Have a link to a new password sent, if the address has an account',
  permission: [],
  identify: async ({ body }, deps) => {
    demandLocal(deps)
    await demandPace(deps, [['reset', body.email]])
    return nobody()
  },
  resource,
  action: 'send-link',
  // The links are written in the organisations of the accounts, each with a row there.
  effect: 'none',
  body: resetBody,
  response: z.object({}),
})(async ({ deps, body, afterCommit, elsewhere }) => {
  if (deps.config.mail === null)
    throw new ApiError('AB01', 'This installation sends no mail. Ask its operator for a link: gatehouse people link.')
  // After the answer, so that its time does not reveal whether there is an account.
  afterCommit(() => sendLinks(deps, elsewhere, body.email))
  return {}
})

async function sendLinks(deps: Deps, elsewhere: WriteElsewhere, email: string): Promise<void> {
  const asker = await nobody()
  // The asking person is unknown: the receiver of the link is the resource of the row.
  const accounts = await accountsOf(deps, email)
  for (const account of accounts) await elsewhere({ ...asker, organisationId: account.organisationId }, (em) => sendLink(em, deps, account))
  for (const account of accounts) await deliverMails(deps, account)
}

async function sendLink(
  em: EntityManager,
  deps: Deps,
  { userId, organisationId, email, isBound }: Account,
): Promise<AuditedResource | null> {
  if (isBound || !(await lockPeople(em, [userId])).has(userId)) return null
  const { name } = await em.findOneOrFail(Organisation, { id: organisationId })
  const { url, expiresAt } = await makeLink(em, deps, { organisationId, userId, purpose: 'password' })
  const variables = {
    organisation_name: name,
    reset_link: url,
    expires_at: expiresAt.toISOString().slice(0, 16).replace('T', ' ').concat(' UTC'),
  }
  await queueMail(em, deps, { organisationId, recipient: email, template: 'password-reset', variables })
  return { id: userId }
}
