// Passwords that are guessed early are refused with the reason, wherever one is set; a person of an identity provider sets none.
import test from 'ava'
import { asSystem, inTenant } from '../../../src/app/database/orm.ts'
import { makeLink } from '../../../src/features/auth/index.ts'
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

const knownAtProvider = ({ organisationId, id }: TestPerson) =>
  asSystem(app.deps.orm, (em) =>
    em.execute(
      `INSERT INTO user_identities (id, organisation_id, user_id, issuer, subject, created_at) VALUES (?, ?, ?, 'https://idp.example', ?, now())`,
      [uuidv7(), organisationId, id, id],
    ),
  )

test('a person of an identity provider sets no first password, and changes one that they have', async (t) => {
  const person = await addPerson(app)
  await knownAtProvider(person)
  const browser = await signIn(app, person)
  const change = (body: object) => browse(app, browser, { method: 'POST', path: '/auth/password', body })
  const refused = await change({ password })
  t.is(refused.status, 403, refused.text)
  t.regex(errorOf(refused).message, /identity provider/)
  await inTenant(app.deps.orm, person.organisationId, (em) => setPassword(em, app.deps, { user: person, password, keeps: null }))
  const again = await signIn(app, person)
  const body = { current_password: password, password: 'another long sentence' }
  t.is((await browse(app, again, { method: 'POST', path: '/auth/password', body })).status, 200)
})

test('the link that an operator makes sets a password for a person of an identity provider', async (t) => {
  const person = await addPerson(app, { role: 'owner' })
  await knownAtProvider(person)
  t.is((await setByLink(person, password)).status, 200)
})
