import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../../app/database/orm.ts'
import { flushUnique, notFound } from '../../../app/database/find.ts'
import type { Deps } from '../../../app/deps.ts'
import { mostStrangersBytes, route, type Actor, type EarlyCall } from '../../../app/route.ts'
import { ApiError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/is-uuid.ts'
import { lockPeople } from '../../sessions/index.ts'
import { User } from '../../users/user.entity.ts'
import { signedIn } from '../auth.schema.ts'
import { demandLocal } from '../local.ts'
import { demandNoProvider } from '../of-provider.ts'
import { nobody } from '../nobody.ts'
import { countOwnAttempt, demandOwnPassword } from '../own-password.ts'
import { demandPace } from '../pace.ts'
import { signIn, toActor } from '../sign-in.ts'
import { signedInHere } from '../signed-in-here.ts'
import { provePasskey, spendPasskey, wrongPasskey } from './assertions.ts'
import { bindBrowser, keepChallenge, takeChallenge } from './challenges.ts'
import { firstRecoveryCodes, renewSession } from './changed.ts'
import { factorRemoved, reproofBody } from './factor.schema.ts'
import { forgetUnusedCodes } from './factors.ts'
import { Passkey } from './passkey.entity.ts'
import {
  creationOptions,
  loginOptionsBody,
  passkeyAdded,
  passkeyList,
  passkeyLoginBody,
  passkeyParams,
  passkeyView,
  registerBody,
  renameBody,
  requestOptions,
  type PasskeyLogin,
  type RegisterPasskey,
} from './passkey.schema.ts'
import { challengeIn, creationOptionsFor, requestOptionsFor, verifyRegistration } from './webauthn.ts'

const resource = 'passkey'
const callers = ['session'] as const
const path = '/auth/passkeys'

/** No person needs more. */
const most = 20

export const listPasskeys = route({
  method: 'GET',
  path,
  below: '/',
  summary: 'List your passkeys',
  permission: [],
  callers,
  response: passkeyList,
})(async ({ em, actor }) => {
  const rows = await em.find(Passkey, { userId: actor.id }, { orderBy: { createdAt: 'asc', id: 'asc' } })
  return { object: 'list' as const, data: rows.map(presentPasskey) }
})

const presentPasskey = ({ id, name, backedUp, createdAt, lastUsedAt }: Passkey) => ({
  id,
  name,
  backed_up: backedUp,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
  object: 'passkey' as const,
})

export const beginPasskey = route({
  method: 'POST',
  path: `${path}/register/options`,
  below: '/',
  summary: 'Begin to make a passkey: the options for the browser',
  permission: [],
  callers,
  resource,
  action: 'enrol',
  body: reproofBody,
  mostBytes: mostStrangersBytes,
  before: countOwnAttempt,
  response: creationOptions,
})(async ({ em, deps, actor, body, audit }) => {
  await demandOwnPassword(em, actor.id, body.current_password)
  const { id: userId, email } = await em.findOneOrFail(User, { id: actor.id })
  const known = await em.find(Passkey, { userId })
  if (known.length >= most) throw new ApiError('AB07', `You have ${most} passkeys, the most that a person may have. Remove one first.`)
  const options = await creationOptionsFor(deps, { userId, email, known })
  await keepChallenge(em, deps, { purpose: 'register', holder: signedInHere(actor).id, challenge: options.challenge })
  audit({ id: userId })
  return { ...options }
})

export const addPasskey = route({
  method: 'POST',
  path: `${path}/register/verify`,
  below: '/',
  summary: 'Add the passkey that the browser made; all other sessions end',
  permission: [],
  callers,
  resource,
  action: 'add',
  body: registerBody,
  mostBytes: mostStrangersBytes,
  before: madeHere,
  response: passkeyAdded,
})(async (call) => {
  const { em, deps, actor, body, found, audit } = call
  const credentialId = Buffer.from(found.credential.id, 'base64url')
  const { organisationId } = actor
  await lockPeople(em, [actor.id])
  const row = em.create(Passkey, {
    organisationId,
    userId: actor.id,
    name: body.name ?? 'Passkey',
    credentialId,
    publicKey: Buffer.from(found.credential.publicKey),
    counter: found.credential.counter,
    transports: body.passkey.response.transports ?? [],
    backedUp: found.credentialBackedUp,
    createdAt: new Date(deps.clock.now()),
  })
  await flushUnique(em, 'This passkey is known here already.', 'passkey')
  audit({ id: row.id })
  const recovery_codes = await firstRecoveryCodes(em, deps, actor.id)
  return { passkey: presentPasskey(row), recovery_codes, ...(await renewSession(call)) }
})

/** Returns the passkey that a browser has made at our word, before the transaction. AB01 for anything else. */
async function madeHere({ actor, body: { passkey } }: EarlyCall<unknown, unknown, RegisterPasskey>, deps: Deps) {
  demandLocal(deps)
  const challenge = challengeIn(passkey)
  const holder = signedInHere(actor).id
  if (challenge === null || !(await takeChallenge(deps, { purpose: 'register', holder, challenge }))) throw notMade()
  try {
    return await verifyRegistration(deps, passkey, challenge)
  } catch (error) {
    deps.log.warn({ err: error, user: actor.id }, 'a new passkey was refused')
    throw notMade(error)
  }
}

const notMade = (cause?: unknown) =>
  new ApiError('AB01', 'This passkey was not made here just now. Begin again: POST /auth/passkeys/register/options.', {
    param: 'passkey',
    cause,
  })

export const renamePasskey = route({
  method: 'PUT',
  path: `${path}/:passkeyId`,
  below: '/',
  summary: 'Rename a passkey',
  permission: [],
  callers,
  resource,
  action: 'rename',
  representation: path,
  params: passkeyParams,
  body: renameBody,
  mostBytes: mostStrangersBytes,
  response: passkeyView,
})(async ({ em, actor, params, body, audit }) => {
  const row = await findPasskey(em, actor, params.passkeyId)
  row.name = body.name
  audit({ id: row.id })
  return presentPasskey(row)
})

export const removePasskey = route({
  method: 'DELETE',
  path: `${path}/:passkeyId`,
  below: '/',
  summary: 'Remove a passkey; all other sessions end',
  permission: [],
  callers,
  resource,
  action: 'remove',
  params: passkeyParams,
  body: reproofBody,
  mostBytes: mostStrangersBytes,
  before: countOwnAttempt,
  response: factorRemoved,
})(async (call) => {
  const { em, actor, params, body, audit } = call
  await demandOwnPassword(em, actor.id, body.current_password)
  const row = await findPasskey(em, actor, params.passkeyId)
  em.remove(row)
  await forgetUnusedCodes(em, actor.id)
  audit({ id: row.id })
  return renewSession(call)
})

async function findPasskey(em: EntityManager, actor: Actor, asked: string): Promise<Passkey> {
  const id = asked.toLowerCase()
  const row = isUuid(id) ? await em.findOne(Passkey, { id, userId: actor.id }) : null
  if (row === null) throw notFound('passkey', asked, 'passkeyId')
  return row
}

export const beginPasskeyLogin = route({
  method: 'POST',
  path: `${path}/login/options`,
  below: '/',
  summary: 'Begin to sign in with a passkey: the options for the browser',
  permission: [],
  identify: async ({ clientNetwork }, deps) => {
    demandLocal(deps)
    await demandPace(deps, [['challenge', clientNetwork]])
    return nobody()
  },
  resource,
  effect: 'none',
  body: loginOptionsBody,
  response: requestOptions,
})(async ({ em, deps, body: { purpose }, headers, reply }) => {
  const { holder, cookie } = bindBrowser(deps, headers.cookie)
  const options = await requestOptionsFor(deps, purpose === 'sign-in')
  await keepChallenge(em, deps, { purpose, holder, challenge: options.challenge })
  reply.cookie(cookie)
  return { ...options }
})

export const loginByPasskey = route({
  method: 'POST',
  path: `${path}/login/verify`,
  below: '/',
  summary: 'Sign in with a passkey in place of a password; the session is in the cookie of the answer',
  permission: [],
  identify: ownerOfPasskey,
  resource: 'session',
  action: 'sign-in',
  body: passkeyLoginBody,
  before: ({ actor, body, headers }: EarlyCall<unknown, unknown, PasskeyLogin>, deps) =>
    provePasskey(deps, { ...body, userId: actor.id, organisationId: actor.organisationId, cookie: headers.cookie, purpose: 'sign-in' }),
  response: signedIn,
})(async (call) => {
  await demandNoProvider(call.em, call.actor.id)
  const user = await call.em.findOneOrFail(User, { id: call.actor.id, status: 'active' }, { lockMode: LockMode.PESSIMISTIC_READ })
  await spendPasskey(call.em, call.deps, call.found)
  const { session, answer } = await signIn(call, user, { method: 'passkey' })
  call.audit({ id: session.id })
  return answer
})

const owner = `
  SELECT u.id AS "userId", u.organisation_id AS "organisationId", u.email
    FROM passkeys k
    JOIN users u ON u.id = k.user_id AND u.status = 'active'
    JOIN organisations o ON o.id = u.organisation_id AND o.status = 'active'
   WHERE k.credential_id = ?`

/** Returns the owner of a passkey that is still to be shown. AB05 if it has none. */
async function ownerOfPasskey({ body }: { readonly body: PasskeyLogin }, deps: Deps): Promise<Actor> {
  demandLocal(deps)
  const credentialId = Buffer.from(body.passkey.id, 'base64url')
  const [found] = await asSystem(deps.orm, (em) =>
    em.execute<{ userId: string; organisationId: string; email: string }[]>(owner, [credentialId]),
  )
  if (found === undefined) throw wrongPasskey()
  return toActor(found)
}
