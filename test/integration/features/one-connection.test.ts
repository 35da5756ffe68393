import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { wholePath } from '../../../src/app/route.ts'
import { makeLink } from '../../../src/features/sessions/index.ts'
import { setPassword } from '../../../src/features/auth/passwords.ts'
import { features } from '../../../src/features/index.ts'
import { endsWithin } from '../../../src/lib/ends-within.ts'
import { authenticatorApp } from '../../support/factors.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { openBrowser, publicUrl } from '../../support/oidc/browser.ts'
import { startFaultyIssuer, type FaultyIssuer } from '../../support/oidc/faulty-issuer.ts'
import { createAuthenticator, type PasskeyOptions } from '../../support/passkeys.ts'
import { addPerson, signIn, type Browser, type TestPerson } from '../../support/people.ts'
import { openSamlBrowser } from '../../support/saml/browser.ts'
import { craft, makeIdp, requestIn, type CraftedIdp } from '../../support/saml/crafted.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/**
 * A request that takes a second connection while it holds one waits for itself when the pool has no other: then as many requests at a time
 * as the pool is large stop the process. With a pool of one a single request shows it.
 */
let control: Control
let issuer: FaultyIssuer
let idp: CraftedIdp
let tenant: Tenant
let beside: Tenant
let owner: TestPerson

const password = 'a long enough sentence'

test.before(async () => {
  issuer = await startFaultyIssuer()
  idp = await makeIdp('https://idp.example')
  const domains = 'own=own.example,shared=shared.example'
  control = await startControl({}, { DB_POOL_SIZE: '1', PUBLIC_URL: publicUrl, ORGANISATION_DOMAINS: domains })
  tenant = await control.createTenant('own')
  beside = await control.createTenant('shared')
  owner = await newPerson('owner')
})
test.after.always(async () => {
  await control?.close()
  issuer?.close()
})

const deps = () => control.started.deps

async function newPerson(role: TestPerson['role'] = 'member'): Promise<TestPerson> {
  const person = await addPerson({ deps: deps() }, { organisationId: tenant.organisationId, role })
  await inTenant(deps().orm, person.organisationId, (em) => setPassword(em, deps(), { user: person, password, keeps: null }))
  return person
}

const signedIn = async (person = owner): Promise<Browser> => signIn({ deps: deps() }, person)

interface Asking {
  readonly method: string
  readonly path: string
  readonly browser?: Browser
  readonly body?: unknown
}

const ask = ({ method, path, browser, body }: Asking): Promise<RawAnswer> =>
  send(`${control.origin}${path}`, {
    method,
    headers: {
      origin: publicUrl,
      ...(browser !== undefined && { cookie: browser.cookie, 'x-csrf-token': browser.csrf }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const linkFor = (purpose: 'password' | 'setup', { id: userId, organisationId }: TestPerson): Promise<string> =>
  inTenant(deps().orm, organisationId, async (em) => {
    const { url } = await makeLink(em, deps(), { organisationId, userId, purpose })
    return url.split('#token=')[1] ?? ''
  })

const provider = (domain: string) => ({
  type: 'oidc',
  issuer: issuer.issuer,
  client_id: 'gatehouse',
  client_secret: 'a secret',
  domains: [domain],
  auto_provision: true,
})

const sso = '/v1/admin/organisation/sso'

/** Both organisations have the provider, so that facts about one hold for the other too. */
async function withProvider(): Promise<void> {
  for (const [{ adminKey }, domain] of [
    [tenant, 'own.example'],
    [beside, 'shared.example'],
  ] as const)
    await control.call(adminKey, 'PUT', '/admin/organisation/sso', provider(domain))
}

/** Now the organisation signs in by SAML. */
async function withSaml(): Promise<void> {
  const settings = { type: 'saml', metadata_xml: idp.metadata(), domains: ['own.example'], auto_provision: true }
  await control.call(tenant.adminKey, 'PUT', '/admin/organisation/sso', settings)
}

async function fromProvider(organisation = 'own'): Promise<Browser> {
  issuer.person = { sub: 'ana', email: `ana@${organisation}.example`, email_verified: true }
  const browser = openBrowser(control.origin)
  const { status, text } = await browser.signIn(`/auth/oidc/${organisation}/login`)
  if (status !== 303) throw new Error(text)
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const me = await send(`${control.origin}/auth/me`, { headers: { cookie } })
  return { sessionId: '', cookie, csrf: (JSON.parse(me.text) as { csrf_token: string }).csrf_token }
}

const seconds = () => Math.floor(Date.now() / 1000)
const logoutToken = () =>
  issuer.sign({
    iss: issuer.issuer,
    aud: 'gatehouse',
    iat: seconds(),
    exp: seconds() + 120,
    jti: randomUUID(),
    sub: 'ana',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  })

async function beginTotp() {
  const person = await newPerson()
  const browser = await signedIn(person)
  return { person, browser, answer: await ask({ method: 'POST', path: '/auth/totp', browser, body: { current_password: password } }) }
}

async function confirmedTotp() {
  const { person, browser, answer: begun } = await beginTotp()
  const { secret } = JSON.parse(begun.text) as { secret: string }
  const body = { code: authenticatorApp(secret)(Date.now()) }
  return { person, answer: await ask({ method: 'POST', path: '/auth/totp/confirm', browser, body }) }
}

async function withPasskey() {
  const person = await newPerson()
  const browser = await signedIn(person)
  const authenticator = createAuthenticator(publicUrl)
  const begun = await ask({ method: 'POST', path: '/auth/passkeys/register/options', browser, body: { current_password: password } })
  const body = { passkey: authenticator.create(JSON.parse(begun.text) as PasskeyOptions) }
  const answer = await ask({ method: 'POST', path: '/auth/passkeys/register/verify', browser, body })
  const { passkey } = JSON.parse(answer.text) as { passkey: { id: string } }
  return { person, authenticator, passkey, answer }
}

/** How each route is asked so that its handler has all to do that it may have. */
const asked: Readonly<Record<string, () => Promise<RawAnswer>>> = {
  'GET /auth/login': async () => (await withProvider(), ask({ method: 'GET', path: '/auth/login?email=ana@own.example' })),
  'POST /auth/login': () => ask({ method: 'POST', path: '/auth/login', body: { email: owner.email, password } }),
  'POST /auth/logout': async () => {
    await withProvider()
    return ask({ method: 'POST', path: '/auth/logout', browser: await fromProvider() })
  },
  'GET /auth/me': async () => ask({ method: 'GET', path: '/auth/me', browser: await signedIn() }),
  'GET /auth/me/preferences': async () => ask({ method: 'GET', path: '/auth/me/preferences', browser: await signedIn() }),
  'PUT /auth/me/preferences': async () =>
    ask({ method: 'PUT', path: '/auth/me/preferences', browser: await signedIn(), body: { preferences: { theme: 'dark' } } }),
  'GET /auth/sessions': async () => ask({ method: 'GET', path: '/auth/sessions', browser: await signedIn() }),
  'DELETE /auth/sessions': async () => ask({ method: 'DELETE', path: '/auth/sessions', browser: await signedIn() }),
  'DELETE /auth/sessions/:sessionId': async () => {
    const [browser, other] = [await signedIn(), await signedIn()]
    return ask({ method: 'DELETE', path: `/auth/sessions/${other.sessionId}`, browser })
  },
  'POST /auth/password': async () =>
    ask({
      method: 'POST',
      path: '/auth/password',
      browser: await signedIn(await newPerson()),
      body: { current_password: password, password: 'another long sentence' },
    }),
  'PUT /auth/password': async () => {
    const token = await linkFor('password', await newPerson())
    return ask({ method: 'PUT', path: '/auth/password', body: { token, password: 'another long sentence' } })
  },
  'POST /auth/password/reset': () => ask({ method: 'POST', path: '/auth/password/reset', body: { email: 'a@example.com' } }),
  'GET /auth/setup': () => ask({ method: 'GET', path: '/auth/setup' }),
  'POST /auth/setup': async () => {
    const person = await newPerson('owner')
    const token = await linkFor('setup', person)
    return ask({ method: 'POST', path: '/auth/setup', body: { token, email: person.email, password } })
  },
  'POST /auth/totp': async () => (await beginTotp()).answer,
  'POST /auth/totp/confirm': async () => (await confirmedTotp()).answer,
  'DELETE /auth/totp': async () => {
    const { person } = await confirmedTotp()
    return ask({ method: 'DELETE', path: '/auth/totp', browser: await signedIn(person), body: { current_password: password } })
  },
  'POST /auth/recovery-codes': async () => {
    const { person } = await confirmedTotp()
    return ask({ method: 'POST', path: '/auth/recovery-codes', browser: await signedIn(person), body: { current_password: password } })
  },
  'GET /auth/passkeys': async () => ask({ method: 'GET', path: '/auth/passkeys', browser: await signedIn() }),
  'POST /auth/passkeys/register/options': async () => {
    const body = { current_password: password }
    return ask({ method: 'POST', path: '/auth/passkeys/register/options', browser: await signedIn(await newPerson()), body })
  },
  'POST /auth/passkeys/register/verify': async () => (await withPasskey()).answer,
  'PUT /auth/passkeys/:passkeyId': async () => {
    const { person, passkey } = await withPasskey()
    return ask({ method: 'PUT', path: `/auth/passkeys/${passkey.id}`, browser: await signedIn(person), body: { name: 'Phone' } })
  },
  'DELETE /auth/passkeys/:passkeyId': async () => {
    const { person, passkey } = await withPasskey()
    const body = { current_password: password }
    return ask({ method: 'DELETE', path: `/auth/passkeys/${passkey.id}`, browser: await signedIn(person), body })
  },
  'POST /auth/passkeys/login/options': () => ask({ method: 'POST', path: '/auth/passkeys/login/options', body: {} }),
  'POST /auth/passkeys/login/verify': async () => {
    const { authenticator } = await withPasskey()
    const asking = await ask({ method: 'POST', path: '/auth/passkeys/login/options', body: {} })
    const cookie = asking.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const passkey = authenticator.get(JSON.parse(asking.text) as PasskeyOptions)
    return ask({ method: 'POST', path: '/auth/passkeys/login/verify', browser: { sessionId: '', cookie, csrf: '' }, body: { passkey } })
  },
  'GET /auth/oidc/:organisation/login': async () => (await withProvider(), ask({ method: 'GET', path: '/auth/oidc/own/login' })),
  'GET /auth/oidc/callback': async () => {
    await withProvider()
    await control.sql.query("UPDATE identity_providers SET settings = settings - 'callback'")
    issuer.person = { sub: 'bob', email: 'bob@own.example', email_verified: true }
    return openBrowser(control.origin).signIn('/auth/oidc/own/login')
  },
  'GET /auth/oidc/:organisation/callback': async () => {
    await withProvider()
    issuer.person = { sub: 'bea', email: 'bea@own.example', email_verified: true }
    return openBrowser(control.origin).signIn('/auth/oidc/own/login')
  },
  'POST /auth/oidc/backchannel-logout': async () => {
    await withProvider()
    const browsers = [await fromProvider('own'), await fromProvider('shared')]
    const answer = await ask({ method: 'POST', path: '/auth/oidc/backchannel-logout', body: { logout_token: logoutToken() } })
    for (const browser of browsers)
      if ((await ask({ method: 'GET', path: '/auth/me', browser })).status !== 401) throw new Error('a session goes on')
    return answer
  },
  'GET /auth/saml/:organisation/login': async () => (await withSaml(), ask({ method: 'GET', path: '/auth/saml/own/login' })),
  'POST /auth/saml/:organisation/acs': async () => {
    await withSaml()
    const browser = openSamlBrowser(control.origin)
    const { id: inResponseTo } = requestIn(await browser.leave('/auth/saml/own/login'))
    const entityId = `${publicUrl}/auth/saml/own/metadata`
    const acsUrl = `${publicUrl}/auth/saml/own/acs`
    const attributes = { email: ['cyd@own.example'] }
    return browser.post('/auth/saml/own/acs', { SAMLResponse: await craft({ idp, acsUrl, entityId, inResponseTo, attributes }) })
  },
  'GET /auth/saml/:organisation/metadata': async () => (await withSaml(), ask({ method: 'GET', path: '/auth/saml/own/metadata' })),
  [`GET ${sso}`]: async () => ask({ method: 'GET', path: sso, browser: await signedIn() }),
  [`PUT ${sso}`]: async () => ask({ method: 'PUT', path: sso, browser: await signedIn(), body: provider('own.example') }),
  [`POST ${sso}/test-sign-ins`]: async () => (
    await withProvider(),
    ask({ method: 'POST', path: `${sso}/test-sign-ins`, browser: await signedIn() })
  ),
  [`GET ${sso}/test-sign-ins/:testSignInId`]: async () => {
    await withProvider()
    const { id } = (await control.call(tenant.adminKey, 'POST', '/admin/organisation/sso/test-sign-ins')).body
    return ask({ method: 'GET', path: `${sso}/test-sign-ins/${String(id)}`, browser: await signedIn() })
  },
  [`POST ${sso}/test`]: async () => (await withProvider(), ask({ method: 'POST', path: `${sso}/test`, browser: await signedIn() })),
}

/** Answers that are no 200: this one sends no mail. */
const otherwise: Readonly<Record<string, number>> = {
  'POST /auth/password/reset': 400,
  'GET /auth/oidc/:organisation/login': 303,
  'GET /auth/oidc/callback': 303,
  'GET /auth/oidc/:organisation/callback': 303,
  'GET /auth/saml/:organisation/login': 303,
  'POST /auth/saml/:organisation/acs': 303,
}

const routes = features
  .flatMap((feature) => feature.routes)
  .map((route) => ({ method: route.method, path: wholePath(route) }))
  .filter(({ path }) => path.startsWith('/auth/') || path.startsWith(sso))
  .map(({ method, path }) => `${method} ${path}`)

const longestMs = 10_000

async function answersSoon(t: ExecutionContext, name: string): Promise<void> {
  const request = asked[name]
  if (request === undefined) return t.fail(`say how ${name} is asked`)
  const got: RawAnswer[] = []
  const ended = await endsWithin(
    longestMs,
    request().then((answer) => void got.push(answer)),
  )
  t.true(ended, `${name} waits for a connection that it holds itself`)
  t.is(got[0]?.status, otherwise[name] ?? 200, got[0]?.text)
}

for (const name of routes) test.serial(`${name} needs one connection`, answersSoon, name)

test.serial('a test sign-in needs one connection, though it does all that a sign-in would and undoes it', async (t) => {
  await withProvider()
  const { body } = await control.call(tenant.adminKey, 'POST', '/admin/organisation/sso/test-sign-ins')
  issuer.person = { sub: 'ana', email: 'ana@own.example', email_verified: true }
  const { pathname, search } = new URL(String(body['url']))
  const { status, text } = await openBrowser(control.origin).signIn(pathname + search)
  t.is(status, 200, text)
  t.like(JSON.parse(text), { test_sign_in: { outcome: { ok: true } } })
})
