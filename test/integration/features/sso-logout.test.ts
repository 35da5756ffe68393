import { randomUUID } from 'node:crypto'
import test from 'ava'
import { errorOf } from '../../support/caller.ts'
import { eventually } from '../../support/eventually.ts'
import { send, type RawAnswer } from '../../support/http.ts'
import { openBrowser, publicUrl, type SsoBrowser } from '../../support/oidc/browser.ts'
import { keysOfItsOwn, startFaultyIssuer, type FaultyIssuer } from '../../support/oidc/faulty-issuer.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let issuer: FaultyIssuer
/** The one of the settings: it has no discovery document. */
let plain: FaultyIssuer
/** The organisation of the settings. */
let first: string
let own: Tenant
let shared: Tenant
let now = Date.now()

const path = '/admin/organisation/sso'
const settings = (domain: string, more = {}) => ({
  type: 'oidc',
  issuer: issuer.issuer,
  client_id: 'gatehouse',
  client_secret: 'a secret',
  domains: [domain],
  auto_provision: true,
  ...more,
})

test.before(async () => {
  issuer = await startFaultyIssuer()
  plain = await startFaultyIssuer()
  const jwksUri = await keysOf(plain)
  plain.fault = { description: { status: 404, body: '{}' } }
  control = await startControl(
    { clock: { now: () => now } },
    {
      PUBLIC_URL: publicUrl,
      ORGANISATION_DOMAINS: 'own=own.example,shared=shared.example,rogue=rogue.example',
      OIDC_ISSUER: plain.issuer,
      OIDC_CLIENT_ID: 'gatehouse',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_DOMAINS: 'first.example',
      OIDC_AUTO_PROVISION: 'ON',
      OIDC_AUTHORIZATION_ENDPOINT: `${plain.issuer}/authorize`,
      OIDC_TOKEN_ENDPOINT: `${plain.issuer}/token`,
      OIDC_JWKS_URI: jwksUri,
      OIDC_END_SESSION_ENDPOINT: `${plain.issuer}/signed-out`,
      OIDC_POST_LOGOUT_REDIRECT_URI: `${publicUrl}/signed-out`,
    },
  )
  const { rows } = await control.sql.query<{ slug: string }>('SELECT slug FROM organisations ORDER BY created_at LIMIT 1')
  first = rows[0]?.slug ?? ''
  own = await control.createTenant('own')
  shared = await control.createTenant('shared')
  await control.call(own.adminKey, 'PUT', path, settings('own.example'))
  await control.call(shared.adminKey, 'PUT', path, settings('shared.example'))
})
test.after.always(async () => {
  await control?.close()
  issuer?.close()
  plain?.close()
})
test.beforeEach(() => {
  now = Date.now()
})

async function keysOf({ issuer: url }: FaultyIssuer): Promise<string> {
  const answer = await fetch(`${url}/.well-known/openid-configuration`)
  return ((await answer.json()) as { jwks_uri: string }).jwks_uri
}

async function comeIn(sub: string, { organisation = 'own', sid = undefined as string | undefined } = {}): Promise<SsoBrowser> {
  issuer.person = { sub, sid, email: `${sub}@${organisation}.example`, email_verified: true }
  plain.person = { sub, sid, email: `${sub}@first.example`, email_verified: true }
  const browser = openBrowser(control.origin)
  const answer = await browser.signIn(`/auth/oidc/${organisation}/login`)
  if (answer.status !== 303) throw new Error(answer.text)
  return browser
}

const ask = (
  { cookies }: SsoBrowser,
  target: string,
  more: { method?: string; headers?: Record<string, string> } = {},
): Promise<RawAnswer> => {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return send(`${control.origin}${target}`, {
    method: more.method ?? 'GET',
    headers: { cookie, 'sec-fetch-site': 'same-origin', ...more.headers },
  })
}

const isIn = async (browser: SsoBrowser): Promise<boolean> => (await ask(browser, '/auth/me')).status === 200

const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const seconds = () => Math.floor(now / 1000)
const claimsOf = (more: Readonly<Record<string, unknown>>) => ({
  iss: issuer.issuer,
  aud: 'gatehouse',
  iat: seconds(),
  exp: seconds() + 120,
  jti: randomUUID(),
  events: event,
  ...more,
})

const tell = (logout_token: string): Promise<RawAnswer> =>
  send(`${control.origin}/auth/oidc/backchannel-logout`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ logout_token }).toString(),
  })

test.serial('a provider ends all sessions of a person, and no others', async (t) => {
  const [one, two, other] = [await comeIn('ada'), await comeIn('ada'), await comeIn('bob')]
  const answer = await tell(issuer.sign(claimsOf({ sub: 'ada' }), { typ: 'logout+jwt' }))
  t.is(answer.status, 200, answer.text)
  t.deepEqual([await isIn(one), await isIn(two), await isIn(other)], [false, false, true])
})

test.serial('a provider ends one session of its own', async (t) => {
  const [one, two] = [await comeIn('cid', { sid: 's-1' }), await comeIn('cid', { sid: 's-2' })]
  t.is((await tell(issuer.sign(claimsOf({ sid: 's-1' })))).status, 200)
  t.deepEqual([await isIn(one), await isIn(two)], [false, true])
})

/** The rows of the last sign-out: the person, the organisation, and how many sessions ended. */
async function lastSignOut(): Promise<readonly unknown[]> {
  const { rows } = await control.sql.query(
    `SELECT o.slug, u.email, a.actor_id = a.user_id AS own, jsonb_array_length(a.related) AS ended
       FROM audit_logs a JOIN organisations o ON o.id = a.organisation_id LEFT JOIN users u ON u.id = a.user_id AND u.organisation_id = o.id
      WHERE a.request_id = (SELECT request_id FROM audit_logs WHERE action = 'sign-out' ORDER BY at DESC, seq DESC LIMIT 1) ORDER BY o.slug`,
  )
  return rows
}

for (const { name, said } of [
  { name: 'by their subject', said: { sub: 'dan' } },
  { name: 'by their session', said: { sid: 'of dan' } },
])
  test.serial(`organisations that share a client hear of it all, each in its trail with the person, ${name}`, async (t) => {
    const sid = 'of dan'
    const [here, there] = [await comeIn('dan', { sid }), await comeIn('dan', { sid, organisation: 'shared' })]
    t.is((await tell(issuer.sign(claimsOf(said)))).status, 200)
    t.deepEqual([await isIn(here), await isIn(there)], [false, false])
    t.deepEqual(await lastSignOut(), [
      { slug: 'own', email: 'dan@own.example', own: true, ended: 1 },
      { slug: 'shared', email: 'dan@shared.example', own: true, ended: 1 },
    ])
  })

const signOuts = async () => (await control.sql.query(`SELECT action, seq FROM audit_logs WHERE action LIKE '%sign-out' ORDER BY id`)).rows

const comeToBoth = async () => [await comeIn('eve'), await comeIn('eve', { organisation: 'shared' })] as const

test.serial('a logout token serves once; one that comes again ends nothing and leaves no row', async (t) => {
  const before = await comeToBoth()
  const token = issuer.sign(claimsOf({ sub: 'eve' }))
  t.is((await tell(token)).status, 200)
  t.deepEqual(await Promise.all(before.map(isIn)), [false, false])
  const [after, rows] = [await comeToBoth(), await signOuts()]
  const again = await tell(token)
  t.is(again.status, 400, again.text)
  t.regex(errorOf(again).message, /has been used/)
  t.deepEqual(await Promise.all(after.map(isIn)), [true, true])
  t.deepEqual(await signOuts(), rows)
})

test.serial('a logout token that ends no session is in the trail of one organisation, as what was heard', async (t) => {
  await comeIn('flo', { sid: 'of flo' })
  await comeIn('flo', { sid: 'of flo', organisation: 'shared' })
  t.is((await tell(issuer.sign(claimsOf({ sub: 'flo' })))).status, 200)
  const rows = await signOuts()
  t.is((await tell(issuer.sign(claimsOf({ sub: 'flo' })))).status, 200)
  t.deepEqual(
    (await signOuts()).slice(rows.length).map(({ action }: { action: string }) => action),
    ['hear-sign-out'],
  )
})

test.serial('a sign-in that is on its way when the provider ends the sessions of the person is waited for, and ended too', async (t) => {
  await comeIn('gil')
  const waiting = async () =>
    (
      await control.sql.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE '%pg_stat_activity%'`,
      )
    ).rows.length
  const trail = await control.sql.connect()
  await trail.query('BEGIN')
  await trail.query('SELECT 1 FROM audit_heads WHERE organisation_id = $1 FOR UPDATE', [own.organisationId])
  const signing = comeIn('gil')
  await eventually(async () => (await waiting()) === 1, 10_000, 'the sign-in to wait for the trail')
  const telling = tell(issuer.sign(claimsOf({ sub: 'gil' })))
  await eventually(async () => (await waiting()) === 2, 10_000, 'the sign-out to wait')
  await trail.query('ROLLBACK')
  trail.release()
  const browser = await signing
  t.is((await telling).status, 200)
  t.false(await isIn(browser))
})

test.serial('what is no logout token of the provider ends nothing', async (t) => {
  const browser = await comeIn('fay', { sid: 's-9' })
  const evil = await startFaultyIssuer()
  t.teardown(() => evil.close())
  const good = () => claimsOf({ sub: 'fay' })
  const tokens: Readonly<Record<string, string>> = {
    'signed by somebody else': issuer.sign(good(), {}, true),
    'without a signature': issuer.sign(good(), { alg: 'none', kid: null }),
    'signed with the public key as a secret': issuer.sign(good(), { alg: 'HS256', kid: 'RS256' }),
    'of an unknown key': issuer.sign(good(), { kid: 'unknown' }),
    'for another client': issuer.sign({ ...good(), aud: 'another' }),
    'of another issuer': issuer.sign({ ...good(), iss: 'https://another.example' }),
    'that has expired': issuer.sign({ ...good(), iat: seconds() - 200, exp: seconds() - 100 }),
    'that is old': issuer.sign({ ...good(), iat: seconds() - 900 }),
    'from the future': issuer.sign({ ...good(), iat: seconds() + 900, exp: seconds() + 1000 }),
    'without a time': issuer.sign({ ...good(), iat: undefined }),
    'without an id': issuer.sign({ ...good(), jti: undefined }),
    'without the event': issuer.sign({ ...good(), events: {} }),
    'with a nonce, as ID tokens have': issuer.sign({ ...good(), nonce: 'a' }),
    'of another type': issuer.sign(good(), { typ: 'at+jwt' }),
    'that names keys of its own': evil.sign(good(), keysOfItsOwn(evil)),
    'about nobody': issuer.sign(claimsOf({})),
    'that is none': 'x.y.z',
  }
  for (const [name, token] of Object.entries(tokens)) {
    const answer = await tell(token)
    t.is(answer.status, 400, name)
    t.true(await isIn(browser), name)
  }
  t.deepEqual([evil.asked, evil.askedForKeys], [[], 0], 'where a header leads nobody goes')
  t.is(
    (
      await send(`${control.origin}/auth/oidc/backchannel-logout`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
    ).status,
    400,
  )
})

test.serial('an organisation that names the issuer of others with keys of its own ends none of their sessions', async (t) => {
  const rogue = await control.createTenant('rogue')
  const evil = await startFaultyIssuer()
  t.teardown(() => evil.close())
  const byHand = {
    authorization_endpoint: `${evil.issuer}/authorize`,
    token_endpoint: `${evil.issuer}/token`,
    jwks_uri: await keysOf(evil),
  }
  t.is((await control.call(rogue.adminKey, 'PUT', path, settings('rogue.example', byHand))).status, 200)
  const browser = await comeIn('gus')
  t.is((await tell(evil.sign(claimsOf({ sub: 'gus' })))).status, 200)
  t.true(await isIn(browser))
})

/** Signs out, and returns where the browser signs out at the provider. */
async function leave(browser: SsoBrowser): Promise<URL> {
  const me = JSON.parse((await ask(browser, '/auth/me')).text) as { csrf_token: string }
  const answer = await ask(browser, '/auth/logout', { method: 'POST', headers: { origin: publicUrl, 'x-csrf-token': me.csrf_token } })
  if (answer.status !== 200) throw new Error(answer.text)
  return new URL((JSON.parse(answer.text) as { logout_url: string }).logout_url)
}

test.serial('who signs out is told where they sign out at the provider', async (t) => {
  const browser = await comeIn('hal')
  const url = await leave(browser)
  t.is(url.origin + url.pathname, `${issuer.issuer}/end-session`)
  t.is(url.searchParams.get('client_id'), 'gatehouse')
  const [, payload = ''] = (url.searchParams.get('id_token_hint') ?? '').split('.')
  t.is((JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub, 'hal')
  t.false(await isIn(browser))
  await comeIn('hal')
  t.false((await control.dump()).includes(payload), 'the ID token is sealed')
})

test.serial(
  'endpoints of the settings take the place of discovery: people sign in and out, and nobody asks for the document',
  async (t) => {
    const browser = await comeIn('ida', { organisation: first })
    t.true(await isIn(browser))
    const url = await leave(browser)
    t.is(url.origin + url.pathname, `${plain.issuer}/signed-out`)
    t.is(url.searchParams.get('post_logout_redirect_uri'), `${publicUrl}/signed-out`)
    t.deepEqual(plain.asked.filter((one) => one.includes('.well-known')).length, 1, 'the one question is that of this test')
    const again = await comeIn('ida', { organisation: first })
    t.is((await tell(plain.sign({ ...claimsOf({ sub: 'ida' }), iss: plain.issuer }))).status, 200)
    t.false(await isIn(again), 'its logout tokens are verified by the keys that were given')
  },
)

test.serial('an endpoint given beside discovery goes before what the document says', async (t) => {
  const there = { ...settings('shared.example'), end_session_endpoint: `${issuer.issuer}/elsewhere?tenant=a` }
  const saved = await control.call(shared.adminKey, 'PUT', path, there)
  t.is(saved.status, 200, saved.text)
  t.like(saved.body, { end_session_endpoint: there.end_session_endpoint, token_endpoint: null })
  const url = await leave(await comeIn('joe', { organisation: 'shared' }))
  t.is(url.origin + url.pathname, `${issuer.issuer}/elsewhere`)
  t.is(url.searchParams.get('tenant'), 'a')
  t.false(url.searchParams.has('post_logout_redirect_uri'), 'nobody has set one')
  t.is(
    (await control.call(shared.adminKey, 'PUT', path, { ...there, post_logout_redirect_uri: 'https://intranet.example/bye' })).status,
    200,
  )
  const on = await leave(await comeIn('joe', { organisation: 'shared' }))
  t.is(on.searchParams.get('post_logout_redirect_uri'), 'https://intranet.example/bye')
  t.is((await control.call(shared.adminKey, 'PUT', path, { ...there, post_logout_redirect_uri: 'javascript:alert(1)' })).status, 400)
  for (const end_session_endpoint of ['http://169.254.169.254/logout', 'javascript:alert(1)']) {
    const refused = await control.call(shared.adminKey, 'PUT', path, { ...there, end_session_endpoint })
    t.is(refused.status, 400, end_session_endpoint)
    t.regex(refused.text, /"param":"end_session_endpoint"/)
  }
})
