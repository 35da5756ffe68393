// Jobs that work for all organisations: one with very much work, which never ends, takes its share of the places and of the turns, and no more.
import { randomUUID } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { asSystem } from '../../../src/app/database/orm.ts'
import { deliverMails, queueMail } from '../../../src/app/mail/outbox.ts'
import { deliverAlerts } from '../../../src/features/alerts/deliveries.ts'
import { tellAlerts } from '../../../src/features/alerts/tell.jobs.ts'
import { claim } from '../../../src/features/log-exports/claims.ts'
import { eventually } from '../../support/eventually.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let hostile: Tenant
let other: Tenant
let mail: MailServer
let receivers: Server
/** Requests that wait for an answer. */
const mute = new Set<ServerResponse>()
let heard = 0
const withinMs = 60_000

test.before(async () => {
  mail = await startMailServer({ user: 'gatehouse', password: 'mail-password' })
  receivers = createServer((request, response) => {
    if (request.url === '/mute') {
      mute.add(response)
      response.on('close', () => mute.delete(response))
    } else {
      heard += 1
      response.end()
    }
  })
  await new Promise<void>((resolve) => receivers.listen(0, '127.0.0.1', resolve))
  const smtp = {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(mail.port),
    SMTP_TLS: 'NONE',
    SMTP_USER: 'gatehouse',
    SMTP_PASSWORD: 'mail-password',
  }
  control = await startControl({}, { PUBLIC_URL: 'https://gate.example', ...smtp })
  ;[hostile, other] = [await control.createTenant('hostile'), await control.createTenant('other')]
})
test.after.always(async () => {
  await control?.close()
  receivers?.closeAllConnections()
  receivers?.close()
  await mail?.stop()
})

/** Webhooks that were stored before there was a bound on them. */
async function webhooks({ organisationId }: Tenant, path: string, count: number): Promise<void> {
  const url = `http://127.0.0.1:${(receivers.address() as AddressInfo).port}${path}`
  const { body } = await control.call(hostile.adminKey, 'POST', '/alert-webhooks', { name: 'one', url })
  const id = String(body['id'])
  const { deps } = control.started
  for (let made = 0; made < count; made += 1) {
    const rowId = randomUUID()
    const secret = await deps.vault.encrypt({ organisationId, table: 'alert_webhooks', column: 'secret', rowId }, 'whsec_c2VjcmV0')
    await control.sql.query('INSERT INTO alert_webhooks (id, organisation_id, name, url, secret) VALUES ($1, $2, $3, $4, $5)', [
      rowId,
      organisationId,
      'hook',
      url,
      Buffer.from(secret),
    ])
  }
  await control.call(hostile.adminKey, 'DELETE', `/alert-webhooks/${id}`)
}

const alert = ({ organisationId, workspaceId }: Tenant) =>
  control.sql.query(
    `INSERT INTO limit_alerts (id, organisation_id, kind, owner_kind, owner_id, value_key)
     SELECT gen_random_uuid(), $1, 'expired', 'api-key', id, '' FROM api_keys WHERE organisation_id = $1 AND workspace_id = $2 LIMIT 1`,
    [organisationId, workspaceId],
  )

test.serial('150 webhooks that never answer keep four places, and alerts of others are delivered meanwhile', async (t) => {
  const { deps } = control.started
  await webhooks(hostile, '/mute', 150)
  await webhooks(other, '/good', 1)
  await alert(hostile)
  await tellAlerts.run(deps)
  await alert(other)
  await tellAlerts.run(deps)
  const ending = new AbortController()
  const run = deliverAlerts(deps, ending.signal)
  await eventually(() => heard === 1 && mute.size === 4, withinMs, 'the alert of the other organisation')
  await alert(other)
  await tellAlerts.run(deps)
  await eventually(() => heard === 2, withinMs, 'an alert that is told during the run')
  t.true(mute.size <= 4)
  ending.abort()
  for (const response of mute) response.end()
  await run
})

test.serial('300 mails of one organisation wait, and a mail of another goes among the first', async (t) => {
  const { deps } = control.started
  const queue = (organisationId: string, recipient: string) =>
    asSystem(deps.orm, (em) => queueMail(em, deps, { organisationId, recipient, template: 'user-invite', variables: { role: 'member' } }))
  for (let made = 0; made < 300; made += 1) await queue(hostile.organisationId, `person${made}@hostile.example`)
  await queue(other.organisationId, 'person@other.example')
  mail.hold(true)
  const ending = new AbortController()
  const run = deliverMails(deps, { ending: ending.signal })
  await eventually(() => mail.attempts() === 3, withinMs, 'two mails of the one and one of the other')
  mail.hold(false)
  await eventually(() => mail.received.some(({ to }) => to.includes('person@other.example')), withinMs, 'the mail of the other')
  ending.abort()
  await run
  const place = mail.received.findIndex(({ to }) => to.includes('person@other.example'))
  t.true(place < 100, `it was number ${place + 1}`)
  mail.hold(true)
  const before = mail.attempts()
  const own = deliverMails(deps, other)
  await own
  t.is(mail.attempts(), before, 'a request sends mails of its own organisation alone')
  mail.hold(false)
})

test.serial('20 exports of one organisation take every other turn beside one of another', async (t) => {
  const start = async ({ workspaceKey }: Tenant) => {
    const { body } = await control.call(workspaceKey, 'POST', '/logs/exports', { filters: {}, requested_data: ['id'] })
    const started = await control.call(workspaceKey, 'POST', `/logs/exports/${String(body['id'])}/start`)
    t.is(started.status, 200, started.text)
  }
  for (let made = 0; made < 20; made += 1) await start(hostile)
  await start(other)
  const turns: boolean[] = []
  for (let turn = 0; turn < 8; turn += 1) {
    const claimed = await claim(control.started.deps)
    turns.push(claimed?.organisationId === other.organisationId)
    await control.sql.query('UPDATE log_exports SET lease_until = NULL')
  }
  t.deepEqual(turns.filter(Boolean).length, 4)
  t.false(turns.some((isOther, at) => isOther === turns[at + 1]))
})
