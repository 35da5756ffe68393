import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import { route } from '../../app/route.ts'
import { enter } from './arrival.ts'
import { endedBy, endSessions, hearLogout } from './backchannel.ts'
import { leave } from './departure.ts'
import { arrive, depart } from './sign-in.ts'
import { callbackQuery, comeBack, loginParams, loginQuery, logoutBody, sentOn } from './sso.schema.ts'

export const loginByOidc = route({
  method: 'GET',
  path: '/auth/oidc/:organisation/login',
  root: true,
  summary: 'Send the browser to the identity provider of an organisation',
  permission: [],
  browsers: true,
  identify: depart,
  params: loginParams,
  query: loginQuery,
  response: sentOn,
})(leave)

export const returnByOidc = route({
  method: 'GET',
  path: '/auth/oidc/callback',
  root: true,
  summary: 'Sign in with the answer of the identity provider, and go on where the person wanted to',
  permission: [],
  browsers: true,
  identify: arrive,
  writes: true,
  resource: 'session',
  action: 'sign-in',
  query: callbackQuery,
  response: comeBack,
})(enter)

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
