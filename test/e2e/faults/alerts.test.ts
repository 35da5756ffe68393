// Alerts over kill -9: two processes that run jobs are killed after an alert was noted, and again while they send it; each receiver gets it once.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import test from 'ava'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { manage, storeProvider } from '../../support/admin.ts'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { exchange } from '../../support/load.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { type Gatehouse, startGatehouse } from '../../support/process.ts'

const withinMs = 60_000
const login = { user: 'gatehouse', password: 'mail-password' }

interface Heard {
  readonly id: string
  readonly type: string
  readonly answered: boolean
}

/** A receiver of webhooks that can leave its callers without an answer. */
async function startReceiver() {
  const heard: Heard[] = []
  const state = { silent: false }
  const server = createServer(async (request, response) => {
    const { type } = (await json(request)) as { type: string }
    const answered = !state.silent
    heard.push({ id: String(request.headers['webhook-id']), type, answered })
    if (answered) response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    heard,
    silent: (silent: boolean) => void (state.silent = silent),
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('an alert that was noted before a kill -9, and was being sent at the next one, reaches everybody once, though two processes run the jobs', async (t) => {
  t.timeout(300_000)
  const database = await testDatabase()
  const [mail, receiver, emulator] = await Promise.all([startMailServer(login), startReceiver(), startEmulator()])
  const gatehouses: Gatehouse[] = []
  t.teardown(async () => {
    await Promise.all(gatehouses.map((one) => one.signal('SIGKILL')))
    await Promise.all([mail.stop(), emulator.stop()])
    receiver.stop()
    await database.drop()
  })
  const env = {
    PUBLIC_URL: 'https://gate.example',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(mail.port),
    SMTP_TLS: 'NONE',
    SMTP_USER: login.user,
    SMTP_PASSWORD: login.password,
  }
  const all = (name: 'SIGKILL', then: Readonly<Record<string, string>>) =>
    Promise.all(
      gatehouses.map(async (one) => {
        await one.signal(name)
        await one.restart({ env: then })
      }),
    )
  const sql = <Row extends object>(text: string) => inDatabase(database.superuser, async (client) => (await client.query<Row>(text)).rows)
  const usage = { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 }
  emulator.script({ behaviour: { body: JSON.stringify({ model: 'm', choices: [], usage }) } })

  // No process runs jobs yet: the alert is noted, and no more.
  for (let at = 0; at < 2; at += 1) gatehouses.push(await startGatehouse({ on: database, env: { ...env, ROLES: 'gateway,control' } }))
  const [first] = gatehouses as [Gatehouse]
  await storeProvider(first.origin, { slug: 'emulated', url: emulator.url })
  await manage(first.origin, 'POST', '/alert-webhooks', { name: 'Pager', url: receiver.url })
  const { key } = await manage(first.origin, 'POST', '/api-keys/workspace/service', {
    name: 'crawler',
    scopes: ['completions.write'],
    usage_limits: { type: 'requests', credit_limit: 2, alert_threshold: 1 },
    alert_emails: ['bills@example.com'],
  })
  const ask = () =>
    exchange({
      url: `${first.origin}/v1/chat/completions`,
      headers: { 'x-service-api-key': String(key), 'x-service-provider': '@emulated' },
      body: JSON.stringify({ model: 'm', messages: [], max_tokens: 5 }),
    })
  t.is((await ask()).status, 200)
  const noted = () =>
    sql<{ kind: string; queued: boolean }>('SELECT kind, queued_at IS NOT NULL AS queued FROM limit_alerts ORDER BY created_at')
  await eventually(async () => (await noted()).length === 1, withinMs, 'the alert to be noted')
  t.deepEqual(await noted(), [{ kind: 'threshold', queued: false }])

  // Both come back with jobs, to receivers that accept connections and never answer.
  mail.hold(true)
  receiver.silent(true)
  await all('SIGKILL', { ROLES: 'gateway,control,jobs' })
  await eventually(() => mail.attempts() > 0 && receiver.heard.length > 0, withinMs, 'both to be sent')
  t.deepEqual(mail.received, [])
  const [waiting] = await sql<{ mails: number; deliveries: number }>(
    `SELECT (SELECT count(*)::int FROM outgoing_mails) AS mails, (SELECT count(*)::int FROM alert_deliveries WHERE state = 'pending') AS deliveries`,
  )
  t.deepEqual(waiting, { mails: 1, deliveries: 1 })

  // They die in the middle of it. Their claims of two minutes are free again after that.
  await Promise.all(gatehouses.map((one) => one.signal('SIGKILL')))
  await sql(`UPDATE outgoing_mails SET next_attempt_at = now()`)
  await sql(`UPDATE alert_deliveries SET next_attempt_at = now()`)
  mail.hold(false)
  receiver.silent(false)
  await all('SIGKILL', { ROLES: 'gateway,control,jobs' })
  const subjects = () => mail.received.map(({ to, header }) => `${to.join()}: ${header('Subject')}`)
  const passed = 'bills@example.com: The API key crawler has passed its alert threshold'
  await eventually(() => mail.received.length > 0 && receiver.heard.some(({ answered }) => answered), withinMs, 'both to arrive')

  // Later alerts are sent too, and none was sent twice.
  t.is((await ask()).status, 200)
  await eventually(() => receiver.heard.some(({ type }) => type === 'usage.exhausted') && mail.received.length > 1, withinMs, 'the end')
  t.deepEqual(subjects(), [passed, 'bills@example.com: The API key crawler has used up its limit'])
  const threshold = receiver.heard.filter(({ type }) => type === 'usage.threshold_reached')
  t.is(new Set(threshold.map(({ id }) => id)).size, 1, 'a receiver that leaves out an id which it has seen hears it once')
  t.is(threshold.filter(({ answered }) => answered).length, 1)
  const left = () => sql(`SELECT 1 FROM outgoing_mails UNION ALL SELECT 1 FROM alert_deliveries WHERE state <> 'delivered'`)
  await eventually(async () => (await left()).length === 0, withinMs, 'nothing to be left')
})
