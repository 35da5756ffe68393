// Logs keep the amounts that their attempts counted against budgets: budgets can be counted again from them, and follow costs that are computed
// again.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { doctor } from './doctor.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator
let spenderId: string
let spender: string
const policies: string[] = []

/** gpt-4o: 25 micro-dollars in, 2,000 out. */
const usage = { prompt_tokens: 10, completion_tokens: 200, total_tokens: 210 }
const answer = JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage })
const dollarsOfFive = (multiplier: number) => (5 * 2025 * multiplier) / 1e6
const withinMs = 15_000

async function made(key: string, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await control.call(key, 'POST', path, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

/** Stores a provider whose key selects its answers. */
async function storeProvider(slug: string): Promise<void> {
  await made(acme.workspaceKey, '/integrations', {
    name: slug,
    slug: `${slug}-account`,
    ai_provider_id: 'openai',
    key: `sk-${slug}`,
    configurations: { custom_host: emulator.url },
  })
  await made(acme.workspaceKey, '/providers', { name: slug, slug, integration_id: `${slug}-account` })
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({
    behaviour: ({ headers }) =>
      headers['authorization'] === 'Bearer sk-broken' ? { status: 500, body: '{"error":{"message":"no"}}' } : { body: answer },
  })
  await storeProvider('broken')
  await storeProvider('sound')
  const limited = await made(acme.adminKey, '/api-keys/workspace/service', {
    name: 'spender',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { type: 'requests', credit_limit: 50 },
  })
  spenderId = String(limited['id'])
  spender = String(limited['key'])
  for (const [type, credit_limit] of [
    ['cost', 1],
    ['tokens', 100_000],
    ['requests', 40],
  ] as const) {
    const policy = await made(acme.adminKey, '/policies/usage-limits', {
      name: `a budget of ${type}`,
      workspace_id: acme.workspaceId,
      conditions: [{ key: 'metadata.team', value: '*' }],
      group_by: [{ key: 'metadata.team' }],
      type,
      credit_limit,
    })
    policies.push(String(policy['id']))
  }
  await control.refresh()
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const ask = (team: string) =>
  send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': spender,
      'content-type': 'application/json',
      'x-service-metadata': JSON.stringify({ team }),
      'x-service-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ provider: '@broken' }, { provider: '@sound' }] }),
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], max_tokens: 200 }),
  })

async function usageOf(policy: string | undefined, team: string): Promise<unknown> {
  const { body } = await control.call(acme.adminKey, 'GET', `/policies/usage-limits/${policy}/entities`)
  const rows = body['data'] as { value_key: string; current_usage: number }[]
  return rows.find(({ value_key }) => value_key === `metadata.team:${team}`)?.current_usage
}

test.serial(
  'budgets of keys and policies, in money, tokens and requests, are what the logs say, over attempts that failed too',
  async (t) => {
    await eventually(async () => (await ask('red')).status === 200, withinMs)
    for (let at = 1; at < 5; at += 1) t.is((await ask('red')).status, 200)
    t.is((await ask('blue')).status, 200)
    await eventually(async () => (await doctor(control)).differences.length === 0, withinMs)
    await eventually(async () => (await usageOf(policies[0], 'red')) === dollarsOfFive(1), withinMs)
    t.is(await usageOf(policies[1], 'red'), 5 * 210)
    t.is(await usageOf(policies[2], 'red'), 10, 'each attempt is a request')
    t.is(await usageOf(policies[2], 'blue'), 2)
    const key = await control.call(acme.adminKey, 'GET', `/api-keys/${spenderId}`)
    t.like(key.body, { usage_limits: { type: 'requests', credit_limit: 50, current_usage: 12 } })
    const found = await doctor(control)
    t.is(found.status, 0)
    t.like(found, { budgets: 7, left_out: 0, differences: [] })
  },
)

const ofBlue = (at: number) => ({ owner_kind: 'policy', owner_id: policies[at], group: 'metadata.team:blue' })

test.serial('the cost of a log tells what each attempt counted against which budget', async (t) => {
  const { body: logs } = await control.call(acme.workspaceKey, 'GET', '/logs?page_size=1&metadata=%7B%22team%22%3A%22blue%22%7D')
  const [log] = logs['data'] as { id: string }[]
  const { body } = await control.call(acme.workspaceKey, 'GET', `/logs/${log?.id}/cost`)
  const key = { owner_kind: 'api-key', owner_id: spenderId, group: null, type: 'requests', amount: '1' }
  t.deepEqual(body['budgets'], [
    { attempt: 0, ...key },
    { attempt: 0, ...ofBlue(0), type: 'cost', amount: '0' },
    { attempt: 0, ...ofBlue(1), type: 'tokens', amount: '0' },
    { attempt: 0, ...ofBlue(2), type: 'requests', amount: '1' },
    { attempt: 1, ...key },
    { attempt: 1, ...ofBlue(0), type: 'cost', amount: '2025000000' },
    { attempt: 1, ...ofBlue(1), type: 'tokens', amount: '210' },
    { attempt: 1, ...ofBlue(2), type: 'requests', amount: '1' },
  ])
})

const multiplyPrices = (multiplier: number) =>
  control.call(acme.adminKey, 'PUT', '/integrations/sound-account', { pricing_adjustments: { multiplier: { default: multiplier } } })

test.serial('a policy in money follows costs that are worked out again, and again, and the logs still say the same', async (t) => {
  const range = { start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z', dry_run: false }
  for (const multiplier of [0.5, 2]) {
    t.is((await multiplyPrices(multiplier)).status, 200)
    const { body, text } = await control.call(acme.adminKey, 'POST', '/costs/recompute', range)
    t.is(body['changed'], 6, text)
    await eventually(async () => (await usageOf(policies[0], 'red')) === dollarsOfFive(multiplier), withinMs)
    t.is(await usageOf(policies[1], 'red'), 5 * 210, 'tokens are what they were')
    t.deepEqual((await doctor(control)).differences, [])
  }
})

test.serial('a counter of a policy that is wrong is found, and set right', async (t) => {
  await control.sql.query(`UPDATE limit_counters SET granted = '{"0": 7}' WHERE owner_id = $1 AND value_key = 'metadata.team:red'`, [
    policies[1],
  ])
  const found = await doctor(control)
  t.is(found.status, 1)
  t.like(found.differences, [{ counts: 'tokens', counted: 7, logged: 5 * 210, repaired: false }])
  t.is((await doctor(control, '--repair')).status, 0)
  t.deepEqual((await doctor(control)).differences, [])
})

test.serial('a budget of requests refuses the next one, and names what is counted', async (t) => {
  let refused = await ask('green')
  await eventually(async () => (refused = await ask('green')).status === 412, withinMs)
  t.regex(refused.text, /50 requests of the API key|40 requests of the policy/)
  t.like(JSON.parse(refused.text), { error: { code: '04', limits: [{ type: 'requests' }] } })
})
