import test from 'ava'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { inDatabase } from '../../support/database.ts'
import { send } from '../../support/http.ts'
import { probe } from '../../support/probe-feature.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ features: [...features, probe], env: { HEADER_ALIASES: 'portkey' } })
})
test.after.always(() => app.stop())

const nobody = 'gh-nobody-has-this-key-0000000000000000000'

type Keys = (app: TestApp) => Readonly<Record<string, string>>

const authenticates = test.macro<[string, Keys, number]>({
  async exec(t, _name, headers, status) {
    const answer = await send(`${app.baseUrl}/v1/probe/items/x`, { headers: headers(app) })
    t.is(answer.status, status, answer.text)
    if (status !== 401) return
    t.is(JSON.parse(answer.text).error.code, 'AB05')
    t.is(answer.headers['www-authenticate'], 'Bearer realm="gatehouse"')
    t.is(answer.headers['x-should-retry'], 'false')
  },
  title: (_, name, __, status) => `${name}: ${status}`,
})

test(authenticates, 'no key', () => ({}), 401)
test(authenticates, 'x-service-api-key', ({ adminKey }) => ({ 'x-service-api-key': adminKey }), 200)
test(authenticates, 'an alias prefix', ({ adminKey }) => ({ 'x-portkey-api-key': adminKey }), 200)
test(authenticates, 'a prefix that is no alias', ({ adminKey }) => ({ 'x-other-api-key': adminKey }), 401)
test(authenticates, 'a bearer token', ({ adminKey }) => ({ authorization: `Bearer ${adminKey}` }), 200)
test(authenticates, 'a bearer token, other case', ({ adminKey }) => ({ authorization: `bearer ${adminKey}` }), 200)
test(authenticates, 'basic credentials', ({ adminKey }) => ({ authorization: `Basic ${adminKey}` }), 401)
test(authenticates, 'x-api-key', ({ adminKey }) => ({ 'x-api-key': adminKey }), 200)
test(authenticates, 'api-key', ({ adminKey }) => ({ 'api-key': adminKey }), 200)
test(authenticates, 'DUMMY-KEY counts as absent', ({ adminKey }) => ({ 'x-service-api-key': 'DUMMY-KEY', 'x-api-key': adminKey }), 200)
test(authenticates, 'DUMMY-KEY alone', () => ({ 'x-service-api-key': 'DUMMY-KEY' }), 401)
test(
  authenticates,
  'its own header comes first',
  ({ adminKey }) => ({ 'x-service-api-key': nobody, authorization: `Bearer ${adminKey}` }),
  401,
)
test(
  authenticates,
  "a provider's bearer token before ours",
  ({ adminKey }) => ({ authorization: 'Bearer sk-other', 'x-api-key': adminKey }),
  200,
)
test(authenticates, 'an unknown key', () => ({ 'x-service-api-key': nobody }), 401)
test(authenticates, 'an empty key', () => ({ 'x-service-api-key': '' }), 401)
test(authenticates, 'a very long key', () => ({ 'x-service-api-key': 'k'.repeat(16_000) }), 401)
test(authenticates, 'a key with SQL in it', () => ({ 'x-service-api-key': `' OR 1=1 --` }), 401)
test(
  authenticates,
  'a scope of another key type is enough when any will do',
  ({ workspaceKey }) => ({ 'x-service-api-key': workspaceKey }),
  200,
)

test('an expired key says so', async (t) => {
  const secret = 'gh-expired-key-0000000000000000000000000'
  await inDatabase(app.database.superuser, (client) =>
    client.query(
      `INSERT INTO api_keys (id, organisation_id, name, type, scopes, key_hash, key_hint, expires_at)
       SELECT gen_random_uuid(), organisation_id, 'expired', type, scopes, $1, 'x', now() - interval '1 hour' FROM api_keys WHERE workspace_id IS NULL LIMIT 1`,
      [app.deps.vault.hashKey(secret)],
    ),
  )
  const answer = await send(`${app.baseUrl}/v1/probe/items/x`, { headers: { 'x-service-api-key': secret } })
  t.is(answer.status, 401)
  t.is(JSON.parse(answer.text).error.code, 'AB05')
})

test('a missing scope is AB03, and is named', async (t) => {
  const secret = 'gh-key-without-scopes-000000000000000000'
  await inDatabase(app.database.superuser, (client) =>
    client.query(
      `INSERT INTO api_keys (id, organisation_id, name, type, scopes, key_hash, key_hint)
       SELECT gen_random_uuid(), organisation_id, 'bare', type, '{logs.view}', $1, 'x' FROM api_keys WHERE workspace_id IS NULL LIMIT 1`,
      [app.deps.vault.hashKey(secret)],
    ),
  )
  const ask = (method: string, path: string) => send(app.baseUrl + path, { method, headers: { 'x-service-api-key': secret } })
  const read = await ask('GET', '/v1/probe/items/x')
  t.is(read.status, 403)
  t.like(JSON.parse(read.text).error, { code: 'AB03', type: 'permission_error' })
  t.regex(read.text, /lacks the scope workspaces\.read or audit_logs\.list/)
  const write = await ask('PUT', '/v1/probe/fail/not-at-all')
  t.is(write.status, 403)
  t.regex(write.text, /workspaces\.update/)
})

test('the key is checked before the input', async (t) => {
  const answer = await send(`${app.baseUrl}/v1/probe/echo`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' })
  t.is(answer.status, 401)
})
