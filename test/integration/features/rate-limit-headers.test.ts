// The headers of rate limits: in every answer, under the names of the caller's format, beside those of the provider.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator

const chat = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }],
  usage: { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 },
}
const message = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'hi' }],
  usage: { input_tokens: 30, output_tokens: 20 },
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
})
test.beforeEach(() => {
  emulator.script({ behaviour: { body: JSON.stringify(chat) } })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

async function makeKey(limits: object): Promise<string> {
  const body = { name: 'limited', workspace_id: acme.workspaceId, scopes: ['completions.write'], ...limits }
  const made = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', body)
  if (made.status !== 200) throw new Error(made.text)
  return String(made.body['key'])
}

interface Sent {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

const ask = (key: string, { path = '/v1/chat/completions', headers = {}, body = {} }: Sent = {}) =>
  send(`${control.origin}${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': key,
      'content-type': 'application/json',
      'x-service-provider': path === '/v1/messages' ? 'anthropic' : 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk',
      ...headers,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], max_tokens: 12, ...body }),
  })

type Headers = Awaited<ReturnType<typeof ask>>['headers']
const limitsIn = (headers: Headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => name.includes('ratelimit')))

test.serial('an answer tells the tightest limit of each type in OpenAI’s names, and all of them in those of the IETF', async (t) => {
  const key = await makeKey({
    rate_limits: [
      { type: 'requests', unit: 'rpm', value: 20 },
      { type: 'requests', unit: 'rpd', value: 10 },
      { type: 'tokens', unit: 'rph', value: 100_000 },
    ],
  })
  const first = await ask(key)
  t.is(first.status, 200, first.text)
  const { 'x-ratelimit-remaining-tokens': remaining, ratelimit, ...rest } = limitsIn(first.headers)
  const tokens = String(remaining)
  t.deepEqual(rest, {
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': '9',
    'x-ratelimit-reset-requests': '24h0m0s',
    'x-ratelimit-limit-tokens': '100000',
    'x-ratelimit-reset-tokens': '1h0m0s',
    'ratelimit-policy':
      '"api-key-requests-rpm";q=20;w=60, "api-key-requests-rpd";q=10;w=86400, "api-key-tokens-rph";q=100000;w=3600;qu="tokens"',
  })
  t.true(Number(tokens) < 100_000 && Number(tokens) > 99_000, tokens)
  t.is(ratelimit, `"api-key-requests-rpm";r=19;t=60, "api-key-requests-rpd";r=9;t=86400, "api-key-tokens-rph";r=${tokens};t=3600`)
  t.is((await ask(key)).headers['x-ratelimit-remaining-requests'], '8')
  const stream = await ask(key, { body: { stream: true } })
  t.is(stream.headers['x-ratelimit-remaining-requests'], '7', 'streams too')
})

test.serial('the limits of a provider keep their names; ours stand beside them under our own', async (t) => {
  const theirs = { 'x-ratelimit-limit-requests': '5000', 'x-ratelimit-remaining-requests': '4999', 'x-ratelimit-reset-requests': '12ms' }
  emulator.script({ behaviour: { body: JSON.stringify(chat), headers: theirs } })
  const key = await makeKey({ rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }] })
  const { headers } = await ask(key)
  t.deepEqual(limitsIn(headers), {
    ...theirs,
    'x-service-ratelimit-limit-requests': '3',
    'x-service-ratelimit-remaining-requests': '2',
    'x-service-ratelimit-reset-requests': '1m0s',
    'ratelimit-policy': '"api-key-requests-rpm";q=3;w=60',
    ratelimit: '"api-key-requests-rpm";r=2;t=60',
  })
})

test.serial('clients of Anthropic read their own names, with the moment, also in a refusal', async (t) => {
  emulator.script({ behaviour: { body: JSON.stringify(message) } })
  const key = await makeKey({ rate_limits: [{ type: 'requests', unit: 'rph', value: 1 }] })
  const passed = await ask(key, { path: '/v1/messages', headers: { 'anthropic-version': '2023-06-01' } })
  t.is(passed.status, 200, passed.text)
  const refused = await ask(key, { path: '/v1/messages', headers: { 'anthropic-version': '2023-06-01' } })
  t.is(refused.status, 429, refused.text)
  const { type, error } = JSON.parse(refused.text) as { type: string; error: { limits: object[] } }
  t.is(type, 'error')
  t.like(error, { type: 'rate_limit_error', code: '05' })
  t.like(error.limits, [{ kind: 'rate', type: 'requests', value: 1, used: 1 }])
  for (const { headers } of [passed, refused]) {
    const until = Date.parse(String(headers['anthropic-ratelimit-requests-reset'])) - Date.now()
    t.true(until > 3_500_000 && until < 3_670_000, String(until))
    t.is(headers['anthropic-ratelimit-requests-limit'], '1')
    t.is(headers['anthropic-ratelimit-requests-remaining'], '0')
    t.is(headers['x-ratelimit-limit-requests'], undefined)
  }
})

test.serial('a refusal by several limits tells each header once', async (t) => {
  const limits = [
    { type: 'requests', unit: 'rpm', value: 1 },
    { type: 'requests', unit: 'rph', value: 1 },
  ]
  const key = await makeKey({ rate_limits: limits })
  t.is((await ask(key)).status, 200)
  const { status, headers } = await ask(key)
  t.is(status, 429)
  t.is(headers['x-ratelimit-limit-requests'], '1')
  t.is(headers['x-ratelimit-remaining-requests'], '0')
  t.is(headers['ratelimit-policy'], '"api-key-requests-rpm";q=1;w=60, "api-key-requests-rph";q=1;w=3600')
})

test.serial('a refusal tells how all rate limits stand, and in the short names the one that refuses', async (t) => {
  const limits = [
    { type: 'requests', unit: 'rpd', value: 1000 },
    { type: 'requests', unit: 'rph', value: 2 },
    { type: 'tokens', unit: 'rph', value: 100_000 },
  ]
  const key = await makeKey({ rate_limits: limits })
  t.is((await ask(key)).status, 200)
  t.is((await ask(key)).status, 200)
  const { status, headers, text } = await ask(key)
  t.is(status, 429)
  t.is((JSON.parse(text) as { error: { limits: object[] } }).error.limits.length, 1, 'the body names what refused alone')
  t.is(headers['x-ratelimit-limit-requests'], '2')
  t.is(headers['x-ratelimit-remaining-requests'], '0')
  t.is(headers['x-ratelimit-limit-tokens'], '100000')
  const left = Number(headers['x-ratelimit-remaining-tokens'])
  t.true(left > 99_000 && left < 100_000, String(left))
  t.is(
    headers['ratelimit-policy'],
    '"api-key-requests-rph";q=2;w=3600, "api-key-requests-rpd";q=1000;w=86400, "api-key-tokens-rph";q=100000;w=3600;qu="tokens"',
  )
  const after = Number(headers['retry-after'])
  t.true(after > 3500 && after <= 3660, String(after))
  t.is(
    headers['ratelimit'],
    `"api-key-requests-rph";r=0;t=${after}, "api-key-requests-rpd";r=998;t=86400, "api-key-tokens-rph";r=${left};t=3600`,
  )
})

test.serial('values of metadata that no header may hold do no harm, whatever a policy groups by', async (t) => {
  const policy = {
    workspace_id: acme.workspaceId,
    conditions: [{ key: 'metadata.team', value: '*' }],
    group_by: [{ key: 'metadata.team' }],
    type: 'requests',
    unit: 'rpd',
    value: 1,
  }
  const made = await control.call(acme.adminKey, 'POST', '/policies/rate-limits', policy)
  t.is(made.status, 200, made.text)
  await control.refresh()
  const label = `"policy-${String(made.body['id'])}-requests-rpd"`
  for (const team of ['red "x"; q=1', '紅\u{1F600}', 'a\nb']) {
    const headers = {
      'x-service-metadata': JSON.stringify({ team }).replace(/[^ -~]/gu, (one) => `\\u${one.codePointAt(0)?.toString(16)}`),
    }
    const [passed, refused] = [await ask(acme.workspaceKey, { headers }), await ask(acme.workspaceKey, { headers })]
    t.is(passed.status, 200, passed.text)
    t.is(passed.headers['ratelimit'], `${label};r=0;t=86400`)
    t.is(refused.status, 429, refused.text)
    t.true(String(refused.headers['ratelimit']).startsWith(`${label};r=0;t=`))
  }
  t.is((await ask(acme.workspaceKey)).headers['ratelimit'], undefined, '`*` fits a value: without one the policy does not apply')
})

test.serial('without a rate limit nothing is told', async (t) => {
  t.deepEqual(limitsIn((await ask(await makeKey({ usage_limits: { type: 'tokens', credit_limit: 1000 } }))).headers), {})
})
