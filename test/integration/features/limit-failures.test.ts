// Failures of other gateways in counting against limits, each by the thread that reports it.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let beside: string
let emulator: Emulator
const withinMs = 15_000

/** gpt-4o: 2.5 micro-dollars for each token of the prompt, 1.25 if it comes from the provider's cache, 10 for each of the answer. */
const body = (usage: object) =>
  JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage })
const small = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const frames = (usage: object | null) =>
  [
    '{"choices":[{"index":0,"delta":{"content":"some words of an answer"}}]}',
    ...(usage === null ? [] : [JSON.stringify({ choices: [], usage })]),
  ]
    .map((data) => `data: ${data}\n\n`)
    .join('')

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  beside = await control.openBeside()
})
test.beforeEach(() => {
  emulator.reset()
  emulator.script({ behaviour: { body: body(small) } })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

interface MadeKey {
  readonly id: string
  readonly secret: string
}

async function makeKey(limits: object): Promise<MadeKey> {
  const { adminKey, workspaceId } = acme
  const made = await control.call(adminKey, 'POST', '/api-keys/workspace/service', {
    name: 'limited',
    workspace_id: workspaceId,
    scopes: ['completions.write'],
    ...limits,
  })
  if (made.status !== 200) throw new Error(made.text)
  return { id: String(made.body['id']), secret: String(made.body['key']) }
}

interface Asked {
  readonly path?: string
  readonly fields?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly origin?: string
  readonly signal?: AbortSignal
}

const headersOf = ({ secret }: MadeKey) => ({
  'x-service-api-key': secret,
  'content-type': 'application/json',
  'x-service-provider': 'openai',
  'x-service-custom-host': emulator.url,
  authorization: 'Bearer sk',
})

const ask = (key: MadeKey, { path = '/chat/completions', fields = {}, headers = {}, origin = control.origin }: Asked = {}) =>
  send(`${origin}/v1${path}`, {
    method: 'POST',
    headers: { ...headersOf(key), ...headers },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100, ...fields }),
  })

const usageOf = async (key: MadeKey) =>
  (await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)).body['usage'] as Readonly<Record<string, unknown>>

const streamed = { 'content-type': 'text/event-stream' }

test.serial('a budget of a hundredth of a cent stops after what it pays for (langwatch/tasks#421)', async (t) => {
  const key = await makeKey({ usage_limits: { type: 'tokens', credit_limit: 40 } })
  const answers = await Promise.all(Array.from({ length: 110 }, () => ask(key, { fields: { max_tokens: 10 } })))
  t.true(answers.filter(({ status }) => status === 200).length <= 1, 'a request may use 31 tokens')
  t.true(answers.every(({ status }) => status === 200 || status === 412))
})

test.serial('what clients that leave had reserved comes back (#30522, #27639)', async (t) => {
  const key = await makeKey({ usage_limits: { credit_limit: 1 } })
  emulator.script({ behaviour: { body: frames(null), headers: streamed, hang: 'mid-body', hangAt: 60 } })
  for (let round = 0; round < 5; round += 1) {
    const leaving = new AbortController()
    const answer = await fetch(`${control.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: headersOf(key),
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], max_tokens: 50_000, stream: true }),
      signal: leaving.signal,
    })
    t.is(answer.status, 200, 'what was reserved before is free again')
    leaving.abort()
    await eventually(async () => (await usageOf(key))['reserved'] === 0, withinMs)
  }
  t.true(Number((await usageOf(key))['spent']) < 0.01, JSON.stringify(await usageOf(key)))
})

test.serial('a stream that breaks counts what it brought, and not nothing (#35568)', async (t) => {
  const key = await makeKey({ usage_limits: { credit_limit: 1 } })
  emulator.script({ behaviour: { body: frames(null), headers: streamed, cutAt: 75, chunked: true } })
  await ask(key, { fields: { stream: true } }).catch(() => null)
  await eventually(async () => Number((await usageOf(key))['spent']) > 0, withinMs)
  t.true(Number((await usageOf(key))['spent']) < 0.002)
})

test.serial('what is enforced is what was spent: cached tokens at their rate (#40050, stakwork/stakgraph PR 1688)', async (t) => {
  const key = await makeKey({ usage_limits: { credit_limit: 1 } })
  const usage = { prompt_tokens: 20_000, completion_tokens: 10, total_tokens: 20_010, prompt_tokens_details: { cached_tokens: 18_000 } }
  emulator.script({ behaviour: { body: body(usage) } })
  for (let round = 0; round < 3; round += 1) t.is((await ask(key)).status, 200)
  const each = 2000 * 2.5e-6 + 18_000 * 1.25e-6 + 10 * 10e-6
  await eventually(async () => Math.abs(Number((await usageOf(key))['spent']) - 3 * each) < 1e-9, withinMs)
  t.pass()
})

test.serial('a prompt is reserved at the price of its length (PR #40002)', async (t) => {
  const key = await makeKey({ usage_limits: { credit_limit: 1, output_policy: 'strict' } })
  // Above 272,000 tokens one costs 5 micro-dollars, below 2.5: a byte may be a token, so that at the short price it would fit.
  const long = 'x'.repeat(300_000)
  const refused = await ask(key, { fields: { model: 'gpt-5.4', max_tokens: 1, messages: [{ role: 'user', content: long }] } })
  t.is(refused.status, 412, refused.text)
  t.true(Number(/may use \$([\d.]+)/.exec(refused.text)?.[1]) > 1.4, refused.text)
  const short = await ask(key, {
    fields: { model: 'gpt-5.4', max_tokens: 1, messages: [{ role: 'user', content: long.slice(0, 250_000) }] },
  })
  t.is(short.status, 200, short.text)
})

test.serial('a reservation is the price of the request, and no flat cent (Helicone PR 4492)', async (t) => {
  const dear = await ask(await makeKey({ usage_limits: { credit_limit: 1 } }), { fields: { max_tokens: 200_000, n: 10 } })
  t.is(dear.status, 412)
  const key = await makeKey({ usage_limits: { credit_limit: 1 } })
  for (let round = 0; round < 20; round += 1) t.is((await ask(key, { fields: { max_tokens: 1 } })).status, 200)
  await eventually(async () => (await usageOf(key))['reserved'] === 0, withinMs)
  t.true(Number((await usageOf(key))['spent']) < 0.01)
})

test.serial('a limit on a model holds for the target that a config routes to (#25549)', async (t) => {
  const policy = await control.call(acme.adminKey, 'POST', '/policies/rate-limits', {
    workspace_id: acme.workspaceId,
    conditions: [{ key: 'model', value: 'gpt-4.1-nano' }],
    group_by: [{ key: 'model' }],
    type: 'requests',
    unit: 'rpd',
    value: 0,
  })
  t.is(policy.status, 200, policy.text)
  await control.refresh()
  const key = await makeKey({})
  const target = { provider: 'openai', api_key: 'sk', custom_host: emulator.url, override_params: { model: 'gpt-4.1-nano' } }
  const headers = { 'x-service-config': JSON.stringify({ strategy: { mode: 'single' }, targets: [target] }) }
  t.is((await ask(key, { headers })).status, 429)
  t.is((await ask(key)).status, 200)
})

test.serial('the first requests of somebody new do not all pass at once (#40095)', async (t) => {
  const made = await control.call(acme.adminKey, 'POST', '/policies/usage-limits', {
    workspace_id: acme.workspaceId,
    conditions: [{ key: 'metadata._user', value: 'nobody-yet' }],
    group_by: [{ key: 'metadata._user' }],
    type: 'requests',
    credit_limit: 3,
  })
  t.is(made.status, 200, made.text)
  await control.refresh()
  const key = await makeKey({})
  const headers = { 'x-service-metadata': '{"_user":"nobody-yet"}' }
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => ask(key, { headers, origin: at % 2 === 0 ? control.origin : beside })),
  )
  t.true(answers.filter(({ status }) => status === 200).length <= 3)
})

test.serial('token limits hold for streams of every format (#41610, api7/aisix#688)', async (t) => {
  const claude = [
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [], usage: { input_tokens: 600, output_tokens: 1 } },
    },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 400 } },
    { type: 'message_stop' },
  ]
  const responses = [
    { type: 'response.completed', response: { id: 'r', usage: { input_tokens: 600, output_tokens: 400, total_tokens: 1000 } } },
  ]
  for (const [path, provider, events] of [
    ['/messages', 'anthropic', claude],
    ['/responses', 'openai', responses],
  ] as const) {
    emulator.reset()
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    emulator.script({ behaviour: { body: text, headers: streamed } })
    const key = await makeKey({ usage_limits: { type: 'tokens', credit_limit: 1500 } })
    const fields = path === '/responses' ? { input: 'hi', max_output_tokens: 100, messages: undefined, max_tokens: undefined } : {}
    const once = () => ask(key, { path, headers: { 'x-service-provider': provider }, fields: { ...fields, stream: true } })
    t.is((await once()).status, 200, path)
    await eventually(async () => (await usageOf(key))['spent'] === 1000, withinMs, `${path}: its tokens`)
    t.is((await once()).status, 200)
    t.is((await once()).status, 412, path)
  }
})

test.serial('processes share a limit, and do not have one each (#40291)', async (t) => {
  const key = await makeKey({ rate_limits: [{ type: 'requests', unit: 'rpd', value: 10 }] })
  let passed = 0
  for (let at = 0; at < 40; at += 1) passed += (await ask(key, { origin: at % 2 === 0 ? control.origin : beside })).status === 200 ? 1 : 0
  t.true(passed <= 10, `${passed} passed`)
})

test.serial('what costs nothing passes an exhausted budget in money (mozilla-ai/any-llm#786)', async (t) => {
  const key = await makeKey({ usage_limits: { credit_limit: 1 } })
  t.is((await ask(key)).status, 200)
  await control.sql.query(`UPDATE limit_counters SET granted = '{"0": 1000000000}' WHERE id LIKE $1`, [`api-key:${key.id}:usage:cost%`])
  await eventually(async () => (await ask(key)).status === 412, withinMs)
  emulator.script({ path: /models/, behaviour: { body: '{"data":[]}' } })
  t.is((await send(`${control.origin}/v1/models`, { headers: headersOf(key) })).status, 200)
})

test.serial('an unpriced model voids no budget: nothing passes that nobody can price (JiRaska/open-bank-oss#3298, #20412)', async (t) => {
  const key = await makeKey({ usage_limits: { credit_limit: 10 } })
  const refused = await ask(key, { fields: { model: 'nobody-prices-this' } })
  t.is(refused.status, 412)
  t.like(JSON.parse(refused.text), { error: { reason: 'unpriced_model' } })
})

/** More than a counter holds when it is priced. */
const absurd = { prompt_tokens: 9_007_199_254_740_000, completion_tokens: 5, total_tokens: 9_007_199_254_740_005 }

for (const limits of [
  { usage_limits: { credit_limit: 100 } },
  { usage_limits: { type: 'tokens', credit_limit: 10_000 } },
  { rate_limits: [{ type: 'tokens', unit: 'rpd', value: 10_000 }] },
])
  test.serial(`a figure that no model answers fills ${JSON.stringify(limits)}, and keeps no other from being counted`, async (t) => {
    const key = await makeKey(limits)
    emulator.script({ behaviour: { body: body(absurd) }, times: 1 })
    t.is((await ask(key)).status, 200)
    await eventually(async () => [412, 429].includes((await ask(key)).status), withinMs)
    const other = await makeKey({ usage_limits: { type: 'tokens', credit_limit: 10_000 } })
    t.is((await ask(other)).status, 200)
    await eventually(async () => (await usageOf(other))['spent'] === 15, withinMs)
  })

for (const [title, limits, fields, status] of [
  ['a budget that is as good as none', { usage_limits: { credit_limit: Number.MAX_SAFE_INTEGER, alert_threshold: 9e15 } }, {}, 200],
  ['a request for more tokens than there are', { usage_limits: { type: 'tokens', credit_limit: 1000 } }, { max_tokens: 1e300 }, 412],
  ['a request for more tokens than there are numbers', { usage_limits: { credit_limit: 1 } }, { best_of: 1e308, max_tokens: 1e308 }, 412],
] as const)
  test.serial(`${title} is counted, and no fault of ours`, async (t) => {
    const answer = await ask(await makeKey(limits), { fields })
    t.is(answer.status, status, answer.text)
  })
