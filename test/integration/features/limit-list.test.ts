// All limits in one list, those above a key or a provider, and policies that are tried before they are made.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

let control: Control
let acme: Tenant
let other: Tenant
let emulator: Emulator
let key: { readonly id: string; readonly secret: string }
const withinMs = 15_000

/** gpt-4o: 0.1 dollars out. */
const usage = { prompt_tokens: 0, completion_tokens: 10_000, total_tokens: 10_000 }
const answer = JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage })
const conditions = [{ key: 'metadata.team', value: '*' }]
const group_by = [{ key: 'metadata.team' }]

async function made(path: string, body: Fields, caller = acme.adminKey): Promise<Fields> {
  const response = await control.call(caller, 'POST', path, body)
  if (response.status !== 200) throw new Error(`${path}: ${response.text}`)
  return response.body
}

const ask = (team: string, max = 10_000) =>
  send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key.secret,
      'x-service-provider': '@main-p',
      'content-type': 'application/json',
      'x-service-metadata': JSON.stringify({ team }),
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], max_tokens: max }),
  })

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  emulator.script({ behaviour: { body: answer } })
  await made(
    '/integrations',
    { name: 'i', slug: 'main-i', ai_provider_id: 'openai', key: 'sk', configurations: { custom_host: emulator.url } },
    acme.workspaceKey,
  )
  await made(
    '/providers',
    {
      name: 'Main',
      slug: 'main-p',
      integration_id: 'main-i',
      usage_limits: { credit_limit: 1 },
      rate_limits: [{ type: 'requests', unit: 'rpd', value: 1000 }],
    },
    acme.workspaceKey,
  )
  const limited = await made('/api-keys/workspace/service', {
    name: 'Web',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { credit_limit: 2, periodic_reset: 'monthly' },
    rate_limits: [{ type: 'requests', unit: 'rph', value: 4 }],
  })
  key = { id: String(limited['id']), secret: String(limited['key']) }
  await control.call(acme.adminKey, 'PUT', '/admin/workspaces/main', { usage_limits: [{ type: 'tokens', credit_limit: 1_000_000 }] })
  await made('/policies/usage-limits', {
    name: 'Teams',
    workspace_id: acme.workspaceId,
    conditions,
    group_by,
    type: 'cost',
    credit_limit: 1,
  })
  await made('/policies/rate-limits', {
    name: 'Pace',
    workspace_id: acme.workspaceId,
    conditions: [...conditions, { key: 'provider', value: '@main-p' }],
    group_by,
    type: 'requests',
    unit: 'rpd',
    value: 3,
  })
  await made('/policies/usage-limits', {
    name: 'Elsewhere',
    workspace_id: acme.workspaceId,
    conditions: [{ key: 'provider', value: 'anthropic' }],
    group_by: [{ key: 'provider' }],
    type: 'cost',
    credit_limit: 1,
  })
  await control.refresh()
  await eventually(async () => (await ask('red')).status === 200, withinMs)
  for (const team of ['red', 'red', 'blue']) await ask(team)
  await eventually(async () => {
    const [row] = await list('?owner_kind=api-key&kind=usage')
    return row?.['spent'] === 0.4 && row['reserved'] === 0
  }, withinMs)
  await eventually(async () => Number((await control.call(acme.workspaceKey, 'GET', '/logs')).body['total'] ?? 4) >= 4, withinMs)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

async function list(query = '', caller = acme.adminKey): Promise<readonly Fields[]> {
  const { status, body, text } = await control.call(caller, 'GET', `/limits${query}`)
  if (status !== 200) throw new Error(text)
  return body['data'] as Fields[]
}

test('one list has the limits of all kinds with what of them is used, the most used first', async (t) => {
  const rows = await list()
  t.deepEqual(
    rows.map(({ owner_kind: kind, owner_name: name, group, type, unit }) => [kind, name, group, type, unit].join(' ')),
    [
      'api-key Web  requests rph',
      'policy Pace metadata.team:red requests rpd',
      'provider Main  cost ',
      'policy Pace metadata.team:blue requests rpd',
      'policy Teams metadata.team:red cost ',
      'api-key Web  cost ',
      'policy Teams metadata.team:blue cost ',
      'workspace Main  tokens ',
      'provider Main  requests rpd',
    ].toSorted((one, other_) => position(rows, one) - position(rows, other_)),
  )
  const [first] = rows
  t.like(first, { object: 'limit', state: 'exhausted', resets_at: null })
  const ofKey = (await list('?owner_kind=api-key&type=cost'))[0]
  t.like(ofKey, { owner_id: key.id, workspace_id: acme.workspaceId, spent: 0.4, reserved: 0, limit: 2, kind: 'usage' })
  t.is(typeof ofKey?.['resets_at'], 'string')
  t.like((await list('?owner_kind=workspace'))[0], { type: 'tokens', spent: 40_000, limit: 1_000_000 })
})

const position = (rows: readonly Fields[], text: string): number =>
  rows.findIndex(
    ({ owner_kind: kind, owner_name: name, group, type, unit }) =>
      text === [kind, name, group, type, unit].map((part) => (typeof part === 'string' ? part : '')).join(' '),
  )

const isMain = ({ owner_name: name, runs_out_at: at }: Fields): boolean => name === 'Main' && at !== null

test.serial(
  'a budget that runs out before it starts again is at risk, with the moment; filters, search and pages narrow the list',
  async (t) => {
    t.false((await list('?kind=usage')).some(isMain), 'a few seconds tell nothing of what comes')
    await control.sql.query(`UPDATE limit_counters SET begun_at = begun_at - interval '1 hour'`)
    const atRisk = await list('?state=at_risk&kind=usage')
    t.true(atRisk.some((row) => isMain(row) && Date.parse(String(row['runs_out_at'])) > Date.now()))
    t.true(atRisk.every(({ state }) => state === 'at_risk'))
    t.true((await list('?search=tea')).every(({ owner_name: name }) => name === 'Teams'))
    const page = await control.call(acme.adminKey, 'GET', '/limits?page_size=2')
    t.like(page.body, { total: 9, has_more: true })
    const rest = await control.call(acme.adminKey, 'GET', `/limits?page_size=100&after=${String(page.body['next_cursor'])}`)
    t.is((rest.body['data'] as object[]).length, 7)
    t.is((await control.call(acme.adminKey, 'GET', '/limits?state=bad')).status, 400)
  },
)

test('limits are those of the caller: of a workspace key its own, of strangers none', async (t) => {
  t.deepEqual(await list('', other.adminKey), [])
  const side = await control.createKey(acme, { workspaceId: acme.sideId, scopes: ['workspaces.read'] })
  t.deepEqual(await list('', side), [])
  t.is((await control.call(acme.workspaceKey, 'GET', '/limits?workspace_id=side')).status >= 400, true)
  t.is((await control.call(key.secret, 'GET', '/limits')).status, 403)
})

test('a key and a provider show what of their budget is used, when they were used, and what bounds them, the tightest first', async (t) => {
  const { body: ofKey } = await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)
  t.like(ofKey, { usage: { spent: 0.4, limit: 2 }, usage_limits: { current_usage: 0.4 } })
  t.true(Date.now() - Date.parse(String(ofKey['last_used_at'])) < 60_000)
  const bounds = ofKey['bounded_by'] as Fields[]
  t.deepEqual(
    bounds.map(({ owner_name: name, group, conditional }) => [name, group, conditional]),
    [
      ['Pace', 'metadata.team:red', true],
      ['Pace', 'metadata.team:blue', true],
      ['Teams', 'metadata.team:red', true],
      ['Teams', 'metadata.team:blue', true],
      ['Main', null, false],
    ],
  )
  const { body: provider } = await control.call(acme.workspaceKey, 'GET', '/providers/main-p')
  t.like(provider, { usage: { spent: 0.4, limit: 1 } })
  t.true(Date.now() - Date.parse(String(provider['last_used_at'])) < 60_000)
  t.true((provider['bounded_by'] as Fields[]).every(({ owner_name: name }) => name !== 'Elsewhere'))
  const { body: unused } = await control.call(acme.adminKey, 'GET', '/api-keys?page_size=100')
  t.true((unused['data'] as Fields[]).some(({ last_used_at: at, usage: none }) => at === null && none === null))
})

test('what a rate policy counts now is listed by value key', async (t) => {
  const { body } = await control.call(acme.adminKey, 'GET', '/policies/rate-limits')
  const [{ id } = {}] = body['data'] as Fields[]
  const entities = await control.call(acme.adminKey, 'GET', `/policies/rate-limits/${String(id)}/entities`)
  t.like(entities.body, {
    total: 2,
    data: [
      { value_key: 'metadata.team:blue', current_usage: 1, limit: 3, status: 'active' },
      { value_key: 'metadata.team:red', current_usage: 3, limit: 3, status: 'exhausted' },
    ],
  })
  const searched = await control.call(acme.adminKey, 'GET', `/policies/rate-limits/${String(id)}/entities?search=blue`)
  t.like(searched.body, { total: 1 })
  t.is((await control.call(other.adminKey, 'GET', `/policies/rate-limits/${String(id)}/entities`)).status, 404)
})

test('a draft of a policy tells what it would have counted, and changes nothing', async (t) => {
  const cost = { conditions, group_by, type: 'cost', credit_limit: 0.15, workspace_id: acme.workspaceId }
  t.like(await made('/policies/usage-limits/preview', cost), {
    object: 'policy_preview',
    requests: 4,
    is_whole: true,
    matched: 4,
    groups: 2,
    groups_over: 1,
    data: [
      { value_key: 'metadata.team:red', requests: 3, used: 0.3, over: true },
      { value_key: 'metadata.team:blue', requests: 1, used: 0.1, over: false },
    ],
  })
  const pace = {
    conditions: [{ key: 'provider', value: '@main-p' }],
    group_by: [{ key: 'model' }],
    type: 'requests',
    unit: 'rpm',
    value: 3,
  }
  t.like(await made('/policies/rate-limits/preview', { ...pace, workspace_id: acme.workspaceId }), {
    matched: 4,
    groups_over: 1,
    data: [{ value_key: 'model:gpt-4o', used: 4, over: true }],
  })
  t.like(await made('/policies/rate-limits/preview', { ...pace, conditions: [{ key: 'provider', value: '@none' }] }, acme.workspaceKey), {
    matched: 0,
    data: [],
  })
  t.is((await control.call(acme.adminKey, 'POST', '/policies/rate-limits/preview', { ...pace, unit: 'fortnight' })).status, 400)
  t.is((await control.call(acme.adminKey, 'GET', '/policies/usage-limits')).body['total'], 2)
})
