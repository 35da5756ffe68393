import type { EntityManager } from '@mikro-orm/postgresql'
import test from 'ava'
import { asSystem } from '../../../src/app/database/orm.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { errorOf } from '../../support/caller.ts'
import { eventually } from '../../support/eventually.ts'
import { send, sendJson } from '../../support/http.ts'
import { startMailServer, type MailServer, type ReceivedMail } from '../../support/mail-server.ts'
import { addPerson, browse, signIn, type TestPerson } from '../../support/people.ts'

let mail: MailServer
let app: TestApp
let now = Date.now()

test.before(async () => {
  mail = await startMailServer({ user: 'gatehouse', password: 'mail-password' })
  const env = {
    PUBLIC_URL: 'https://gate.example',
    FAILED_CREDENTIALS_PER_MINUTE: '0',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(mail.port),
    SMTP_TLS: 'NONE',
    SMTP_USER: 'gatehouse',
    SMTP_PASSWORD: 'mail-password',
    EMAIL_COMPANY_NAME: 'Example & Co',
  }
  app = await startApp({ env, overrides: { clock: { now: () => now } } })
})
test.after.always(async () => {
  await app?.stop()
  await mail?.stop()
})
test.beforeEach(() => {
  now = Date.now()
})

const ask = (email: string) => sendJson(`${app.baseUrl}/auth/password/reset`, {}, { email })
const login = (email: string, password: string) => sendJson(`${app.baseUrl}/auth/login`, {}, { email, password })
const mailsTo = (address: string): readonly ReceivedMail[] => mail.received.filter(({ to }) => to.includes(address))
const tokenIn = (received: ReceivedMail | undefined) =>
  /https:\/\/gate\.example\/console\/reset-password#token=([\w-]{43})/.exec(received?.part('text/plain') ?? '')?.[1] ?? ''

/** Asks for a link, and returns the mails that have come to the address when there are so many. */
async function askedFor(email: string, count: number): Promise<readonly ReceivedMail[]> {
  const answer = await ask(email)
  if (answer.status !== 200) throw new Error(answer.text)
  await eventually(() => mailsTo(email).length >= count, 10_000, `${count} mails to ${email}`)
  return mailsTo(email)
}

const set = (token: string, password = 'a wholly new sentence') =>
  send(`${app.baseUrl}/auth/password`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, password }),
  })

async function fourAnswers(address: string) {
  const answers = [await ask(address), await ask(address), await ask(address.toUpperCase()), await ask(address)]
  return answers.map((answer) => [
    answer.status,
    answer.headers['retry-after'],
    answer.status === 200 ? answer.text : errorOf(answer).message,
  ])
}

test.serial('a person of an identity provider gets no link while they have no password', async (t) => {
  const [known, other] = [await addPerson(app), await addPerson(app)]
  await asSystem(app.deps.orm, (em) =>
    em.execute(
      `INSERT INTO user_identities (id, organisation_id, user_id, issuer, subject, created_at) VALUES (?, ?, ?, 'https://idp.example', 'known', now())`,
      [uuidv7(), known.organisationId, known.id],
    ),
  )
  t.is((await ask(known.email)).status, 200)
  await askedFor(other.email, 1)
  t.is(mailsTo(known.email).length, 0)
})

test.serial('a mail brings a link that sets a password once and ends all sessions', async (t) => {
  const person = await addPerson(app)
  const elsewhere = await signIn(app, person)
  const [received] = await askedFor(person.email, 1)
  t.is(received?.header('Subject'), 'A new password for Example & Co')
  t.regex(received?.part('text/html') ?? '', /for your account in Default organisation\. If it was not you, do nothing\./)
  t.regex(received?.part('text/plain') ?? '', /The link works once, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\./)
  const token = tokenIn(received)
  for (const password of ['too short', `x ${person.email} x`, 'x'.repeat(257)]) {
    const refused = await set(token, password)
    t.is(refused.status, 400, refused.text)
    t.is(errorOf(refused).param, 'password')
  }
  t.is((await browse(app, elsewhere, { path: '/auth/me' })).status, 200)
  const both = await Promise.all([set(token), set(token)])
  t.is(both.filter(({ status }) => status === 200).length, 1, 'of two at once one is let in')
  t.is((await set(token)).status, 401)
  t.is((await browse(app, elsewhere, { path: '/auth/me' })).status, 401)
  t.is((await login(person.email, 'a wholly new sentence')).status, 200)
})

test.serial('an address without an account is told the same, gets no mail, and has the same pace', async (t) => {
  const { email } = await addPerson(app)
  const [known, unknown] = [await fourAnswers(email), await fourAnswers('nobody@example.com')]
  t.deepEqual(known, unknown)
  t.deepEqual(
    known.map(([status]) => status),
    [200, 200, 200, 429],
  )
  t.regex(String(known[3]?.[2]), /^Too many links were asked for/)
  await eventually(() => mailsTo(email).length === 3, 10_000, 'three mails')
  t.deepEqual(mailsTo('nobody@example.com'), [])
  const works = await Promise.all(mailsTo(email).map(async (received) => (await set(tokenIn(received))).status))
  t.is(works.filter((status) => status === 200).length, 1, 'the latest link alone works')
})

test.serial('its time is an hour', async (t) => {
  const person = await addPerson(app)
  const [received] = await askedFor(person.email, 1)
  now += 3_601_000
  t.is((await set(tokenIn(received))).status, 401)
})

/** The row of the trail about a link to a person, which any caller may have asked for. */
const sentTo = ({ organisationId, id }: TestPerson) => ({
  organisationId,
  by: null,
  about: id,
  uri: '/auth/password/reset',
  actor: 'invite',
})

test.serial('a person of two organisations gets a link for each, which opens that one alone', async (t) => {
  const email = 'both@example.com'
  const here = await addPerson(app, { email })
  const organisationId = uuidv7()
  await asSystem(app.deps.orm, (em) =>
    em.execute(`INSERT INTO organisations (id, name, slug) VALUES (?, 'Second', 'second')`, [organisationId]),
  )
  const there = await addPerson(app, { email, organisationId })
  const received = await askedFor(email, 2)
  const trail = await asSystem(app.deps.orm, (em) =>
    em.execute(
      `SELECT organisation_id AS "organisationId", user_id AS by, resource_id AS about, uri, actor_type AS actor
         FROM audit_logs WHERE action = 'send-link' AND resource_id IN (?, ?) ORDER BY at`,
      [here.id, there.id],
    ),
  )
  t.deepEqual(trail, [here, there].map(sentTo))
  const of = (name: string) => tokenIn(received.find((one) => one.part('text/plain').includes(`your account in ${name}.`)))
  const rows: readonly (readonly [string, TestPerson, string])[] = [
    ['Default organisation', here, 'a sentence for the first'],
    ['Second', there, 'a sentence for the second'],
  ]
  for (const [name, person, password] of rows) {
    const done = await set(of(name), password)
    t.is(done.status, 200, done.text)
    t.is((JSON.parse(done.text) as { user_id: string }).user_id, person.id)
  }
  for (const [, person, password] of rows) {
    const opened = await login(email, password)
    t.is((JSON.parse(opened.text) as { user_id: string }).user_id, person.id)
  }
})

const isWaitedFor = async (em: EntityManager) =>
  (await em.execute('SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))')).length > 0

test.serial('who was removed, or just is, gets no link, and one that was sent before does not wait for their return', async (t) => {
  const person = await addPerson(app)
  const [received] = await askedFor(person.email, 1)
  const headers = { 'x-service-api-key': app.adminKey }
  const removed = await send(`${app.baseUrl}/v1/admin/users/${person.id}`, { method: 'DELETE', headers })
  t.is(removed.status, 200, removed.text)
  t.is((await set(tokenIn(received))).status, 401)
  t.is((await ask(person.email)).status, 200)
  const going = await addPerson(app)
  await asSystem(app.deps.orm, async (em) => {
    await em.execute(`UPDATE users SET status = 'archived' WHERE id = ?`, [going.id])
    t.is((await ask(going.email)).status, 200)
    await eventually(() => isWaitedFor(em), 10_000, 'the link to wait')
  })
  // The mail of a later person is there when one to the removed would be.
  await askedFor((await addPerson(app)).email, 1)
  t.deepEqual([mailsTo(person.email).length, mailsTo(going.email).length], [1, 0])
  await asSystem(app.deps.orm, (em) => em.execute(`UPDATE users SET status = 'active' WHERE id = ?`, [person.id]))
  t.is((await set(tokenIn(received))).status, 401)
})

const installations = [
  { env: { AUTH_MODE: 'SSO', SMTP_HOST: '127.0.0.1' }, code: 'feature_unavailable' },
  { env: {}, code: 'AB01' },
] as const

for (const { env, code } of installations)
  test.serial(`no link is promised where none can come: ${JSON.stringify(env)}`, async (t) => {
    const other = await startApp({ env })
    t.teardown(() => other.stop())
    const { email } = await addPerson(other)
    for (const address of [email, 'nobody@example.com']) {
      const refused = await sendJson(`${other.baseUrl}/auth/password/reset`, {}, { email: address })
      t.is(errorOf(refused).code, code, refused.text)
    }
  })
