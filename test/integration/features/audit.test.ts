import test from 'ava'
import { organisationScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

interface Row {
  readonly [name: string]: unknown
  readonly id: string
  readonly resource_type: string
  readonly action: string
}

let control: Control
let acme: Tenant
let rival: Tenant
let collection = ''
const before = new Date()

test.before(async () => {
  control = await startControl({}, { TRUSTED_PROXIES: '127.0.0.1' })
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
  const edge = { 'x-forwarded-for': '198.51.100.7', 'cf-ipcountry': 'DE', 'user-agent': 'curl/8', authorization: 'Bearer canary-secret' }
  const made = await fetch(`${control.origin}/v1/collections?workspace_id=ignored`, {
    method: 'POST',
    headers: { ...edge, 'x-service-api-key': acme.workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'First' }),
  })
  collection = ((await made.json()) as { id: string }).id
  await control.call(acme.sideKey, 'POST', '/collections', { name: 'Second' })
  await control.call(acme.workspaceKey, 'PUT', `/collections/${collection}`, { name: 'Renamed 100%' })
  await control.call(acme.adminKey, 'POST', '/integrations', { name: 'Acct', ai_provider_id: 'openai', key: 'sk-canary-0123456789abcdef' })
  await control.call(acme.workspaceKey, 'DELETE', `/collections/${collection}`)
  await control.call(rival.workspaceKey, 'POST', '/collections', { name: 'Theirs' })
})
test.after.always(() => control.close())

const list = async (filter: Readonly<Record<string, string>> = {}, key = acme.adminKey) => {
  const answer = await control.call(key, 'GET', `/audit-logs?${new URLSearchParams(filter).toString()}`)
  return { ...answer, rows: (answer.body['data'] ?? []) as Row[] }
}
const whatOf = (rows: readonly Row[]) => rows.map(({ resource_type, action }) => `${resource_type} ${action}`)

test('the trail of the organisation, newest first, and of no other', async (t) => {
  const { status, body, rows } = await list()
  t.is(status, 200)
  t.deepEqual(whatOf(rows), ['collection delete', 'integration create', 'collection update', 'collection create', 'collection create'])
  t.deepEqual([body['object'], body['total'], body['has_more']], ['list', 5, false])
  t.deepEqual(
    rows.map(({ seq }) => seq),
    [5, 4, 3, 2, 1],
  )
  t.deepEqual(whatOf((await list({}, rival.adminKey)).rows), ['collection create'])
})

test('a row says who did what, from where, and what changed; secrets are keyed hashes', async (t) => {
  const { rows, text } = await list({ resource_id: collection })
  const [gone, change, creation] = rows
  t.like(creation, {
    method: 'POST',
    uri: '/v1/collections',
    user_type: 'api_key',
    user_id: null,
    actor_name: 'test',
    organisation_id: acme.organisationId,
    workspace_id: acme.workspaceId,
    response_status_code: 200,
    resource_id: collection,
    client_ip: '198.51.100.7',
    country: 'DE',
    request_body: '{"name":"First"}',
    query_params: '{"workspace_id":"ignored"}',
    before: null,
  })
  t.like(change, { before: { name: 'First' }, after: { name: 'Renamed 100%' }, country: null })
  t.like(gone, { before: { status: 'active' }, after: { status: 'archived' } })
  const headers = JSON.parse(String(creation?.['request_headers'])) as Record<string, string>
  t.like(headers, { 'user-agent': 'curl/8', 'content-type': 'application/json' })
  t.regex(headers['authorization'] ?? '', /^hmac:[0-9a-f]{64}$/)
  t.regex(headers['x-service-api-key'] ?? '', /^hmac:[0-9a-f]{64}$/)
  const all = await list()
  t.false([acme.adminKey, acme.workspaceKey, 'canary'].some((secret) => all.text.includes(secret) || text.includes(secret)))
})

test('what is gone for good is still told as it was', async (t) => {
  const gone = await control.createTenant('gone')
  const userId = await control.createUser(gone, { email: 'ada@gone.test', workspaces: { [gone.sideId]: 'manager' } })
  const admin = (method: string, path: string, body?: unknown) => control.call(gone.adminKey, method, path, body)
  await admin('POST', '/integrations', { name: 'Acct', ai_provider_id: 'openai', key: 'sk-canary-0123456789abcdef' })
  await admin('PUT', '/integrations/acct/models', { models: [{ slug: 'm', enabled: false }] })
  const writes = [
    ['DELETE', `/admin/workspaces/side/users/${userId}`, undefined],
    ['PUT', '/integrations/acct/workspaces', { workspaces: [], override_existing_workspace_access: true }],
    ['DELETE', '/integrations/acct/models?slugs=m', undefined],
  ] as const
  for (const [method, path, body] of writes) t.is((await admin(method, path, body)).status, 200, path)
  const { rows } = await control.sql.query(
    'SELECT before, after, related FROM audit_logs WHERE organisation_id = $1 ORDER BY seq DESC LIMIT 3',
    [gone.organisationId],
  )
  const [models, grants, member] = rows
  t.like(member, { before: { user_id: userId, workspace_id: gone.sideId, role: 'manager' }, after: null })
  t.like(grants.related[0], { table: 'integration_workspaces', before: { workspace_id: gone.workspaceId, enabled: true }, after: null })
  t.like(models.related[0], { table: 'integration_models', before: { slug: 'm', enabled: false, configurations: {} }, after: null })
})

test('what a field held before is told as what it holds after, and masked as well', async (t) => {
  const { workspaceKey } = await control.createTenant('fields')
  const key = { name: 'k', scopes: ['completions.write'], defaults: { metadata: { team: 'red', token: 'canary-of-metadata' } } }
  const { body } = await control.call(workspaceKey, 'POST', '/api-keys/workspace/service', key)
  await control.call(workspaceKey, 'PUT', `/api-keys/${String(body['id'])}`, { defaults: { metadata: { team: 'blue' } } })
  const { rows } = await control.sql.query("SELECT before, after FROM audit_logs WHERE resource_id = $1 AND action = 'update'", [
    body['id'],
  ])
  t.like(rows[0], { before: { defaults: { metadata: { team: 'red' } } }, after: { defaults: { metadata: { team: 'blue' } } } })
  t.regex(rows[0].before.defaults.metadata.token, /^hmac:/)
})

const filters: readonly (readonly [filter: () => Readonly<Record<string, string>>, expected: readonly string[]])[] = [
  [() => ({ method: 'POST' }), ['integration create', 'collection create', 'collection create']],
  [() => ({ method: 'DELETE' }), ['collection delete']],
  [() => ({ uri: '/v1/integr' }), ['integration create']],
  [() => ({ uri: '%integrations' }), []],
  [() => ({ resource_type: 'integration' }), ['integration create']],
  [() => ({ action: 'update' }), ['collection update']],
  [() => ({ workspace_id: 'side' }), ['collection create']],
  [() => ({ workspace_id: acme.sideId }), ['collection create']],
  [() => ({ client_ip: '198.51.100.7' }), ['collection create']],
  [() => ({ country: 'de' }), ['collection create']],
  [() => ({ user_type: 'user' }), []],
  [() => ({ user_type: 'api_key', method: 'PUT' }), ['collection update']],
  [() => ({ response_status_code: '404' }), []],
  [() => ({ response_status_code: '200', resource_type: 'integration' }), ['integration create']],
  [
    () => ({ start_time: before.toISOString(), end_time: new Date(Date.now() + 60_000).toISOString(), method: 'PUT' }),
    ['collection update'],
  ],
  [() => ({ end_time: before.toISOString() }), []],
  [() => ({ start_time: '2999-01-01' }), []],
  [() => ({ organisation_id: 'acme', method: 'PUT' }), ['collection update']],
  [() => ({ organisation_id: acme.organisationId, action: 'delete' }), ['collection delete']],
]
test('every filter', async (t) => {
  for (const [filter, expected] of filters) t.deepEqual(whatOf((await list(filter())).rows), expected, JSON.stringify(filter()))
  const [row] = (await list({ method: 'PUT' })).rows
  for (const name of ['request_id', 'actor_id'])
    t.true(
      (await list({ [name === 'actor_id' ? 'user_id' : name]: String(row?.[name]) })).rows.some(({ id }) => id === row?.id),
      name,
    )
})

test('pages have bounds, and what is no filter is refused by name', async (t) => {
  const [first, second] = [await list({ page_size: '2' }), await list({ page_size: '2', current_page: '1' })]
  t.deepEqual([first.rows.length, first.body['has_more'], second.rows.length, second.body['total']], [2, true, 2, 5])
  t.is((await list({ page_size: '0' })).body['total'], 5)
  const wrong: readonly (readonly [name: string, value: string])[] = [
    ['page_size', '1001'],
    ['current_page', '-1'],
    ['method', 'GET'],
    ['user_type', 'robot'],
    ['response_status_code', 'abc'],
    ['start_time', 'yesterday'],
    ['user_id', 'x'],
    ['country', 'DEU'],
    ['tenant', 'x'],
  ]
  for (const [name, value] of wrong) {
    const { status, text } = await list({ [name]: value })
    t.is(status, 400, name)
    t.true(text.includes(name), text)
  }
  const reversed = await list({ start_time: '2026-01-02', end_time: '2026-01-01' })
  t.deepEqual([reversed.status, reversed.text.includes('end_time')], [400, true])
})

test('foreign and unknown references are not found', async (t) => {
  for (const filter of [{ workspace_id: rival.workspaceId }, { workspace_id: 'nowhere' }, { organisation_id: rival.organisationId }]) {
    const { status, text } = await list(filter)
    t.is(status, 404, text)
    t.regex(text, /AB08/)
  }
})

test('only a key with the scope reads it, and no workspace key holds it', async (t) => {
  const without = await control.createKey(acme, { scopes: organisationScopes.filter((scope) => scope !== 'audit_logs.list') })
  t.is((await list({}, without)).status, 403)
  t.is((await list({}, acme.workspaceKey)).status, 403)
  t.false(workspaceScopes.includes('audit_logs.list'))
})

test('what was done in an archived workspace stays to be seen', async (t) => {
  const other = await control.createTenant('other')
  const { id, slug } = (await control.call(other.adminKey, 'POST', '/admin/workspaces', { name: 'Gone' })).body as Record<string, string>
  await control.call(other.adminKey, 'DELETE', `/admin/workspaces/${id}`, { force_delete: true })
  t.deepEqual(whatOf((await list({ workspace_id: slug ?? '' }, other.adminKey)).rows), ['workspace delete', 'workspace create'])
})

test('AUDIT_LOGS_ENABLED=OFF takes the route away', async (t) => {
  const quiet = await startControl({}, { AUDIT_LOGS_ENABLED: 'OFF' })
  const tenant = await quiet.createTenant('acme')
  const { status, text } = await quiet.call(tenant.adminKey, 'GET', '/audit-logs')
  t.is(status, 404)
  t.regex(text, /AUDIT_LOGS_ENABLED/)
  await quiet.close()
})
