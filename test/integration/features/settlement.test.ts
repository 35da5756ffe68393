// Reading batches: a slow host of one organisation does not keep others waiting, the costs of other attempts stay, and only the place that took the
// batch is asked.
import test from 'ava'
import { settleBatches, settlingOf } from '../../../src/features/costs/batches.jobs.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { doctor } from './doctor.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

const withinMs = 15_000
let control: Control
let acme: Tenant
let emulator: Emulator
/** The batches that began, and those of them that have ended. */
let begun = 0
const ended = new Set<string>()

// 100 x 1,250,000 + 10 x 5,000,000
const amount = 175_000_000
const answer = {
  custom_id: 'x',
  response: {
    status_code: 200,
    body: { model: 'gpt-4o', choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } },
  },
}

function answerOf(method: string, path: string) {
  if (path.includes('/content')) return { status: 200, body: `${JSON.stringify(answer)}\n` }
  const id = method === 'POST' ? `batch_${(begun += 1)}` : (/batch_\w+/.exec(path)?.[0] ?? '')
  const told = ended.has(id) ? { status: 'completed', output_file_id: `file-${id}.` } : { status: 'in_progress' }
  return { status: 200, body: JSON.stringify({ id, object: 'batch', endpoint: '/v1/chat/completions', ...told }) }
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({ behaviour: ({ method, url }) => answerOf(method, url) })
  await storeProvider(acme, emulator.url)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

async function made({ adminKey, workspaceKey }: Tenant, path: string, body: object): Promise<Fields> {
  const response = await control.call(path.startsWith('/api-keys') ? adminKey : workspaceKey, 'POST', path, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

/** Stores a provider of a tenant's at a host, with a key or without one. */
async function storeProvider(tenant: Tenant, custom_host: string, slug = 'p', key: object = { key: 'sk-of-batches' }): Promise<void> {
  const integration = {
    name: slug,
    slug: `account-${slug}`,
    ai_provider_id: 'openai',
    ...key,
    configurations: { custom_host },
  }
  await made(tenant, '/integrations', integration)
  await made(tenant, '/providers', { name: slug, slug, integration_id: `account-${slug}` })
}

async function keyOf(tenant: Tenant): Promise<{ readonly id: string; readonly key: string }> {
  const { id, key } = await made(tenant, '/api-keys/workspace/service', {
    name: 'spender',
    workspace_id: tenant.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { type: 'cost', credit_limit: 2, on_unpriced: 'allow' },
  })
  return { id: String(id), key: String(key) }
}

const ofBatch = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }

/** Begins a batch, and waits until it is noted. Returns the id of its log. */
async function begin(
  { key }: { readonly key: string },
  headers: Readonly<Record<string, string>> = {},
  body: object = ofBatch,
): Promise<string> {
  const response = await send(`${control.origin}/v1/batches`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'x-service-provider': '@p', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(response.text)
  const logId = String(response.headers['x-service-request-id'])
  await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the batch to be noted')
  return logId
}

interface Noted {
  readonly batch_id: string
  readonly state: string
  readonly fault: string | null
}

const rowOf = async (logId: string): Promise<Noted | undefined> =>
  (await control.sql.query<Noted>('SELECT batch_id, state, fault FROM provider_batches WHERE id = $1', [logId])).rows[0]

const end = async (logId: string): Promise<unknown> => ended.add((await rowOf(logId))?.batch_id ?? '')

/** Looks at all batches that wait, whenever they were to be looked at. */
async function look(job = settleBatches): Promise<void> {
  await control.sql.query(`UPDATE provider_batches SET next_look_at = 'epoch'`)
  await job.run(control.started.deps)
}

const costOf = async (logId: string) =>
  (await control.call(acme.workspaceKey, 'GET', `/logs/${logId}/cost`)).body as Fields & { readonly adjustments: readonly Fields[] }

test.serial("a host that never ends its answers holds up no other organisation's batch, and gets four looks at once", async (t) => {
  const other = await control.createTenant('slow')
  const slow = await startEmulator()
  t.teardown(() => slow.stop())
  slow.script({ behaviour: { status: 200, body: '{ "status": "completed" }', hang: 'mid-body', hangAt: 1 } })
  slow.script({ method: 'POST', behaviour: ({ method, url }) => answerOf(method, url) })
  await storeProvider(other, slow.url)
  const [theirKey, ourKey] = [await keyOf(other), await keyOf(acme)]
  const theirs: string[] = []
  for (let batch = 0; batch < 6; batch += 1) theirs.push(await begin(theirKey))
  const ours = await begin(ourKey)
  await end(ours)
  await control.sql.query(
    `UPDATE provider_batches SET next_look_at = CASE WHEN id = $1 THEN timestamptz 'epoch' + interval '1 hour' ELSE 'epoch' END`,
    [ours],
  )
  const run = settleBatches.run(control.started.deps)
  const looks = () => slow.requests.filter(({ method }) => method === 'GET').length
  await eventually(async () => looks() === 4 && (await rowOf(ours))?.state === 'settled', withinMs, 'our batch to be settled')
  const late = await begin(ourKey)
  await end(late)
  await control.sql.query(`UPDATE provider_batches SET next_look_at = 'epoch' WHERE id = $1`, [late])
  await eventually(async () => (await rowOf(late))?.state === 'settled', withinMs, 'one that comes due meanwhile to be settled')
  t.is(looks(), 4)
  await slow.stop()
  await run
  for (const batch of theirs) t.is((await rowOf(batch))?.state, 'open')
})

test.serial('a run that is to end looks at no more batches, and gives none up', async (t) => {
  const key = await keyOf(acme)
  const [running, late] = [await begin(key), await begin(key)]
  await control.sql.query(`UPDATE provider_batches SET begun_at = now() - interval '11 days' WHERE id = $1`, [running])
  await control.sql.query(`UPDATE provider_batches SET next_look_at = CASE WHEN id = $1 THEN 'epoch' ELSE now() + interval '1 hour' END`, [
    running,
  ])
  const path = (await rowOf(running))?.batch_id ?? ''
  const stop = emulator.script({ method: 'GET', path, behaviour: { status: 503, body: '{}', delayMs: 1500 } })
  const [arrived, ending] = [emulator.next(path), new AbortController()]
  const run = settleBatches.run(control.started.deps, ending.signal)
  await arrived
  ending.abort()
  await control.sql.query(`UPDATE provider_batches SET next_look_at = 'epoch' WHERE id = $1`, [late])
  await end(late)
  await run
  stop()
  for (const id of [running, late]) t.like(await rowOf(id), { state: 'open', fault: null })
})

for (const [name, bounds, behaviour, fault] of [
  ['drips', { timeMs: 300, bytes: 1e9 }, { drip: { bytes: 1, everyMs: 50 } }, 'The answers of the batch did not come whole within 300 ms.'],
  ['has no end', { timeMs: 60_000, bytes: 100_000 }, { endless: true }, 'The answers of the batch are longer than 100000 bytes.'],
] as const)
  test.serial(`a file of answers that ${name} is given up, and charged when it comes`, async (t) => {
    const id = await begin(await keyOf(acme))
    await end(id)
    const stop = emulator.script({ path: '/content', behaviour: { status: 200, body: 'x'.repeat(1000), ...behaviour } })
    await look(settlingOf(bounds))
    stop()
    t.like(await rowOf(id), { state: 'open', fault })
    t.deepEqual((await costOf(id)).adjustments, [])
    await look()
    t.is((await costOf(id))['total_pico_usd'], String(amount))
  })

const spentBy = async ({ id }: { readonly id: string }): Promise<unknown> =>
  ((await control.call(acme.adminKey, 'GET', `/api-keys/${id}`)).body['usage_limits'] as Fields)['current_usage']

/** A response in the background. 1,000 x 1,250,000 + 100 x 10,000,000 = 2,250,000,000 when it has ended. */
const inBackground = { model: 'gpt-5', input: 'hello', background: true, max_output_tokens: 50_000 }
const responseAs = (status: string, more: Fields = {}) => ({
  status: 200,
  body: JSON.stringify({ id: 'resp_1', object: 'response', model: 'gpt-5-2025-08-07', status, output: [], usage: null, ...more }),
})
const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a secret', annotations: [] }] }
const done = { output: [message], usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 } }

const respond = ({ key }: { readonly key: string }, headers: Readonly<Record<string, string>>, body: object = inBackground) =>
  send(`${control.origin}/v1/responses`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'x-service-provider': '@p', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const day = 24 * 60 * 60 * 1000
const recompute = async (more: object = {}) =>
  control.call(acme.adminKey, 'POST', '/costs/recompute', {
    start: new Date(Date.now() - day).toISOString(),
    end: new Date(Date.now() + day).toISOString(),
    dry_run: false,
    ...more,
  })

test.serial('what an attempt cost before another began a job stays when the job is charged, and when both are priced again', async (t) => {
  const key = await keyOf(acme)
  const output = [{ 'default.regexMatch': { rule: 'secret', not: true }, deny: true, async: false }]
  const targets = [{ provider: '@p', output_guardrails: output }, { provider: '@p' }]
  const queued = emulator.script({ path: '/responses', behaviour: responseAs('queued') })
  emulator.script({ method: 'POST', path: '/responses', times: 1, behaviour: responseAs('completed', done) })
  const config = JSON.stringify({ strategy: { mode: 'fallback', on_status_codes: [446] }, targets })
  const { status, text, headers } = await respond(key, { 'x-service-config': config })
  t.is(status, 200, text)
  const logId = String(headers['x-service-request-id'])
  await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the response to be noted')
  t.like(await costOf(logId), { state: 'partly_priced', cost_pico_usd: '2250000000', total_pico_usd: '2250000000' })
  await recompute()
  t.deepEqual((await costOf(logId)).adjustments, [], 'the job is still to be charged')
  queued()
  const ends = emulator.script({ method: 'GET', path: '/responses', behaviour: responseAs('completed', done) })
  await look()
  ends()
  const { adjustments, ...settled } = await costOf(logId)
  t.like(settled, { cost_pico_usd: '2250000000', total_pico_usd: '4500000000' })
  t.is(adjustments.length, 1)
  t.like(adjustments[0], { state: 'priced', delta_pico_usd: '2250000000', cost_pico_usd: '4500000000' })
  t.deepEqual(
    ((adjustments[0]?.['lines'] ?? []) as Fields[]).map(({ attempt, dimension }) => [attempt, dimension]),
    [0, 1].flatMap((attempt) => [
      [attempt, 'input'],
      [attempt, 'output'],
    ]),
  )
  await eventually(async () => (await spentBy(key)) === 0.0045, withinMs, 'the budget to follow')
  await recompute()
  t.is((await costOf(logId)).adjustments.length, 1, 'the job keeps what it cost')
  const change = { pricing_adjustments: { multiplier: { default: 0.5 } } }
  t.is((await control.call(acme.adminKey, 'PUT', '/integrations/account-p', change)).status, 200)
  await recompute()
  const whole = { pricing_adjustments: null }
  t.is((await control.call(acme.adminKey, 'PUT', '/integrations/account-p', whole)).status, 200)
  const halved = await costOf(logId)
  t.is(halved['total_pico_usd'], '3375000000')
  t.like(halved.adjustments[1], { state: 'priced', delta_pico_usd: '-1125000000' })
  await eventually(async () => (await spentBy(key)) === 0.003375, withinMs, 'the budget to follow')
  t.deepEqual((await doctor(control)).differences, [])
})

// 2 x 2,250,000,000
test.serial('each attempt that began a job is charged for it, also one whose answer a guardrail denied', async (t) => {
  const key = await keyOf(acme)
  const output = [{ 'default.regexMatch': { rule: 'secret', not: true }, deny: true, async: false }]
  const guarded = { provider: '@p', output_guardrails: output }
  const config = JSON.stringify({ strategy: { mode: 'fallback', on_status_codes: [446] }, targets: [guarded, guarded] })
  let responses = 0
  const behaviour = () => responseAs('in_progress', { id: `resp_of_${(responses += 1)}`, output: [message] })
  const begins = emulator.script({ method: 'POST', path: '/responses', behaviour })
  const { status, text, headers } = await respond(key, { 'x-service-config': config })
  begins()
  t.is(status, 446, text)
  const logId = String(headers['x-service-request-id'])
  const asked = 'SELECT batch_id, state, attempt FROM provider_batches WHERE coalesce(log_id, id) = $1 ORDER BY batch_id'
  const jobs = async () => (await control.sql.query<Fields>(asked, [logId])).rows
  await eventually(async () => (await jobs()).length === 2, withinMs, 'both to be noted')
  t.like(await jobs(), [
    { batch_id: 'resp_of_1', attempt: 0 },
    { batch_id: 'resp_of_2', attempt: null },
  ])
  const one = emulator.script({ method: 'GET', path: '/resp_of_1', behaviour: responseAs('completed', { ...done, id: 'resp_of_1' }) })
  const running = emulator.script({ method: 'GET', path: '/resp_of_2', behaviour: responseAs('in_progress') })
  await look()
  running()
  t.like(await costOf(logId), { total_pico_usd: '2250000000', adjustments: [{ state: 'partly_priced' }] })
  const other = emulator.script({ method: 'GET', path: '/resp_of_2', behaviour: responseAs('completed', { ...done, id: 'resp_of_2' }) })
  await look()
  one()
  other()
  const { adjustments, ...settled } = await costOf(logId)
  t.is(settled['total_pico_usd'], '4500000000')
  t.like(adjustments[1], { state: 'priced', delta_pico_usd: '2250000000' })
  t.deepEqual(
    ((adjustments[1]?.['lines'] ?? []) as Fields[]).map(({ attempt }) => attempt),
    [0, 0, 1, 1],
  )
  await recompute()
  t.is((await costOf(logId)).adjustments.length, 2, 'both keep what they cost')
  await eventually(async () => (await spentBy(key)) === 0.0045, withinMs, 'the budget to follow')
  t.deepEqual((await doctor(control)).differences, [])
})

/** Gives a model of a tenant's a price: 1,000 x 2,000,000 + 100 x 4,000,000 = 2,400,000,000 for `done`. */
async function priceModel(slug: string): Promise<void> {
  const rates = { request_token: { price: 2 }, response_token: { price: 4 } }
  const models = [{ slug, enabled: true, is_custom: true, pricing_config: { type: 'static', pay_as_you_go: rates } }]
  const { status, text } = await control.call(acme.adminKey, 'PUT', '/integrations/account-p/models', { models })
  if (status !== 200) throw new Error(text)
}

test.serial('a response in the background whose stream told its usage is charged by that alone, once its model has a price', async (t) => {
  const key = await keyOf(acme)
  const model = 'told-at-once'
  const response = { id: 'resp_told', object: 'response', model, status: 'completed', ...done }
  const last = { type: 'response.completed', sequence_number: 1, response }
  const behaviour = {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: `event: response.completed\ndata: ${JSON.stringify(last)}\n\n`,
  }
  const stop = emulator.script({ method: 'POST', path: '/responses', behaviour })
  const { status, text, headers } = await respond(key, {}, { ...inBackground, model, stream: true })
  stop()
  t.is(status, 200, text)
  const logId = String(headers['x-service-request-id'])
  await eventually(async () => (await costOf(logId))['state'] === 'unpriced', withinMs, 'its log')
  t.is(await rowOf(logId), undefined, 'nobody asks for it again')
  await priceModel(model)
  await recompute()
  t.is((await costOf(logId))['total_pico_usd'], '2400000000')
  await eventually(async () => (await spentBy(key)) === 0.0024, withinMs, 'the budget that let it pass to follow')
  // The former release noted it.
  await control.sql.query(
    `INSERT INTO provider_batches (id, organisation_id, workspace_id, provider, provider_slug, batch_id, begun_at)
     SELECT id, organisation_id, workspace_id, provider, 'p', 'resp_told', created_at FROM logs WHERE id = $1`,
    [logId],
  )
  const ends = emulator.script({ method: 'GET', path: '/responses', behaviour: responseAs('completed', { ...done, model }) })
  await look()
  ends()
  t.like(await rowOf(logId), { state: 'settled', fault: null })
  const settled = await costOf(logId)
  t.is(settled['total_pico_usd'], '2400000000')
  t.like(settled.adjustments.at(-1), { lines: { length: 2 } })
  await recompute()
  t.is((await costOf(logId))['total_pico_usd'], '2400000000')
  t.is(await spentBy(key), 0.0024)
  t.deepEqual((await doctor(control)).differences, [])
})

test.serial('a recompute by the id of a log is refused: it is that of the job which the log began', async (t) => {
  const id = await begin(await keyOf(acme))
  const { status, text } = await recompute({ recompute_id: id })
  t.is(status, 400, text)
  t.like(JSON.parse(text), { error: { param: 'recompute_id' } })
  await end(id)
  await look()
  t.is((await costOf(id))['total_pico_usd'], String(amount))
})

test.serial('what was not told yet is unpriced to a release that knows no such charge, and is never written as free', async (t) => {
  const id = await begin(await keyOf(acme))
  const asked = `SELECT b.cost -> 'charges' -> 0 AS charge FROM log_bodies b WHERE b.id = $1`
  const { rows } = await control.sql.query<{ charge: Fields }>(asked, [id])
  t.like(rows[0]?.charge, { untold: true, counts: {}, facts: { promptTokens: 0 } })
  await control.sql.query(`UPDATE log_bodies SET cost = cost #- '{charges,0,untold}' WHERE id = $1`, [id])
  await recompute()
  t.like(await costOf(id), { state: 'unpriced', total_pico_usd: null, adjustments: [] })
  await end(id)
  await look()
  t.is((await costOf(id))['total_pico_usd'], String(amount))
})

// 50,000 x 10,000,000 and the prompt are held by each attempt that may have been worked on.
for (const [name, behaviour, config, attempts] of [
  ['is not answered in time', { hang: 'before-headers' }, {}, 1],
  ['breaks off', { hang: 'after-headers' }, {}, 1],
  [
    'is not answered in time, and by no other target',
    { hang: 'before-headers' },
    {
      strategy: { mode: 'fallback' },
      targets: [
        { provider: '@p', request_timeout: 100 },
        { provider: '@p', request_timeout: 100 },
      ],
    },
    2,
  ],
  ['is refused', { status: 503 }, {}, 0],
] as const)
  test.serial(`a response in the background that ${name} is charged nothing only if it cannot go on`, async (t) => {
    const key = await keyOf(acme)
    const stop = emulator.script({ method: 'POST', path: '/responses', behaviour })
    const { status, headers } = await respond(key, { 'x-service-config': JSON.stringify({ request_timeout: 300, ...config }) })
    stop()
    t.true(status >= 500, String(status))
    const logId = String(headers['x-service-request-id'])
    await eventually(async () => (await control.call(acme.workspaceKey, 'GET', `/logs/${logId}/cost`)).status === 200, withinMs)
    t.like(await costOf(logId), attempts === 0 ? { state: 'not_charged', cost_pico_usd: '0' } : { state: 'unpriced', cost_pico_usd: null })
    const held = attempts * 0.5
    await eventually(async () => Number(await spentBy(key)) >= held, withinMs, 'the budget to hold what it may cost')
    t.true(Number(await spentBy(key)) < held + 0.1)
  })

test.serial('a batch is asked for at the provider that took it, and not at one that has its slug now', async (t) => {
  const other = await startEmulator()
  t.teardown(() => other.stop())
  other.script({ behaviour: ({ method, url }) => answerOf(method, url) })
  await storeProvider(acme, emulator.url, 'q')
  const id = await begin(await keyOf(acme), { 'x-service-provider': '@q' })
  t.is((await control.call(acme.workspaceKey, 'DELETE', '/providers/q')).status, 200)
  // Rows of the same seconds may be either, as clocks differ.
  await control.sql.query(`UPDATE providers SET created_at = created_at - interval '1 hour' WHERE slug = 'q'`)
  await storeProvider(acme, other.url, 'q2')
  const terms = { pricing_adjustments: { multiplier: { default: 0.5 } } }
  t.is((await control.call(acme.adminKey, 'PUT', '/integrations/account-q2', terms)).status, 200)
  await made(acme, '/providers', { name: 'q', slug: 'q', integration_id: 'account-q2' })
  await control.sql.query(`UPDATE providers SET created_at = now() + interval '1 minute' WHERE slug = 'q' AND status <> 'archived'`)
  await end(id)
  await look()
  t.is(other.requests.length, 0)
  t.is((await costOf(id))['total_pico_usd'], String(amount), 'at the prices of what took it')
  const lost = await begin(await keyOf(acme), { 'x-service-provider': '@q2' })
  await control.sql.query(`UPDATE providers SET created_at = now() + interval '1 minute' WHERE slug = 'q2'`)
  // The former release noted no more than the slug.
  await control.sql.query('UPDATE provider_batches SET provider_id = NULL, host = NULL WHERE id = $1', [lost])
  await end(lost)
  const before = other.requests.length
  await look()
  t.is(other.requests.length, before, 'one that was made later did not take it')
  t.like(await rowOf(lost), { state: 'open', fault: 'The provider @q2 that took it is not there any more.' })
})

test.serial('a recompute prices by the terms of the provider that answered, and not of one that has its slug now', async (t) => {
  await storeProvider(acme, emulator.url, 'r')
  const stop = emulator.script({ method: 'POST', path: '/responses', behaviour: responseAs('completed', done) })
  const { headers } = await respond(await keyOf(acme), { 'x-service-provider': '@r' }, { ...inBackground, background: false })
  stop()
  const logId = String(headers['x-service-request-id'])
  await eventually(async () => (await costOf(logId))['total_pico_usd'] === '2250000000', withinMs, 'its cost')
  t.is((await control.call(acme.workspaceKey, 'DELETE', '/providers/r')).status, 200)
  await control.sql.query(`UPDATE providers SET created_at = created_at - interval '1 hour' WHERE slug = 'r'`)
  await storeProvider(acme, emulator.url, 'r2')
  const multiply = async (account: string, by: number) => {
    const terms = { pricing_adjustments: { multiplier: { default: by } } }
    t.is((await control.call(acme.adminKey, 'PUT', `/integrations/${account}`, terms)).status, 200)
  }
  await multiply('account-r2', 0.5)
  await made(acme, '/providers', { name: 'r', slug: 'r', integration_id: 'account-r2' })
  await control.sql.query(`UPDATE providers SET created_at = now() + interval '1 minute' WHERE slug = 'r' AND status <> 'archived'`)
  await recompute()
  t.like(await costOf(logId), { total_pico_usd: '2250000000', adjustments: [] })
  await multiply('account-r', 2)
  await recompute()
  t.like(await costOf(logId), { total_pico_usd: '4500000000', adjustments: { length: 1 } })
})

test.serial('a job is asked for at the host of its model', async (t) => {
  const own = await startEmulator()
  t.teardown(() => own.stop())
  own.script({ path: '/responses', behaviour: responseAs('queued') })
  await storeProvider(acme, emulator.url, 'hosts', {})
  const models = [{ slug: 'gpt-5', enabled: true, configurations: { custom_host: own.url } }]
  const put = await control.call(acme.adminKey, 'PUT', '/integrations/account-hosts/models', { models })
  t.is(put.status, 200, put.text)
  const { status, text, headers } = await respond(await keyOf(acme), { 'x-service-provider': '@hosts' })
  t.is(status, 200, text)
  const logId = String(headers['x-service-request-id'])
  await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the response to be noted')
  own.script({ path: '/responses', behaviour: responseAs('completed', done) })
  await look()
  t.like(await costOf(logId), { total_pico_usd: '2250000000' })
})

test.serial('a batch is asked for at the host that took it, and at no other that its provider has now', async (t) => {
  const other = await startEmulator()
  t.teardown(() => other.stop())
  other.script({ behaviour: ({ method, url }) => answerOf(method, url) })
  await storeProvider(acme, emulator.url, 'moved')
  const id = await begin(await keyOf(acme), { 'x-service-provider': '@moved' })
  await end(id)
  const move = (custom_host: string) =>
    control.call(acme.adminKey, 'PUT', '/integrations/account-moved', { key: 'sk-of-batches', configurations: { custom_host } })
  t.is((await move(other.url)).status, 200)
  await look()
  t.is(other.requests.length, 0)
  t.like(await rowOf(id), { state: 'open', fault: 'Its provider has another host now than the one that took it.' })
  t.is((await move(emulator.url)).status, 200)
  await look()
  t.is((await costOf(id))['total_pico_usd'], String(amount))
})

test.serial('a batch with a model without a price beside others is a lower bound after ten days', async (t) => {
  const id = await begin(await keyOf(acme))
  await end(id)
  await control.sql.query(`SELECT ensure_log_partitions(current_date - 11)`)
  for (const [table, began] of Object.entries({ logs: 'created_at', log_bodies: 'created_at', provider_batches: 'begun_at' }))
    await control.sql.query(`UPDATE ${table} SET ${began} = ${began} - interval '11 days' WHERE id = $1`, [id])
  const unknown = { response: { ...answer.response, body: { ...answer.response.body, model: 'nobody-knows' } } }
  const behaviour = { status: 200, body: `${JSON.stringify(answer)}\n${JSON.stringify(unknown)}\n` }
  const stop = emulator.script({ path: '/content', behaviour })
  await look()
  stop()
  t.like(await rowOf(id), { state: 'settled', fault: null })
  const written = 'SELECT cost_pico::text AS amount, cost_state AS state FROM cost_adjustments WHERE log_id = $1'
  t.deepEqual((await control.sql.query(written, [id])).rows, [{ amount: String(amount), state: 'partly_priced' }])
})

test.serial('an empty file of a batch of which no request succeeded costs nothing', async (t) => {
  const id = await begin(await keyOf(acme))
  const told = {
    status: 'completed',
    endpoint: '/v1/chat/completions',
    output_file_id: 'file-none',
    request_counts: { total: 1, completed: 0 },
  }
  const batch = emulator.script({ method: 'GET', path: '/batches', behaviour: { status: 200, body: JSON.stringify(told) } })
  const file = emulator.script({ path: '/content', behaviour: { status: 200, body: '' } })
  await look()
  batch()
  file()
  t.like(await costOf(id), { total_pico_usd: '0', adjustments: [{ state: 'not_charged' }] })
})

test.serial('who settles and who recomputes wait for each other, and both know what the other wrote', async (t) => {
  const id = await begin(await keyOf(acme))
  await end(id)
  const held = await control.sql.connect()
  await held.query('BEGIN')
  await held.query(`SELECT pg_advisory_xact_lock(hashtextextended('gatehouse:costs:' || $1, 0))`, [acme.organisationId])
  const both = Promise.all([look(), recompute()])
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  await eventually(async () => (await held.query(waiting)).rowCount === 2, withinMs, 'both to wait')
  t.is((await rowOf(id))?.state, 'open')
  await held.query('COMMIT')
  held.release()
  await both
  const { adjustments, total_pico_usd } = await costOf(id)
  t.deepEqual([adjustments.length, total_pico_usd], [1, String(amount)])
  t.deepEqual((await doctor(control)).differences, [])
})

test.serial('a batch that ended without a word of its answers is not free', async (t) => {
  const id = await begin(await keyOf(acme))
  const body = JSON.stringify({ id: 'batch', object: 'batch', status: 'completed', endpoint: '/v1/chat/completions', output_file_id: null })
  const stop = emulator.script({ method: 'GET', path: '/batches', behaviour: { status: 200, body } })
  await look()
  stop()
  t.like(await rowOf(id), { state: 'open', fault: 'The provider keeps the answers of the batch where Gatehouse cannot read them.' })
  t.like(await costOf(id), { state: 'unpriced', adjustments: [] })
})
