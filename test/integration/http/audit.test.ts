import test from 'ava'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { inDatabase } from '../../support/database.ts'
import { send } from '../../support/http.ts'
import { probe } from '../../support/probe-feature.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ features: [...features, probe] })
})
test.after.always(() => app.stop())

const echo = (body: unknown, at: TestApp = app) =>
  send(`${at.baseUrl}/v1/probe/echo`, {
    method: 'POST',
    headers: { 'x-service-api-key': at.adminKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const rowsOf = async (requestId: unknown, at: TestApp = app) => {
  const query = `SELECT * FROM audit_logs WHERE request_id = $1`
  return (await inDatabase(at.database.superuser, (client) => client.query(query, [requestId]))).rows
}

test('a write leaves one row', async (t) => {
  const answer = await echo({ name: 'a', size: 3 })
  t.is(answer.status, 200)
  const rows = await rowsOf(answer.headers['x-request-id'])
  t.is(rows.length, 1)
  t.like(rows[0], {
    actor_type: 'api_key',
    action: 'update',
    resource_type: 'probe',
    resource_id: '00000000-0000-4000-8000-000000000001',
    method: 'POST',
    uri: '/v1/probe/echo',
    client_ip: '127.0.0.1',
    response_status: 200,
    request_body: { name: 'a', size: 3 },
  })
})

test('secrets are in it as keyed hashes only', async (t) => {
  const secrets = {
    api_key: 'secret-value-secret-value',
    nested: { secret: 'other-secret' },
    free: { note: 'sk-abcdefghijklmnopqrst', list: [{ password: 7 }] },
  }
  const answer = await echo({ name: 'b', ...secrets })
  t.is(answer.status, 200, answer.text)
  const again = await echo({ name: 'c', api_key: secrets.api_key })
  const [row] = await rowsOf(answer.headers['x-request-id'])
  const [other] = await rowsOf(again.headers['x-request-id'])
  t.regex(row.request_body.api_key, /^hmac:[0-9a-f]{64}$/)
  t.is(row.request_body.api_key, other.request_body.api_key)
  t.regex(row.request_body.nested.secret, /^hmac:/)
  t.regex(row.request_body.free.note, /^hmac:/)
  t.regex(row.request_body.free.list[0].password, /^hmac:/)
  t.is(row.request_body.name, 'b')
  t.notRegex(JSON.stringify(row), /secret-value|other-secret|sk-abc/)
})

test('a read and a refused write leave none', async (t) => {
  const read = await send(`${app.baseUrl}/v1/probe/items/x`, { headers: { 'x-service-api-key': app.adminKey } })
  t.deepEqual(await rowsOf(read.headers['x-request-id']), [])
  const refused = await echo({ name: '' })
  t.deepEqual(await rowsOf(refused.headers['x-request-id']), [])
  const failed = await send(`${app.baseUrl}/v1/probe/fail/foreseen`, { method: 'PUT', headers: { 'x-service-api-key': app.adminKey } })
  t.is(failed.status, 404)
  t.deepEqual(await rowsOf(failed.headers['x-request-id']), [])
})

const rename = (from: string, to: string) =>
  inDatabase(app.database.superuser, (client) => client.query(`ALTER TABLE ${from} RENAME TO ${to}`))
const put = () => send(`${app.baseUrl}/v1/probe/fail/not-at-all`, { method: 'PUT', headers: { 'x-service-api-key': app.adminKey } })
const described = async () => {
  const query = `SELECT description FROM workspaces WHERE is_default`
  return (await inDatabase(app.database.superuser, (client) => client.query(query))).rows[0].description
}

test.serial('a write whose row cannot be written is refused as a whole', async (t) => {
  await rename('audit_logs', 'audit_logs_away')
  t.is((await put()).status, 500)
  t.is(await described(), null)
  await rename('audit_logs_away', 'audit_logs')
  t.is((await put()).status, 200)
  t.is(await described(), 'changed by not-at-all')
})

test('AUDIT_LOGS_ENABLED=OFF writes none', async (t) => {
  const quiet = await startApp({ features: [...features, probe], env: { AUDIT_LOGS_ENABLED: 'OFF' } })
  const answer = await echo({ name: 'a' }, quiet)
  t.is(answer.status, 200)
  t.deepEqual(await rowsOf(answer.headers['x-request-id'], quiet), [])
  await quiet.stop()
})

const call = (method: string, path: string, body?: unknown) =>
  send(`${app.baseUrl}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': app.adminKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

test('a row says what was there before and after, without secrets', async (t) => {
  const made = await call('POST', '/integrations', { name: 'Acct', ai_provider_id: 'openai', key: 'sk-very-secret-0123456789' })
  const [creation] = await rowsOf(made.headers['x-request-id'])
  t.is(creation.before, null)
  t.like(creation.after, { name: 'Acct', slug: 'acct', ai_provider_id: 'openai', status: 'active' })
  t.regex(creation.after.credential, /^hmac:/)
  t.deepEqual(
    creation.related.map(({ table, before, after }: Record<string, unknown>) => [table, before, (after as { slug?: string }).slug]),
    [
      ['integration_workspaces', null, undefined],
      ['providers', null, 'acct'],
    ],
  )
  const changed = await call('PUT', '/integrations/acct', { name: 'Account', description: 'ours' })
  const [change] = await rowsOf(changed.headers['x-request-id'])
  t.like(change, {
    action: 'update',
    before: { name: 'Acct', description: null },
    after: { name: 'Account', description: 'ours' },
    related: null,
  })
  t.deepEqual(Object.keys(change.after).toSorted(), ['description', 'name'])
  const gone = await call('DELETE', '/integrations/acct')
  const [end] = await rowsOf(gone.headers['x-request-id'])
  t.like(end, { action: 'delete', before: { status: 'active' }, after: { status: 'archived', credential: null } })
  t.notRegex(JSON.stringify([creation, change, end]), /very-secret/)
})
