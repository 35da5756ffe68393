// Bodies of routes that anybody may call, and of proofs of who somebody is, are short: the count of wrong fields costs time.
import test from 'ava'
import { mostBytesOf, mostStrangersBytes, wholePath, type Route } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { send } from '../../support/http.ts'

let app: TestApp
test.before(async () => void (app = await startApp({ features })))
test.after.always(() => app.stop())

const routes = features.flatMap((feature) => feature.routes.map((route) => ({ ...route, feature: feature.id })))
/** Routes whose bodies hold passwords, codes or passkeys of somebody who is signed in. */
const proofs = /password|passkeys|totp|recovery-codes/
const withBody = routes.filter(({ body }) => body !== undefined)
const bounded = withBody.filter((route) => route.identify !== undefined || (route.feature === 'auth' && proofs.test(route.path)))
const saml = '/auth/saml/:organisation/acs'

/** Calls a route with a body; its callers are asked for a credential first where it takes one. */
const call = (route: Route, contentType: string, body: string) =>
  send(app.baseUrl + wholePath(route).replaceAll(/:\w+/g, 'x'), {
    method: route.method,
    headers: { 'content-type': contentType },
    body,
  })

const fields = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `field${at}`)
const bodies = {
  'application/json': (count: number) => JSON.stringify(Object.fromEntries(fields(count).map((name) => [name, 1]))),
  'application/x-www-form-urlencoded': (count: number) => fields(count).join('=1&'),
}

test('the routes are those that are known, and others are not bounded so', (t) => {
  t.deepEqual(bounded.map(({ method, path }) => `${method} ${path}`).toSorted(), [
    'DELETE /auth/passkeys/:passkeyId',
    'DELETE /auth/totp',
    'POST /admin/users/invites/accept',
    'POST /auth/login',
    'POST /auth/oidc/backchannel-logout',
    'POST /auth/passkeys/login/options',
    'POST /auth/passkeys/login/verify',
    'POST /auth/passkeys/register/options',
    'POST /auth/passkeys/register/verify',
    'POST /auth/password',
    'POST /auth/password/reset',
    'POST /auth/recovery-codes',
    'POST /auth/saml/:organisation/acs',
    'POST /auth/setup',
    'POST /auth/totp',
    'POST /auth/totp/confirm',
    'PUT /auth/passkeys/:passkeyId',
    'PUT /auth/password',
  ])
  for (const route of bounded) t.is(mostBytesOf(route), route.path === saml ? 2 * 1024 * 1024 : mostStrangersBytes, route.path)
  for (const route of withBody) if (!bounded.includes(route)) t.is(mostBytesOf(route), Infinity, route.path)
})

for (const route of bounded.filter((one) => one.identify !== undefined && one.path !== saml))
  for (const [type, make] of Object.entries(bodies)) {
    if (route.takes !== 'form' && type !== 'application/json') continue
    test(`${route.method} ${route.path} takes no 150,000 fields as ${type}`, async (t) => {
      const { status, text } = await call(route, type, make(150_000))
      t.is(status, 413, text)
      t.is(JSON.parse(text).error.code, 'payload_too_large')
      t.regex(text, /larger than 65536 bytes, the most that this route takes/)
      t.not((await call(route, type, make(100))).status, 413)
    })
  }
