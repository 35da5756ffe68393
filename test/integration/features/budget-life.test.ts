// The life of a budget: its owner is alerted of its usage, its bounds are passed once, the slices of a dead process are settled by its logs.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  emulator.script({
    behaviour: { body: JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage }) },
  })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const withinMs = 15_000

interface MadeKey {
  readonly id: string
  readonly secret: string
}

async function makeKey(limits: object): Promise<MadeKey> {
  const { adminKey, workspaceId } = acme
  const body = { name: 'limited', workspace_id: workspaceId, scopes: ['completions.write'], ...limits }
  const made = await control.call(adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return { id: String(made.body['id']), secret: String(made.body['key']) }
}

const change = (key: MadeKey, body: object) => control.call(acme.adminKey, 'PUT', `/api-keys/${key.id}`, body)
const statusOf = async (key: MadeKey) => (await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)).body['status']

/** Each answer uses five tokens. */
const ask = ({ secret }: MadeKey, maxTokens = 5) =>
  send(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': secret,
      'content-type': 'application/json',
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk',
    },
    body: JSON.stringify({ model: 'm', messages: [], max_tokens: maxTokens }),
  })

const alertsOf = async ({ id }: MadeKey) => {
  const { rows } = await control.sql.query<{ kind: string; used: string; bound: string; rearmed: boolean }>(
    `SELECT kind, used, bound, rearmed_at IS NOT NULL AS rearmed FROM limit_alerts WHERE owner_id = $1 ORDER BY created_at, kind DESC`,
    [id],
  )
  return rows.map(({ kind, used, bound, rearmed }) => `${kind} ${Number(used)} of ${Number(bound)}${rearmed ? ' (raised)' : ''}`)
}

test.serial('a budget passes its threshold and its end once; raised it is active again and may pass them again', async (t) => {
  const budget = { type: 'tokens', credit_limit: 60, alert_threshold: 8 }
  const key = await makeKey({ usage_limits: budget })
  t.is((await ask(key)).status, 200)
  t.deepEqual(await alertsOf(key), [])
  t.is((await ask(key)).status, 200)
  await eventually(async () => (await alertsOf(key)).length === 1, withinMs)
  t.deepEqual(await alertsOf(key), ['threshold 10 of 8'])
  t.is((await change(key, { usage_limits: { ...budget, credit_limit: 10 } })).status, 200)
  t.deepEqual(await alertsOf(key), ['threshold 10 of 8', 'exhausted 10 of 10'], 'lowered below what was used')
  t.is(await statusOf(key), 'exhausted')
  t.is((await change(key, { usage_limits: { ...budget, credit_limit: 100 } })).status, 200)
  t.is(await statusOf(key), 'active')
  t.deepEqual(await alertsOf(key), ['threshold 10 of 8 (raised)', 'exhausted 10 of 10 (raised)', 'threshold 10 of 8'])
  await eventually(async () => (await ask(key)).status === 200, withinMs)
  t.is((await change(key, { usage_limits: { ...budget, credit_limit: 12 } })).status, 200)
  await eventually(async () => (await ask(key)).status === 412, withinMs)
  await eventually(async () => (await statusOf(key)) === 'exhausted', withinMs)
  t.is((await change(key, { reset_usage: true })).status, 200)
  t.is(await statusOf(key), 'active')
  t.is((await alertsOf(key)).filter((told) => !told.includes('raised')).length, 2, 'nothing was used since')
})

test.serial(
  'a budget that refuses what its rest does not cover is exhausted, is told of once, and is active again when it is raised',
  async (t) => {
    const budget = { type: 'tokens', credit_limit: 100 }
    const key = await makeKey({ usage_limits: budget })
    const shown = async () => (await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)).body
    for (let at = 1; at <= 10; at += 1) t.is((await ask(key)).status, 200)
    await eventually(async () => Reflect.get(Object((await shown())['usage']), 'spent') === 50, withinMs)
    t.is((await ask(key, 60)).status, 412)
    t.is(await statusOf(key), 'active', 'half of it is left')
    t.is((await change(key, { usage_limits: { ...budget, credit_limit: 55 } })).status, 200)
    t.deepEqual(await alertsOf(key), [])
    await control.refresh()
    t.is((await ask(key, 60)).status, 412)
    t.deepEqual(await alertsOf(key), ['exhausted 50 of 55'])
    t.like(await shown(), { status: 'exhausted', usage_limits: { status: 'exhausted', is_exhausted_alerts_sent: true } })
    await control.sql.query('SELECT keep_limits()')
    t.is((await change(key, { usage_limits: { ...budget, credit_limit: 52 } })).status, 200)
    t.is(await statusOf(key), 'exhausted', 'lowered it is no better')
    t.is((await change(key, { usage_limits: { ...budget, credit_limit: 110 } })).status, 200)
    t.is(await statusOf(key), 'active')
    t.like((await shown())['usage_limits'], { status: 'active', is_exhausted_alerts_sent: false })
  },
)

test.serial(
  'what a process held that died stays spent until its logs are here; then what they say is spent, and the rest is free',
  async (t) => {
    const key = await makeKey({ usage_limits: { type: 'tokens', credit_limit: 100 } })
    t.is((await ask(key)).status, 200)
    const { rows } = await control.sql.query<{ id: string }>(`SELECT id FROM limit_counters WHERE owner_id = $1`, [key.id])
    const counter = rows[0]?.id
    const dead = randomUUID()
    const lease = (life: number) =>
      control.sql.query(`SELECT granted FROM lease_limit($1, $2, NULL, $3, $4, 100, 80, 80, 80, NULL, NULL, NULL, NULL, NULL)`, [
        dead,
        life,
        counter,
        acme.organisationId,
      ])
    await eventually(async () => (await lease(60_000)).rows[0].granted === 80, withinMs)
    t.is((await ask(key, 20)).status, 412, 'another process holds the rest')
    await control.sql.query(`UPDATE limit_processes SET lives_until = now() WHERE id = $1`, [dead])
    const spent = async () => Number((await control.sql.query(`SELECT limit_spent($1, 0) AS spent`, [counter])).rows[0].spent)
    const resolve = (later: boolean) => control.sql.query(`SELECT resolve_doubts('1 minute', $1)`, [later])
    await control.sql.query('SELECT keep_limits()')
    await eventually(async () => (await spent()) === 85, withinMs)
    await resolve(false)
    t.is((await ask(key, 20)).status, 412, 'a provider may have charged it')
    await control.sql.query(
      `INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, client_ip, method, path, operation, status, outcome, stream,
       duration_ms, usage_source, retry_count, cache_status, trace_id, request_bytes, response_bytes, budgets)
     VALUES ($1, $2, $3, now(), $4, '::1', 'POST', '/chat/completions', 'chatComplete', 200, 'complete', false, 1, 'provider', 0, 'DISABLED', 't', 1, 1, $5)`,
      [randomUUID(), acme.organisationId, acme.workspaceId, key.id, JSON.stringify([[0, counter, '0', 7, `${dead.slice(0, 8)}:1`]])],
    )
    await control.sql.query(`UPDATE limit_doubts SET since = since - interval '1 hour' WHERE process = $1`, [dead])
    await resolve(false)
    t.is(await spent(), 12, 'what its last log says')
    await eventually(async () => (await ask(key, 20)).status === 200, withinMs)
    await eventually(async () => (await spent()) === 17, withinMs)
    // It was only paused, and writes its usage now.
    const settle = () => control.sql.query(`SELECT settle_limits($1, 1000, 1, $2, '{0}', '{73}', '{7}')`, [dead, [counter]])
    await settle()
    await resolve(true)
    t.is(await spent(), 17, 'it is not counted twice')
    await settle()
    t.is(await spent(), 17, 'the same settlements again change nothing')
  },
)

test.serial(
  'what was used and when it starts again is shown of keys, workspaces and combinations of a policy; a period that ended unseen starts at 0',
  async (t) => {
    const border = new Date(Date.now() + 86_400_000).toISOString()
    const budget = { type: 'tokens', credit_limit: 60, periodic_reset_days: 30, next_usage_reset_at: border }
    const key = await makeKey({ usage_limits: budget })
    const shown = async () => (await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)).body
    const begun = (await shown())['usage_limits']
    t.like(begun, { current_usage: 0, status: 'active', is_threshold_alerts_sent: false, is_exhausted_alerts_sent: false })
    const tag = async () =>
      (await send(`${control.origin}/v1/api-keys/${key.id}`, { headers: { 'x-service-api-key': acme.adminKey } })).headers['etag']
    const first = await tag()
    const policy = {
      workspace_id: acme.workspaceId,
      conditions: [{ key: 'api_key', value: key.id }],
      group_by: [{ key: 'api_key' }],
      type: 'tokens',
    }
    const made = await control.call(acme.adminKey, 'POST', '/policies/usage-limits', {
      ...policy,
      credit_limit: 60,
      alert_threshold: 4,
      periodic_reset: 'monthly',
    })
    t.is(made.status, 200, made.text)
    await control.call(acme.adminKey, 'PUT', `/admin/workspaces/${acme.workspaceId}`, {
      usage_limits: [{ type: 'tokens', credit_limit: 100_000 }],
    })
    await control.refresh()
    t.is((await ask(key)).status, 200)
    t.is((await ask(key)).status, 200)
    await eventually(async () => /"current_usage":10[,}]/.test(JSON.stringify(await shown())), withinMs)
    t.is(await tag(), first, 'its use is no edit of a key')
    t.is((await change(key, { usage_limits: { ...budget, credit_limit: 10 } })).status, 200)
    t.is(await statusOf(key), 'exhausted')
    t.like((await shown())['usage_limits'], { status: 'exhausted', is_threshold_alerts_sent: false })
    const path = `/policies/usage-limits/${String(made.body['id'])}`
    t.is((await control.call(acme.adminKey, 'PUT', path, { credit_limit: 10 })).status, 200)
    t.like((await shown())['usage_limits'], { current_usage: 10, next_usage_reset_at: border })
    const listed = await control.call(acme.adminKey, 'GET', `/api-keys?ids=${key.id}`)
    t.regex(listed.text, /"current_usage":10[,}]/)
    const workspace = await control.call(acme.adminKey, 'GET', `/admin/workspaces/${acme.workspaceId}`)
    t.regex(workspace.text, /"current_usage":10[,}]/)
    const entities = async () =>
      (await control.call(acme.adminKey, 'GET', `/policies/usage-limits/${String(made.body['id'])}/entities`)).body
    t.like(await entities(), { data: [{ value_key: `api_key:${key.id}`, current_usage: 10, status: 'exhausted' }] })

    // The periods of both end while no process runs: their borders lie in the past now.
    await control.sql.query(`UPDATE limit_counters SET anchor = anchor - interval '29 days' WHERE owner_id = $1`, [key.id])
    await control.sql.query(
      `UPDATE limit_counters SET granted = jsonb_build_object('1', granted -> (SELECT max(k) FROM jsonb_object_keys(granted) k)) WHERE owner_kind = 'policy'`,
    )
    await control.sql.query('SELECT keep_limits()')
    t.is(await statusOf(key), 'active')
    t.like(await entities(), { data: [{ current_usage: 0, status: 'active' }] })
    const reset = await control.call(acme.adminKey, 'PUT', `/admin/workspaces/${acme.workspaceId}`, { reset_usage: true })
    t.is(reset.status, 200)
    t.regex((await control.call(acme.adminKey, 'GET', `/admin/workspaces/${acme.workspaceId}`)).text, /"current_usage":0[,}]/)
  },
)
