import test from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { setPassword } from '../../../src/features/auth/passwords.ts'
import { User } from '../../../src/features/users/user.entity.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { errorOf } from '../../support/caller.ts'
import { sendJson, type RawAnswer } from '../../support/http.ts'
import { createAuthenticator, type Authenticator, type PasskeyOptions, type Twist } from '../../support/passkeys.ts'
import { addPerson, browse, browserOf, signIn, type Browser, type TestPerson } from '../../support/people.ts'

const origin = 'https://gateway.example'
const password = 'a long enough sentence'

let app: TestApp
let now = Date.now()

test.before(async () => {
  const env = { PUBLIC_URL: origin, FAILED_CREDENTIALS_PER_MINUTE: '0' }
  app = await startApp({ env, overrides: { clock: { now: () => now } } })
})
test.after.always(() => app?.stop())

async function newPerson(at = app): Promise<TestPerson> {
  const person = await addPerson(at)
  await inTenant(at.deps.orm, person.organisationId, (em) => setPassword(em, at.deps, { user: person, password, keeps: null }))
  return person
}

interface Parsed {
  readonly challenge: string
  readonly user: { readonly id: string }
  readonly passkey: { readonly id: string; readonly name: string }
  readonly recovery_codes: readonly string[] | null
  readonly csrf_token: string
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly user_id: string
}
const parsed = ({ text }: RawAnswer) => JSON.parse(text) as Parsed

function good(answer: RawAnswer): RawAnswer {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

const ask = (browser: Browser, method: string, path: string, body?: unknown): Promise<RawAnswer> =>
  browse(app, browser, { method, path, headers: method === 'GET' ? {} : { origin }, ...(body !== undefined && { body }) })

const browserAfter = ({ headers }: RawAnswer): Browser => browserOf(app, '', headers['set-cookie']?.[0] ?? '')
const isIn = async (browser: Browser) => (await ask(browser, 'GET', '/auth/me')).status === 200

const begin = async (browser: Browser): Promise<Parsed> =>
  parsed(good(await ask(browser, 'POST', '/auth/passkeys/register/options', { current_password: password })))

interface Made {
  readonly person: TestPerson
  readonly browser: Browser
  readonly authenticator: Authenticator
  readonly passkeyId: string
}

async function withPasskey(authenticator = createAuthenticator(origin)): Promise<Made> {
  const person = await newPerson()
  const browser = await signIn(app, person)
  const passkey = authenticator.create(await begin(browser))
  const done = good(await ask(browser, 'POST', '/auth/passkeys/register/verify', { name: 'Laptop', passkey }))
  return { person, browser: browserAfter(done), authenticator, passkeyId: parsed(done).passkey.id }
}

/** A browser without a session, with a challenge that it was given. */
interface Asked {
  readonly options: PasskeyOptions
  readonly cookie: string
}

async function askedFor(purpose: 'sign-in' | 'second-factor', from = app): Promise<Asked> {
  const answer = good(await sendJson(`${from.baseUrl}/auth/passkeys/login/options`, {}, { purpose }))
  return { options: parsed(answer), cookie: answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '' }
}

const loginWith = (passkey: unknown, cookie: string): Promise<RawAnswer> =>
  sendJson(`${app.baseUrl}/auth/passkeys/login/verify`, { cookie }, { passkey })

async function tryLogin({ get }: Pick<Authenticator, 'get'>, twist: Twist = {}): Promise<RawAnswer> {
  const { options, cookie } = await askedFor('sign-in')
  return loginWith(get(options, twist), cookie)
}

async function besidePassword({ email }: TestPerson, { get }: Pick<Authenticator, 'get'>, twist: Twist = {}): Promise<RawAnswer> {
  const { options, cookie } = await askedFor('second-factor')
  return sendJson(`${app.baseUrl}/auth/login`, { cookie }, { email, password, passkey: get(options, twist) })
}

test.serial('a passkey is made with the password, renamed and removed', async (t) => {
  const person = await newPerson()
  const [here, elsewhere] = [await signIn(app, person), await signIn(app, person)]
  const refused = await ask(here, 'POST', '/auth/passkeys/register/options', { current_password: 'not the password' })
  t.is(refused.status, 403, refused.text)
  const options = await begin(here)
  t.like(options, {
    rp: { id: 'gateway.example' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required' },
    user: { name: person.email },
  })
  const done = await ask(here, 'POST', '/auth/passkeys/register/verify', {
    name: 'Laptop',
    passkey: createAuthenticator(origin).create(options),
  })
  t.is(done.status, 200, done.text)
  t.is(parsed(done).recovery_codes?.length, 10)
  t.deepEqual([await isIn(here), await isIn(elsewhere)], [false, false])
  const browser = browserAfter(done)
  const { id } = parsed(done).passkey
  good(await ask(browser, 'PUT', `/auth/passkeys/${id}`, { name: 'Phone' }))
  const [listed] = parsed(good(await ask(browser, 'GET', '/auth/passkeys'))).data
  t.like(listed, { id, name: 'Phone', last_used_at: null, object: 'passkey' })
  t.like(JSON.parse((await ask(browser, 'GET', '/auth/me')).text), { user: { second_factors: { passkeys: 1, recovery_codes: 10 } } })
  const other = await signIn(app, await newPerson())
  for (const [method, body] of [
    ['PUT', { name: 'Mine' }],
    ['DELETE', { current_password: password }],
  ] as const)
    t.is((await ask(other, method, `/auth/passkeys/${id}`, body)).status, 404, method)
  t.is((await ask(browser, 'DELETE', `/auth/passkeys/${id}`, { current_password: 'not the password' })).status, 403)
  const removed = await ask(browser, 'DELETE', `/auth/passkeys/${id}`, { current_password: password })
  t.is(removed.status, 200, removed.text)
  t.is((await sendJson(`${app.baseUrl}/auth/login`, {}, { email: person.email, password })).status, 200)
})

test.serial('a passkey alone signs in, without a name or password', async (t) => {
  const { person, authenticator } = await withPasskey()
  const answer = await tryLogin(authenticator)
  t.is(answer.status, 200, answer.text)
  t.is(parsed(answer).user_id, person.id)
  const browser = browserAfter(answer)
  const { data } = parsed(await ask(browser, 'GET', '/auth/sessions'))
  t.is(data[0]?.['method'], 'passkey')
  t.not(parsed(await ask(browser, 'GET', '/auth/passkeys')).data[0]?.['last_used_at'], null)
})

test.serial('a passkey is a second factor beside the password, also one that does not verify the person', async (t) => {
  const { person, authenticator } = await withPasskey()
  const asked = await sendJson(`${app.baseUrl}/auth/login`, {}, { email: person.email, password })
  t.is(errorOf(asked).code, 'second_factor_required', asked.text)
  t.true(asked.text.includes('"methods":["passkey","recovery_code"]'), asked.text)
  const answer = await besidePassword(person, authenticator, { unverified: true })
  t.is(answer.status, 200, answer.text)
  t.is((await besidePassword(person, authenticator, { absent: true })).status, 401)
})

const wrong: Readonly<Record<string, Twist>> = {
  'made at another origin': { origin: 'https://evil.example' },
  'made at a sibling of the origin': { origin: 'https://other.gateway.example' },
  'made over plain http': { origin: 'http://gateway.example' },
  'for another party': { rpId: 'evil.example' },
  'in a frame of another page': { origin: 'https://evil.example', crossOrigin: true },
  'of a registration': { type: 'webauthn.create' },
  'without verification of the person': { unverified: true },
  'without the person': { absent: true },
  'with another challenge': { challenge: Buffer.alloc(32, 1).toString('base64url') },
  'signed with another key': { forged: true },
  'that names another person': { userHandle: Buffer.alloc(16, 9).toString('base64url') },
}

for (const [what, twist] of Object.entries(wrong))
  test.serial(`an answer ${what} signs nobody in`, async (t) => {
    const { authenticator } = await withPasskey()
    const answer = await tryLogin(authenticator, twist)
    t.is(answer.status, 401, answer.text)
    t.is(errorOf(answer).param, 'passkey')
    t.is(answer.headers['set-cookie'], undefined)
    t.is((await tryLogin(authenticator)).status, 200, 'the passkey still serves')
  })

const wrongAtMaking: Readonly<Record<string, Twist>> = {
  'at another origin': { origin: 'https://evil.example' },
  'for another party': { rpId: 'evil.example' },
  'with another challenge': { challenge: Buffer.alloc(32, 1).toString('base64url') },
  'as a sign-in': { type: 'webauthn.get' },
  'without the person': { absent: true },
  'with certificates, whose hosts nobody calls': { attested: true },
}

for (const [what, twist] of Object.entries(wrongAtMaking))
  test.serial(`a passkey that was made ${what} is not added`, async (t) => {
    const browser = await signIn(app, await newPerson())
    const passkey = createAuthenticator(origin).create(await begin(browser), twist)
    const answer = await ask(browser, 'POST', '/auth/passkeys/register/verify', { passkey })
    t.is(answer.status, 400, answer.text)
    t.deepEqual(parsed(await ask(browser, 'GET', '/auth/passkeys')).data, [])
  })

test.serial('a challenge serves once, in its browser, for what it was made, for five minutes', async (t) => {
  const { person, authenticator } = await withPasskey()
  const { options, cookie } = await askedFor('sign-in')
  const shown = authenticator.get(options)
  t.is((await loginWith(shown, (await askedFor('sign-in')).cookie)).status, 401, 'another browser')
  t.is((await loginWith(shown, '')).status, 401, 'no browser')
  const both = await Promise.all([loginWith(shown, cookie), loginWith(shown, cookie)])
  t.deepEqual(
    both.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 401],
    'of two at once one',
  )
  t.is((await loginWith(shown, cookie)).status, 401, 'nor later')
  t.is((await loginWith(authenticator.get(options), cookie)).status, 401, 'nor with a new answer')
  const beside = await askedFor('second-factor')
  t.is((await loginWith(authenticator.get(beside.options), beside.cookie)).status, 401, 'one for a second factor is no sign-in')
  const late = await askedFor('sign-in')
  now += 5 * 60_000
  t.is((await loginWith(authenticator.get(late.options), late.cookie)).status, 401, 'it is over')
  const spent = await askedFor('sign-in')
  t.is((await loginWith(authenticator.get(spent.options, { forged: true }), spent.cookie)).status, 401)
  t.is((await loginWith(authenticator.get(spent.options), spent.cookie)).status, 401, 'a bad answer has used it up')
  const browser = await signIn(app, person)
  const register = await begin(browser)
  const passkey = createAuthenticator(origin).create(register)
  const other = await signIn(app, person)
  t.is((await ask(other, 'POST', '/auth/passkeys/register/verify', { passkey })).status, 400, 'it is bound to its session')
  t.is((await loginWith(authenticator.get(register), late.cookie)).status, 401)
  const done = await ask(browser, 'POST', '/auth/passkeys/register/verify', { passkey })
  t.is(done.status, 200, done.text)
  t.is((await ask(browserAfter(done), 'POST', '/auth/passkeys/register/verify', { passkey })).status, 400, 'it serves once')
})

test.serial('a passkey of another person does not stand beside a password', async (t) => {
  const [own, other] = [await withPasskey(), await withPasskey()]
  t.is((await besidePassword(own.person, other.authenticator)).status, 401)
  t.is((await besidePassword(own.person, own.authenticator)).status, 200)
})

test.serial('a passkey that nobody has signs nobody in, and one that is known is not added again', async (t) => {
  const stranger = createAuthenticator(origin)
  t.is((await tryLogin(stranger)).status, 401)
  const { authenticator } = await withPasskey()
  const browser = await signIn(app, await newPerson())
  const again = await ask(browser, 'POST', '/auth/passkeys/register/verify', { passkey: authenticator.create(await begin(browser)) })
  t.is(again.status, 409, again.text)
})

test.serial('a count that goes back, or stands still, is refused: then there are two of a passkey', async (t) => {
  const { authenticator } = await withPasskey()
  t.is((await tryLogin(authenticator, { counter: 10 })).status, 200)
  t.is((await tryLogin(authenticator, { counter: 10 })).status, 401)
  t.is((await tryLogin(authenticator, { counter: 9 })).status, 401)
  t.is((await tryLogin(authenticator, { counter: 0 })).status, 401)
  t.is((await tryLogin(authenticator, { counter: 11 })).status, 200)
  const { authenticator: uncounted } = await withPasskey(createAuthenticator(origin, { counts: false }))
  for (let use = 0; use < 2; use += 1) t.is((await tryLogin(uncounted)).status, 200, 'one that never counts serves')
})

test.serial('who was removed does not come back by a passkey', async (t) => {
  const { person, authenticator } = await withPasskey()
  await inTenant(app.deps.orm, person.organisationId, async (em) => {
    const user = await em.findOneOrFail(User, { id: person.id })
    user.status = 'archived'
    await em.flush()
  })
  const answer = await tryLogin(authenticator)
  t.is(answer.status, 401, answer.text)
})

test.serial('passkeys are off where people sign in by identity providers alone', async (t) => {
  const { authenticator } = await withPasskey()
  const { options, cookie } = await askedFor('sign-in')
  const sso = await startApp({ env: { AUTH_MODE: 'SSO', PUBLIC_URL: origin }, database: app.database })
  t.teardown(() => sso.stop())
  for (const [path, body] of [
    ['login/options', { purpose: 'sign-in' }],
    ['login/verify', { passkey: authenticator.get(options) }],
  ] as const) {
    const answer = await sendJson(`${sso.baseUrl}/auth/passkeys/${path}`, { cookie }, body)
    t.is(errorOf(answer).code, 'feature_unavailable', answer.text)
  }
})

test.serial('passkeys need a host name', async (t) => {
  const bare = await startApp()
  t.teardown(() => bare.stop())
  const answer = await sendJson(`${bare.baseUrl}/auth/passkeys/login/options`, {}, {})
  t.is(answer.status, 400, answer.text)
  t.regex(errorOf(answer).message, /PUBLIC_URL/)
})

test.serial('changes of passkeys leave rows in the trail', async (t) => {
  const { browser, passkeyId } = await withPasskey()
  good(await ask(browser, 'PUT', `/auth/passkeys/${passkeyId}`, { name: 'Key ring' }))
  const owner = await signIn(app, await addPerson(app, { role: 'owner' }))
  const trail = await ask(owner, 'GET', '/v1/audit-logs?page_size=100')
  for (const word of ['"passkey"', '"rename"', '"add"', 'Key ring', 'passkeys']) t.true(trail.text.includes(word), word)
})
