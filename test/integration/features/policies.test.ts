import { randomUUID } from 'node:crypto'
import test from 'ava'
import { dataOf, each, errorOf, made as fieldsOf } from './answers.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
})
test.after.always(() => control.close())

const ask = (method: string, path: string, body?: unknown, key = acme.workspaceKey) => control.call(key, method, path, body)
const make = (kind: string, body: unknown, key = acme.workspaceKey) => fieldsOf(ask('POST', `/policies/${kind}`, body, key))
const done = async (answer: Promise<Answer>): Promise<void> => {
  const { status, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
}

const keyId = randomUUID()
const rate = (fields: object = {}) => ({
  name: 'Slow',
  conditions: [{ key: 'metadata._user', value: '*' }],
  group_by: [{ key: 'metadata._user' }],
  type: 'requests',
  unit: 'rpm',
  value: 10,
  ...fields,
})
const usage = (fields: object = {}) => ({
  conditions: [{ key: 'model', value: ['@openai/*', 'gpt-4o'], excludes: 'gpt-4o-mini' }],
  group_by: [{ key: 'api_key' }, { key: 'model' }],
  type: 'cost',
  credit_limit: 0.5,
  ...fields,
})

test('a rate-limit policy is made, read, changed, archived, and read as archived', async (t) => {
  const { id, object } = await make('rate-limits', rate())
  t.is(object, 'policy_rate_limits')
  const { body } = await ask('GET', `/policies/rate-limits/${id}`)
  t.like(body, {
    id,
    object: 'policy_rate_limits',
    name: 'Slow',
    conditions: [{ key: 'metadata._user', value: '*' }],
    group_by: [{ key: 'metadata._user' }],
    type: 'requests',
    unit: 'rpm',
    value: 10,
    status: 'active',
    workspace_id: acme.workspaceId,
    organisation_id: acme.organisationId,
  })
  t.deepEqual((await ask('PUT', `/policies/rate-limits/${id}`, { value: 1.5 })).body, {})
  t.like((await ask('GET', `/policies/rate-limits/${id}`)).body, { value: 1.5 })
  t.deepEqual((await ask('PUT', `/policies/rate-limits/${id}`, { value: 20 })).body, {})
  await done(ask('PUT', `/policies/rate-limits/${id}`, { name: null, unit: 'rpd' }))
  t.like((await ask('GET', `/policies/rate-limits/${String(id).toUpperCase()}`)).body, { name: null, unit: 'rpd', value: 20 })
  t.is((await ask('GET', `/policies/rate-limits/${id}?status=archived`)).status, 404)
  await done(ask('DELETE', `/policies/rate-limits/${id}`))
  for (const [method, body_] of [['GET'], ['PUT', {}], ['DELETE']] as const)
    t.is((await ask(method, `/policies/rate-limits/${id}`, body_)).status, 404, method)
  t.like((await ask('GET', `/policies/rate-limits/${id}?status=archived`)).body, { status: 'archived', value: 20 })
})

const dayMs = 86_400_000

test('a usage-limit policy keeps amounts to the billionth', async (t) => {
  const { id } = await make('usage-limits', usage({ credit_limit: 12.000000001, alert_threshold: 0.1, periodic_reset: 'monthly' }))
  const read = async () => (await ask('GET', `/policies/usage-limits/${id}`)).body
  t.like(await read(), {
    object: 'policy_usage_limits',
    name: null,
    conditions: usage().conditions,
    group_by: usage().group_by,
    type: 'cost',
    credit_limit: 12.000000001,
    alert_threshold: 0.1,
    periodic_reset: 'monthly',
    periodic_reset_days: null,
    last_reset_at: null,
    status: 'active',
  })
  t.regex(String((await read())['next_usage_reset_at']), /^\d{4}-\d\d-01T00:00:00\.000Z$/)
  const both = await ask('PUT', `/policies/usage-limits/${id}`, { periodic_reset_days: 30 })
  t.deepEqual([both.status, errorOf(both).param], [400, 'periodic_reset_days'])
  await done(
    ask('PUT', `/policies/usage-limits/${id}`, {
      periodic_reset: null,
      periodic_reset_days: 30,
      next_usage_reset_at: '2990-01-01T00:00:00Z',
    }),
  )
  await done(ask('PUT', `/policies/usage-limits/${id}`, { alert_threshold: null, credit_limit: 7 }))
  t.like(await read(), {
    credit_limit: 7,
    alert_threshold: null,
    periodic_reset: null,
    periodic_reset_days: 30,
  })
  const border = Date.parse(String((await read())['next_usage_reset_at']))
  t.is((Date.parse('2990-01-01T00:00:00Z') - border) % (30 * dayMs), 0)
  t.true(border > Date.now() && border < Date.now() + 31 * dayMs, 'when the next period begins')
  // Years go by.
  await control.sql.query(`UPDATE usage_limit_policies SET next_usage_reset_at = '2001-01-01' WHERE id = $1`, [id])
  const shown = (await read())['next_usage_reset_at']
  t.true(Date.parse(String(shown)) > Date.now())
  await done(ask('PUT', `/policies/usage-limits/${id}`, { next_usage_reset_at: shown }))
  await done(ask('DELETE', `/policies/usage-limits/${id}`))
  t.is((await ask('GET', `/policies/usage-limits/${id}`)).status, 404)
  t.like((await ask('GET', `/policies/usage-limits/${id}?status=archived`)).body, { credit_limit: 7 })
})

test('lists filter by workspace, status, type and unit', async (t) => {
  const tenant = await control.createTenant('lists')
  const policies = { fast: { unit: 'rpd' }, slow: {}, wordy: { type: 'tokens' }, elsewhere: { workspace_id: 'side' } }
  for (const [name, fields] of Object.entries(policies)) await make('rate-limits', rate({ name, ...fields }), tenant.adminKey)
  const gone = await make('rate-limits', rate({ name: 'gone' }), tenant.adminKey)
  await done(ask('DELETE', `/policies/rate-limits/${gone['id']}`, undefined, tenant.adminKey))
  const names = async (query: string, key = tenant.adminKey) =>
    each(await ask('GET', `/policies/rate-limits?${query}`, undefined, key), 'name')
  t.deepEqual(await names(''), ['elsewhere', 'wordy', 'slow', 'fast'])
  t.deepEqual(await names(`workspace_id=${tenant.sideId}`), ['elsewhere'])
  t.deepEqual(await names('workspace_id=main&type=requests'), ['slow', 'fast'])
  t.deepEqual(await names('unit=rpd'), ['fast'])
  t.deepEqual(await names('status=archived'), ['gone'])
  t.deepEqual(await names('page_size=2&current_page=1'), ['slow', 'fast'])
  t.deepEqual(await names('', tenant.sideKey), ['elsewhere'])
  t.like((await ask('GET', '/policies/rate-limits?page_size=0', undefined, tenant.adminKey)).body, { object: 'list', data: [], total: 4 })
  await make('usage-limits', usage({ name: 'cost' }), tenant.workspaceKey)
  await make('usage-limits', usage({ name: 'tokens', type: 'tokens', credit_limit: 1000 }), tenant.workspaceKey)
  t.deepEqual(each(await ask('GET', '/policies/usage-limits?type=tokens', undefined, tenant.workspaceKey), 'name'), ['tokens'])
  t.like((await ask('GET', '/policies/usage-limits', undefined, tenant.sideKey)).body, { total: 0 })
})

test('what a policy has counted is listed, searched, and starts again', async (t) => {
  const { id } = await make('usage-limits', usage())
  const keys = ['api_key:a|model:x', 'api_key:a|model:y', 'api_key:b|model:x']
  for (const [at, key] of keys.entries())
    await control.sql.query(
      `INSERT INTO usage_limit_policy_entities (id, organisation_id, workspace_id, policy_id, value_key, current_usage_pico, status, is_exhausted_alerts_sent)
       VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7)`,
      [acme.organisationId, acme.workspaceId, id, key, 0.25e12 * (at + 1), at === 2 ? 'exhausted' : 'active', at === 2],
    )
  const list = (query = '') => ask('GET', `/policies/usage-limits/${id}/entities?${query}`)
  t.like((await list()).body, { object: 'list', total: 3 })
  t.deepEqual(each(await list(), 'current_usage'), [0.25, 0.5, 0.75])
  t.deepEqual(each(await list('status=exhausted'), 'value_key'), [keys[2]])
  t.deepEqual(each(await list('search=MODEL:X'), 'value_key'), [keys[0], keys[2]])
  t.deepEqual(each(await list('page_size=1&current_page=1'), 'value_key'), [keys[1]])
  t.is(errorOf(await list('page_size=1001')).param, 'page_size')
  const map = (await ask('GET', `/policies/usage-limits/${id}?include_usage=true`)).body['value_key_usage_map'] as Record<string, object>
  t.deepEqual(map[keys[2] ?? ''], {
    current_usage: 0.75,
    status: 'exhausted',
    is_threshold_alerts_sent: false,
    is_exhausted_alerts_sent: true,
  })
  t.is((await ask('GET', `/policies/usage-limits/${id}`)).body['value_key_usage_map'], undefined)
  const entity = String(dataOf(await list('status=exhausted'))[0]?.['id'])
  t.deepEqual((await ask('PUT', `/policies/usage-limits/${id}/entities/${entity}/reset`)).body, {})
  t.like(dataOf(await list('search=b|'))[0], { current_usage: 0, status: 'active' })
  await done(ask('PUT', `/policies/usage-limits/${id}`, { reset_usage_for_value: keys[0] }))
  t.deepEqual(each(await list(), 'current_usage'), [0, 0.5, 0])
  t.is(errorOf(await ask('PUT', `/policies/usage-limits/${id}`, { reset_usage_for_value: 'none' })).param, 'reset_usage_for_value')
  for (const path of [`${id}/entities/${randomUUID()}/reset`, `${id}/entities/x/reset`, `${randomUUID()}/entities/${entity}/reset`])
    t.is((await ask('PUT', `/policies/usage-limits/${path}`)).status, 404, path)
  t.is((await ask('GET', `/policies/usage-limits/${id}/entities`, undefined, rival.adminKey)).status, 404)
})

const long = 'x'.repeat(256)
const refused: readonly (readonly [kind: string, fields: object, param: string])[] = [
  ['rate-limits', { conditions: [] }, 'conditions'],
  ['rate-limits', { conditions: undefined }, 'conditions'],
  ['rate-limits', { conditions: [{ key: 'color', value: 'x' }] }, 'conditions[0].key'],
  ['rate-limits', { conditions: [{ key: 'metadata.', value: 'x' }] }, 'conditions[0].key'],
  ['rate-limits', { conditions: [{ key: 'model' }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'model', value: [] }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'model', value: 1 }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'model', value: long }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'model', value: 'gpt-*' }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'prompt', value: '@a/*' }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'model', value: ['*', 'gpt-4o'] }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'model', value: ['a', 'a'] }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'api_key', value: 'not-an-id' }] }, 'conditions[0].value'],
  ['rate-limits', { conditions: [{ key: 'model', value: '*', excludes: '*' }] }, 'conditions[0].excludes'],
  ['rate-limits', { conditions: [{ key: 'model', value: ['a', 'b'], excludes: ['b'] }] }, 'conditions[0].excludes'],
  ['rate-limits', { conditions: [{ key: 'model', value: 'a', not: 'b' }] }, 'conditions[0].not'],
  [
    'rate-limits',
    {
      conditions: [
        { key: 'model', value: 'a' },
        { key: 'model', value: 'b' },
      ],
    },
    'conditions',
  ],
  ['rate-limits', { conditions: Array.from({ length: 51 }, (_, at) => ({ key: `metadata.k${at}`, value: '*' })) }, 'conditions'],
  ['rate-limits', { group_by: [] }, 'group_by'],
  ['rate-limits', { group_by: [{ key: 'color' }] }, 'group_by[0].key'],
  ['rate-limits', { group_by: [{ key: 'model' }, { key: 'model' }] }, 'group_by'],
  ['rate-limits', { group_by: ['model'] }, 'group_by[0]'],
  ['rate-limits', { type: 'cost' }, 'type'],
  ['rate-limits', { unit: 'rps' }, 'unit'],
  ['rate-limits', { value: -1 }, 'value'],
  ['rate-limits', { value: 1.0000000001 }, 'value'],
  ['rate-limits', { value: '10' }, 'value'],
  ['rate-limits', { name: long }, 'name'],
  ['rate-limits', { organisation_id: randomUUID() }, 'organisation_id'],
  ['rate-limits', { burst: 1 }, 'burst'],
  ['usage-limits', { conditions: [{ key: 'endpoint_type', value: 'chat' }] }, 'conditions[0].key'],
  ['usage-limits', { type: 'hours' }, 'type'],
  ['usage-limits', { credit_limit: undefined }, 'credit_limit'],
  ['usage-limits', { credit_limit: -0.1 }, 'credit_limit'],
  ['usage-limits', { credit_limit: 1e12 }, 'credit_limit'],
  ['usage-limits', { alert_threshold: '1' }, 'alert_threshold'],
  ['usage-limits', { periodic_reset: 'daily' }, 'periodic_reset'],
  ['usage-limits', { periodic_reset_days: 366 }, 'periodic_reset_days'],
  ['usage-limits', { periodic_reset: 'weekly', periodic_reset_days: 7 }, 'periodic_reset_days'],
  ['usage-limits', { next_usage_reset_at: '2990-01-01T00:00:00Z' }, 'next_usage_reset_at'],
  ['usage-limits', { periodic_reset: 'weekly', next_usage_reset_at: '2020-01-01T00:00:00Z' }, 'next_usage_reset_at'],
]
for (const [kind, fields, param] of refused)
  test(`a ${kind} policy is refused: ${JSON.stringify(fields).slice(0, 90)}`, async (t) => {
    const answer = await ask('POST', `/policies/${kind}`, kind === 'rate-limits' ? rate(fields) : usage(fields))
    t.true([400, 403].includes(answer.status), answer.text)
    t.is(errorOf(answer).param, param, answer.text)
  })

test('everything that a condition can say', async (t) => {
  const conditions = [
    { key: 'api_key', value: [keyId, randomUUID()] },
    { key: 'workspace_id', value: acme.workspaceId },
    { key: 'virtual_key', value: 'openai-main' },
    { key: 'provider', value: ['openai', 'anthropic'], excludes: ['azure-openai'] },
    { key: 'config', value: '*', excludes: 'pc-test' },
    { key: 'prompt', value: 'pp-greeting' },
    { key: 'model', value: ['@openai/*', '@anthropic/claude-opus-4-5', 'gpt-4o'] },
    { key: 'metadata._user', value: '*' },
    { key: 'metadata.team-a', value: 'ä "quoted"' },
  ]
  const { id } = await make('rate-limits', rate({ conditions: [...conditions, { key: 'endpoint_type', value: 'chatComplete' }] }))
  t.deepEqual((await ask('GET', `/policies/rate-limits/${id}`)).body['conditions'], [
    ...conditions,
    { key: 'endpoint_type', value: 'chatComplete' },
  ])
  await make('usage-limits', usage({ conditions, group_by: conditions.map(({ key }) => ({ key })) }))
})

test('a policy of a stranger is not there', async (t) => {
  const { id } = await make('rate-limits', rate())
  for (const key of [rival.adminKey, rival.workspaceKey, acme.sideKey]) {
    t.is((await ask('GET', `/policies/rate-limits/${id}`, undefined, key)).status, 404)
    t.is((await ask('PUT', `/policies/rate-limits/${id}`, { value: 0 }, key)).status, 404)
    t.is((await ask('DELETE', `/policies/rate-limits/${id}`, undefined, key)).status, 404)
  }
  t.is((await ask('POST', '/policies/rate-limits', rate({ workspace_id: acme.workspaceId }), rival.adminKey)).status, 404)
})

test('USAGE_LIMITS_ENABLED=OFF takes usage-limit policies away, and leaves rate-limit policies', async (t) => {
  const without = await startControl({}, { USAGE_LIMITS_ENABLED: 'OFF' })
  const tenant = await without.createTenant('acme')
  const list = (path: string) => without.call(tenant.adminKey, 'GET', path)
  t.is((await list('/policies/rate-limits')).status, 200)
  for (const path of ['/policies/usage-limits', `/policies/usage-limits/${tenant.workspaceId}`, `/policies/usage-limits/x/entities`]) {
    const { status, body } = await list(path)
    t.is(status, 404)
    t.like(body['error'], { code: 'feature_unavailable', feature: { flag: 'USAGE_LIMITS_ENABLED' } })
  }
  const paths = ((await (await fetch(`${without.origin}/openapi.json`)).json()) as { paths: object }).paths
  t.true(Object.hasOwn(paths, '/policies/rate-limits') && !Object.hasOwn(paths, '/policies/usage-limits'))
  await without.close()
})
