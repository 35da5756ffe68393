import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import { route } from '../../app/route.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { signIn } from '../auth/index.ts'
import { takeGroups } from '../identity-providers/index.ts'
import { groupsIn } from './claims.ts'
import { endedBy, endSessions, hearLogout } from './backchannel.ts'
import { personOf } from './people.ts'
import { arrivalOf, arrive, depart, departureOf, type Arrival } from './sign-in.ts'
import { callbackQuery, loginParams, loginQuery, logoutBody } from './sso.schema.ts'

const sentOn = z.object({}).meta({ description: 'Nothing: the browser is sent on by 303.' })

export const loginByOidc = route({
  method: 'GET',
  path: '/auth/oidc/:organisation/login',
  root: true,
  summary: 'Send the browser to the identity provider of an organisation',
  permission: [],
  identify: depart,
  params: loginParams,
  query: loginQuery,
  response: sentOn,
})(async ({ actor, reply }) => {
  const { url, cookie } = departureOf(actor)
  reply.cookie(cookie)
  reply.redirect(url)
  return {}
})

export const returnByOidc = route({
  method: 'GET',
  path: '/auth/oidc/callback',
  root: true,
  summary: 'Sign in with the answer of the identity provider, and go on where the person wanted to',
  permission: [],
  identify: arrive,
  writes: true,
  resource: 'session',
  action: 'sign-in',
  query: callbackQuery,
  response: sentOn,
})(async (call) => {
  const { em, deps, actor, reply, audit } = call
  const arrival = arrivalOf(actor)
  const { provider, journey, vouched } = arrival
  await useOnce(em, deps, arrival)
  const user = await personOf(em, deps, { ...vouched, provider, newId: actor.id })
  const groups = provider.group_claim === null ? null : groupsIn(vouched.claims, provider.group_claim)
  const changes = groups === null ? [] : await takeGroups(em, deps, { user, names: groups })
  const { session } = await signIn(call, user, {
    method: 'oidc',
    provider: { ...vouched.identity, session: vouched.session, endsAt: null, token: vouched.token },
  })
  reply.redirect(journey.returnTo)
  audit({ id: session.id, changes })
  return {}
})

export const backchannelLogout = route({
  method: 'POST',
  path: '/auth/oidc/backchannel-logout',
  root: true,
  summary: 'Take the word of an identity provider that somebody has signed out there',
  permission: [],
  identify: hearLogout,
  form: true,
  resource: 'session',
  action: 'sign-out',
  body: logoutBody,
  // What a token says elsewhere ends in transactions of their own.
  before: async ({ actor }, deps) => {
    for (const one of endedBy(actor).filter(({ organisationId }) => organisationId !== actor.organisationId))
      await inTenant(deps.orm, one.organisationId, (em) => endSessions(em, deps, one))
  },
  response: z.object({}),
})(async ({ em, deps, actor, audit }) => {
  for (const one of endedBy(actor).filter(({ organisationId }) => organisationId === actor.organisationId)) await endSessions(em, deps, one)
  audit({ id: actor.id })
  return {}
})

/** Of two who come back with one state the second is refused. */
async function useOnce(em: EntityManager, { vault }: Deps, { journey, state }: Arrival): Promise<void> {
  const used = await em.execute<unknown[]>(
    'INSERT INTO used_sign_ins (state_hash, organisation_id, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING organisation_id',
    [vault.hashKey(`sso-used:${state}`), journey.organisationId, new Date(journey.expiresAt)],
  )
  if (used.length === 0) throw new ApiError('AB05', 'This sign-in has been used. Begin again.', { param: 'state' })
}
