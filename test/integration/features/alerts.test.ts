// Alerts: the recipients for a budget that passes a bound, or a key that expired; each gets it once.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { deliverMails, pruneMailOutcomesJob } from '../../../src/app/mail/outbox.ts'
import { tellAlerts } from '../../../src/features/alerts/tell.jobs.ts'
import { expireKeys } from '../../../src/features/api-keys/expiry.jobs.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator
let mail: MailServer
let folder: string
let now = Date.now()

test.before(async () => {
  mail = await startMailServer({ user: 'gatehouse', password: 'mail-password' })
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-alerts-'))
  const env = {
    PUBLIC_URL: 'https://gate.example',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(mail.port),
    SMTP_TLS: 'NONE',
    SMTP_USER: 'gatehouse',
    SMTP_PASSWORD: 'mail-password',
    EMAIL_TEMPLATES_PATH: folder,
  }
  ;[control, emulator] = await Promise.all([startControl({ clock: { now: () => now } }, env), startEmulator()])
  acme = await control.createTenant('acme <b>')
  const other = await control.createTenant('other')
  await control.createUser(acme, { email: 'owner@example.com', role: 'owner', workspaces: {} })
  await control.createUser(acme, { email: 'admin@example.com', role: 'admin', workspaces: {} })
  await control.createUser(acme, { email: 'lead@example.com', role: 'member', workspaces: { [acme.workspaceId]: 'manager' } })
  await control.createUser(acme, { email: 'person@example.com', role: 'member', workspaces: { [acme.workspaceId]: 'member' } })
  await control.createUser(other, { email: 'stranger@example.com', role: 'owner', workspaces: {} })
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  emulator.script({
    behaviour: { body: JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage }) },
  })
})
test.after.always(async () => {
  await control?.close()
  await Promise.all([emulator?.stop(), mail?.stop()])
  await rm(folder, { recursive: true, force: true })
})

async function makeKey(fields: object): Promise<{ readonly id: string; readonly secret: string }> {
  const body = { workspace_id: acme.workspaceId, scopes: ['completions.write'], ...fields }
  const made = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return { id: String(made.body['id']), secret: String(made.body['key']) }
}

/** Each answer uses five tokens. */
const ask = async (secret: string): Promise<number> => {
  const headers = {
    'x-service-api-key': secret,
    'content-type': 'application/json',
    'x-service-provider': 'openai',
    'x-service-custom-host': emulator.url,
    authorization: 'Bearer sk',
  }
  const body = JSON.stringify({ model: 'm', messages: [], max_tokens: 5 })
  return (await send(`${control.origin}/v1/chat/completions`, { method: 'POST', headers, body })).status
}

const counted = (id: string) => async () => (await control.sql.query('SELECT 1 FROM limit_alerts WHERE owner_id = $1', [id])).rows.length
const unsent = async () => (await control.sql.query('SELECT 1 FROM outgoing_mails')).rows.length
/** Runs the job in several processes at once, and waits until all that it queued is sent. */
async function tell(): Promise<void> {
  const { deps } = control.started
  await Promise.all([1, 2, 3].map(() => tellAlerts.run(deps)))
  await Promise.all([1, 2, 3].map(() => deliverMails(deps)))
  await eventually(async () => (await unsent()) === 0, 15_000, 'mails that wait')
}

const toldOf = (subject: RegExp) => mail.received.filter(({ header }) => subject.test(header('Subject')))
const recipients = (subject: RegExp) =>
  toldOf(subject)
    .flatMap(({ to }) => to)
    .toSorted()
const everybody = ['admin@example.com', 'bills@example.com', 'lead@example.com', 'owner@example.com']

test.serial('passing a threshold and the end of a budget is mailed once to those who answer for it', async (t) => {
  const limits = { type: 'tokens', credit_limit: 60, alert_threshold: 8, periodic_reset: 'monthly' }
  const key = await makeKey({ name: 'crawler', usage_limits: limits, alert_emails: ['bills@example.com', 'Owner@example.com'] })
  const count = counted(key.id)
  t.is(await ask(key.secret), 200)
  t.is(await ask(key.secret), 200)
  const shown = async () => (await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)).body['usage_limits']
  await eventually(async () => (await count()) === 1, 15_000, 'the threshold')
  const month = `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`
  t.like(await shown(), { status: 'active', is_threshold_alerts_sent: true, is_exhausted_alerts_sent: false })
  t.true(String(Reflect.get(Object(await shown()), 'last_reset_at')) >= month)
  await tell()
  await tell()
  const passed = /^The API key crawler has passed its alert threshold$/
  t.deepEqual(recipients(passed), everybody)
  const [told] = toldOf(passed)
  t.regex(told?.part('text/html') ?? '', /Organisation: acme &lt;b&gt;/)
  t.regex(told?.part('text/plain') ?? '', /Workspace: Main\n[\s\S]*Used: 10 tokens\. The threshold is 8 tokens\./)
  t.regex(told?.part('text/plain') ?? '', /starts again at \d{4}-\d\d-01 00:00 UTC/)

  await control.call(acme.adminKey, 'PUT', `/api-keys/${key.id}`, { usage_limits: { ...limits, credit_limit: 10 } })
  await eventually(async () => (await count()) === 2, 15_000, 'the end')
  t.like(await shown(), { status: 'exhausted', is_threshold_alerts_sent: true, is_exhausted_alerts_sent: true })
  await tell()
  t.deepEqual(recipients(/^The API key crawler has used up its limit$/), everybody)
})

test.serial('a key that expires is told once', async (t) => {
  await makeKey({ name: 'short-lived', expires_at: new Date(now + 60_000).toISOString(), alert_emails: ['bills@example.com'] })
  const { deps } = control.started
  await expireKeys.run(deps)
  await tell()
  t.deepEqual(recipients(/short-lived/), [])
  now += 61_000
  await Promise.all([expireKeys.run(deps), expireKeys.run(deps)])
  await tell()
  await expireKeys.run(deps)
  await tell()
  t.deepEqual(recipients(/^The API key short-lived has expired$/), everybody)
})

test.serial('a manager who does not see others is mailed about nobody’s key', async (t) => {
  const set = (value: boolean) => control.call(acme.adminKey, 'PUT', '/admin/organisation', { settings: { managersViewAllData: value } })
  t.is((await set(false)).status, 200)
  await makeKey({ name: 'hidden', expires_at: new Date(now + 60_000).toISOString(), alert_emails: ['bills@example.com'] })
  now += 61_000
  await expireKeys.run(control.started.deps)
  await tell()
  t.deepEqual(
    recipients(/^The API key hidden has expired$/),
    everybody.filter((email) => email !== 'lead@example.com'),
  )
  t.is((await set(true)).status, 200)
})

test.serial('an alert whose owner is gone tells nobody, and holds up no other', async (t) => {
  const key = await makeKey({ name: 'gone', expires_at: new Date(now + 60_000).toISOString() })
  await makeKey({ name: 'stays', expires_at: new Date(now + 60_000).toISOString() })
  now += 61_000
  await expireKeys.run(control.started.deps)
  await control.sql.query('DELETE FROM api_keys WHERE id = $1', [key.id])
  await tell()
  t.deepEqual(recipients(/gone/), [])
  t.is(recipients(/^The API key stays has expired$/).length, 3)
  t.false(mail.received.some(({ to }) => to.includes('stranger@example.com') || to.includes('person@example.com')))
})

interface ShownMail {
  readonly recipient: string | null
  readonly state: string
  readonly attempts: number
  readonly last_error: string | null
  readonly next_attempt_at: string | null
  readonly ended_at: string | null
}

/** The mails of the alert of an owner, as a caller sees them. */
async function mailsOf(key: string, owner: string, query = ''): Promise<readonly ShownMail[]> {
  const { data } = (await control.call(key, 'GET', `/alerts?page_size=1000${query}`)).body as unknown as {
    data: readonly { readonly owner_id: string; readonly mails: readonly ShownMail[] }[]
  }
  return data.find(({ owner_id }) => owner_id === owner)?.mails ?? []
}

test.serial('an alert tells which mails wait, with the words of the mail server, and which it took', async (t) => {
  const key = await makeKey({ name: 'watched', expires_at: new Date(now + 60_000).toISOString() })
  now += 61_000
  const { deps } = control.started
  await expireKeys.run(deps)
  mail.refuse(true)
  await tellAlerts.run(deps)
  await deliverMails(deps)
  await eventually(async () => (await mailsOf(acme.adminKey, key.id)).every(({ last_error: error }) => error !== null), 15_000, 'refusals')
  const waiting = await mailsOf(acme.adminKey, key.id, '&state=pending')
  t.deepEqual(
    waiting.map(({ recipient }) => recipient),
    ['admin@example.com', 'lead@example.com', 'owner@example.com'],
  )
  for (const one of waiting) {
    t.like(one, { state: 'pending', attempts: 1, ended_at: null })
    t.regex(one.last_error ?? '', /not now/)
    t.not(one.next_attempt_at, null)
  }
  t.deepEqual(await mailsOf(acme.adminKey, key.id, '&state=sent'), [])

  mail.refuse(false)
  now += 10 * 60_000
  await deliverMails(deps)
  const sent = await mailsOf(acme.adminKey, key.id, '&state=sent')
  t.is(sent.length, 3)
  for (const one of sent) t.like(one, { state: 'sent', attempts: 2, last_error: null, next_attempt_at: null })
  t.true(sent.every(({ ended_at: at }) => at !== null))
  t.deepEqual(await mailsOf(acme.adminKey, key.id, '&state=failed'), [])
  const ofWorkspace = await mailsOf(acme.workspaceKey, key.id)
  t.deepEqual(
    ofWorkspace.map(({ recipient, state }) => [recipient, state]),
    Array.from({ length: 3 }, () => [null, 'sent']),
  )
})

test.serial('a mail that nobody takes is given up, and its alert says so', async (t) => {
  const key = await makeKey({ name: 'unheard', expires_at: new Date(now + 60_000).toISOString() })
  now += 61_000
  const { deps } = control.started
  await expireKeys.run(deps)
  mail.refuse(true)
  await tellAlerts.run(deps)
  for (let attempt = 0; attempt < 10; attempt += 1) {
    now += 24 * 60 * 60_000
    await deliverMails(deps)
  }
  mail.refuse(false)
  const failed = await mailsOf(acme.adminKey, key.id, '&state=failed')
  t.is(failed.length, 3)
  for (const one of failed) {
    t.like(one, { state: 'failed', attempts: 10, next_attempt_at: null })
    t.regex(one.last_error ?? '', /not now/)
  }
  now += 91 * 24 * 60 * 60_000
  await pruneMailOutcomesJob.run(deps)
  t.deepEqual(await mailsOf(acme.adminKey, key.id), [])
})
