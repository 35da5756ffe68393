import test from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { revokeProviderSessions, revokeSession, revokeSessionsOf } from '../../../src/features/sessions/index.ts'
import { findByIdentity, linkIdentity } from '../../../src/features/users/identities.ts'
import { User } from '../../../src/features/users/user.entity.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { testDatabase, type TestDatabase } from '../../support/database.ts'
import { errorOf } from '../../support/caller.ts'
import { send } from '../../support/http.ts'
import { addPerson, browse, browserOf, signIn } from '../../support/people.ts'

let database: TestDatabase
let app: TestApp
/** Another process on the same database. */
let other: TestApp
let now = Date.now()

const workspace = 'default-workspace'

test.before(async () => {
  database = await testDatabase()
  const options = { database, overrides: { clock: { now: () => now } } }
  app = await startApp(options)
  other = await startApp(options)
})
test.after.always(async () => {
  await other?.stop()
  await app?.stop()
  await database?.drop()
})

test.beforeEach(() => {
  now = Date.now()
})

const configs = { path: '/v1/configs' }

test.serial('a person acts by the cookie with the rights of their role', async (t) => {
  const member = await addPerson(app, { places: { [workspace]: 'member' } })
  const browser = await signIn(app, member)
  t.is((await browse(app, browser, configs)).status, 200)
  const refused = await browse(app, browser, { path: '/v1/admin/users' })
  t.is(refused.status, 403, refused.text)
  t.regex(errorOf(refused).message, /Your role in this workspace is member/)
  const made = await browse(app, browser, { ...configs, method: 'POST', body: { name: 'c', config: {} } })
  t.is(made.status, 403, made.text)
})

test.serial('an owner acts in the whole organisation, and the trail names them', async (t) => {
  const owner = await addPerson(app, { role: 'owner' })
  const browser = await signIn(app, owner)
  t.is((await browse(app, browser, { path: '/v1/admin/users' })).status, 200)
  const made = await browse(app, browser, { ...configs, method: 'POST', body: { name: 'c', config: { retry: { attempts: 1 } } } })
  t.is(made.status, 200, made.text)
  const trail = await browse(app, browser, { path: '/v1/audit-logs?page_size=1' })
  t.true(trail.text.includes(owner.id), trail.text)
  t.true(trail.text.includes(owner.email), trail.text)
})

test.serial('a workspace is chosen by header, and a stranger to it is refused', async (t) => {
  const owner = await signIn(app, await addPerson(app, { role: 'owner' }))
  const place = await browse(app, owner, { method: 'POST', path: '/v1/admin/workspaces', body: { name: 'Elsewhere', slug: 'elsewhere' } })
  t.is(place.status, 200, place.text)
  const person = await signIn(app, await addPerson(app, { places: { [workspace]: 'manager' } }))
  t.is((await browse(app, person, { ...configs, headers: { 'x-service-workspace': workspace } })).status, 200)
  for (const named of ['elsewhere', 'nowhere']) {
    const refused = await browse(app, person, { ...configs, headers: { 'x-service-workspace': named } })
    t.is(refused.status, 403)
    t.is(errorOf(refused).message, `You have no role in a workspace "${named}".`)
  }
  t.is((await browse(app, owner, { ...configs, headers: { 'x-service-workspace': 'elsewhere' } })).status, 200)
})

test.serial('a key in a header goes before the cookie', async (t) => {
  const browser = await signIn(app, await addPerson(app))
  const answer = await browse(app, browser, { path: '/v1/admin/users', headers: { 'x-service-api-key': app.adminKey } })
  t.is(answer.status, 200, answer.text)
})

test.serial('the cookie never authenticates the data plane', async (t) => {
  const browser = await signIn(app, await addPerson(app, { role: 'owner', places: { [workspace]: 'admin' } }))
  for (const path of ['/v1/chat/completions', '/v1/models', '/v1beta/models', '/v1/prompts/p/completions']) {
    const answer = await browse(app, browser, { method: path.endsWith('models') ? 'GET' : 'POST', path, body: {} })
    t.is(answer.status, 401, `${path}: ${answer.text}`)
  }
})

test.serial('a write needs the origin and the token, a read neither; what another site sends has no session', async (t) => {
  const browser = await signIn(app, await addPerson(app, { role: 'owner' }))
  const write = { method: 'POST', path: '/v1/collections', body: { name: 'x' } }
  const faults: readonly [Readonly<Record<string, string | null>>, number, string][] = [
    [{ origin: null }, 403, 'origin'],
    [{ origin: 'null' }, 403, 'origin'],
    [{ origin: 'https://evil.example' }, 403, 'origin'],
    [{ origin: 'http://console.127.0.0.1.nip.io' }, 403, 'origin'],
    [{ origin: app.baseUrl.replace('http:', 'https:') }, 403, 'origin'],
    [{ 'x-csrf-token': null }, 403, 'x-csrf-token'],
    [{ 'x-csrf-token': 'x'.repeat(browser.csrf.length) }, 403, 'x-csrf-token'],
    // As many letters, and more bytes.
    [{ 'x-csrf-token': 'é'.repeat(browser.csrf.length) }, 403, 'x-csrf-token'],
    [{ 'x-csrf-token': (await signIn(app, await addPerson(app))).csrf }, 403, 'x-csrf-token'],
    [{ 'sec-fetch-site': 'cross-site' }, 401, 'x-service-api-key'],
    [{ 'sec-fetch-site': 'same-site' }, 401, 'x-service-api-key'],
  ]
  for (const [headers, status, param] of faults) {
    const answer = await browse(app, browser, { ...write, headers })
    t.is(answer.status, status, `${JSON.stringify(headers)}: ${answer.text}`)
    t.is(errorOf(answer).param, param)
  }
  t.is((await browse(app, browser, write)).status, 200)
  t.is((await browse(app, browser, { ...configs, headers: { 'sec-fetch-site': 'cross-site' } })).status, 401)
})

test.serial('of two cookies with our name neither counts, and a made-up one is refused without a question to the database', async (t) => {
  const browser = await signIn(app, await addPerson(app, { role: 'owner' }))
  const twice = await browse(app, browser, { ...configs, headers: { cookie: `${browser.cookie}; gatehouse=other` } })
  t.is(twice.status, 401)
  for (const value of ['', 'x', `${'a'.repeat(43)}.${'b'.repeat(22)}`, `${browser.cookie.slice('gatehouse='.length)}x`])
    t.is((await browse(app, browser, { ...configs, headers: { cookie: `gatehouse=${value}` } })).status, 401, value)
})

test.serial('a revoked session is refused at once in every process', async (t) => {
  const person = await addPerson(app, { places: { [workspace]: 'member' } })
  const [one, two, three] = [await signIn(app, person), await signIn(app, person), await signIn(app, person)]
  const statuses = async () => {
    const answers = [app, other].flatMap((process) => [one, two, three].map((browser) => browse(process, browser, configs)))
    return (await Promise.all(answers)).map(({ status }) => status)
  }
  t.deepEqual(await statuses(), [200, 200, 200, 200, 200, 200])
  await inTenant(app.deps.orm, person.organisationId, (em) => revokeSession(em, { id: one.sessionId, userId: person.id }))
  t.deepEqual(await statuses(), [401, 200, 200, 401, 200, 200])
  t.is(await inTenant(app.deps.orm, person.organisationId, (em) => revokeSessionsOf(em, person.id, three.sessionId)), 1)
  t.deepEqual(await statuses(), [401, 401, 200, 401, 401, 200])
})

test.serial('an identity provider ends its own session, or all of a person', async (t) => {
  const person = await addPerson(app, { places: { [workspace]: 'member' } })
  const provider = { issuer: 'https://idp.example', subject: 's1', session: 'sid-1', endsAt: null }
  const one = await signIn(app, person, { method: 'oidc', provider })
  const two = await signIn(app, person, { method: 'oidc', provider: { ...provider, session: 'sid-2' } })
  const local = await signIn(app, person)
  const end = (subject: string | null, session: string | null) =>
    inTenant(app.deps.orm, person.organisationId, (em) => revokeProviderSessions(em, { issuer: provider.issuer, subject, session }))
  t.is(await end(null, null), 0)
  t.is(await end(null, 'sid-1'), 1)
  t.is((await browse(app, one, configs)).status, 401)
  t.is((await browse(app, two, configs)).status, 200)
  t.is(await end('s1', null), 1)
  t.is((await browse(app, two, configs)).status, 401)
  t.is((await browse(app, local, configs)).status, 200)
})

test.serial('a session ends when nobody uses it, and at its end whatever happens', async (t) => {
  const person = await addPerson(app, { places: { [workspace]: 'member' } })
  const [idle, used] = [await signIn(app, person), await signIn(app, person)]
  const hour = 3_600_000
  for (let passed = 0; passed < 11; passed += 1) {
    now += hour
    t.is((await browse(app, used, configs)).status, 200, `after ${passed + 1} hours`)
  }
  t.is((await browse(app, idle, configs)).status, 401)
  now += hour
  t.is((await browse(app, used, configs)).status, 401)
})

test.serial('an organisation shortens the life of its sessions, also of those that are open', async (t) => {
  const owner = await addPerson(app, { role: 'owner' })
  const browser = await signIn(app, owner)
  const organisation = { method: 'PUT', path: `/v1/admin/organisation` }
  const set = (seconds: number | null) =>
    send(`${app.baseUrl}${organisation.path}`, {
      method: 'PUT',
      headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json' },
      body: JSON.stringify({ settings: { session_settings: { max_session_ttl: seconds } } }),
    })
  t.is((await set(899)).status, 400)
  const changed = await set(900)
  t.is(changed.status, 200, changed.text)
  now += 899_000
  t.is((await browse(app, browser, configs)).status, 200)
  now += 2000
  t.is((await browse(app, browser, configs)).status, 401)
  t.is((await set(null)).status, 200)
})

test.serial('a change of roles gives a new secret, and the old one serves only what was on its way', async (t) => {
  const person = await addPerson(app, { places: { [workspace]: 'member' } })
  const browser = await signIn(app, person)
  await inTenant(app.deps.orm, person.organisationId, async (em) => {
    const user = await em.findOneOrFail(User, { id: person.id })
    user.role = 'admin'
  })
  const answers = await Promise.all(Array.from({ length: 8 }, () => browse(app, browser, configs)))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const given = answers.flatMap(({ headers }) => headers['set-cookie'] ?? [])
  t.is(given.length, 1)
  const renewed = browserOf(app, browser.sessionId, given[0] ?? '')
  t.not(renewed.cookie, browser.cookie)
  t.is((await browse(app, renewed, { path: '/v1/admin/users' })).status, 200)
  now += 61_000
  t.is((await browse(app, browser, configs)).status, 401)
  t.is((await browse(app, renewed, configs)).status, 200)
})

test.serial('who was removed has no session any more', async (t) => {
  const person = await addPerson(app, { places: { [workspace]: 'member' } })
  const browser = await signIn(app, person)
  const removed = await send(`${app.baseUrl}/v1/admin/users/${person.id}`, {
    method: 'DELETE',
    headers: { 'x-service-api-key': app.adminKey },
  })
  t.is(removed.status, 200, removed.text)
  t.is((await browse(app, browser, configs)).status, 401)
})

test.serial('people are found by issuer and subject, each of which stands for one person', async (t) => {
  const [ana, ben] = [await addPerson(app), await addPerson(app)]
  const identity = { issuer: 'https://idp.example/people', subject: 'ana' }
  const within = <T>(work: Parameters<typeof inTenant<T>>[2]) => inTenant(app.deps.orm, ana.organisationId, work)
  t.is(await within((em) => findByIdentity(em, ana.organisationId, identity)), null)
  t.true(await within((em) => linkIdentity(em, ana, identity)))
  t.true(await within((em) => linkIdentity(em, ana, identity)), 'a second time changes nothing')
  t.false(await within((em) => linkIdentity(em, ben, identity)), 'the subject is another person')
  t.false(await within((em) => linkIdentity(em, ana, { ...identity, subject: 'other' })), 'the person has another subject')
  t.is((await within((em) => findByIdentity(em, ana.organisationId, identity)))?.id, ana.id)
})
