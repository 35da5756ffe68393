import test, { type ExecutionContext } from 'ava'
import { errorOf } from '../../support/caller.ts'
import { eventually } from '../../support/eventually.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { keysOfItsOwn, startFaultyIssuer, type Fault, type FaultyIssuer } from '../../support/oidc/faulty-issuer.ts'
import { openBrowser, publicUrl } from '../../support/oidc/browser.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let issuer: FaultyIssuer
let other: FaultyIssuer
let own: Tenant
let theirs: Tenant
let now = Date.now()

const login = '/auth/oidc/own/login'
const person = { sub: 'ada', email: 'ada@own.example', email_verified: true }

const settings = (of: FaultyIssuer, domain: string) => ({
  type: 'oidc',
  issuer: of.issuer,
  client_id: 'gatehouse',
  client_secret: 'a secret',
  domains: [domain],
  auto_provision: true,
})

test.before(async () => {
  ;[issuer, other] = await Promise.all([startFaultyIssuer(), startFaultyIssuer()])
  control = await startControl(
    { clock: { now: () => now } },
    { PUBLIC_URL: publicUrl, ORGANISATION_DOMAINS: 'own=own.example,theirs=theirs.example' },
  )
  own = await control.createTenant('own')
  theirs = await control.createTenant('theirs')
  await control.call(theirs.adminKey, 'PUT', '/admin/organisation/sso', settings(other, 'theirs.example'))
})
test.after.always(async () => {
  await control?.close()
  for (const one of [issuer, other]) one?.close()
})
test.beforeEach(async () => {
  now = Date.now()
  issuer.fault = {}
  other.fault = {}
  issuer.person = person
  other.person = person
  // A change throws away discovered data.
  await control.call(own.adminKey, 'PUT', '/admin/organisation/sso', settings(issuer, 'own.example'))
})

async function signIn(fault: Fault): Promise<{ answer: RawAnswer; isIn: boolean }> {
  issuer.fault = fault
  const browser = openBrowser(control.origin)
  const answer = await browser.signIn(login)
  return { answer, isIn: browser.cookies.has('__Host-gatehouse') }
}

const sessions = async (): Promise<number> => (await control.sql.query('SELECT 1 FROM sessions')).rows.length

function refused(
  t: ExecutionContext,
  { answer, isIn }: Awaited<ReturnType<typeof signIn>>,
  [status, code]: readonly [number, string],
): void {
  t.is(answer.status, status, answer.text)
  t.is(errorOf(answer).code, code)
  t.false(isIn)
}

test.serial('an issuer without a fault lets somebody in', async (t) => {
  const { answer, isIn } = await signIn({})
  t.is(answer.status, 303, answer.text)
  t.true(isIn)
})

const seconds = () => Math.floor(Date.now() / 1000)
const unverified = [401, 'AB05'] as const
const broken = [502, 'upstream_bad_response'] as const

const faults: Readonly<Record<string, readonly [() => Fault, readonly [number, string]]>> = {
  'an ID token of another issuer': [() => ({ claims: { iss: other.issuer } }), unverified],
  'an ID token without an issuer': [() => ({ claims: { iss: undefined } }), unverified],
  'an ID token without a subject': [() => ({ claims: { sub: undefined } }), unverified],
  'an ID token for another client': [() => ({ claims: { aud: 'another' } }), unverified],
  'an ID token for several clients that was made for another one': [
    () => ({ claims: { aud: ['gatehouse', 'another'], azp: 'another' } }),
    unverified,
  ],
  'another nonce': [() => ({ claims: { nonce: 'another' } }), unverified],
  'no nonce': [() => ({ claims: { nonce: undefined } }), unverified],
  'an ID token that has expired': [() => ({ claims: { iat: seconds() - 900, exp: seconds() - 600 } }), unverified],
  'an ID token that does not say when it expires': [() => ({ claims: { exp: undefined } }), unverified],
  'an ID token that is not good yet': [() => ({ claims: { nbf: seconds() + 600 } }), unverified],
  'an ID token without a signature': [() => ({ header: { alg: 'none', kid: null } }), unverified],
  'an ID token without a signature, where the issuer says that it does so': [
    () => ({ header: { alg: 'none', kid: null }, discovery: { id_token_signing_alg_values_supported: ['none', 'RS256'] } }),
    unverified,
  ],
  'an ID token that is signed with the public key as a secret': [
    () => ({ header: { alg: 'HS256', kid: 'RS256' }, discovery: { id_token_signing_alg_values_supported: ['HS256', 'RS256'] } }),
    unverified,
  ],
  'an ID token of a key that nobody knows': [() => ({ header: { kid: 'unknown' } }), unverified],
  'an ID token that somebody else has signed': [() => ({ forged: true }), unverified],
  'an ID token that names keys of its own': [() => ({ forged: true, header: keysOfItsOwn(other) }), unverified],
  'an algorithm that the issuer does not name': [() => ({ header: { alg: 'EdDSA', kid: 'EdDSA' } }), unverified],
  'another state': [() => ({ answer: { state: 'another' } }), unverified],
  'an answer that names another issuer': [() => ({ answer: { iss: other.issuer } }), unverified],
  'an answer that names no issuer': [() => ({ answer: { iss: undefined } }), unverified],
  'an answer without a code': [() => ({ answer: { code: undefined } }), unverified],
  'a code of nobody': [() => ({ answer: { code: 'unknown' } }), unverified],
  'a refusal': [() => ({ answer: { code: undefined, error: 'access_denied', error_description: '<script>' } }), [403, 'AB03']],
  'an answer without an ID token': [
    () => ({ token: { status: 200, body: JSON.stringify({ access_token: 'a', token_type: 'Bearer' }) } }),
    unverified,
  ],
  'a token endpoint that refuses the client': [
    () => ({ token: { status: 401, body: '{"error":"invalid_client"}' } }),
    [502, 'credential_failed'],
  ],
  'a token endpoint that fails': [() => ({ token: { status: 500, body: 'oh no' } }), broken],
  'a token endpoint that answers no JSON': [() => ({ token: { status: 200, body: '<html>' } }), broken],
}

for (const [name, [fault, expected]] of Object.entries(faults))
  test.serial(`nobody comes in by ${name}`, async (t) => {
    const before = await sessions()
    const strangers = other.asked.length
    const outcome = await signIn(fault())
    t.is(other.asked.length, strangers, 'where a header leads nobody goes')
    refused(t, outcome, expected)
    t.false(outcome.answer.text.includes('<script>'))
    t.is(await sessions(), before)
  })

for (const [accept, isPage] of [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['application/json, text/html;q=0.5', false],
  ['*/*', false],
] as const)
  test.serial(`a sign-in that fails is ${isPage ? 'a page' : 'JSON'} to whoever accepts ${accept}`, async (t) => {
    issuer.fault = { answer: { code: undefined, error: 'access_denied', error_description: '<script>' } }
    const browser = openBrowser(control.origin)
    const { pathname, search } = new URL(await browser.leave(login))
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await send(`${control.origin}${pathname}${search}`, { headers: { accept, cookie } })
    t.is(answer.status, 403, answer.text)
    t.regex(String(answer.headers['content-type']), isPage ? /^text\/html/ : /^application\/json/)
    t.regex(String(answer.headers.vary), /accept/i)
    t.is(answer.headers['x-content-type-options'], 'nosniff')
    if (!isPage) {
      t.is(errorOf(answer).code, 'AB03')
      return
    }
    t.regex(String(answer.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
    t.notRegex(answer.text, /<script|<style|\son\w+=|style=/)
    t.regex(answer.text, /role="alert">.+<\/p>[\s\S]*href="\/console\/sign-in"/)
    t.regex(answer.text, /AB03, request [0-9a-f-]{36}/)
  })

test.serial('a discovery document that names another issuer sends nobody on', async (t) => {
  issuer.fault = { discovery: { issuer: other.issuer } }
  const answer = await openBrowser(control.origin).visit(`${publicUrl}${login}`)
  t.is(answer.status, 502, answer.text)
  t.is(answer.headers.location, undefined)
})

test.serial('the way back serves once, also where the issuer takes a code twice', async (t) => {
  const browser = openBrowser(control.origin)
  const back = await browser.leave(login)
  t.is((await browser.visit(back)).status, 303)
  const again = await browser.visit(back)
  t.is(again.status, 401, again.text)
  t.regex(errorOf(again).message, /has been used/)
})

test.serial('of many that come back with one state at once one is let in', async (t) => {
  const browser = openBrowser(control.origin)
  const back = await browser.leave(login)
  const answers = await Promise.all(Array.from({ length: 6 }, () => browser.visit(back)))
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [303, 401, 401, 401, 401, 401],
  )
})

test.serial('a sign-in that somebody else began is not gone on with', async (t) => {
  const [attacker, victim] = [openBrowser(control.origin), openBrowser(control.origin)]
  const back = await attacker.leave(login)
  const without = await victim.visit(back)
  t.is(without.status, 401, without.text)
  await victim.leave(login)
  const withOwn = await victim.visit(back)
  t.is(withOwn.status, 401, withOwn.text)
  t.false(victim.cookies.has('__Host-gatehouse'))
})

test.serial('a code of one sign-in does not serve another one of the same browser', async (t) => {
  const browser = openBrowser(control.origin)
  const [one, two] = [new URL(await browser.leave(login)), new URL(await browser.leave(login))]
  one.searchParams.set('code', two.searchParams.get('code') ?? '')
  const answer = await browser.visit(one.href)
  t.is(answer.status, 401, answer.text)
  t.is((await browser.visit(two.href)).status, 303)
})

test.serial('a sign-in that took longer than ten minutes begins again', async (t) => {
  const browser = openBrowser(control.origin)
  const back = await browser.leave(login)
  now += 601_000
  const answer = await browser.visit(back)
  t.is(answer.status, 401, answer.text)
  t.regex(errorOf(answer).message, /ten minutes/)
})

test.serial('a state that was changed is refused before anybody is asked', async (t) => {
  const browser = openBrowser(control.origin)
  const back = new URL(await browser.leave(login))
  const state = back.searchParams.get('state') ?? ''
  const [payload = '', seal = ''] = state.split('.')
  const content = JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown[]
  const moved = (at: number, value: unknown) => Buffer.from(JSON.stringify(content.with(at, value))).toString('base64url')
  const asked = issuer.asked.length
  const states = [
    `${moved(0, theirs.organisationId)}.${seal}`,
    `${moved(2, 'https://evil.example')}.${seal}`,
    `${moved(3, Date.now() + 1e9)}.${seal}`,
    payload,
    `${payload}.`,
    `${state}.${seal}`,
    'x',
    '%00',
  ]
  for (const one of states) {
    back.searchParams.set('state', one)
    const answer = await browser.visit(back.href)
    t.is(answer.status, 401, answer.text)
  }
  back.searchParams.delete('state')
  t.is((await browser.visit(back.href)).status, 400)
  t.is(issuer.asked.length, asked)
})

test.serial('an issuer of another organisation vouches for nobody here: mix-up', async (t) => {
  const browser = openBrowser(control.origin)
  const [mine, other_] = [new URL(await browser.leave(login)), new URL(await browser.leave('/auth/oidc/theirs/login'))]
  const asked = other.asked.length
  // The attacker's issuer answers for a sign-in that went to ours.
  for (const name of ['code', 'iss']) mine.searchParams.set(name, other_.searchParams.get(name) ?? '')
  const answer = await browser.visit(mine.href)
  t.is(answer.status, 401, answer.text)
  mine.searchParams.set('iss', issuer.issuer)
  const disguised = await browser.visit(mine.href)
  t.is(disguised.status, 401, disguised.text)
  t.is(other.asked.length, asked)
})

const sso = '/admin/organisation/sso'
const locationOf = ({ headers }: RawAnswer): URL => new URL(headers.location ?? '')

/** A provider that names the issuer of `own`, and sends people and codes to the attacker. */
const disguised = () => ({
  ...settings(issuer, 'theirs.example'),
  authorization_endpoint: `${other.issuer}/authorize`,
  token_endpoint: `${other.issuer}/token`,
  jwks_uri: `http://${issuer.keysHost}/keys`,
})

/** A provider as versions stored it that had one callback for all. */
const storeAsBefore = (organisationId: string) =>
  control.sql.query("UPDATE identity_providers SET settings = settings - 'callback' WHERE organisation_id = $1", [organisationId])

const mixUps: Readonly<Record<string, { readonly prepare: () => Promise<unknown>; readonly callback: string }>> = {
  'each has a callback': { prepare: async () => {}, callback: '/auth/oidc/own/callback' },
  'the provider of the victims has the shared callback': {
    prepare: () => storeAsBefore(own.organisationId),
    callback: '/auth/oidc/callback',
  },
  'both had the shared callback before the attacker changed theirs': {
    prepare: async () => {
      await control.call(theirs.adminKey, 'PUT', sso, settings(other, 'theirs.example'))
      await Promise.all([own, theirs].map(({ organisationId }) => storeAsBefore(organisationId)))
    },
    callback: '/auth/oidc/callback',
  },
}

for (const [name, { prepare, callback }] of Object.entries(mixUps))
  test.serial(`no code of our people goes to an organisation that claims their issuer: ${name}`, async (t) => {
    await prepare()
    t.is((await control.call(theirs.adminKey, 'PUT', sso, disguised())).status, 200)
    t.teardown(() => control.call(theirs.adminKey, 'PUT', sso, settings(other, 'theirs.example')))
    const [attacker, victim] = [openBrowser(control.origin), openBrowser(control.origin)]
    const begun = locationOf(await attacker.visit(`${publicUrl}${login}`))
    t.is(begun.searchParams.get('redirect_uri'), `${publicUrl}${callback}`)
    const lured = locationOf(await victim.visit(`${publicUrl}/auth/oidc/theirs/login`))
    t.is(lured.origin, other.issuer)
    t.is(lured.searchParams.get('redirect_uri'), `${publicUrl}/auth/oidc/theirs/callback`)
    const asked = other.asked.length
    for (const redirectUri of [`${publicUrl}/auth/oidc/callback`, `${publicUrl}/auth/oidc/own/callback`]) {
      const on = new URL(begun.href)
      on.searchParams.set('state', lured.searchParams.get('state') ?? '')
      on.searchParams.set('redirect_uri', redirectUri)
      const answer = await victim.visit(locationOf(await victim.visit(on.href)).href)
      t.is(answer.status, 401, answer.text)
      t.is(errorOf(answer).param, 'state')
    }
    t.is(other.asked.length, asked, 'no code has reached the attacker')
  })

test.serial('a provider keeps the callback with which it was stored until it is another one, or an administrator changes it', async (t) => {
  await storeAsBefore(own.organisationId)
  const set = async (more: Readonly<Record<string, unknown>>) => {
    const { status, body, text } = await control.call(own.adminKey, 'PUT', sso, { ...settings(issuer, 'own.example'), ...more })
    return status === 200 ? body['callback'] : `${status} ${text}`
  }
  const shared = await control.call(own.adminKey, 'GET', sso)
  t.is(shared.body['redirect_uri'], `${publicUrl}/auth/oidc/callback`)
  t.is(await set({ name: 'Another name', client_secret: 'another secret' }), 'shared')
  t.is((await signIn({})).answer.status, 303)
  t.is(await set({ callback: 'organisation' }), 'organisation')
  t.is((await signIn({})).answer.status, 303)
  t.is(await set({}), 'organisation')
  t.regex(String(await set({ callback: 'shared' })), /^400 .*"param":"callback"/)
  for (const change of [{ client_id: 'another' }, { issuer: other.issuer }, { userinfo_endpoint: `${issuer.issuer}/userinfo` }]) {
    await set({})
    await storeAsBefore(own.organisationId)
    t.is(await set(change), 'organisation', JSON.stringify(change))
  }
  t.regex(String(await set({ callback: 'elsewhere' })), /^400 /)
})

test.serial('a callback serves its organisation alone', async (t) => {
  const browser = openBrowser(control.origin)
  const back = new URL(await browser.leave(login))
  for (const path of ['/auth/oidc/theirs/callback', '/auth/oidc/nobody/callback', '/auth/oidc/callback']) {
    const answer = await browser.visit(`${publicUrl}${path}${back.search}`)
    t.is(answer.status, 401, answer.text)
  }
  t.is((await browser.visit(back.href)).status, 303)
})

test.serial('an issuer of another organisation that vouches for our people makes them strangers there', async (t) => {
  t.is((await signIn({})).answer.status, 303)
  other.person = { ...person }
  const answer = await openBrowser(control.origin).signIn('/auth/oidc/theirs/login')
  t.is(answer.status, 403, answer.text)
  t.regex(errorOf(answer).message, /does not own/)
})

test.serial('who is on the way while the provider changes begins again', async (t) => {
  const browser = openBrowser(control.origin)
  const back = await browser.leave(login)
  await control.call(own.adminKey, 'PUT', '/admin/organisation/sso', settings(other, 'own.example'))
  const asked = other.asked.length
  const answer = await browser.visit(back)
  t.is(answer.status, 401, answer.text)
  t.is(other.asked.length, asked)
})

test.serial('verified may be said as a text or a number, in a claim of the choice of the organisation', async (t) => {
  for (const [at, said] of ['true', 'True', 1, '1', true].entries()) {
    issuer.person = { sub: `sub ${at}`, email: `person-${at}@own.example`, xms_edov: said }
    await control.call(own.adminKey, 'PUT', '/admin/organisation/sso', {
      ...settings(issuer, 'own.example'),
      email_verified_claim: 'xms_edov',
    })
    const { answer } = await signIn({})
    t.is(answer.status, 303, `${said}: ${answer.text}`)
  }
  for (const said of ['false', 0, 'yes', null, {}, [true]]) {
    issuer.person = { sub: 'another', email: 'another@own.example', xms_edov: said }
    const { answer } = await signIn({})
    t.is(answer.status, 403, JSON.stringify(said))
  }
})

test.serial('a provider that hangs holds up nobody but those who sign in by it', async (t) => {
  const hanging = await startFaultyIssuer()
  t.teardown(() => hanging.close())
  hanging.person = person
  hanging.fault = { hangs: true }
  await control.call(own.adminKey, 'PUT', '/admin/organisation/sso', settings(hanging, 'own.example'))
  // More than there are connections to the database.
  const browsers = Array.from({ length: 12 }, () => openBrowser(control.origin))
  const waiting = await Promise.all(browsers.map(async (browser) => [browser, await browser.leave(login)] as const))
  const arriving = waiting.map(([browser, back]) => browser.visit(back))
  await eventually(async () => hanging.asked.filter((one) => one === 'POST /token').length === browsers.length, 10_000, 'all who wait')
  const answer = await control.call(own.adminKey, 'GET', '/admin/organisation/sso')
  t.is(answer.status, 200, answer.text)
  hanging.close()
  for (const { status, text } of await Promise.all(arriving)) t.is(status, 502, text)
})

test.serial('a provider that nobody can look up now can be set; nobody is sent there', async (t) => {
  const saved = await control.call(own.adminKey, 'PUT', '/admin/organisation/sso', {
    ...settings(issuer, 'own.example'),
    issuer: 'https://login.invalid/oidc',
  })
  t.is(saved.status, 200, saved.text)
  const answer = await openBrowser(control.origin).visit(`${publicUrl}${login}`)
  t.is(answer.status, 502, answer.text)
})

test.serial('a sign-in asks the issuer of the organisation once for each thing, and no other issuer', async (t) => {
  const before = [issuer.asked.length, other.asked.length]
  t.is((await signIn({})).answer.status, 303)
  t.deepEqual(issuer.asked.slice(before[0] ?? 0), ['GET /.well-known/openid-configuration', 'GET /authorize', 'POST /token'])
  t.is(other.asked.length, before[1] ?? 0)
})

test.serial('PKCE: every journey has a verifier of its own, which the issuer sees after its S256 challenge', async (t) => {
  const { headers } = await send(`${control.origin}${login}`)
  const asked = new URL(headers.location ?? '').searchParams
  t.is(asked.get('code_challenge_method'), 'S256')
  t.is(Buffer.from(asked.get('code_challenge') ?? '', 'base64url').length, 32)
  const [before, browser, journeys] = [issuer.verifiers.length, openBrowser(control.origin), 3]
  for (let journey = 0; journey < journeys; journey += 1) t.is((await browser.signIn(login)).status, 303)
  const shown = issuer.verifiers.slice(before)
  // RFC 7636, 4.1.
  for (const verifier of shown) t.regex(verifier, /^[\w.~-]{43,128}$/)
  t.is(new Set(shown).size, journeys)
})

test.serial('a test of the settings tells the URL that was asked, and what it answered', async (t) => {
  const nowhere = { ...settings(issuer, 'own.example'), issuer: `${issuer.issuer}/nowhere` }
  t.is((await control.call(own.adminKey, 'PUT', '/admin/organisation/sso', nowhere)).status, 200)
  const { body } = await control.call(own.adminKey, 'POST', '/admin/organisation/sso/test', {})
  t.false(body['ok'])
  const [step] = body['steps'] as readonly { readonly detail: string }[]
  t.regex(step?.detail ?? '', /Asked was \S+\/nowhere\/\.well-known\/openid-configuration, which answered 404\.$/)
})
