import test from 'ava'
import { Client } from 'pg'
import { inTenant } from '../../../src/app/database/orm.ts'
import { makeLink } from '../../../src/features/sessions/index.ts'
import { setPassword } from '../../../src/features/auth/passwords.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { errorOf } from '../../support/caller.ts'
import { authenticatorApp, nextStep } from '../../support/factors.ts'
import { send, sendJson, type RawAnswer } from '../../support/http.ts'
import { addPerson, browse, browserOf, signIn, type Browser, type PersonOptions, type TestPerson } from '../../support/people.ts'

let app: TestApp
let beside: TestApp
let now = Date.now()

const password = 'a long enough sentence'
const clock = { now: () => now }

test.before(async () => {
  const env = { TRUSTED_PROXIES: '127.0.0.1', FAILED_CREDENTIALS_PER_MINUTE: '0', ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
  app = await startApp({ env, overrides: { clock } })
  beside = await startApp({ env, overrides: { clock }, database: app.database })
})
test.after.always(async () => {
  await beside?.stop()
  await app?.stop()
})
test.beforeEach(() => {
  now = nextStep(now)
})

async function rowsOf<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new Client(app.database.superuser)
  await client.connect()
  try {
    return (await client.query<Row>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

async function newPerson(options: PersonOptions = {}): Promise<TestPerson> {
  const person = await addPerson(app, options)
  await inTenant(app.deps.orm, person.organisationId, (em) => setPassword(em, app.deps, { user: person, password, keeps: null }))
  return person
}

interface Login {
  readonly email: string
  readonly password?: string
  readonly code?: string
  readonly from?: string
  readonly at?: TestApp
}

const login = ({ email, password: given = password, code, from = '192.0.2.1', at = app }: Login): Promise<RawAnswer> =>
  sendJson(`${at.baseUrl}/auth/login`, { 'x-forwarded-for': from }, { email, password: given, ...(code !== undefined && { code }) })

type Fields = Readonly<Record<string, unknown>>
interface Parsed {
  readonly uri: string
  readonly secret: string
  readonly csrf_token: string
  readonly recovery_codes: readonly string[]
  readonly user: { readonly second_factors: Fields }
  readonly error: Fields
}
const parsed = ({ text }: RawAnswer) => JSON.parse(text) as Parsed
const statusesOf = (answers: readonly RawAnswer[]) => answers.map(({ status }) => status).toSorted((one, other) => one - other)

const cookieOf = ({ headers }: RawAnswer): string => headers['set-cookie']?.[0] ?? ''
const browserAfter = (answer: RawAnswer): Browser => browserOf(app, '', cookieOf(answer))

const post = (browser: Browser, path: string, body: unknown) => browse(app, browser, { method: 'POST', path, body })
const isIn = async (browser: Browser) => (await browse(app, browser, { path: '/auth/me' })).status === 200

interface Enrolled {
  /** The session that goes on. */
  readonly browser: Browser
  readonly show: (now: number) => string
  readonly recovery: readonly string[]
}

async function enrol(browser: Browser): Promise<Enrolled> {
  const begun = await post(browser, '/auth/totp', { current_password: password })
  if (begun.status !== 200) throw new Error(begun.text)
  const show = authenticatorApp(parsed(begun).secret)
  const done = await post(browser, '/auth/totp/confirm', { code: show(now) })
  if (done.status !== 200) throw new Error(done.text)
  now = nextStep(now)
  return { browser: browserAfter(done), show, recovery: parsed(done).recovery_codes }
}

test.serial('an authenticator app counts once its first code has confirmed it', async (t) => {
  const person = await newPerson()
  const [here, elsewhere] = [await signIn(app, person), await signIn(app, person)]
  t.is((await post(here, '/auth/totp', { current_password: 'not the password' })).status, 403)
  const begun = await post(here, '/auth/totp', { current_password: password })
  t.is(begun.status, 200, begun.text)
  const { uri, secret } = parsed(begun)
  t.true(uri.startsWith('otpauth://totp/'))
  t.true(uri.includes(secret))
  t.is((await login({ email: person.email })).status, 200, 'what is not confirmed asks for nothing')
  const show = authenticatorApp(secret)
  t.is((await post(here, '/auth/totp/confirm', { code: show(now - 600_000) })).status, 403)
  const done = await post(here, '/auth/totp/confirm', { code: show(now) })
  t.is(done.status, 200, done.text)
  t.deepEqual([await isIn(here), await isIn(elsewhere)], [false, false], 'the secret from before is worth nothing any more')
  const renewed = browserAfter(done)
  t.is(parsed(done).csrf_token, renewed.csrf)
  const me = parsed(await browse(app, renewed, { path: '/auth/me' }))
  t.deepEqual(me.user.second_factors, { totp: true, passkeys: 0, recovery_codes: 10, required: false })
  t.is((await post(renewed, '/auth/totp', { current_password: password })).status, 409)
  t.is((await login({ email: person.email, code: show(now) })).status, 401, 'the code that confirmed it is used')
  const rows = await rowsOf<{ secret: Buffer }>('SELECT secret FROM user_totps')
  t.true(rows.length > 0 && rows.every((row) => !row.secret.includes(secret)), 'the secret is sealed')
})

test.serial('the time to confirm it is bounded', async (t) => {
  const browser = await signIn(app, await newPerson())
  const begun = await post(browser, '/auth/totp', { current_password: password })
  now += 15 * 60_000
  const late = await post(browser, '/auth/totp/confirm', { code: authenticatorApp(parsed(begun).secret)(now) })
  t.is(late.status, 404, late.text)
})

test.serial('who has no password has nothing that a second factor stands beside', async (t) => {
  const answer = await post(await signIn(app, await addPerson(app)), '/auth/totp', { current_password: password })
  t.is(answer.status, 400, answer.text)
})

test.serial('the second factor is asked for only after the right password', async (t) => {
  const person = await newPerson()
  const { show } = await enrol(await signIn(app, person))
  const wrong = await login({ email: person.email, password: 'not the password', code: show(now) })
  t.is(wrong.status, 401)
  t.is(errorOf(wrong).message, 'E-mail or password is wrong.')
  const asked = await login({ email: person.email })
  t.is(asked.status, 403, asked.text)
  t.is(errorOf(asked).code, 'second_factor_required')
  t.deepEqual(parsed(asked).error['methods'], ['totp', 'recovery_code'])
  t.is(cookieOf(asked), '')
  const done = await login({ email: person.email, code: show(now) })
  t.is(done.status, 200, done.text)
  t.true(await isIn(browserAfter(done)))
})

test.serial('each time step is accepted once, by all processes together, also of many at once', async (t) => {
  const person = await newPerson()
  const { show } = await enrol(await signIn(app, person))
  const code = show(now)
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, at) => login({ email: person.email, code, at: at % 2 === 0 ? app : beside })),
  )
  t.deepEqual(statusesOf(answers), [200, 401, 401, 401, 401, 401], answers.map(({ text }) => text).join('\n'))
  const trail = await rowsOf<{ body: { email: string; code: string } }>(
    `SELECT request_body AS body FROM audit_logs WHERE request_body ->> 'email' = $1 AND request_body ? 'code'`,
    [person.email],
  )
  t.is(trail.length, 1)
  t.regex(trail[0]?.body.code ?? '', /^hmac:[0-9a-f]{64}$/, 'the trail does not show the code')
  const earlier = show(now - 30_000)
  t.is((await login({ email: person.email, code: earlier, from: '192.0.2.9' })).status, 401, 'nor is one before it')
  now = nextStep(now)
  t.is((await login({ email: person.email, code: show(now), from: '192.0.2.9', at: beside })).status, 200)
})

test.serial('wrong codes have the pace of wrong passwords', async (t) => {
  const person = await newPerson()
  const { show } = await enrol(await signIn(app, person))
  const good = show(now)
  const bad = good === '000000' ? '111111' : '000000'
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt += 1)
    statuses.push((await login({ email: person.email, code: bad, from: '203.0.113.1' })).status)
  t.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429, 429])
  t.is((await login({ email: person.email, code: good, from: '203.0.113.1' })).status, 429)
  t.is((await login({ email: person.email, code: good, from: '203.0.113.2' })).status, 200, 'one network locks out no other')
})

test.serial('a recovery code serves once, however it is typed', async (t) => {
  const person = await newPerson()
  const { recovery, browser } = await enrol(await signIn(app, person))
  t.is(new Set(recovery).size, 10)
  const [first = '', second = '', third = ''] = recovery
  const both = await Promise.all([login({ email: person.email, code: first }), login({ email: person.email, code: first, at: beside })])
  t.deepEqual(statusesOf(both), [200, 401])
  t.is((await login({ email: person.email, code: ` ${second.toUpperCase().replace('-', ' ')} ` })).status, 200)
  const other = await newPerson()
  await enrol(await signIn(app, other))
  t.is((await login({ email: other.email, code: third })).status, 401, 'nor does it serve anybody else')
  const made = await post(browser, '/auth/recovery-codes', { current_password: password })
  t.is(made.status, 200, made.text)
  t.is((await login({ email: person.email, code: third })).status, 401, 'new ones take the place of the old')
  const [fresh = ''] = parsed(made).recovery_codes
  t.is((await login({ email: person.email, code: fresh })).status, 200)
})

test.serial('it is removed with the password, and with it the recovery codes', async (t) => {
  const person = await newPerson()
  const { browser, recovery } = await enrol(await signIn(app, person))
  const remove = (body: unknown) => browse(app, browser, { method: 'DELETE', path: '/auth/totp', body })
  t.is((await remove({ current_password: 'not the password' })).status, 403)
  const removed = await remove({ current_password: password })
  t.is(removed.status, 200, removed.text)
  t.false(await isIn(browser))
  t.true(await isIn(browserAfter(removed)))
  t.is((await login({ email: person.email })).status, 200)
  t.is(recovery.length, 10)
  t.deepEqual(await rowsOf('SELECT id FROM recovery_codes WHERE user_id = $1', [person.id]), [])
})

test.serial('owners and admins take the factors of a person who lost them away, and nobody else does', async (t) => {
  const person = await newPerson()
  const { browser } = await enrol(await signIn(app, person))
  const owner = await newPerson({ role: 'owner' })
  const admin = await signIn(app, await newPerson({ role: 'admin' }))
  const reset = (by: Browser, id: string) => browse(app, by, { method: 'DELETE', path: `/v1/admin/users/${id}/second-factors` })
  t.is((await reset(await signIn(app, await newPerson()), person.id)).status, 403)
  const ownerBrowser = (await enrol(await signIn(app, owner))).browser
  t.is((await reset(admin, owner.id)).status, 403, 'an admin does not reset an owner')
  t.is((await reset(ownerBrowser, owner.id)).status, 403, 'nobody resets themselves without their password')
  const done = await reset(admin, person.id)
  t.deepEqual([done.status, JSON.parse(done.text)], [200, { totp: true, passkeys: 0, recovery_codes: 10 }], done.text)
  t.false(await isIn(browser))
  t.is((await login({ email: person.email })).status, 200)
  const trail = await browse(app, ownerBrowser, { path: '/v1/audit-logs?page_size=100' })
  t.true(trail.text.includes('reset-second-factors'))
  t.true(trail.text.includes('user_totps'))
})

test.serial('a link to a new password stands for the password, and not for the second factor', async (t) => {
  const person = await newPerson()
  const { show } = await enrol(await signIn(app, person))
  const { url } = await inTenant(app.deps.orm, person.organisationId, (em) =>
    makeLink(em, app.deps, { organisationId: person.organisationId, userId: person.id, purpose: 'password' }),
  )
  const [, token = ''] = url.split('#token=')
  const set = (code?: string) =>
    send(`${app.baseUrl}/auth/password`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password: 'yet another sentence', ...(code !== undefined && { code }) }),
    })
  const asked = await set()
  t.is(errorOf(asked).code, 'second_factor_required', asked.text)
  t.is((await set('000000')).status, 401)
  const done = await set(show(now))
  t.is(done.status, 200, done.text)
  now = nextStep(now)
  t.is((await login({ email: person.email, password: 'yet another sentence', code: show(now) })).status, 200)
})

test.serial('an organisation may ask everybody who signs in with a password for a second factor', async (t) => {
  const owner = await signIn(app, await newPerson({ role: 'owner' }))
  const require = (require_second_factor: boolean | null, by = owner) =>
    browse(app, by, { method: 'PUT', path: '/v1/admin/organisation', body: { settings: { session_settings: { require_second_factor } } } })
  t.is((await require(true)).status, 200)
  const person = await newPerson({ places: { 'default-workspace': 'admin' } })
  const browser = browserAfter(await login({ email: person.email }))
  const refused = await browse(app, browser, { path: '/v1/configs' })
  t.is(refused.status, 403, refused.text)
  t.is(errorOf(refused).code, 'second_factor_required')
  const me = parsed(await browse(app, browser, { path: '/auth/me' }))
  t.true(me.user.second_factors['required'])
  const byProvider = await signIn(app, person, {
    method: 'oidc',
    provider: { issuer: 'https://issuer.example', subject: 's', session: null, endsAt: null },
  })
  t.is((await browse(app, byProvider, { path: '/v1/configs' })).status, 200, 'the provider asks for its own')
  const enrolled = await enrol(browser)
  t.is((await browse(app, enrolled.browser, { path: '/v1/configs' })).status, 200)
  t.is((await require(null)).status, 403, 'the rule holds for who made it too')
  t.is((await require(null, (await enrol(owner)).browser)).status, 200)
  t.is(
    (await browse(app, browserAfter(await login({ email: (await newPerson({ role: 'admin' })).email })), { path: '/v1/configs' })).status,
    200,
  )
})

test.serial('no secret of a factor is in the trail', async (t) => {
  const owner = await newPerson({ role: 'owner' })
  const begun = await post(await signIn(app, owner), '/auth/totp', { current_password: password })
  const { browser, recovery } = await enrol(await signIn(app, owner))
  const trail = await browse(app, browser, { path: '/v1/audit-logs?page_size=100' })
  t.true(trail.text.includes('second-factor'))
  for (const secret of [parsed(begun).secret, password, ...recovery]) t.false(trail.text.includes(secret), secret)
})
