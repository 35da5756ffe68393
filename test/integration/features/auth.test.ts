import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import test from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { makeLink } from '../../../src/features/sessions/index.ts'
import { setPassword } from '../../../src/features/auth/passwords.ts'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { errorOf } from '../../support/caller.ts'
import { inDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import type { RawAnswer } from '../../support/http.ts'
import { send, sendJson } from '../../support/http.ts'
import { addPerson, browse, browserOf, signIn, type Browser, type TestPerson } from '../../support/people.ts'

let app: TestApp
let now = Date.now()

const workspace = 'default-workspace'
const password = 'a long enough sentence'

test.before(async () => {
  app = await startApp({
    env: {
      TRUSTED_PROXIES: '127.0.0.1',
      FAILED_CREDENTIALS_PER_MINUTE: '0',
      INIT_OWNER_EMAIL: 'first@example.com',
      INIT_OWNER_PASSWORD: password,
    },
    overrides: { clock: { now: () => now } },
  })
})
test.after.always(() => app?.stop())

test.beforeEach(() => {
  now = Date.now()
})

async function withPassword(person: Promise<TestPerson>): Promise<TestPerson> {
  const found = await person
  await inTenant(app.deps.orm, found.organisationId, (em) => setPassword(em, app.deps, { user: found, password, keeps: null }))
  return found
}

interface Login {
  readonly email: string
  readonly password?: string
  readonly from?: string
  readonly cookie?: string
}

/** The thousands of tries below share connections. */
const agent = new Agent({ keepAlive: true })

const login = ({ email, password: given = password, from = '192.0.2.1', cookie }: Login): Promise<RawAnswer> =>
  sendJson(
    `${app.baseUrl}/auth/login`,
    { 'x-forwarded-for': from, ...(cookie !== undefined && { cookie }) },
    { email, password: given },
    agent,
  )

const cookiesOf = ({ headers }: RawAnswer): readonly string[] => headers['set-cookie'] ?? []

function browserOfAnswer(answer: RawAnswer): Browser {
  const [session = ''] = cookiesOf(answer)
  return browserOf(app, '', session)
}

test.serial('the owner of the settings signs in, and out', async (t) => {
  const answer = await login({ email: 'First@Example.com' })
  t.is(answer.status, 200, answer.text)
  const [session = '', device = ''] = cookiesOf(answer)
  t.regex(session, /^gatehouse=[\w-]{43}\.[\w-]{22}; Path=\/; Max-Age=43\d{3}; HttpOnly; SameSite=Strict$/)
  t.regex(device, /^gatehouse-device=[\w-]+; /)
  const browser = browserOfAnswer(answer)
  t.is((JSON.parse(answer.text) as { csrf_token: string }).csrf_token, browser.csrf)
  const me = await browse(app, browser, { path: '/auth/me' })
  t.is(me.status, 200, me.text)
  const told = JSON.parse(me.text) as Record<string, Record<string, unknown>>
  t.like(told['user'], { email: 'first@example.com', role: 'owner', has_password: true })
  t.true(me.text.includes(`"csrf_token":"${browser.csrf}"`))
  t.true((told['scopes'] as unknown as string[]).includes('organisation_users.create'))
  t.like((told['workspaces'] as unknown as object[])[0], { slug: workspace, role: 'owner' })
  const { features: on } = told['installation'] as { features: string[] }
  t.true(on.includes('configs'))
  t.deepEqual(
    features.filter(({ id, incomplete }) => incomplete !== undefined && on.includes(id)),
    [],
    'what is not built is not on',
  )
  t.is((await browse(app, browser, { method: 'POST', path: '/auth/logout', headers: { 'x-csrf-token': null } })).status, 403)
  const out = await browse(app, browser, { method: 'POST', path: '/auth/logout' })
  t.is(out.status, 200, out.text)
  t.regex(cookiesOf(out)[0] ?? '', /^gatehouse=; Path=\/; Max-Age=0; /)
  t.is((await browse(app, browser, { path: '/auth/me' })).status, 401, 'a stolen cookie is worth nothing after the sign-out')
})

test.serial('a sign-in ends the session that the browser had, and never takes up one that was given to it', async (t) => {
  const [attacker, victim] = [await withPassword(addPerson(app)), await withPassword(addPerson(app))]
  const planted = await signIn(app, attacker)
  const answer = await login({ email: victim.email, cookie: planted.cookie })
  t.is(answer.status, 200, answer.text)
  t.not(browserOfAnswer(answer).cookie, planted.cookie)
  t.is((await browse(app, planted, { path: '/auth/me' })).status, 401)
  const made = await login({ email: victim.email, cookie: `gatehouse=${'a'.repeat(43)}.${'b'.repeat(22)}` })
  t.not(browserOfAnswer(made).cookie, `gatehouse=${'a'.repeat(43)}.${'b'.repeat(22)}`)
})

test.serial('a page of another site signs nobody in', async (t) => {
  const { email } = await withPassword(addPerson(app))
  const body = JSON.stringify({ email, password })
  const ask = (headers: Readonly<Record<string, string>>, text = body) =>
    send(`${app.baseUrl}/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text })
  const form = new URLSearchParams({ email, password }).toString()
  for (const [status, answer] of [
    [403, await ask({ 'sec-fetch-site': 'cross-site' })],
    [403, await ask({ 'sec-fetch-site': 'same-site' })],
    // Browsers that do not send it send an origin.
    [403, await ask({ origin: 'https://evil.example' })],
    [403, await ask({ origin: 'null' })],
    // A request that a page of elsewhere can send without a preflight.
    [415, await ask({ 'content-type': 'text/plain' })],
    [415, await ask({ 'content-type': 'application/x-www-form-urlencoded' }, form)],
  ] as const) {
    t.is(answer.status, status, answer.text)
    t.deepEqual(cookiesOf(answer), [])
  }
  t.is((await ask({ 'sec-fetch-site': 'same-origin', origin: app.baseUrl })).status, 200)
  const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  const answer = await send(`${app.baseUrl}/auth/login`, { method: 'OPTIONS', headers: preflight })
  t.is(answer.headers['access-control-allow-origin'], undefined)
})

test.serial('wrong passwords and unknown addresses are told alike', async (t) => {
  const person = await withPassword(addPerson(app))
  const bare = await addPerson(app)
  const answers = [
    await login({ email: person.email, password: 'not the password' }),
    await login({ email: bare.email }),
    await login({ email: 'nobody@example.com' }),
  ]
  for (const answer of answers) {
    t.is(answer.status, 401)
    t.is(errorOf(answer).message, 'E-mail or password is wrong.')
    t.deepEqual(cookiesOf(answer), [])
  }
})

/** The work of a refusal in microseconds of processor time, in all threads: other programs on the machine change it little. */
async function workOfRefusal(email: string, round: number): Promise<number> {
  const begun = process.cpuUsage()
  await login({ email, password: 'not the password', from: `198.51.100.${round}` })
  const { user, system } = process.cpuUsage(begun)
  return user + system
}

test.serial('a refusal is no less work for an unknown address', async (t) => {
  const person = await withPassword(addPerson(app))
  const work: { known: number[]; unknown: number[] } = { known: [], unknown: [] }
  for (let round = 0; round < 15; round += 1) {
    work.known.push(await workOfRefusal(person.email, round))
    work.unknown.push(await workOfRefusal('nobody-at-all@example.com', round))
  }
  const [known, unknown] = [Math.min(...work.known), Math.min(...work.unknown)]
  t.true(unknown > known * 0.6, `${unknown} us for an unknown address, ${known} us for a known one`)
})

/** As many as a patient attacker makes. Nearly all are refused before a password is looked at, which takes a few milliseconds each. */
const tries = 10_000

test.serial(`${tries} tries open nothing, and lock out nobody`, async (t) => {
  const person = await withPassword(addPerson(app))
  const known = await login({ email: person.email, from: '203.0.113.9' })
  t.is(known.status, 200)
  const device = cookiesOf(known)[1]?.split(';')[0] ?? ''
  const counts = new Map<number, number>()
  const attack = async (count: number, from: (at: number) => string) => {
    for (let at = 0; at < count; at += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, more) => login({ email: person.email, password: `guess ${at + more}`, from: from(at + more) })),
      )
      for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  }
  await attack(tries / 5, () => '198.51.100.1')
  t.is((await login({ email: person.email, from: '203.0.113.10' })).status, 200, 'one network locks out no other')
  await attack((tries * 4) / 5, (at) => `10.${Math.floor(at / 65_536)}.${Math.floor(at / 256) % 256}.${at % 256}`)
  t.deepEqual(
    [...counts.keys()].toSorted((one, other) => one - other),
    [401, 429],
  )
  t.true((counts.get(401) ?? 0) <= 150, `${counts.get(401)} passwords were looked at`)
  t.is((await login({ email: person.email, from: '203.0.113.11' })).status, 429)
  const again = await login({ email: person.email, from: '203.0.113.12', cookie: device })
  t.is(again.status, 200, 'a browser in which the owner was signed in still lets them in')
  now += 2 * 3_600_000
  t.is((await login({ email: person.email, from: '203.0.113.13' })).status, 200, 'and later any')
})

test.serial('an account of the same address in another organisation clears no guesses, and gives none beside the count', async (t) => {
  const theirs = 'a sentence of the attacker'
  const victim = await withPassword(addPerson(app))
  const organisationId = randomUUID()
  const slug = await inDatabase(app.database.superuser, async (client) => {
    await client.query("INSERT INTO organisations (id, slug, name) VALUES ($1, 'other-house', 'Other')", [organisationId])
    return String((await client.query('SELECT slug FROM organisations WHERE id = $1', [victim.organisationId])).rows[0]?.slug)
  })
  const twin = await addPerson(app, { organisationId, email: victim.email })
  await inTenant(app.deps.orm, organisationId, (em) => setPassword(em, app.deps, { user: twin, password: theirs, keeps: null }))
  const ask = (organisation: string, given: string, cookie?: string) =>
    sendJson(
      `${app.baseUrl}/auth/login`,
      { 'x-forwarded-for': '203.0.113.77', ...(cookie !== undefined && { cookie }) },
      { email: victim.email, password: given, organisation },
    )
  const known = await ask('other-house', theirs)
  t.is(known.status, 200, known.text)
  const device = cookiesOf(known)[1]?.split(';')[0] ?? ''
  const statuses: number[] = []
  for (let at = 0; at < 30; at += 1) {
    statuses.push((await ask(slug, `guess ${at}`, device)).status)
    // From the browser where the attacker's own account is known.
    if (at % 5 === 4) await ask('other-house', theirs, device)
    if (at % 5 === 4) await ask('other-house', theirs)
  }
  t.true(statuses.filter((status) => status === 401).length <= 10, JSON.stringify(statuses))
  t.is(statuses.at(-1), 429)
  now += 2 * 3_600_000
  t.is((await ask(slug, password)).status, 200)
})

test.serial('sessions are listed and ended by their person, and by nobody else', async (t) => {
  const person = await addPerson(app, { places: { [workspace]: 'member' } })
  const [one, two, three] = [await signIn(app, person), await signIn(app, person), await signIn(app, person)]
  const other = await signIn(app, await addPerson(app))
  const listed = await browse(app, one, { path: '/auth/sessions' })
  const rows = (JSON.parse(listed.text) as { data: { id: string; current: boolean }[] }).data
  t.is(rows.length, 3)
  t.deepEqual(
    rows.filter(({ current }) => current).map(({ id }) => id),
    [one.sessionId],
  )
  const end = (by: Browser, id: string) => browse(app, by, { method: 'DELETE', path: `/auth/sessions/${id}` })
  t.is((await end(other, two.sessionId)).status, 404)
  t.is((await end(one, 'x')).status, 404)
  t.is((await end(one, two.sessionId)).status, 200)
  t.is((await browse(app, two, { path: '/auth/me' })).status, 401)
  const ended = await browse(app, one, { method: 'DELETE', path: '/auth/sessions' })
  t.deepEqual(JSON.parse(ended.text), { ended: 1 })
  t.is((await browse(app, three, { path: '/auth/me' })).status, 401)
  const admin = await signIn(app, await addPerson(app, { role: 'admin' }))
  const everywhere = await browse(app, admin, { method: 'DELETE', path: `/v1/admin/users/${person.id}/sessions` })
  t.deepEqual(JSON.parse(everywhere.text), { ended: 1 })
  t.is((await browse(app, one, { path: '/auth/me' })).status, 401)
})

test.serial('many requests end sessions at once, and each is over', async (t) => {
  const person = await addPerson(app, { places: { [workspace]: 'member' } })
  const browsers = await Promise.all(Array.from({ length: 6 }, () => signIn(app, person)))
  const answers = await Promise.all(browsers.map((browser) => browse(app, browser, { method: 'DELETE', path: '/auth/sessions' })))
  t.true(
    answers.every(({ status }) => [200, 401].includes(status)),
    answers.map(({ text }) => text).join('\n'),
  )
  const left = await Promise.all(browsers.map((browser) => browse(app, browser, { path: '/auth/me' })))
  t.true(left.filter(({ status }) => status === 200).length <= 1)
})

test.serial('a changed password ends all sessions but gives this browser a new one', async (t) => {
  const person = await withPassword(addPerson(app))
  const [here, elsewhere] = [await signIn(app, person), await signIn(app, person)]
  const change = (body: object) => browse(app, here, { method: 'POST', path: '/auth/password', body })
  t.is((await change({ password: 'another long sentence' })).status, 403)
  t.is((await change({ current_password: password, password: 'short' })).status, 400)
  t.is((await change({ current_password: password, password: `x${person.email}x` })).status, 400)
  const changed = await change({ current_password: password, password: 'another long sentence' })
  t.is(changed.status, 200, changed.text)
  for (const browser of [here, elsewhere]) t.is((await browse(app, browser, { path: '/auth/me' })).status, 401)
  t.is((await browse(app, browserOfAnswer(changed), { path: '/auth/me' })).status, 200)
  t.is((await login({ email: person.email })).status, 401)
  t.is((await login({ email: person.email, password: 'another long sentence' })).status, 200)
  const owner = await signIn(app, await addPerson(app, { role: 'owner' }))
  const trail = await browse(app, owner, { path: '/v1/audit-logs?page_size=50' })
  t.true(trail.text.includes('user_passwords'), trail.text)
  for (const secret of ['argon2id', password, 'another long sentence']) t.false(trail.text.includes(secret), secret)
})

const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

interface Held<T> {
  /** Locks the row that the works wait for. */
  readonly by: string
  /** Each begins when the one before waits. */
  readonly works: readonly (() => Promise<T>)[]
  /** Is done when all wait. */
  readonly meanwhile?: () => Promise<void>
}

const whileHeld = <T>({ by, works, meanwhile }: Held<T>): Promise<readonly T[]> =>
  inDatabase(app.database.superuser, async (holder) => {
    const begun: Promise<T>[] = []
    await holder.query('BEGIN')
    await holder.query(by)
    for (const work of works) {
      const isWaiting = () =>
        inDatabase(app.database.superuser, async (client) => (await client.query(waiting)).rows.length === begun.length)
      begun.push(work())
      await eventually(isWaiting, 10_000, `${begun.length} that wait`)
    }
    await meanwhile?.()
    await holder.query('ROLLBACK')
    return Promise.all(begun)
  })

const trailOf = ({ organisationId }: TestPerson) => `SELECT 1 FROM audit_heads WHERE organisation_id = '${organisationId}' FOR UPDATE`
const changePassword = (browser: Browser, to: string) =>
  browse(app, browser, { method: 'POST', path: '/auth/password', body: { current_password: password, password: to } })

const endings: Readonly<Record<string, (browser: Browser) => Promise<RawAnswer>>> = {
  'a change of the password': (browser) => changePassword(browser, 'another sentence'),
  'the end of all other sessions': (browser) => browse(app, browser, { method: 'DELETE', path: '/auth/sessions' }),
}

for (const [what, end] of Object.entries(endings))
  test.serial(`a sign-in that is on its way has no session after ${what}`, async (t) => {
    const person = await withPassword(addPerson(app))
    const here = await signIn(app, person)
    const [signed, ended] = await whileHeld({ by: trailOf(person), works: [() => login({ email: person.email }), () => end(here)] })
    t.deepEqual([signed?.status, ended?.status], [200, 200])
    if (signed !== undefined) t.is((await browse(app, browserOfAnswer(signed), { path: '/auth/me' })).status, 401)
  })

test.serial('a password that is changed while its sign-in waits opens nothing', async (t) => {
  const person = await withPassword(addPerson(app))
  const { id, organisationId, email } = person
  const [signed] = await whileHeld({
    by: `SELECT pg_advisory_xact_lock(hashtextextended('gatehouse:writes:${organisationId}', 0))`,
    works: [() => login({ email })],
    meanwhile: () =>
      inTenant(app.deps.orm, organisationId, (em) =>
        setPassword(em, app.deps, { user: person, password: 'another sentence', keeps: null }),
      ),
  })
  t.is(signed?.status, 401, signed?.text)
  const { rows } = await inDatabase(app.database.superuser, (client) => client.query('SELECT 1 FROM sessions WHERE user_id = $1', [id]))
  t.deepEqual(rows, [])
})

test.serial('of two who change a password at once the second has to show the new one', async (t) => {
  const person = await withPassword(addPerson(app))
  const browsers = [await signIn(app, person), await signIn(app, person)]
  const works = browsers.map((browser, at) => () => changePassword(browser, `another sentence ${at}`))
  const answers = await whileHeld({ by: trailOf(person), works })
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 403],
  )
  t.is((await login({ email: person.email, password: 'another sentence 0' })).status, 200)
})

for (const [method, path] of [
  ['POST', '/auth/login'],
  ['POST', '/auth/password'],
  ['PUT', '/auth/me/preferences'],
] as const)
  test.serial(`${method} ${path} refuses keys that every object has`, async (t) => {
    const { cookie, csrf } = await signIn(app, await addPerson(app))
    const headers = {
      cookie,
      'x-csrf-token': csrf,
      origin: app.baseUrl,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    }
    for (const key of ['__proto__', '\\u005f_proto__', 'constructor']) {
      const refused = await send(`${app.baseUrl}${path}`, { method, headers, body: `{"preferences":{"a":{"${key}":{"role":"owner"}}}}` })
      t.is(refused.status, 400, refused.text)
      t.is(errorOf(refused).param, key === 'constructor' ? key : '__proto__')
    }
  })

test.serial('a link sets a password once, until its hour is over', async (t) => {
  const person = await withPassword(addPerson(app))
  const browser = await signIn(app, person)
  const token = async () => {
    const { url } = await inTenant(app.deps.orm, person.organisationId, (em) =>
      makeLink(em, app.deps, { organisationId: person.organisationId, userId: person.id, purpose: 'password' }),
    )
    return url.split('#token=')[1] ?? ''
  }
  const set = (given: string) =>
    send(`${app.baseUrl}/auth/password`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: given, password: 'yet another sentence' }),
    })
  const [first, second] = [await token(), await token()]
  t.is((await set(first)).status, 401, 'a newer link takes away the older')
  now += 3_601_000
  t.is((await set(second)).status, 401)
  now -= 3_601_000
  const done = await set(second)
  t.is(done.status, 200, done.text)
  t.is((await set(second)).status, 401)
  t.is((await browse(app, browser, { path: '/auth/me' })).status, 401)
  t.is((await login({ email: person.email, password: 'yet another sentence' })).status, 200)
})

test.serial('a setup link makes the first owner of an organisation, or lets its owner back in', async (t) => {
  t.deepEqual(JSON.parse((await browse(app, { cookie: '', csrf: '' }, { path: '/auth/setup' })).text), {
    owner: true,
    provider: null,
    key: null,
    request: null,
  })
  const owner = await addPerson(app, { role: 'owner' })
  const { url } = await inTenant(app.deps.orm, owner.organisationId, (em) =>
    makeLink(em, app.deps, { organisationId: owner.organisationId, userId: owner.id, purpose: 'setup' }),
  )
  const [, token = ''] = url.split('#token=')
  const setUp = (email: string) => sendJson(`${app.baseUrl}/auth/setup`, {}, { token, email, password })
  t.is((await setUp('other@example.com')).status, 400)
  const done = await setUp(owner.email)
  t.is(done.status, 200, done.text)
  t.is((await browse(app, browserOfAnswer(done), { path: '/auth/me' })).status, 200)
  t.is((await setUp(owner.email)).status, 401)
})

test.serial('people sign in by identity providers alone where AUTH_MODE says so', async (t) => {
  const sso = await startApp({ env: { AUTH_MODE: 'SSO' } })
  t.teardown(() => sso.stop())
  const options = await browse(sso, { cookie: '', csrf: '' }, { path: '/auth/login?email=ana@example.com' })
  t.deepEqual(JSON.parse(options.text), { local: false, provider: null })
  const refused = await sendJson(`${sso.baseUrl}/auth/login`, {}, { email: 'ana@example.com', password })
  t.is(refused.status, 404, refused.text)
  t.is(errorOf(refused).code, 'feature_unavailable')
})
