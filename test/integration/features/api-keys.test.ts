import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  other = await control.createTenant('other')
  await control.createUser(acme, { id: person, email: 'person@example.com', workspaces: { [acme.workspaceId]: 'member' } })
  const config = { name: 'One', slug: 'pc-1', config: { provider: 'openai' } }
  const { status, text } = await control.call(acme.workspaceKey, 'POST', '/configs', config)
  if (status !== 200) throw new Error(text)
})
test.after.always(() => control.close())

const person = '0198c5a0-0000-7000-8000-000000000000'
const halfAnHourMs = 1_800_000
const future = '2099-01-01T00:00:00.000Z'

async function made(key: string, path: string, body: object): Promise<{ id: string; key: string }> {
  const answer = await control.call(key, 'POST', `/api-keys/${path}`, body)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body as { id: string; key: string }
}

const read = async (id: string, key = acme.adminKey) => (await control.call(key, 'GET', `/api-keys/${id}`)).body

const creates = test.macro({
  async exec(t, path: string, body: object, expected: object) {
    const { status, body: created } = await control.call(acme.adminKey, 'POST', `/api-keys/${path}`, body)
    t.is(status, 200)
    t.deepEqual(Object.keys(created), ['id', 'key', 'object'])
    t.is(created['object'], 'api-key')
    const stored = await read(String(created['id']))
    t.like(stored, { ...expected, organisation_id: acme.organisationId, status: 'active', creation_mode: 'api', object: 'api-key' })
    t.regex(String(stored['key']), /^gh-\.\.\..{4}$/)
  },
  title: (name = '') => `creates: ${name}`,
})

test(
  'plain',
  creates,
  'organisation/service',
  { name: 'a', scopes: ['providers.read', 'providers.read'] },
  {
    type: 'organisation-service',
    scopes: ['providers.read'],
    workspace_id: null,
    defaults: {},
    expires_at: null,
    usage_limits: null,
    rate_limits: null,
  },
)
test('default workspace', creates, 'workspace/service', { name: 'b', scopes: ['completions.write'] }, { type: 'workspace-service' })
test('workspace by slug', creates, 'workspace/service', { name: 'b', scopes: ['completions.write'], workspace_id: 'side' }, {})
test(
  'everything',
  creates,
  'workspace/user',
  {
    name: ' Ünï ',
    description: 'd',
    scopes: ['completions.write'],
    user_id: person,
    usage_limits: { credit_limit: 5, periodic_reset: 'monthly' },
    rate_limits: [{ type: 'requests', unit: 'rpw', value: 0 }],
    defaults: { metadata: { team: 'x' }, config_id: 'pc-1', allow_config_override: false },
    alert_emails: ['a@example.com'],
    expires_at: future,
    rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: halfAnHourMs },
  },
  {
    name: 'Ünï',
    type: 'workspace-user',
    user_id: person,
    usage_limits: { credit_limit: 5, periodic_reset: 'monthly' },
    rate_limits: [{ type: 'requests', unit: 'rpw', value: 0 }],
    defaults: { metadata: { team: 'x' }, config_id: 'pc-1', allow_config_override: false },
    alert_emails: ['a@example.com'],
    expires_at: future,
  },
)

const ok = { name: 'k', scopes: ['providers.read'] }

const refuses = test.macro({
  async exec(t, path: string, body: unknown, status: number, param: string) {
    const answer = await control.call(acme.adminKey, 'POST', `/api-keys/${path}`, body)
    t.is(answer.status, status, answer.text)
    t.regex((answer.body['error'] as { param: string }).param, new RegExp(`^${param}`))
  },
  title: (_, ...given) => `refuses ${JSON.stringify(given)}`,
})

test(refuses, 'organisation/user', ok, 400, 'subType')
test(refuses, 'tenant/service', ok, 400, 'type')
test(refuses, 'organisation/service', { scopes: ok.scopes }, 400, 'name')
test(refuses, 'organisation/service', { name: 'k' }, 400, 'scopes')
test(refuses, 'organisation/service', { name: 'k', scopes: [] }, 400, 'scopes')
test(refuses, 'organisation/service', { ...ok, name: 'x'.repeat(256) }, 400, 'name')
test(refuses, 'organisation/service', { ...ok, name: 'a\u0000' }, 400, 'name')
test(refuses, 'organisation/service', { ...ok, description: 'a\u0000' }, 400, 'description')
test(refuses, 'organisation/service', { ...ok, scopes: ['completions.write'] }, 400, 'scopes')
test(refuses, 'organisation/service', { ...ok, scopes: ['nonsense.read'] }, 400, 'scopes')
test(refuses, 'organisation/service', { ...ok, workspace_id: 'main' }, 400, 'workspace_id')
test(refuses, 'organisation/service', { ...ok, user_id: '0198c5a0-0000-7000-8000-000000000000' }, 400, 'user_id')
test(refuses, 'workspace/user', { ...ok, user_id: 'me' }, 400, 'user_id')
test(refuses, 'workspace/user', { ...ok, scopes: ['workspace_user_api_keys.create'] }, 400, 'scopes')
test(refuses, 'workspace/service', { ...ok, workspace_id: 'nowhere' }, 404, 'workspace_id')
test(refuses, 'workspace/service', { ...ok, unknown: 1 }, 400, 'unknown')
test(refuses, 'workspace/service', { ...ok, expires_at: '2020-01-01T00:00:00Z' }, 400, 'expires_at')
test(refuses, 'workspace/service', { ...ok, expires_at: 'soon' }, 400, 'expires_at')
test(refuses, 'workspace/service', { ...ok, usage_limits: { credit_limit: 0 } }, 400, 'usage_limits')
test(refuses, 'workspace/service', { ...ok, usage_limits: [] }, 400, 'usage_limits')
test(refuses, 'workspace/service', { ...ok, rate_limits: [{ type: 'requests', unit: 'rpy', value: 1 }] }, 400, 'rate_limits')
test(refuses, 'workspace/service', { ...ok, alert_emails: ['nobody'] }, 400, 'alert_emails')
test(refuses, 'workspace/service', { ...ok, defaults: { metadata: { a: 1 } } }, 400, 'defaults')
test(refuses, 'workspace/service', { ...ok, rotation_policy: { key_transition_period_ms: 1 } }, 400, 'rotation_policy')
test(refuses, 'workspace/service', { ...ok, organisation_id: '0198c5a0-0000-7000-8000-000000000000' }, 403, 'organisation_id')

test('a new key works, with its own scopes only', async (t) => {
  const { key } = await made(acme.adminKey, 'workspace/service', { name: 'k', scopes: ['providers.list'] })
  t.is((await control.call(key, 'GET', '/providers')).status, 200)
  t.is((await control.call(key, 'GET', '/virtual-keys')).status, 403)
})

test('a workspace key acts in its own workspace only', async (t) => {
  const inMain = await made(acme.workspaceKey, 'workspace/service', { ...ok, workspace_id: 'main' })
  const foreign = await made(acme.adminKey, 'workspace/service', { ...ok, workspace_id: 'side' })
  const organisation = await made(acme.adminKey, 'organisation/service', ok)
  t.like(await read(inMain.id), { workspace_id: acme.workspaceId })
  for (const workspace of ['side', acme.sideId, other.workspaceId, 'nowhere']) {
    const { status, body } = await control.call(acme.workspaceKey, 'POST', '/api-keys/workspace/service', {
      ...ok,
      workspace_id: workspace,
    })
    t.is(status, 403, workspace)
    t.like(body, { error: { code: 'AB03', param: 'workspace_id' } })
  }
  t.is((await control.call(acme.workspaceKey, 'POST', '/api-keys/organisation/service', ok)).status, 403)
  t.is((await control.call(acme.workspaceKey, 'GET', '/api-keys?workspace_id=side')).status, 403)
  for (const { id } of [foreign, organisation]) {
    t.is((await control.call(acme.workspaceKey, 'GET', `/api-keys/${id}`)).status, 404)
    t.is((await control.call(acme.workspaceKey, 'PUT', `/api-keys/${id}`, { name: 'mine' })).status, 404)
    t.is((await control.call(acme.workspaceKey, 'DELETE', `/api-keys/${id}`)).status, 404)
    t.is((await control.call(acme.workspaceKey, 'POST', `/api-keys/${id}/rotate`, {})).status, 404)
  }
  const list = (await control.call(acme.workspaceKey, 'GET', '/api-keys')).body['data'] as { workspace_id: string }[]
  t.true(list.length > 0 && list.every((row) => row.workspace_id === acme.workspaceId))
})

test('nobody gets a scope that they do not hold: not by creating, changing or rotating', async (t) => {
  const weak = await control.createKey(acme, {
    workspaceId: acme.workspaceId,
    scopes: ['create', 'read', 'update', 'rotate', 'list'].map((verb) => `workspace_service_api_keys.${verb}`),
  })
  const strong = await made(acme.adminKey, 'workspace/service', { name: 'strong', scopes: ['providers.delete'] })
  const own = await made(weak, 'workspace/service', { name: 'own', scopes: ['workspace_service_api_keys.read'] })
  const tries = [
    ['POST', '/api-keys/workspace/service', { name: 'x', scopes: ['providers.delete'] }],
    ['PUT', `/api-keys/${own.id}`, { scopes: ['workspace_service_api_keys.read', 'providers.delete'] }],
    ['POST', `/api-keys/${strong.id}/rotate`, {}],
    ['POST', '/api-keys/workspace/user', { name: 'x', scopes: ['providers.read'] }],
  ] as const
  for (const [method, path, body] of tries) {
    const answer = await control.call(weak, method, path, body)
    t.is(answer.status, 403, path)
    t.like(answer.body, { error: { code: 'AB03' } })
  }
  t.is((await control.call(weak, 'PUT', `/api-keys/${strong.id}`, { name: 'renamed', scopes: ['providers.delete'] })).status, 200)
  t.is((await control.call(weak, 'POST', `/api-keys/${own.id}/rotate`, {})).status, 200)
})

test('a change touches what it names; null clears', async (t) => {
  const { id } = await made(acme.adminKey, 'workspace/service', {
    ...ok,
    description: 'd',
    usage_limits: { credit_limit: 5 },
    rate_limits: [{ type: 'tokens', unit: 'rps', value: 3 }],
    defaults: { metadata: { a: 'b' } },
    alert_emails: ['a@example.com'],
    expires_at: future,
  })
  const before = await read(id)
  const renamed = await control.call(acme.adminKey, 'PUT', `/api-keys/${id}`, { name: 'new' })
  t.is(renamed.text, '{}')
  const { last_updated_at: at, ...after } = await read(id)
  t.deepEqual({ ...after, last_updated_at: before['last_updated_at'] }, { ...before, name: 'new' })
  t.not(at, before['last_updated_at'])
  const nulls = { description: null, usage_limits: null, rate_limits: null, defaults: null, alert_emails: null, expires_at: null }
  t.is((await control.call(acme.adminKey, 'PUT', `/api-keys/${id}`, nulls)).status, 200)
  t.like(await read(id), {
    name: 'new',
    description: null,
    usage_limits: null,
    rate_limits: null,
    defaults: {},
    alert_emails: [],
    expires_at: null,
  })
  t.is((await control.call(acme.adminKey, 'PUT', `/api-keys/${id}`, {})).status, 200)
})

test('defaults are changed field by field, and null clears one', async (t) => {
  const pin = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'Pinned', config: { retry: { attempts: 1 } } })
  const pinned = String(pin.body['slug'])
  const locked = { config_id: pinned, allow_config_override: false }
  const { id } = await made(acme.adminKey, 'workspace/service', { ...ok, defaults: { ...locked, metadata: { a: 'b' } } })
  const steps = [
    [{ metadata: { c: 'd' } }, { ...locked, metadata: { c: 'd' } }],
    [{}, { ...locked, metadata: { c: 'd' } }],
    [{ allow_config_override: null }, { config_id: pinned, metadata: { c: 'd' } }],
    [{ config_id: null, metadata: null }, {}],
  ] as const
  for (const [defaults, after] of steps) {
    const answer = await control.call(acme.adminKey, 'PUT', `/api-keys/${id}`, { defaults })
    t.is(answer.status, 200, answer.text)
    t.deepEqual((await read(id))['defaults'], after, JSON.stringify(defaults))
  }
})

test('a change of defaults keeps no config that is gone, and drops none unasked', async (t) => {
  const { slug } = (await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'Passing', config: { retry: { attempts: 1 } } })).body
  const { id } = await made(acme.adminKey, 'workspace/service', { ...ok, defaults: { config_id: slug } })
  await control.sql.query(`UPDATE configs SET status = 'archived' WHERE slug = $1`, [slug])
  const change = (body: object) => control.call(acme.adminKey, 'PUT', `/api-keys/${id}`, body)
  for (const defaults of [{ metadata: { a: 'b' } }, { config_id: slug }]) {
    const refused = await change({ defaults })
    t.is(refused.status, 400, refused.text)
    t.like(refused.body, { error: { code: 'AB01', param: 'defaults.config_id' } })
    t.regex(refused.text, new RegExp(`There is no config .*${String(slug)}`))
  }
  t.regex((await change({ defaults: { metadata: {} } })).text, /This key starts from it\. Name another one, or null/)
  t.is((await change({ name: 'other' })).status, 200)
  t.deepEqual((await read(id))['defaults'], { config_id: slug })
  t.is((await change({ defaults: { metadata: { a: 'b' }, config_id: null } })).status, 200)
  t.deepEqual((await read(id))['defaults'], { metadata: { a: 'b' } })
})

const refusesChange = test.macro({
  async exec(t, body: object, param: string) {
    const { id } = await made(acme.adminKey, 'workspace/service', ok)
    const before = await read(id)
    const answer = await control.call(acme.adminKey, 'PUT', `/api-keys/${id}`, body)
    t.is(answer.status, 400, answer.text)
    t.like(answer.body, { error: { param } })
    t.deepEqual(await read(id), before)
  },
  title: (_, body) => `refuses the change ${JSON.stringify(body)}`,
})

test(refusesChange, { name: null }, 'name')
test(refusesChange, { name: '' }, 'name')
test(refusesChange, { scopes: [] }, 'scopes')
test(refusesChange, { scopes: ['audit_logs.list'] }, 'scopes')
test(refusesChange, { name: 'new', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at')
test(refusesChange, { type: 'organisation-service' }, 'type')
test(refusesChange, { user_id: '0198c5a0-0000-7000-8000-000000000000' }, 'user_id')

test('an expired key says so and lives again with a later expiry', async (t) => {
  const { id, key } = await made(acme.adminKey, 'workspace/service', { name: 'k', scopes: ['providers.list'] })
  await control.sql.query(`UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1`, [id])
  await control.refresh()
  t.like(await read(id), { status: 'expired' })
  t.is((await control.call(key, 'GET', '/providers')).status, 401)
  t.is((await control.call(acme.adminKey, 'POST', `/api-keys/${id}/rotate`, {})).status, 400)
  t.is((await control.call(acme.adminKey, 'PUT', `/api-keys/${id}`, { expires_at: future })).status, 200)
  await control.refresh()
  t.is((await control.call(key, 'GET', '/providers')).status, 200)
})

test('after a rotation both secrets serve until the transition ends', async (t) => {
  const { id, key: old } = await made(acme.adminKey, 'workspace/service', { name: 'k', scopes: ['providers.list'] })
  const before = Date.now()
  const { status, body } = await control.call(acme.adminKey, 'POST', `/api-keys/${id}/rotate`, { key_transition_period_ms: halfAnHourMs })
  t.is(status, 200)
  t.deepEqual(Object.keys(body), ['id', 'key', 'key_transition_expires_at'])
  const ends = Date.parse(String(body['key_transition_expires_at']))
  t.true(ends >= before + halfAnHourMs && ends <= Date.now() + halfAnHourMs)
  await control.refresh()
  const renewed = String(body['key'])
  t.is((await control.call(renewed, 'GET', '/providers')).status, 200)
  t.is((await control.call(old, 'GET', '/providers')).status, 200)
  await control.sql.query(`UPDATE api_keys SET previous_key_expires_at = now() WHERE id = $1`, [id])
  await control.refresh()
  t.is((await control.call(renewed, 'GET', '/providers')).status, 200)
  t.is((await control.call(old, 'GET', '/providers')).status, 401)
})

test('a second rotation ends the transition of the first at once', async (t) => {
  const { id, key: first } = await made(acme.adminKey, 'workspace/service', { name: 'k', scopes: ['providers.list'] })
  const rotate = async (body: object) => String((await control.call(acme.adminKey, 'POST', `/api-keys/${id}/rotate`, body)).body['key'])
  const secrets = [first, await rotate({ key_transition_period_ms: 2 * halfAnHourMs }), await rotate({})]
  await control.refresh()
  const statuses = await Promise.all(secrets.map((secret) => control.call(secret, 'GET', '/providers').then(({ status }) => status)))
  t.deepEqual(statuses, [401, 200, 200])
})

test('a rotation without a period takes the policy, or half an hour', async (t) => {
  const policy = { key_transition_period_ms: 7_200_000 }
  const cases = [
    [{}, halfAnHourMs],
    [{ rotation_policy: policy }, 7_200_000],
  ] as const
  for (const [extra, periodMs] of cases) {
    const { id } = await made(acme.adminKey, 'workspace/service', { ...ok, ...extra })
    const { body } = await control.call(acme.adminKey, 'POST', `/api-keys/${id}/rotate`)
    const leftMs = Date.parse(String(body['key_transition_expires_at'])) - Date.now()
    t.true(leftMs > periodMs - 60_000 && leftMs <= periodMs, String(leftMs))
  }
})

test('a transition has bounds', async (t) => {
  const { id } = await made(acme.adminKey, 'workspace/service', ok)
  for (const period of [halfAnHourMs - 1, 0, -1, 1.5, 1e18, '1800000', null]) {
    const answer = await control.call(acme.adminKey, 'POST', `/api-keys/${id}/rotate`, { key_transition_period_ms: period })
    t.is(answer.status, 400, String(period))
    t.like(answer.body, { error: { param: 'key_transition_period_ms' } })
  }
})

test('a deleted key is gone: it opens nothing and is not there', async (t) => {
  const { id, key } = await made(acme.adminKey, 'workspace/service', { name: 'k', scopes: ['providers.list'] })
  const rotated = await control.call(acme.adminKey, 'POST', `/api-keys/${id}/rotate`, {})
  t.is((await control.call(acme.adminKey, 'DELETE', `/api-keys/${id}`)).text, '{}')
  await control.refresh()
  for (const secret of [key, String(rotated.body['key'])]) t.is((await control.call(secret, 'GET', '/providers')).status, 401)
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PUT', '', { name: 'x' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate', {}],
  ] as const) {
    const answer = await control.call(acme.adminKey, method, `/api-keys/${id}${path}`, body)
    t.is(answer.status, 404, method)
    t.like(answer.body, { error: { code: 'AB08' } })
  }
  const { rows } = await control.sql.query<{ status: string }>('SELECT status FROM api_keys WHERE id = $1', [id])
  t.deepEqual(rows, [{ status: 'archived' }])
})

test('lists show what the scopes allow, newest first', async (t) => {
  const tenant = await control.createTenant('lists')
  const first = await made(tenant.adminKey, 'workspace/service', { ...ok, workspace_id: 'side' })
  const user_id = await control.createUser(tenant, { email: 'a@example.com', workspaces: { [tenant.sideId]: 'member' } })
  const second = await made(tenant.adminKey, 'workspace/user', { ...ok, workspace_id: 'side', user_id })
  const ids = async (key: string, query: string) => {
    const { body } = await control.call(key, 'GET', `/api-keys?${query}`)
    return { ids: (body['data'] as { id: string }[]).map(({ id }) => id), total: body['total'], more: body['has_more'] }
  }
  t.deepEqual(await ids(tenant.adminKey, 'page_size=2'), { ids: [second.id, first.id], total: 5, more: true })
  t.deepEqual(await ids(tenant.adminKey, 'page_size=1&current_page=1&workspace_id=side'), { ids: [first.id], total: 3, more: true })
  t.deepEqual(await ids(tenant.adminKey, `page_size=0&workspace_id=${tenant.sideId}`), { ids: [], total: 3, more: true })
  const some = `ids=${second.id},nothing,${acme.organisationId}`
  t.deepEqual(await ids(tenant.adminKey, some), { ids: [second.id], total: 1, more: false })
  t.deepEqual(await ids(acme.adminKey, some), { ids: [], total: 0, more: false }, 'of another organisation')
  const userKeysOnly = await control.createKey(tenant, { scopes: ['workspace_user_api_keys.list'] })
  t.deepEqual(await ids(userKeysOnly, ''), { ids: [second.id], total: 1, more: false })
  t.is((await control.call(userKeysOnly, 'GET', `/api-keys/${first.id}`)).status, 403)
  for (const query of ['page_size=1001', 'current_page=-1', 'page_size=1.5'])
    t.is((await control.call(tenant.adminKey, 'GET', `/api-keys?${query}`)).status, 400)
})

test('malformed ids are 404, and nothing breaks', async (t) => {
  for (const id of ['nonsense', '%00', "'", '0198c5a0-0000-7000-8000-00000000000', '0198c5a0-0000-7000-8000-000000000000']) {
    t.is((await control.call(acme.adminKey, 'GET', `/api-keys/${id}`)).status, 404, id)
  }
})
