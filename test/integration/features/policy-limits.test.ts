// Policies at run time: limits for requests that meet conditions, over two processes on one PostgreSQL.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant
let beside: string
let emulator: Emulator

/** gpt-4o: about a tenth of a dollar. */
const usage = { prompt_tokens: 10, completion_tokens: 10_000, total_tokens: 10_010 }
const answer = { model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage }

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  other = await control.createTenant('other')
  beside = await control.openBeside()
  emulator.script({ behaviour: { body: JSON.stringify(answer) } })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const withinMs = 15_000

interface Sender {
  readonly key?: string
  readonly origin?: string
  readonly model?: string
}

const ask = (metadata: Readonly<Record<string, string>>, { key, origin, model = 'gpt-4o' }: Sender = {}) =>
  send(`${origin ?? control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key ?? acme.workspaceKey,
      'content-type': 'application/json',
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      'x-service-metadata': JSON.stringify(metadata),
      authorization: 'Bearer sk',
    },
    body: JSON.stringify({ model, messages: [], max_tokens: 10_000 }),
  })

async function make(kind: 'rate-limits' | 'usage-limits', body: object): Promise<string> {
  const made = await control.call(acme.adminKey, 'POST', `/policies/${kind}`, { workspace_id: acme.workspaceId, ...body })
  if (made.status !== 200) throw new Error(made.text)
  await control.refresh()
  return String(made.body['id'])
}

/** Asks until `count` have passed; returns the first refusal after them. */
async function passing(count: number, once: (at: number) => ReturnType<typeof ask>): Promise<Awaited<ReturnType<typeof ask>>> {
  let passed = 0
  let asked = 0
  await eventually(async () => {
    if ((await once(asked++)).status === 200) passed += 1
    return passed === count
  }, withinMs)
  return once(asked)
}

test('a rate policy counts each combination of its groups, over two processes, and only requests that meet its conditions', async (t) => {
  await make('rate-limits', {
    name: 'red team',
    conditions: [{ key: 'metadata.team', value: 'red' }],
    group_by: [{ key: 'metadata.person' }, { key: 'model' }],
    type: 'requests',
    unit: 'rph',
    value: 3,
  })
  const refused = await passing(3, (at) => ask({ team: 'red', person: 'ann' }, at % 2 === 0 ? {} : { origin: beside }))
  t.is(refused.status, 429, refused.text)
  t.regex(refused.text, /3 requests per hour of the policy red team for metadata\.person:ann\|model:gpt-4o\. Try again in/)
  t.is((await ask({ team: 'red', person: 'bob' })).status, 200, 'another person')
  t.is((await ask({ team: 'red', person: 'ann' }, { model: 'gpt-4o-mini' })).status, 200, 'another model')
  t.is((await ask({ team: 'blue', person: 'ann' })).status, 200, 'another team')
  t.is((await ask({ team: 'red', person: 'ann' }, { key: acme.sideKey })).status, 200, 'another workspace')
  t.is((await ask({ team: 'red', person: 'ann' }, { key: other.workspaceKey })).status, 200, 'another organisation')
})

test('a usage policy refuses what a budget of its group does not cover; raised, reset and archived it opens within a second', async (t) => {
  const id = await make('usage-limits', {
    name: 'green',
    conditions: [
      { key: 'metadata.kind', value: ['paid', 'costly'] },
      { key: 'metadata.team', value: '*', excludes: ['lime'] },
      { key: 'model', value: '*' },
    ],
    group_by: [{ key: 'metadata.person' }],
    type: 'cost',
    credit_limit: 0.25,
  })
  const green = () => ask({ kind: 'paid', team: 'green', person: 'ann' })
  const refused = await passing(2, green)
  t.is(refused.status, 412, refused.text)
  t.like(JSON.parse(refused.text), { error: { code: '04' } })
  t.regex(refused.text, /of \$0\.25 of the policy green for metadata\.person:ann do not cover/)
  t.is((await ask({ kind: 'paid', team: 'lime', person: 'ann' })).status, 200, 'excluded')
  t.is((await ask({ kind: 'costly', person: 'bob' })).status, 200)
  const raised = await control.call(acme.adminKey, 'PUT', `/policies/usage-limits/${id}`, { credit_limit: 0.35 })
  t.is(raised.status, 200, raised.text)
  await eventually(async () => (await green()).status === 200, withinMs)
  await eventually(async () => (await green()).status === 412, withinMs)
  t.is((await control.call(acme.adminKey, 'DELETE', `/policies/usage-limits/${id}`)).status, 200)
  await eventually(async () => (await green()).status === 200, withinMs)
})

test('a policy for models of a provider fits them by pattern, and one for a key only this key', async (t) => {
  await make('rate-limits', {
    conditions: [{ key: 'model', value: ['@none/*', 'gpt-4.1'] }],
    group_by: [{ key: 'workspace_id' }],
    type: 'requests',
    unit: 'rpd',
    value: 0,
  })
  t.is((await ask({}, { model: 'gpt-4.1' })).status, 429)
  t.is((await ask({}, { model: 'gpt-4.1-mini' })).status, 200)
})

test('POLICY_ENABLED=OFF takes policies out at run time', async (t) => {
  const off = await startControl({}, { POLICY_ENABLED: 'OFF' })
  t.teardown(() => off.close())
  const tenant = await off.createTenant('acme')
  await off.sql.query(
    `INSERT INTO rate_limit_policies (id, organisation_id, workspace_id, conditions, group_by, type, unit, value)
     VALUES (gen_random_uuid(), $1, $2, '[{"key":"model","value":"*"}]', '[{"key":"model"}]', 'requests', 'rpd', 0)`,
    [tenant.organisationId, tenant.workspaceId],
  )
  await off.refresh()
  t.is((await ask({}, { key: tenant.workspaceKey, origin: off.origin })).status, 200)
})
