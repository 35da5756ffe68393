// Limits at run time: two processes on one PostgreSQL, real requests to an emulated provider.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let beside: string
let emulator: Emulator
const usage = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 }

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  beside = await control.openBeside()
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

const ask = ({ secret }: MadeKey, origin = control.origin, maxTokens = 12) =>
  send(`${origin}/v1/chat/completions`, {
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

const grantedOf = async ({ id }: MadeKey, counted: string): Promise<number> => {
  const { rows } = await control.sql.query<{ amount: number }>(
    `SELECT coalesce(sum(v.value::text::bigint), 0)::float8 AS amount FROM limit_counters c, jsonb_each(c.granted) v WHERE c.id LIKE $1`,
    [`api-key:${id}:${counted}%`],
  )
  return rows[0]?.amount ?? 0
}

test('a rate limit holds over two processes, and its refusal names it and when it opens', async (t) => {
  const key = await makeKey({ rate_limits: [{ type: 'requests', unit: 'rph', value: 20 }] })
  const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => ask(key, at % 2 === 0 ? control.origin : beside)))
  const passed = answers.filter(({ status }) => status === 200).length
  t.true(passed <= 20, `${passed}`)
  t.deepEqual(
    [...new Set(answers.map(({ status }) => status))].toSorted((one, other) => one - other),
    [200, 429],
  )
  // The unused part of one process's slice is there for the other.
  let more = 0
  await eventually(async () => {
    for (const origin of [control.origin, beside]) if ((await ask(key, origin)).status === 200) more += 1
    return passed + more >= 20
  }, withinMs)
  t.is(passed + more, 20)
  const refused = await ask(key)
  t.is(refused.status, 429)
  const { error, status } = JSON.parse(refused.text) as { error: { code: string; message: string; limits: object[] }; status: string }
  t.is(error.code, '05')
  t.is(status, 'failure')
  t.regex(error.message, /20 requests per hour of the API key\. Try again in \d+ s/)
  t.like(error.limits[0], { limit: `api-key:${key.id}:requests:rph`, value: 20, used: 20 })
  const wait = Number(refused.headers['retry-after'])
  t.true(wait > 3000 && wait <= 3660, `${wait}`)
  t.is(refused.headers['x-ratelimit-limit-requests'], '20')
  t.is(refused.headers['x-ratelimit-remaining-requests'], '0')
  t.regex(String(refused.headers['ratelimit']), /;r=0;t=\d+$/)
  t.is(await grantedOf(key, 'requests'), 20)
})

test('a window of a second slides: what it refused passes when it has opened', async (t) => {
  const key = await makeKey({ rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] })
  t.is((await ask(key)).status, 200)
  await eventually(async () => (await ask(key)).status === 200, withinMs)
  t.pass()
})

test('tokens are reserved by an estimate and settled with what the provider counted', async (t) => {
  const key = await makeKey({ rate_limits: [{ type: 'tokens', unit: 'rpd', value: 10_000 }] })
  t.is((await ask(key)).status, 200)
  await eventually(async () => (await grantedOf(key, 'tokens')) === 50, withinMs)
  t.is((await ask(key, beside)).status, 200)
  await eventually(async () => (await grantedOf(key, 'tokens')) === 100, withinMs)
  t.pass()
})

test('tokens that were read from a cache or written to it count, whatever the format of the caller', async (t) => {
  const counted = { input_tokens: 10, cache_read_input_tokens: 1000, cache_creation_input_tokens: 200, output_tokens: 20 }
  const content = [{ type: 'text', text: 'hi' }]
  emulator.script({
    path: '/messages',
    behaviour: {
      body: JSON.stringify({ id: 'msg', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn', usage: counted }),
    },
  })
  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    const key = await makeKey({ usage_limits: { type: 'tokens', credit_limit: 10_000 } })
    const { status, text } = await send(`${control.origin}${path}`, {
      method: 'POST',
      headers: {
        'x-service-api-key': key.secret,
        'content-type': 'application/json',
        'x-service-provider': 'anthropic',
        'x-service-custom-host': emulator.url,
        authorization: 'Bearer sk',
      },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 12 }),
    })
    t.is(status, 200, text)
    const shown = async () => (await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)).body['usage'] as { spent: number }
    await eventually(async () => (await shown()).spent === 1230, withinMs)
    const logged = async () =>
      (await control.sql.query('SELECT input_tokens::int, output_tokens::int, total_tokens::int FROM logs WHERE api_key_id = $1', [key.id]))
        .rows
    await eventually(async () => (await logged()).length === 1, withinMs)
    t.deepEqual(await logged(), [{ input_tokens: 1210, output_tokens: 20, total_tokens: 1230 }], path)
  }
  t.pass()
})

test('a request that never goes out uses nothing', async (t) => {
  const key = await makeKey({
    usage_limits: { type: 'tokens', credit_limit: 1000 },
    rate_limits: [{ type: 'requests', unit: 'rpd', value: 5 }],
  })
  const refused = await ask(key, control.origin, 5000)
  t.is(refused.status, 412, refused.text)
  t.regex(refused.text, /lower its max_tokens/)
  await eventually(async () => (await grantedOf(key, '')) === 0, withinMs)
  t.pass()
})

test('a budget of tokens is exhausted in every process, opens when it is raised, and counts from 0 after a reset', async (t) => {
  const key = await makeKey({ usage_limits: { type: 'tokens', credit_limit: 100 } })
  for (const origin of [control.origin, beside]) {
    await eventually(async () => (await ask(key, origin)).status === 200, withinMs)
    await eventually(async () => (await grantedOf(key, 'usage')) % 50 === 0, withinMs)
  }
  t.is(await grantedOf(key, 'usage'), 100)
  for (const origin of [control.origin, beside]) {
    const refused = await ask(key, origin)
    t.is(refused.status, 412)
    t.is(refused.headers['x-should-retry'], 'false')
    t.like(JSON.parse(refused.text), {
      status: 'failure',
      error: { code: '04', message: 'The limit is exhausted: 100 tokens of the API key.' },
    })
  }
  const raised = await control.call(acme.adminKey, 'PUT', `/api-keys/${key.id}`, { usage_limits: { type: 'tokens', credit_limit: 200 } })
  t.is(raised.status, 200, raised.text)
  for (const origin of [control.origin, beside]) await eventually(async () => (await ask(key, origin)).status === 200, withinMs)
  await eventually(async () => (await ask(key)).status === 412, withinMs)
  const reset = await control.call(acme.adminKey, 'PUT', `/api-keys/${key.id}`, { reset_usage: true })
  t.is(reset.status, 200, reset.text)
  await eventually(async () => (await ask(key, beside)).status === 200, withinMs)
})

test('a refusal by a budget tells when its next period begins, as its key does', async (t) => {
  const key = await makeKey({ usage_limits: { type: 'requests', credit_limit: 1, periodic_reset: 'weekly' } })
  await eventually(async () => (await ask(key)).status === 200, withinMs)
  const refused = await ask(key)
  t.is(refused.status, 412)
  const { body } = await control.call(acme.adminKey, 'GET', `/api-keys/${key.id}`)
  const { resets_at: border } = body['usage'] as { readonly resets_at: string }
  t.regex(border, /T00:00:00\.000Z$/)
  const { error } = JSON.parse(refused.text) as { readonly error: { readonly message: string; readonly limits: readonly object[] } }
  t.like(error.limits[0], { kind: 'usage', next_usage_reset_at: border })
  t.true(error.message.endsWith(`It starts again at ${border}.`), error.message)
})

const slot = async (moment: string, period: string | null, days: number | null, anchor: string | null) => {
  const { rows } = await control.sql.query<{ slot: string; ends: Date | null }>('SELECT slot, ends FROM limit_period($1, $2, $3, $4)', [
    moment,
    period,
    days,
    anchor,
  ])
  return { slot: Number(rows[0]?.slot), ends: rows[0]?.ends?.toISOString() ?? null }
}

test('periods of budgets are those of the calendar in UTC, leap years and given borders included', async (t) => {
  t.is((await slot('2026-11-22T23:59:59.999Z', 'weekly', null, null)).ends, '2026-11-23T00:00:00.000Z')
  t.is((await slot('2026-11-23T00:00:00Z', 'weekly', null, null)).ends, '2026-11-30T00:00:00.000Z')
  t.is((await slot('2028-02-29T23:59:59Z', 'monthly', null, null)).ends, '2028-03-01T00:00:00.000Z')
  t.is((await slot('2028-02-29T13:00:00Z', null, 2, '2028-02-27T12:00:00Z')).ends, '2028-03-02T12:00:00.000Z')
  t.is((await slot('2026-03-01T00:00:00Z', 'monthly', null, '2026-01-31T06:00:00Z')).ends, '2026-03-31T06:00:00.000Z')
  t.is((await slot('2026-01-31T05:00:00Z', 'monthly', null, '2026-01-31T06:00:00Z')).ends, '2026-01-31T06:00:00.000Z')
  t.deepEqual(await slot('2026-01-31T05:00:00Z', null, null, null), { slot: 0, ends: null })
})
