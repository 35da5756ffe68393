import { z } from 'zod'
import { redirect } from '../../app/answer-shapes.ts'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { enter } from './arrival.ts'
import { endSessions, hearLogout, heardOf } from './backchannel.ts'
import { leave } from './departure.ts'
import { arrive, depart } from './sign-in.ts'
import { callbackQuery, comeBack, loginParams, loginQuery, logoutBody, sentOn } from './sso.schema.ts'

export const loginByOidc = route({
  method: 'GET',
  path: '/auth/oidc/:organisation/login',
  below: '/',
  summary: 'Send the browser to the identity provider of an organisation',
  permission: [],
  answers: redirect,
  identify: depart,
  params: loginParams,
  query: loginQuery,
  response: sentOn,
})(leave)

export const returnByOidc = route({
  method: 'GET',
  path: '/auth/oidc/callback',
  below: '/',
  summary: 'Sign in with the answer of the identity provider, and go on where the person wanted to',
  permission: [],
  answers: redirect,
  identify: arrive,
  effect: 'change',
  resource: 'session',
  action: 'sign-in',
  query: callbackQuery,
  response: comeBack,
})(enter)

export const returnToOrganisation = route({
  method: 'GET',
  path: '/auth/oidc/:organisation/callback',
  below: '/',
  summary: 'Sign in with the answer of the identity provider of one organisation, and go on from there',
  permission: [],
  answers: redirect,
  identify: arrive,
  effect: 'change',
  resource: 'session',
  action: 'sign-in',
  params: loginParams,
  query: callbackQuery,
  response: comeBack,
})(enter)

export const backchannelLogout = route({
  method: 'POST',
  path: '/auth/oidc/backchannel-logout',
  below: '/',
  summary: 'Take the notice of an identity provider that a person has signed out there',
  permission: [],
  identify: hearLogout,
  takes: 'form',
  resource: 'session',
  action: 'sign-out',
  body: logoutBody,
  before: async ({ actor, elsewhere }, deps) => {
    for (const one of heardOf(actor).slice(1))
      await elsewhere(one.actor, async (em) => ((await endSessions(em, deps, one)) ? { id: one.actor.id } : null))
  },
  response: z.object({}),
})(async ({ em, deps, actor, audit }) => {
  for (const own of heardOf(actor).slice(0, 1)) {
    const count = await endSessions(em, deps, own)
    // OpenID Connect Back-Channel Logout 1.0, section 2.6, lets a receiver of a repeated `jti` refuse it.
    if (count === null) throw new ApiError('AB01', 'This logout token has been used.', { param: 'logout_token' })
    audit({ id: actor.id, ...(count === 0 && { action: 'hear-sign-out' }) })
  }
  return {}
})
