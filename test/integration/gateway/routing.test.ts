// oxlint-disable unicorn/no-thenable -- the name of a field in every config there is
import test from 'ava'
import type { GatewayConfig } from '../../../src/gateway/config/config.schema.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'

const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]
const emulators = new Map<Name, Emulator>()
let bed: GatewayBed

test.before(async () => {
  for (const name of names) emulators.set(name, await startEmulator())
  const providers = Object.fromEntries(
    [...emulators].map(([name, { url }]) => [
      name,
      { provider: 'openai', customHost: url, customHeaders: { 'x-of': `canary-${name}-header` } },
    ]),
  )
  const gone = await startEmulator()
  await gone.stop()
  bed = await startGateway({
    providers: { ...providers, gone: { provider: 'openai', customHost: gone.url } },
    settings: { requestTimeoutMs: 20_000 },
  })
})
test.after.always(async () => {
  await bed?.stop()
  for (const emulator of emulators.values()) await emulator.stop()
})
test.beforeEach(() => {
  for (const emulator of emulators.values()) emulator.reset()
})

const at = (name: Name): Emulator => {
  const found = emulators.get(name)
  if (found === undefined) throw new Error(name)
  return found
}
const count = () => names.map((name) => at(name).requests.length)
const behaves = (name: Name, behaviour: Behaviour, times?: number) =>
  at(name).script({ behaviour, ...(times === undefined ? {} : { times }) })

interface Asked {
  readonly body?: object
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (config: GatewayConfig, { body = {}, path = '/v1/chat/completions', headers = {} }: Asked = {}) =>
  send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'application/json',
      'x-service-config': JSON.stringify(config),
      ...headers,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }),
  })

const fallback = (targets: GatewayConfig['targets'], more: object = {}): GatewayConfig => ({
  strategy: { mode: 'fallback', ...more },
  targets,
})
const ab = [{ provider: '@a' }, { provider: '@b' }]
const own = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => [
  headers['x-service-retry-attempt-count'],
  headers['x-service-last-used-option-index'],
]
const sse = (...frames: readonly (object | string)[]): Behaviour => ({
  headers: { 'content-type': 'text/event-stream' },
  body: frames.map((frame) => (typeof frame === 'string' ? frame : `data: ${JSON.stringify(frame)}\n\n`)).join(''),
})

test.serial('fallback: a status that is no success leads to the next target, and the answer of the last one stands', async (t) => {
  behaves('a', { status: 500 })
  const answer = await ask(fallback(ab))
  t.is(answer.status, 200, answer.text)
  t.deepEqual(own(answer), ['0', 'config.targets[1]'])
  t.deepEqual(count(), [1, 1, 0])
  behaves('b', { status: 418, body: '{"odd":true}' })
  const last = await ask(fallback(ab))
  t.deepEqual([last.status, last.text], [418, '{"odd":true}'])
})

test.serial('fallback: only the statuses that the config names lead on', async (t) => {
  behaves('a', { status: 503 })
  t.is((await ask(fallback(ab, { on_status_codes: [429] }))).status, 503)
  t.is((await ask(fallback(ab, { on_status_codes: [503] }))).status, 200)
  behaves('a', { status: 429 })
  t.is((await ask(fallback(ab, { on_errors: ['rate_limit'] }))).status, 200)
  t.is((await ask(fallback(ab, { on_errors: ['context_window'] }))).status, 429)
})

test.serial('fallback: a provider that cannot be reached or is too slow leads on', async (t) => {
  t.is((await ask(fallback([{ provider: '@gone' }, { provider: '@b' }]))).status, 200)
  behaves('a', { hang: 'before-headers' })
  t.is((await ask(fallback([{ provider: '@a', request_timeout: 50 }, { provider: '@b' }]))).status, 200)
  t.deepEqual(count(), [1, 2, 0])
})

test.serial('fallback: a fault of the config or of the request is told, not passed over', async (t) => {
  t.is((await ask(fallback([{ provider: '@nobody' }, { provider: '@b' }]))).status, 400)
  t.deepEqual(count(), [0, 0, 0])
})

test.serial('retry: the same target again, until it works; the header counts', async (t) => {
  behaves('a', { status: 503, headers: { 'retry-after-ms': '1' } }, 2)
  const answer = await ask({ provider: '@a', retry: { attempts: 3, use_retry_after_headers: true } })
  t.deepEqual([answer.status, ...own(answer)], [200, '2', 'config'])
  t.is(bed.logged.at(-1)?.record.retryCount, 2)
})

for (const [name, value] of [
  ['retry-after-ms', '30'],
  ['x-ms-retry-after-ms', '30'],
  ['retry-after', '0.03'],
  ['retry-after', () => new Date(Date.now() + 1000).toUTCString()],
] as const)
  test.serial(`retry: waits as ${name}: ${typeof value === 'string' ? value : 'a date'} asks`, async (t) => {
    behaves('a', { status: 429, headers: { [name]: typeof value === 'string' ? value : value() } }, 1)
    const answer = await ask({ provider: '@a', retry: { attempts: 1, use_retry_after_headers: true } })
    t.deepEqual([answer.status, ...own(answer)], [200, '1', 'config'])
    const [first, second] = at('a').requests
    if (typeof value === 'string') t.true((second?.at ?? 0) - (first?.at ?? 0) >= 28)
  })

test.serial('retry: a provider that asks for more time than there is, is not waited for', async (t) => {
  behaves('a', { status: 429, headers: { 'retry-after': '3600' } })
  const answer = await ask({ provider: '@a', retry: { attempts: 5, use_retry_after_headers: true } })
  t.deepEqual([answer.status, count()[0]], [429, 1])
})

test.serial('retry: when all retries are used the header says -1, and the next target counts from 0', async (t) => {
  behaves('a', { status: 503, headers: { 'retry-after-ms': '1' } })
  const retry = { attempts: 2, use_retry_after_headers: true }
  t.deepEqual(own(await ask({ provider: '@a', retry })), ['-1', 'config'])
  t.deepEqual(own(await ask({ retry, ...fallback(ab) })), ['0', 'config.targets[1]'])
  t.deepEqual(count(), [6, 1, 0])
})

test.serial('a POST that may have done something is not sent again', async (t) => {
  behaves('a', { status: 500 })
  t.is(
    (
      await ask(fallback(ab), {
        path: '/v1/batches',
        body: { input_file_id: 'f', endpoint: '/v1/chat/completions', completion_window: '24h' },
      })
    ).status,
    500,
  )
  behaves('a', { status: 429 })
  t.is((await ask(fallback(ab), { path: '/v1/own/jobs' })).status, 404)
  t.deepEqual(count(), [2, 1, 0])
})

test.serial('a body that can be sent once only is not repeated', async (t) => {
  behaves('a', { status: 500 })
  const answer = await send(`${bed.origin}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'multipart/form-data; boundary=x',
      'x-service-config': JSON.stringify(fallback(ab)),
    },
    body: '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--x--\r\n',
  })
  t.deepEqual([answer.status, count()], [500, [1, 0, 0]])
})

test.serial('a 200 stream that begins with an error leads on: overloaded_error of Anthropic, and its kin', async (t) => {
  const frames: readonly Behaviour[] = [
    sse('event: error\n', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    sse(': ping\n\n', { error: { message: 'The server is overloaded', type: 'server_error', code: null } }),
    sse(
      { type: 'response.created', response: {} },
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } } },
    ),
    sse({ error: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' } }),
  ]
  for (const behaviour of frames) {
    at('a').reset()
    behaves('a', behaviour)
    const answer = await ask(fallback(ab), { body: { stream: true } })
    t.regex(answer.text, /\[DONE\]/)
    t.is(own(answer)[1], 'config.targets[1]', behaviour.body)
  }
  const only = await ask(fallback([{ provider: '@a' }]), { body: { stream: true } })
  t.regex(only.text, /UNAVAILABLE/)
})

test.serial('an error inside a stream after its first content is the caller’s: nothing is tried again', async (t) => {
  behaves('a', sse({ choices: [{ index: 0, delta: { content: 'Hello' } }] }, { error: { message: 'x', type: 'server_error' } }))
  const answer = await ask(fallback(ab), { body: { stream: true } })
  t.regex(answer.text, /Hello[\s\S]*server_error/)
  t.deepEqual(count(), [1, 0, 0])
})

test.serial('a stream that dies between its head and its first event leads on', async (t) => {
  behaves('a', { ...sse(': nothing\n\n', ': more\n\n'), cutAt: 4 })
  t.is(own(await ask(fallback(ab), { body: { stream: true } }))[1], 'config.targets[1]')
})

test.serial('first_token_timeout: a stream that says nothing in time leads on; alone it ends with 504', async (t) => {
  behaves('a', { ...sse({ choices: [{ index: 0, delta: { role: 'assistant' } }] }), hang: 'after-headers' })
  const slow = { provider: '@a', first_token_timeout: 60 }
  t.is(own(await ask(fallback([slow, { provider: '@b' }]), { body: { stream: true } }))[1], 'config.targets[1]')
  t.is((await ask(slow, { body: { stream: true } })).status, 504)
  t.is((await ask(fallback([slow, { provider: '@b' }], { on_errors: ['network'] }), { body: { stream: true } })).status, 504)
})

test.serial('errors of the context window and of content policies are told apart', async (t) => {
  const cases = [
    ['context_window', { error: { code: 'context_length_exceeded', message: 'too long' } }],
    [
      'context_window',
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
    ],
    ['content_policy', { error: { code: 'content_filter', message: 'The response was filtered' } }],
  ] as const
  for (const [kind, body] of cases) {
    behaves('a', { status: 400, body: JSON.stringify(body) })
    t.is((await ask(fallback(ab, { on_errors: [kind] }))).status, 200, kind)
    t.is((await ask(fallback(ab, { on_errors: ['network'] }))).status, 400)
  }
})

const guardrail = (deny: boolean) => [{ 'default.contains': { words: ['secret-of-a'], operator: 'none' }, deny }]

test.serial('guardrails: 246 and 446 lead on when they are named, and each target has its own', async (t) => {
  behaves('a', { body: JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'secret-of-a' } }] }) })
  for (const [deny, status] of [
    [false, 246],
    [true, 446],
  ] as const) {
    const targets = [{ provider: '@a', output_guardrails: guardrail(deny) }, { provider: '@b' }]
    t.is((await ask(fallback(targets, { on_status_codes: [429] }))).status, status)
    const answer = await ask(fallback(targets, { on_status_codes: [status] }))
    t.is(answer.status, 200, answer.text)
    t.false(answer.text.includes('secret-of-a'))
  }
  const input = [
    { provider: '@a', input_guardrails: [{ 'default.contains': { words: ['hi'], operator: 'none' }, deny: true }] },
    { provider: '@b' },
  ]
  at('a').reset()
  t.is((await ask(fallback(input, { on_errors: ['guardrail'] }))).status, 200)
  t.is(at('a').requests.length, 0)
})

test.serial('nothing of one attempt is in the next: parameters, credential, headers, changed texts', async (t) => {
  const canaries = {
    provider: '@a',
    override_params: { user: 'canary-of-a', temperature: 0.1 },
    drop_params: ['top_p'],
    input_guardrails: [{ checks: [{ id: 'default.addPrefix', parameters: { prefix: 'canary-prefix ' } }] }],
  }
  behaves('a', { status: 500, headers: { 'x-canary': 'of-a', 'set-cookie': 'canary=1' } })
  const answer = await ask(fallback([canaries, { provider: '@b', default_params: { seed: 7 } }]), { body: { top_p: 1 } })
  const [first] = at('a').requests
  const [second] = at('b').requests
  t.regex(String(first?.body), /canary-of-a[\s\S]*|canary-prefix/)
  t.is(first?.headers.authorization, 'Bearer sk-stored-a')
  t.deepEqual(second?.json, { model: 'm', messages: [{ role: 'user', content: 'hi' }], top_p: 1, seed: 7 })
  t.is(second?.headers.authorization, 'Bearer sk-stored-b')
  t.notRegex(JSON.stringify([second?.rawHeaders, answer.headers]), /canary-a|of-a|sk-stored-a|canary=1/)
})

const balanced = (more: object, weights: readonly number[]): GatewayConfig => ({
  strategy: { mode: 'loadbalance', ...more },
  targets: names.map((name, index) => ({ provider: `@${name}`, weight: weights[index] ?? 1 })),
})

test.serial('loadbalance: by weight, 0 is never chosen, and sticky stays', async (t) => {
  for (let i = 0; i < 30; i += 1) await ask(balanced({}, [1, 0, 1]))
  t.is(count()[1], 0)
  t.true((count()[0] ?? 0) > 3 && (count()[2] ?? 0) > 3)
  const sticky = balanced({ sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 3600 } }, [1, 1, 1])
  const used = new Set<unknown>()
  for (let i = 0; i < 10; i += 1) used.add(own(await ask(sticky, { headers: { 'x-service-metadata': '{"user":"u1"}' } }))[1])
  t.is(used.size, 1)
})

const on = (query: object): GatewayConfig => ({
  strategy: { mode: 'conditional', conditions: [{ query: query as Record<string, unknown>, then: 'yes' }], default: 'no' },
  targets: [
    { name: 'yes', provider: '@a' },
    { name: 'no', provider: '@b' },
  ],
})

test.serial('conditional: the first true condition counts, on every place it can look at', async (t) => {
  const asked = { headers: { 'x-service-metadata': '{"plan":"pro"}', 'x-team': 'red' }, body: { temperature: 0.5 } }
  for (const [query, holds] of [
    [{ 'metadata.plan': 'pro' }, true],
    [{ 'metadata.plan': { $in: ['free'] } }, false],
    [{ 'params.temperature': { $gte: 0.5, $lt: 1 } }, true],
    [{ 'headers.X-Team': { $regex: '^re' } }, true],
    [{ 'url.pathname': '/v1/chat/completions' }, true],
    [{ model: { $ne: 'm' } }, false],
    [{ workspace: 'ws-test' }, true],
    [{ $and: [{ 'metadata.plan': 'pro' }, { $or: [{ model: 'x' }, { model: 'm' }] }] }, true],
    [{ 'metadata.absent': { $eq: null } }, true],
  ] as const)
    t.is(own(await ask(on(query), asked))[1], `config.targets[${holds ? 0 : 1}]`, JSON.stringify(query))
})

test.serial('nested: a fallback of a balanced group and a spare', async (t) => {
  behaves('a', { status: 500 })
  behaves('b', { status: 500 })
  const answer = await ask(fallback([{ strategy: { mode: 'loadbalance' }, targets: ab }, { provider: '@c' }]))
  t.deepEqual([answer.status, own(answer)[1]], [200, 'config.targets[1]'])
})

test.serial('breaker: a target that fails is left out, and when all are open the first that opened is tried', async (t) => {
  behaves('a', { status: 500 })
  const config: GatewayConfig = { cb_config: { failure_threshold: 2 }, ...fallback([{ provider: '@a' }, { provider: '@b' }]) }
  for (let i = 0; i < 4; i += 1) t.is((await ask(config)).status, 200)
  t.deepEqual(count(), [2, 4, 0])
  behaves('b', { status: 500 })
  for (let i = 0; i < 3; i += 1) await ask(config)
  t.deepEqual(count(), [3, 6, 0])
})

const repeated = (index: number) => ({ provider: '@a', override_params: { seed: index } })

test.serial('retry budget: a storm of 429 over five targets is not hammered', async (t) => {
  behaves('a', { status: 429, headers: { 'retry-after-ms': '1' } })
  const config: GatewayConfig = { retry: { attempts: 5, use_retry_after_headers: true }, ...fallback([0, 1, 2, 3, 4].map(repeated)) }
  await Promise.all(Array.from({ length: 10 }, () => ask(config)))
  const sent = count()[0] ?? 0
  t.true(sent >= 50 && sent <= 125, String(sent))
})

test.serial('a client that leaves during a wait ends it at once', async (t) => {
  behaves('a', { status: 429, headers: { 'retry-after': '15' } })
  const controller = new AbortController()
  const log = bed.nextLog()
  const arrived = at('a').next()
  const asked = fetch(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    signal: controller.signal,
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'application/json',
      'x-service-config': JSON.stringify({ provider: '@a', retry: { attempts: 1, use_retry_after_headers: true } }),
    },
    body: '{"model":"m","messages":[]}',
  })
  await arrived
  controller.abort()
  await t.throwsAsync(asked)
  t.is((await log).record.outcome, 'client_closed')
  t.is(count()[0], 1)
})

test.serial('the log has every attempt, without the credentials of any of them; of one attempt the record itself tells', async (t) => {
  behaves('a', { status: 401, body: '{"error":{"message":"Incorrect API key sk-stored-a"}}' })
  const log = bed.nextLog()
  await ask(fallback([{ provider: '@gone' }, ...ab]))
  const { record } = await log
  t.like(record.attempts?.[0], { option: 'config.targets[0]', providerSlug: 'gone', status: 502, failure: 'network' })
  t.like(record.attempts?.[1], {
    option: 'config.targets[1]',
    provider: 'openai',
    providerSlug: 'a',
    model: 'm',
    status: 401,
    failure: null,
  })
  t.like(record.attempts?.[1], { error: 'Incorrect API key [removed]', responseBytes: 53 })
  t.like(record.attempts?.[2], { option: 'config.targets[2]', status: 200, error: null, responseBytes: record.responseBytes })
  t.true(record.attempts?.every(({ startMs, durationMs }) => (startMs ?? -1) >= 0 && (durationMs ?? -1) >= 0))
  t.is(record.retryCount, 2)
  const other = bed.nextLog()
  await ask({ provider: '@b' })
  t.is((await other).record.attempts, null)
  const quiet = bed.nextLog()
  await ask(fallback(ab), { headers: { 'x-service-debug': 'false' } })
  t.is((await quiet).record.attempts?.[0]?.error, null)
})

const nested = (outer: number, each: number): GatewayConfig =>
  fallback(Array.from({ length: outer }, () => fallback(Array.from({ length: each }, () => ({ provider: '@gone' })))))

test.serial('one config has a hundred targets at most, and one request thirty attempts, however targets are nested', async (t) => {
  const refused = await ask(nested(10, 11))
  t.is(refused.status, 400)
  t.regex(refused.text, /config\.targets: There are more than 100 targets in all/)
  t.is((await ask(nested(10, 10))).headers['x-service-last-used-option-index'], 'config.targets[2].targets[9]')
})

test.serial('each attempt has a reservation of its own, and every one is settled once', async (t) => {
  const settled: string[] = []
  const alone = await startGateway({
    providers: Object.fromEntries(names.map((name) => [name, { provider: 'openai', customHost: at(name).url }])),
    ledger: {
      reserve: ({ target: { view } }) => ({
        maxOutput: null,
        standings: null,
        settle: (charge) => (settled.push(`${view?.slug} ${charge?.metered?.usage?.totalTokens ?? 'nothing'}`), null),
      }),
    },
  })
  t.teardown(() => alone.stop())
  behaves('a', { status: 500 })
  const log = alone.nextLog()
  await send(`${alone.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-config': JSON.stringify(fallback(ab)) },
    body: '{"model":"m","messages":[]}',
  })
  const { record } = await log
  t.deepEqual(settled, ['a nothing', `b ${record.usage?.totalTokens}`])
})

test.serial('a drain ends an exchange that waits for its next attempt', async (t) => {
  const alone = await startGateway({ providers: { a: { provider: 'openai', customHost: at('a').url } } })
  t.teardown(() => alone.stop())
  behaves('a', { status: 429, headers: { 'retry-after': '15' } })
  const log = alone.nextLog()
  const asked = send(`${alone.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'application/json',
      'x-service-config': JSON.stringify({ provider: '@a', retry: { attempts: 1, use_retry_after_headers: true } }),
    },
    body: '{"model":"m","messages":[]}',
  })
  await at('a').next()
  await eventually(async () => (await alone.gateway.drain(10)) === 1, 10_000)
  t.is((await asked).status, 503)
  t.is((await log).record.errorCode, 'draining')
})

// Failures of other gateways, by the threads in which their users tell of them.
const failures: readonly (readonly [thread: string, behaviour: Behaviour, config: GatewayConfig, then: string])[] = [
  [
    'no fallback on an overloaded Anthropic (#6957, #5512; 1047)',
    sse('event: error\n', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    fallback(ab, { on_status_codes: [529] }),
    'config.targets[1]',
  ],
  [
    'a 429 inside a stream: no fallback, and a busy loop (#26015)',
    sse({ error: { code: 429, message: 'Resource exhausted', status: 'RESOURCE_EXHAUSTED' } }),
    fallback(ab, { on_status_codes: [429] }),
    'config.targets[1]',
  ],
  [
    'a fallback that ignores its list of statuses (165)',
    { status: 400, headers: { 'content-type': 'text/event-stream' } },
    fallback(ab, { on_status_codes: [429, 500] }),
    'config.targets[0]',
  ],
  ['200 on a connection that was lost (267)', { raw: '' }, fallback(ab), 'config.targets[1]'],
  ['200 on a connection that was lost in a stream (267)', { ...sse(': hold on\n\n'), cutAt: 3 }, fallback(ab), 'config.targets[1]'],
  [
    'an answer that fails its guardrail is not retried (1205)',
    { body: '{"choices":[{"index":0,"message":{"role":"assistant","content":"bad"}}]}' },
    {
      ...fallback(ab, { on_status_codes: [446] }),
      output_guardrails: [{ 'default.contains': { words: ['bad'], operator: 'none' }, deny: true }],
    },
    'config.targets[1]',
  ],
]
for (const [thread, behaviour, config, option] of failures)
  test.serial(`known from others: ${thread}`, async (t) => {
    behaves('a', behaviour)
    const answer = await ask(config, { body: { stream: behaviour.headers !== undefined } })
    t.is(own(answer)[1], option, answer.text)
  })

test.serial('known from others: a body of more than 1 MB goes to every target whole (envoyproxy/ai-gateway#805)', async (t) => {
  behaves('a', { status: 500 })
  const content = 'x'.repeat(1_500_000)
  const answer = await ask(fallback(ab), { body: { stream: true, messages: [{ role: 'user', content }] } })
  t.is(answer.status, 200)
  t.true(at('b').requests[0]?.body.equals(at('a').requests[0]?.body ?? Buffer.alloc(0)))
})

test.serial('a request that names its target goes there once, and not by a default config of several targets', async (t) => {
  const key = 'gh-test-key-that-starts-0000000000'
  const alone = await startGateway({
    providers: Object.fromEntries(names.map((name) => [name, { provider: 'openai', customHost: at(name).url }])),
    configs: {
      'pc-two': { override_params: { seed: 1 }, ...fallback([{ provider: '@a', override_params: { top_p: 0 } }, { provider: '@b' }]) },
    },
    keys: { [key]: { defaults: { config: 'pc-two', configLocked: false, inputGuardrails: [], outputGuardrails: [] } } },
  })
  t.teardown(() => alone.stop())
  const chat = (headers: Readonly<Record<string, string>>, model: string) =>
    send(`${alone.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': key, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [] }),
    })
  behaves('c', { status: 500 })
  t.is((await chat({ 'x-service-provider': '@c' }, 'm')).status, 500)
  t.is((await chat({}, '@c/m')).status, 500)
  t.deepEqual(
    at('c').requests.map(({ json }) => json),
    [
      { model: 'm', messages: [], seed: 1 },
      { model: 'm', messages: [], seed: 1 },
    ],
  )
  t.is((await chat({}, 'm')).status, 200)
  t.deepEqual(count(), [1, 0, 2])
})

test.serial('least-latency: every target is measured, the fastest is taken, and one that fails is left', async (t) => {
  behaves('a', { delayMs: 60 })
  behaves('c', { status: 500 })
  const config: GatewayConfig = {
    strategy: { mode: 'least-latency' },
    targets: names.map((name) => ({ provider: `@${name}`, override_params: { model: 'fast' } })),
  }
  for (let i = 0; i < 8; i += 1) await ask(config)
  t.deepEqual(count(), [1, 6, 1])
  const cheapest: GatewayConfig = { ...config, strategy: { mode: 'least-cost' } }
  for (let i = 0; i < 8; i += 1) await ask(cheapest)
  t.deepEqual(count(), [1, 14, 1])
})
