// Passwords that are guessed early are refused with the reason, wherever one is set; a person of an identity provider sets none.
import test from 'ava'
import { asSystem, inTenant } from '../../../src/app/database/orm.ts'
import { makeLink } from '../../../src/features/sessions/index.ts'
import { setPassword } from '../../../src/features/auth/passwords.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { errorOf } from '../../support/caller.ts'
import { send } from '../../support/http.ts'
import { addPerson, browse, signIn, type TestPerson } from '../../support/people.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ env: { FAILED_CREDENTIALS_PER_MINUTE: '0' } })
})
test.after.always(() => app?.stop())

const password = 'a long enough sentence'

const linkOf = (person: TestPerson): Promise<string> =>
  inTenant(app.deps.orm, person.organisationId, async (em) => {
    const { url } = await makeLink(em, app.deps, { organisationId: person.organisationId, userId: person.id, purpose: 'password' })
    return /#token=([\w-]+)/.exec(url)?.[1] ?? ''
  })

const setByLink = async (person: TestPerson, chosen: string) =>
  send(`${app.baseUrl}/auth/password`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: await linkOf(person), password: chosen }),
  })

const weak: Readonly<Record<string, RegExp>> = {
  '123456789012': /common password/,
  password1234: /common password/,
  'P@ssw0rd2024': /common password/,
  aaaaaaaaaaaa: /repeats itself/,
  abcabcabcabc: /repeats itself/,
  monkeymonkey: /repeats itself/,
  ['20'.repeat(128)]: /repeats itself/,
  abcdefghijklm: /row of letters|common password/,
  qwertzuiopasdf: /row of keys|common password/,
  'gatehouse2026!': /of the product/,
  'Default-Organisation': /name of the organisation/,
}

for (const [chosen, reason] of Object.entries(weak))
  test(`a password that is easy to guess is refused with its reason: ${chosen.slice(0, 20)}`, async (t) => {
    const person = await addPerson(app)
    const browser = await signIn(app, person)
    for (const answer of [
      await browse(app, browser, { method: 'POST', path: '/auth/password', body: { password: chosen } }),
      await setByLink(person, chosen),
    ]) {
      t.is(answer.status, 400, answer.text)
      t.is(errorOf(answer).param, 'password')
      t.regex(errorOf(answer).message, reason)
      t.false(answer.text.includes(chosen))
    }
  })

for (const chosen of [
  password,
  'x9$kQ2!vB7mZ',
  'correct horse battery staple',
  `${'20'.repeat(80)} a long enough sentence`,
  'пароль из пяти слов',
])
  test(`a password that is hard to guess is taken: ${chosen.slice(-30)}`, async (t) => {
    const answer = await setByLink(await addPerson(app), chosen)
    t.is(answer.status, 200, answer.text)
  })

const allowed = (isAllowed: boolean | null) =>
  send(`${app.baseUrl}/v1/admin/organisation`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-service-api-key': app.adminKey },
    body: JSON.stringify({ settings: { session_settings: isAllowed === null ? null : { allow_passwords_beside_provider: isAllowed } } }),
  })

const insert = (sql: string, values: readonly unknown[]) => asSystem(app.deps.orm, (em) => em.execute(sql, values))
const identityOf = ({ organisationId, id }: TestPerson, byToken: boolean) =>
  insert(
    `INSERT INTO user_identities (id, organisation_id, user_id, issuer, subject, by_token, created_at) VALUES (?, ?, ?, 'https://idp.example', ?, ?, now())`,
    [uuidv7(), organisationId, id, id, byToken],
  )

/** How a person is known elsewhere, and whether the identity provider alone lets them in. */
const known: Readonly<Record<string, readonly [isBound: boolean, make: (person: TestPerson) => Promise<unknown>]>> = {
  'who has signed in by the identity provider': [true, (person) => identityOf(person, false)],
  'whom SCIM has made, and who never signed in': [
    true,
    ({ organisationId, id, email }) =>
      insert(`INSERT INTO scim_users (id, organisation_id, user_name) VALUES (?, ?, ?)`, [id, organisationId, email]),
  ],
  'whom only tokens name': [false, (person) => identityOf(person, true)],
  'who is known here alone': [false, () => Promise.resolve()],
}

const login = (email: string) =>
  send(`${app.baseUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })

for (const [who, [isBound, make]] of Object.entries(known))
  for (const role of ['member', 'owner'] as const)
    test.serial(
      `${role} ${who}: ${isBound ? 'no password' : 'a password'} serves beside the identity provider, unless the organisation allows it`,
      async (t) => {
        const before = await addPerson(app, { role })
        await inTenant(app.deps.orm, before.organisationId, (em) => setPassword(em, app.deps, { user: before, password, keeps: null }))
        await make(before)
        const fresh = await addPerson(app, { role })
        await make(fresh)
        const first = async () => browse(app, await signIn(app, fresh), { method: 'POST', path: '/auth/password', body: { password } })
        const expected = isBound ? 403 : 200
        const refusal = await login(before.email)
        t.is(refusal.status, expected, refusal.text)
        if (isBound) t.regex(errorOf(refusal).message, /identity provider.*allow_passwords_beside_provider.*gatehouse owner link/)
        t.is((await setByLink(await linked(role, make), password)).status, expected)
        t.is((await first()).status, expected)
        t.is((await allowed(true)).status, 200)
        t.is((await login(before.email)).status, 200)
        t.is((await setByLink(await linked(role, make), password)).status, 200)
        if (isBound) t.is((await first()).status, 200)
        t.is((await allowed(null)).status, 200)
        t.is((await login(before.email)).status, expected)
      },
    )

async function linked(role: 'member' | 'owner', make: (person: TestPerson) => Promise<unknown>): Promise<TestPerson> {
  const person = await addPerson(app, { role })
  await make(person)
  return person
}

test.serial('a wrong password of a person of an identity provider tells no more than any other', async (t) => {
  const person = await linked('member', (one) => identityOf(one, false))
  const answer = await login(person.email)
  t.is(answer.status, 401)
  t.is(errorOf(answer).message, 'E-mail or password is wrong.')
})

test.serial('a first password needs a sign-in just before; who has one shows it', async (t) => {
  const person = await addPerson(app)
  const browser = await signIn(app, person)
  await insert(`UPDATE sessions SET created_at = created_at - interval '6 minutes' WHERE user_id = ?`, [person.id])
  const change = (at: typeof browser, body: object) => browse(app, at, { method: 'POST', path: '/auth/password', body })
  const refused = await change(browser, { password })
  t.is(refused.status, 403, refused.text)
  t.regex(errorOf(refused).message, /Sign in again first/)
  t.is((await change(await signIn(app, person), { password })).status, 200)
  const later = await signIn(app, person)
  await insert(`UPDATE sessions SET created_at = created_at - interval '6 minutes' WHERE user_id = ?`, [person.id])
  t.is((await change(later, { current_password: password, password: 'another long sentence' })).status, 200)
})

test.serial('the link for an owner that an operator makes lets the owner in while the provider is away', async (t) => {
  const person = await linked('owner', (one) => identityOf(one, false))
  const { organisationId, id: userId, email } = person
  const { token } = await inTenant(app.deps.orm, organisationId, (em) =>
    makeLink(em, app.deps, { organisationId, userId, purpose: 'setup' }),
  )
  const answer = await send(`${app.baseUrl}/auth/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, email, password }),
  })
  t.is(answer.status, 200, answer.text)
  t.is((await login(email)).status, 403, 'the password serves once the owner allows it')
})

test.serial("a person's own names are easy to guess", async (t) => {
  const person = await addPerson(app)
  await insert(`UPDATE users SET first_name = 'Wilhelmina', last_name = 'Featherstone' WHERE id = ?`, [person.id])
  for (const chosen of ['wilhelminafeatherstone', 'Featherstone.Wilhelmina', 'featherstone1']) {
    const answer = await setByLink(person, chosen)
    t.is(answer.status, 400, chosen)
    t.regex(errorOf(answer).message, /your name/, chosen)
  }
})
