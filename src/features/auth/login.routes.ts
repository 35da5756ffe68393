import { route } from '../../app/route.ts'
import { endedCookie, revokeSession } from '../sessions/index.ts'
import { findProvider, logoutUrlOf } from '../identity-providers/index.ts'
import { loginBody, loginOptions, loginQuery, signedIn, signedOut } from './auth.schema.ts'
import { spend } from './factors/prove.ts'
import { isLocal } from './local.ts'
import { nobody } from './nobody.ts'
import { signedInHere } from './signed-in-here.ts'
import { holdPerson, identifyByPassword, proveBeside, signIn } from './sign-in.ts'

const resource = 'session'

export const showLogin = route({
  method: 'GET',
  path: '/auth/login',
  below: '/',
  summary: 'Show how a person signs in: with a password, or by the identity provider of their organisation',
  permission: [],
  identify: nobody,
  query: loginQuery,
  before: ({ query }, deps) => findProvider(deps, query),
  response: loginOptions,
})(async ({ deps, found: provider }) => ({ local: isLocal(deps), provider }))

export const login = route({
  method: 'POST',
  path: '/auth/login',
  below: '/',
  summary: 'Sign in with a password; the session is in the cookie of the answer',
  permission: [],
  identify: identifyByPassword,
  resource,
  action: 'sign-in',
  body: loginBody,
  before: proveBeside,
  response: signedIn,
})(async (call) => {
  const user = await holdPerson(call.em, call.actor)
  await spend(call.em, call.deps, { userId: user.id, proof: call.found })
  const { session, answer } = await signIn(call, user, { method: 'password' })
  call.audit({ id: session.id })
  return answer
})

export const logout = route({
  method: 'POST',
  path: '/auth/logout',
  below: '/',
  summary: 'Sign out: end the session of this browser',
  permission: [],
  callers: ['session'],
  resource,
  action: 'sign-out',
  before: ({ actor }, deps) => logoutUrlOf(deps, { ...actor, id: signedInHere(actor).id }),
  response: signedOut,
})(async ({ em, deps, actor, found: logout_url, reply, audit }) => {
  const { id } = signedInHere(actor)
  await revokeSession(em, { id, userId: actor.id })
  reply.cookie(endedCookie(deps))
  audit({ id })
  return { logout_url }
})
