// Webhooks of alerts: their events, signatures and retries, and who may set where they go.
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { deliverAlerts } from '../../../src/features/alerts/deliveries.ts'
import { sealUrls } from '../../../src/features/alerts/seal-urls.jobs.ts'
import { tellAlerts } from '../../../src/features/alerts/tell.jobs.ts'
import { eventually } from '../../support/eventually.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

interface Received {
  readonly path: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let control: Control
let acme: Tenant
let rival: Tenant
let server: Server
let url: string
let now = Date.now()
let answers: readonly (number | 'hang up' | 'redirect')[] = []
/** Receivers wait for it before they answer. */
let held: Promise<void> | null = null
let received: Received[] = []

async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const answer = answers[received.length] ?? 200
  received.push({ path: request.url, headers: request.headers, body })
  await held
  if (answer === 'hang up') request.socket.destroy()
  else if (answer === 'redirect') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
  else response.writeHead(answer).end('\0garbage')
}

test.before(async () => {
  server = createServer((request, response) => void hear(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  control = await startControl({ clock: { now: () => now } })
  ;[acme, rival] = [await control.createTenant('acme'), await control.createTenant('rival')]
})
test.after.always(async () => {
  await control?.close()
  server?.close()
})
test.beforeEach(() => {
  answers = []
  received = []
})

const call = (method: string, path: string, body?: unknown, key = acme.adminKey) => control.call(key, method, path, body)

async function made(fields: object, key = acme.adminKey) {
  const { body, status, text: said } = await call('POST', '/alert-webhooks', { name: 'Pager', url, ...fields }, key)
  if (status !== 200) throw new Error(said)
  return { id: String(body['id']), secret: String(body['secret']) }
}

/** An alert as the counters note it when a budget ends. */
async function alert(kind: 'expired', tenant: Tenant, workspaceId = tenant.workspaceId): Promise<void> {
  const { rows } = await control.sql.query<{ id: string }>(
    `SELECT id FROM api_keys WHERE organisation_id = $1 AND workspace_id = $2 LIMIT 1`,
    [tenant.organisationId, workspaceId],
  )
  await control.sql.query(
    `INSERT INTO limit_alerts (id, organisation_id, kind, owner_kind, owner_id, value_key) VALUES (gen_random_uuid(), $1, $2, 'api-key', $3, '')`,
    [tenant.organisationId, kind, rows[0]?.id],
  )
}

/** Both jobs in several processes at once. */
async function tell(): Promise<void> {
  await Promise.all([1, 2, 3].map(() => tellAlerts.run(control.started.deps)))
  await Promise.all([1, 2, 3].map(() => deliverAlerts(control.started.deps)))
}

const isSigned = ({ headers, body }: Received, secret: string): boolean => {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const signature = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(signed)
    .digest('base64')
  return headers['webhook-signature'] === `v1,${signature}`
}

test.serial('an alert reaches each webhook that hears it once, signed, whoever tells it', async (t) => {
  const whole = await made({})
  await made({ events: ['usage.exhausted'] })
  const side = await made({ workspace_id: 'side' })
  await alert('expired', acme)
  await tell()
  t.is(received.length, 1)
  t.true(received.every((one) => isSigned(one, whole.secret)))
  const event = JSON.parse(received[0]?.body ?? '') as Record<string, unknown>
  t.like(event, { type: 'credential.expired', timestamp: new Date(now).toISOString() })
  await alert('expired', rival)
  await tell()
  t.is(received.length, 1)
  await alert('expired', acme, acme.sideId)
  await tell()
  t.is(received.filter((one) => isSigned(one, side.secret)).length, 1)
  t.is(received.length, 3)
})

test.serial('amounts are told with the digits that count', async (t) => {
  await made({ events: ['usage.threshold_reached'] })
  await control.sql.query(
    `INSERT INTO limit_alerts (organisation_id, kind, owner_kind, owner_id, value_key, counter, slot, counts, used, bound)
     SELECT organisation_id, 'threshold', 'api-key', id, '', 'counter', 0, 'cost', 1025000 / 1000000000::numeric, 100 FROM api_keys
      WHERE organisation_id = $1 AND workspace_id = $2 LIMIT 1`,
    [acme.organisationId, acme.workspaceId],
  )
  await tell()
  const event = received
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>)
    .find(({ type }) => type === 'usage.threshold_reached')
  t.like(event, { data: { usage: { type: 'cost', current: '0.001025', limit: '100' } } })
  const { body } = await call('GET', '/alerts')
  t.like(body['data'], [{ kind: 'threshold', used: '0.001025', limit: '100' }])
  for (const empty of ['current_page=5', 'page_size=0']) {
    const page = await call('GET', `/alerts?${empty}`)
    t.like(page.body, { total: body['total'], data: [] }, 'a page without rows tells how many there are')
  }
  t.true(Number(body['total']) > 0)
})

test.serial('alerts of the policies of a workspace are told to its keys too, and to no other', async (t) => {
  const conditions = [{ key: 'metadata.team', value: '*' }]
  const policy = { conditions, group_by: [{ key: 'metadata.team' }], type: 'cost', credit_limit: 1 }
  const { body, status, text: said } = await call('POST', '/policies/usage-limits', policy, acme.workspaceKey)
  t.is(status, 200, said)
  await control.sql.query(
    `INSERT INTO limit_alerts (organisation_id, kind, owner_kind, owner_id, value_key, counter, slot, counts, used, bound, queued_at)
     VALUES ($1, 'exhausted', 'policy', $2, 'metadata.team:red', 'counter-of-policy', 0, 'cost', 1, 1, now())`,
    [acme.organisationId, body['id']],
  )
  const seenBy = async (key: string) => {
    const list = (await call('GET', '/alerts?page_size=100', undefined, key)).body['data'] as { owner_id: string; group: string }[]
    return list.filter(({ owner_id: id }) => id === body['id']).map(({ group }) => group)
  }
  t.deepEqual(await seenBy(acme.adminKey), ['metadata.team:red'])
  t.deepEqual(await seenBy(acme.workspaceKey), ['metadata.team:red'])
  t.deepEqual(await seenBy(acme.sideKey), [])
  t.deepEqual(await seenBy(rival.adminKey), [])
})

test.serial(
  'a delivery that fails is tried again under the same id, later each time; 410 ends it, and so does the last attempt',
  async (t) => {
    await control.sql.query(`UPDATE alert_webhooks SET status = 'archived', secret = NULL`)
    const { id } = await made({})
    answers = [500, 'hang up', 'redirect', 200]
    await alert('expired', acme)
    await tell()
    for (let round = 0; round < 5; round++) {
      now += 24 * 3_600_000
      await deliverAlerts(control.started.deps)
    }
    t.is(received.length, 4)
    t.is(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
    const list = (await call('GET', '/alerts?state=delivered&page_size=1')).body['data'] as { deliveries: object[] }[]
    t.like(list[0]?.deliveries[0], { webhook_id: id, state: 'delivered', attempts: 4, last_status: 200, next_attempt_at: null })
    for (const [replies, attempts] of [
      [[410], 1],
      [Array<number>(20).fill(503), 9],
    ] as const) {
      received = []
      answers = replies
      await alert('expired', acme)
      await tell()
      for (let round = 0; round < 12; round++) {
        now += 48 * 3_600_000
        await deliverAlerts(control.started.deps)
      }
      t.is(received.length, attempts)
      const [failed] = (await call('GET', '/alerts?state=failed&page_size=1')).body['data'] as { deliveries: object[] }[]
      t.like(failed?.deliveries[0], { state: 'failed', attempts })
    }
  },
)

test.serial('an alert that is told while a webhook is being deleted leaves nothing behind for it', async (t) => {
  const { id } = await made({})
  const deleting = await control.sql.connect()
  await deleting.query('BEGIN')
  await deleting.query(`UPDATE alert_webhooks SET status = 'archived', secret = NULL WHERE id = $1`, [id])
  await alert('expired', acme)
  let hasEnded = false
  const telling = tell().then(() => (hasEnded = true))
  const waits = async () => (await control.sql.query(`SELECT 1 FROM pg_locks WHERE NOT granted`)).rows.length > 0
  await eventually(async () => hasEnded || (await waits()), 15_000)
  await deleting.query('COMMIT')
  deleting.release()
  await telling
  t.deepEqual((await control.sql.query('SELECT 1 FROM alert_deliveries WHERE webhook_id = $1', [id])).rows, [])
})

test.serial('a test sends an event at once and tells what became of it', async (t) => {
  const { id, secret } = await made({})
  answers = [204, 500, 'redirect']
  t.like((await call('POST', `/alert-webhooks/${id}/test`, {})).body, { delivered: true, status: 204, error: null })
  t.true(isSigned(received[0] as Received, secret))
  t.like(JSON.parse(received[0]?.body ?? ''), { type: 'test' })
  t.like((await call('POST', `/alert-webhooks/${id}/test`, {})).body, { delivered: false, status: 500 })
  t.like((await call('POST', `/alert-webhooks/${id}/test`, {})).body, { delivered: false, status: 302 })
  t.is(received.length, 3)
})

test.serial('tests of a receiver that answers slowly hold nobody else up, and are few at a time', async (t) => {
  const { id } = await made({})
  const hold = Promise.withResolvers<void>()
  held = hold.promise
  const refused: number[] = []
  const tests = Array.from({ length: 12 }, async () => {
    const { status } = await call('POST', `/alert-webhooks/${id}/test`, {})
    if (status !== 200) refused.push(status)
  })
  await eventually(() => refused.length === 10, 15_000, 'those beyond two')
  t.is((await call('GET', `/alert-webhooks/${id}`)).status, 200)
  hold.resolve()
  held = null
  await Promise.all(tests)
  t.deepEqual(refused, Array<number>(10).fill(503))
})

test.serial('the secret is shown once, sealed, and renewed on request; hosts that requests may not reach are refused', async (t) => {
  const { id, secret } = await made({})
  t.regex(secret, /^whsec_[\w+/]{43}=$/)
  const read = await call('GET', `/alert-webhooks/${id}`)
  t.false(read.text.includes('whsec_'))
  t.false((await control.dump()).includes(secret.slice(6)))
  const { body } = await call('PUT', `/alert-webhooks/${id}`, { rotate_secret: true, events: ['usage.exhausted'] })
  t.not(body['secret'], secret)
  t.deepEqual(body['events'], ['usage.exhausted'])
  for (const wrong of ['http://169.254.169.254/x', 'ftp://example.com', 'nonsense'])
    t.true([400, 403].includes((await call('POST', '/alert-webhooks', { name: 'x', url: wrong })).status), wrong)
  t.is((await call('PUT', `/alert-webhooks/${id}`, { url: 'http://169.254.169.254/' })).status >= 400, true)
  t.is((await call('POST', '/alert-webhooks', { name: 'x', url, events: ['colour'] })).status, 400)
  t.is((await call('DELETE', `/alert-webhooks/${id}`)).status, 200)
  t.is((await call('GET', `/alert-webhooks/${id}`)).status, 404)
})

test.serial('a workspace key sees and changes those of its workspace; strangers see nothing', async (t) => {
  const [whole, own] = [await made({}), await made({}, acme.workspaceKey)]
  const list = (await call('GET', '/alert-webhooks', undefined, acme.workspaceKey)).body['data'] as { id: string }[]
  t.true(list.some(({ id }) => id === own.id))
  t.false(list.some(({ id }) => id === whole.id))
  for (const [id, key] of [
    [whole.id, acme.workspaceKey],
    [own.id, rival.adminKey],
    [own.id, acme.sideKey],
  ] as const)
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const)
      t.is((await call(method, `/alert-webhooks/${id}${path}`, method === 'GET' ? undefined : {}, key)).status, 404)
})

test.serial('the URL is shown to nobody as a whole: its path may be the credential', async (t) => {
  const path = '/services/T0123/B0456/hooks-canary-0123456789'
  const secretUrl = url.replace('/hook', path)
  const shown = `${new URL(url).origin}/********6789`
  const { id } = await made({ url: secretUrl })
  const said = [
    await call('GET', `/alert-webhooks/${id}`),
    await call('GET', '/alert-webhooks'),
    await call('PUT', `/alert-webhooks/${id}`, { name: 'Renamed', url: shown }),
    await call('GET', '/audit-logs?resource_type=alert-webhook'),
    await call('PUT', `/alert-webhooks/${id}`, { url: secretUrl.slice('http://'.length) }),
    await call('PUT', `/alert-webhooks/${id}`, { url: 'https://elsewhere.test/********6789' }),
  ]
  for (const one of said) t.false(one.text.includes('hooks-canary'), one.text)
  t.deepEqual(
    said.map(({ status }) => status),
    [200, 200, 200, 200, 400, 400],
  )
  t.is(said[0]?.body['url'], shown)
  t.is(said[2]?.body['url'], shown)
  t.true(said[3]?.text.includes(`${new URL(url).origin}/hmac:`))
  const [row] = (await control.sql.query('SELECT name, url FROM alert_webhooks WHERE id = $1', [id])).rows
  t.deepEqual(row, { name: 'Renamed', url: null })
  t.false((await control.dump()).includes('hooks-canary'))
})

const migration = (file: string) => readFile(join(import.meta.dirname, `../../../migrations/${file}.sql`), 'utf8')

test.serial('a URL is sealed beside processes of earlier builds, and nowhere readable once that is finalized', async (t) => {
  const ofUrl = 'SELECT url, url_sealed IS NOT NULL AS sealed FROM alert_webhooks WHERE id = $1'
  const stored = async (id: string) => (await control.sql.query<{ url: string | null; sealed: boolean }>(ofUrl, [id])).rows[0]
  /** Writes a URL as a process of an earlier build does. */
  const written = (id: string, path: string) => control.sql.query('UPDATE alert_webhooks SET url = $2 WHERE id = $1', [id, `${url}${path}`])
  const tested = async (id: string) => {
    received = []
    await call('POST', `/alert-webhooks/${id}/test`, {})
    return received[0]?.path
  }
  const expand = await migration('v01.03.00/665-sealed-webhook-urls')
  await control.sql.query('DROP TRIGGER keep_url ON alert_webhooks; DROP FUNCTION keep_webhook_url()')
  await control.sql.query(expand.slice(expand.indexOf('CREATE FUNCTION')))

  const { id } = await made({ url: `${url}/first-canary` })
  t.deepEqual(await stored(id), { url: `${url}/first-canary`, sealed: true })
  await call('PUT', `/alert-webhooks/${id}`, { url: `${url}/second-canary` })
  t.deepEqual(await stored(id), { url: `${url}/second-canary`, sealed: true }, 'the former release sends to the address that was set last')
  await written(id, '/third-canary')
  t.is(await tested(id), '/hook/third-canary')
  t.deepEqual(await stored(id), { url: `${url}/third-canary`, sealed: false })
  const unsealed = await migration('v01.11.00/666-webhook-urls-sealed')
  const open = async () => (await control.sql.query<{ processed: string }>(unsealed, [null, 100])).rows[0]?.processed
  t.is(await open(), '1')
  await sealUrls.run(control.started.deps)
  t.is(await open(), '0')
  t.deepEqual(await stored(id), { url: `${url}/third-canary`, sealed: true })

  await control.sql.query(await migration('v01.12.00/667-readable-webhook-urls'))
  t.deepEqual(await stored(id), { url: null, sealed: true })
  t.is(await tested(id), '/hook/third-canary')
  await written(id, '/fourth-canary')
  t.is(await tested(id), '/hook/fourth-canary', 'a late write of such a process counts')
  await sealUrls.run(control.started.deps)
  t.is(await tested(id), '/hook/fourth-canary')
  const other = await made({ url: `${url}/fifth-canary` })
  await call('PUT', `/alert-webhooks/${id}`, { url: `${url}/sixth-canary` })
  t.deepEqual([await tested(other.id), await tested(id)], ['/hook/fifth-canary', '/hook/sixth-canary'])
  for (const one of [id, other.id]) t.deepEqual(await stored(one), { url: null, sealed: true })
  t.notRegex(await control.dump(), /(first|second|third|fourth|fifth|sixth)-canary/)
  await call('DELETE', `/alert-webhooks/${id}`)
  t.deepEqual(await stored(id), { url: null, sealed: false })
})
