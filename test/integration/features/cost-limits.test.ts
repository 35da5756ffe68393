// Budgets in US dollars at run time: two processes on one PostgreSQL, real prices, real requests to an emulated provider.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let beside: string
let emulator: Emulator

/** gpt-4o: 10 tokens in and 10,000 out are 25 + 100,000 micro-dollars. */
const usage = { prompt_tokens: 10, completion_tokens: 10_000, total_tokens: 10_010 }
const nanoEach = 100_025_000
let calls = 0
let fails = false

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  beside = await control.openBeside()
  const answer = {
    body: JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }], usage }),
  }
  emulator.script({
    behaviour() {
      calls += 1
      return fails ? { status: 500, body: '{"error":{"message":"no"}}' } : answer
    },
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

async function makeKey(usageLimits: object): Promise<MadeKey> {
  const { adminKey, workspaceId } = acme
  const body = { name: 'limited', workspace_id: workspaceId, scopes: ['completions.write'], usage_limits: usageLimits }
  const made = await control.call(adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return { id: String(made.body['id']), secret: String(made.body['key']) }
}

const ask = ({ secret }: MadeKey, fields: object = { max_tokens: 10_000 }, origin = control.origin) =>
  send(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': secret,
      'content-type': 'application/json',
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], ...fields }),
  })

async function grantedTo({ id }: MadeKey): Promise<number> {
  const { rows } = await control.sql.query<{ amount: number }>(
    `SELECT coalesce(sum(v.value::text::bigint), 0)::float8 AS amount FROM limit_counters c, jsonb_each(c.granted) v WHERE c.id LIKE $1`,
    [`api-key:${id}:usage:cost%`],
  )
  return rows[0]?.amount ?? 0
}

/** The spend of a process, from its metrics, in dollars. */
async function spentOf(origin: string): Promise<number> {
  const { text } = await send(`${origin}/metrics`, {})
  return Number(/^gateway_cost_usd_total\{provider="openai"\} (\S+)$/m.exec(text)?.[1] ?? 0)
}

test.serial('a budget in dollars lets through what fits, over two processes at once, and counts it to the nano-dollar', async (t) => {
  const key = await makeKey({ credit_limit: 1, on_unpriced: 'allow' })
  let passed = 0
  // A process may hold for a moment the slice that the other needs: on a retry, exactly nine fit.
  await eventually(async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, (_, at) => ask(key, undefined, at % 2 === 0 ? control.origin : beside)))
    t.true(answers.every(({ status }) => status === 200 || status === 412))
    passed += answers.filter(({ status }) => status === 200).length
    return passed >= 9
  }, withinMs)
  t.is(passed, 9)
  await eventually(async () => (await grantedTo(key)) === 9 * nanoEach, withinMs)
  t.true(
    Math.abs((await spentOf(control.origin)) + (await spentOf(beside)) - (9 * nanoEach) / 1e9) < 1e-9,
    'the metrics of both tell the same',
  )
  const before = calls
  const refused = await ask(key)
  t.is(refused.status, 412)
  t.is(calls, before, 'the provider was not asked')
  const { error } = JSON.parse(refused.text) as { error: { code: string; message: string; limits: object[] } }
  t.is(error.code, '04')
  t.regex(
    error.message,
    /^The \$0\.099775 that are left of \$1 of the API key do not cover this request, which may use \$0\.1000\d+; lower its max_tokens\./,
  )
  t.like(error.limits[0], { type: 'cost', value: 1, used: 0.900225 })
  t.is((await ask(key, { max_tokens: 100 })).status, 200, 'a smaller request fits')
  await eventually(
    async () => (await ask(key, { model: 'nobody-prices-this' })).status === 412,
    withinMs,
    'one without a price to be refused',
  )
})

test.serial('under a budget in dollars a model without a price is refused, unless the budget lets it through', async (t) => {
  const refused = await ask(await makeKey({ credit_limit: 5 }), { model: 'nobody-prices-this' })
  t.is(refused.status, 412)
  t.like(JSON.parse(refused.text), { error: { code: '04', reason: 'unpriced_model' } })
  t.regex(refused.text, /has no price, and \$5 of the API key lets no request through.*on_unpriced/)
  const open = await makeKey({ credit_limit: 5, on_unpriced: 'allow' })
  t.is((await ask(open, { model: 'nobody-prices-this' })).status, 200)
  const shown = await control.call(acme.adminKey, 'GET', `/api-keys/${open.id}`)
  t.like(shown.body, { usage_limits: { credit_limit: 5, on_unpriced: 'allow' } })
})

test.serial('a strict budget reserves all that the model can say, a typical one what is usual', async (t) => {
  const many = { n: 8 }
  t.is((await ask(await makeKey({ credit_limit: 1 }), many)).status, 200)
  const strict = await ask(await makeKey({ credit_limit: 1, output_policy: 'strict' }), many)
  t.is(strict.status, 412)
  t.regex(strict.text, /may use \$1\.3/)
})

test.serial('a strict budget refuses a request that nothing bounds, and a typical one does not', async (t) => {
  for (const fields of [{ preset: 'mine' }, { tools: [{ type: 'unheard_of' }] }]) {
    const refused = await ask(await makeKey({ credit_limit: 5, output_policy: 'strict' }), fields)
    t.is(refused.status, 412, refused.text)
    t.like(JSON.parse(refused.text), { error: { code: '04', reason: 'unbounded_request' } })
    t.regex(refused.text, /Nothing bounds the cost of this request/)
    t.is((await ask(await makeKey({ credit_limit: 5, output_policy: 'strict', on_unpriced: 'allow' }), fields)).status, 200)
    t.is((await ask(await makeKey({ credit_limit: 5 }), fields)).status, 200)
  }
})

/** Rates in nano-dollars for a token of the prompt and of the answer, and for units beside them. */
const soldBeside: readonly (readonly [
  what: string,
  asked: { readonly provider: string; readonly model: string },
  /** `window`: of a prompt into which the provider puts what it finds. */
  rates: { readonly input: number; readonly output: number; readonly beside: number; readonly window?: number },
  fields: object,
])[] = [
  ['nothing beside its tokens', { provider: 'openai', model: 'gpt-4o' }, { input: 2500, output: 10_000, beside: 0 }, {}],
  [
    'the search of a model that always searches, once',
    { provider: 'openai', model: 'gpt-4o-search-preview' },
    { input: 2500, output: 10_000, beside: 25_000_000 },
    {},
  ],
  [
    'the same where the request says how',
    { provider: 'openai', model: 'gpt-4o-search-preview' },
    { input: 2500, output: 10_000, beside: 25_000_000 },
    { web_search_options: { search_context_size: 'high' } },
  ],
  [
    'five searches of files at $0.0025',
    { provider: 'openai', model: 'gpt-4o' },
    { input: 2500, output: 10_000, beside: 12_500_000, window: 128_000 },
    { tools: [{ type: 'file_search', vector_store_ids: ['vs'] }] },
  ],
  [
    'two searches at $0.01, which is all that it may, and five of files',
    { provider: 'openai', model: 'gpt-4o' },
    { input: 2500, output: 10_000, beside: 32_500_000, window: 128_000 },
    { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }, { type: 'file_search' }] },
  ],
  [
    'no search for a function of the caller that is named so',
    { provider: 'openai', model: 'gpt-4o' },
    { input: 2500, output: 10_000, beside: 0 },
    { tools: [{ type: 'function', function: { name: 'web_search', parameters: {} } }] },
  ],
  [
    'the sources of Grok at $0.005',
    { provider: 'x-ai', model: 'grok-3' },
    { input: 3000, output: 15_000, beside: 35_000_000, window: 131_072 },
    { search_parameters: { mode: 'auto', max_search_results: 7 } },
  ],
  [
    'the request of Perplexity by what it reads',
    { provider: 'perplexity-ai', model: 'sonar-pro' },
    { input: 3000, output: 15_000, beside: 6_000_000 },
    { web_search_options: { search_context_size: 'low' } },
  ],
  [
    'its dearest where the request does not say',
    { provider: 'perplexity-ai', model: 'sonar-pro' },
    { input: 3000, output: 15_000, beside: 14_000_000 },
    {},
  ],
]
for (const [what, { provider, model }, { input, output, beside: fees, window }, fields] of soldBeside)
  test.serial(`a request is reserved with what its provider sells beside tokens: ${what} (${provider})`, async (t) => {
    const { secret } = await makeKey({ credit_limit: 1, output_policy: 'strict' })
    const body = JSON.stringify({ model, messages: [], n: 100, max_tokens: 4000, ...fields })
    const { status, text } = await send(`${control.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-service-api-key': secret,
        'content-type': 'application/json',
        'x-service-provider': provider,
        'x-service-custom-host': emulator.url,
        authorization: 'Bearer sk',
      },
      body,
    })
    t.is(status, 412, text)
    const nano = (window ?? body.length) * input + 100 * 4000 * output + fees
    t.true(text.includes(`may use $${(nano / 1e9).toFixed(9).replace(/\.?0+$/, '')};`), `${nano}: ${text}`)
  })

for (const [what, fields, amount] of [
  ['of the usual kind', { n: 30 }, '1.2'],
  ['that may be the dearest', { n: 10, size: 'auto', quality: 'auto' }, '1.2'],
  ['of a size, and of any quality', { n: 10, size: '1792x1024', quality: 'auto' }, '1.2'],
] as const)
  test.serial(`images are reserved at the price of those ${what}`, async (t) => {
    const { secret } = await makeKey({ credit_limit: 1 })
    const { status, text } = await send(`${control.origin}/v1/images/generations`, {
      method: 'POST',
      headers: {
        'x-service-api-key': secret,
        'content-type': 'application/json',
        'x-service-provider': 'openai',
        'x-service-custom-host': emulator.url,
        authorization: 'Bearer sk',
      },
      body: JSON.stringify({ model: 'dall-e-3', prompt: 'p', ...fields }),
    })
    t.is(status, 412, text)
    t.true(text.includes(`may use $${amount};`), text)
  })

test.serial('a budget that injects sends a request that names no bound with the bound that was reserved', async (t) => {
  const key = await makeKey({ credit_limit: 1, output_policy: 'inject' })
  t.is((await ask(key, {})).status, 200)
  t.is((await ask(key, { max_tokens: 7 })).status, 200)
  const [free, bound] = emulator.requests.slice(-2).map(({ json }) => json)
  t.deepEqual(free, { model: 'gpt-4o', messages: [], max_completion_tokens: 1024 })
  t.deepEqual(bound, { model: 'gpt-4o', messages: [], max_tokens: 7 })
  // Its answers have 10,000 tokens: the next request is expected to have as many.
  t.is((await ask(key, {})).status, 200)
  t.true(Number(emulator.requests.at(-1)?.json['max_completion_tokens']) >= 10_000)
})

test.serial('what a failure or an unknown path uses is nothing', async (t) => {
  const key = await makeKey({ credit_limit: 1 })
  fails = true
  t.is((await ask(key)).status, 500)
  fails = false
  await eventually(async () => (await grantedTo(key)) === 0, withinMs)
  t.pass()
})

test.serial('an exhausted budget in dollars refuses what costs, and lets pass what costs nothing', async (t) => {
  const key = await makeKey({ credit_limit: 1 })
  t.is((await ask(key)).status, 200)
  await eventually(async () => (await grantedTo(key)) === nanoEach, withinMs)
  const spent = `UPDATE limit_counters SET granted = '{"0": 1000000000}' WHERE id LIKE $1`
  await control.sql.query(spent, [`api-key:${key.id}:usage:cost%`])
  await eventually(async () => (await ask(key)).status === 412, withinMs)
  const files = await send(`${control.origin}/v1/files`, {
    headers: {
      'x-service-api-key': key.secret,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk',
    },
  })
  t.is(files.status, 200, files.text)
  t.is((await ask(key)).status, 412)
})

test.serial('amounts that no budget can be are refused by field', async (t) => {
  for (const [limits, field] of [
    [{ credit_limit: 0 }, 'credit_limit'],
    [{ credit_limit: 1, on_unpriced: 'maybe' }, 'on_unpriced'],
    [{ credit_limit: 1, output_policy: 'none' }, 'output_policy'],
  ] as const) {
    const { adminKey, workspaceId } = acme
    const body = { name: 'x', workspace_id: workspaceId, scopes: ['completions.write'], usage_limits: limits }
    const made = await control.call(adminKey, 'POST', '/api-keys/workspace/service', body)
    t.is(made.status, 400)
    t.true(made.text.includes(field), made.text)
  }
})
