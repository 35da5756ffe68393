import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import type { GuardrailDefinition } from '../../../src/gateway/checks/guardrail.ts'
import type { HookResults } from '../../../src/gateway/checks/hook-results.ts'
import type { KeyView, RequestDefaults } from '../../../src/gateway/ports.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RawAnswer, send } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed
let hooked: Hook

/** A custom service that checks call: it answers by its script, after being let go. */
interface Hook {
  readonly url: string
  readonly calls: { readonly url: string; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string }[]
  answer: { status: number; body: string; hangs?: boolean }
  close(): void
}

async function startHook(): Promise<Hook> {
  const calls: Hook['calls'][number][] = []
  const server: Server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk: Buffer) => (body += chunk.toString()))
    req.on('end', () => {
      calls.push({ url: req.url ?? '', headers: req.headers, body })
      if (hook.answer.hangs !== true) res.writeHead(hook.answer.status, { 'content-type': 'application/json' }).end(hook.answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const hook: Hook = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check?a=b`,
    calls,
    answer: { status: 200, body: '{"verdict":true}' },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return hook
}

type Given = Pick<GuardrailDefinition, 'checks' | 'actions'>
const block: Given['actions'] = { onFail: 'block', message: 'Not here.' }
const warn: Given['actions'] = { onFail: 'warn' }
const forbids = (rule: string, actions: Given['actions'] = block): Given => ({
  checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
  actions,
})
const one = (id: string, parameters: Record<string, unknown>, actions: Given['actions'] = block): Given => ({
  checks: [{ id, parameters }],
  actions,
})

const starts = (input: readonly string[], output: readonly string[]): Pick<KeyView, 'defaults'> => ({
  defaults: { config: null, configLocked: false, inputGuardrails: input, outputGuardrails: output } satisfies RequestDefaults,
})
const defaultsKey = 'gh-test-key-with-default-guardrails-00'
const goneKey = 'gh-test-key-with-a-guardrail-that-is-gone'

test.before(async () => {
  ;[emulator, hooked] = await Promise.all([startEmulator(), startHook()])
  bed = await startGateway({
    providers: { p: { customHost: emulator.url }, claude: { provider: 'anthropic', customHost: emulator.url } },
    keys: { [defaultsKey]: starts(['no-secret', 'no-secret'], ['no-secret']), [goneKey]: starts(['gone'], []) },
    guardrails: { 'no-secret': forbids('secret'), 'warn-secret': forbids('secret', warn), 'no-emulator': forbids('emulator') },
  })
})
test.after.always(async () => {
  hooked?.close()
  await bed?.stop()
  await emulator?.stop()
})
test.beforeEach(() => {
  emulator.reset()
  hooked.calls.length = 0
  hooked.answer = { status: 200, body: '{"verdict":true}' }
})

interface Asked {
  readonly input?: readonly (string | Given)[]
  readonly output?: readonly (string | Given)[]
  readonly body?: object | string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly more?: Readonly<Record<string, unknown>>
}

/** A guardrail as a config holds it. */
const inline = (given: string | Given) => {
  if (typeof given === 'string') return given
  const { checks, actions } = given
  const follows =
    actions.onFail !== undefined ? { deny: actions.onFail === 'block', async: actions.onFail === 'log', message: actions.message } : actions
  return { checks, ...follows }
}

const say = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] })

const ask = ({
  input = [],
  output = [],
  body = say('hello'),
  path = '/v1/chat/completions',
  headers = {},
  more = {},
}: Asked): Promise<RawAnswer> =>
  send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'application/json',
      'x-service-config': JSON.stringify({
        provider: '@p',
        ...more,
        ...(input.length > 0 && { input_guardrails: input.map(inline) }),
        ...(output.length > 0 && { output_guardrails: output.map(inline) }),
      }),
      ...headers,
    },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })

const hooksOf = ({ text }: RawAnswer) => (JSON.parse(text) as { hook_results: HookResults }).hook_results
const errorIn = ({ text }: RawAnswer) => (JSON.parse(text) as { error: Record<string, unknown> }).error

test.serial('a request that a guardrail denies is 446, and never reaches the provider', async (t) => {
  const answer = await ask({ input: ['no-secret'], body: say('a secret plan') })
  t.is(answer.status, 446)
  t.is(answer.headers['x-should-retry'], 'false')
  t.like(errorIn(answer), { message: 'Not here.', type: 'hooks_failed', param: null })
  const { before_request_hooks: before, after_request_hooks: after } = hooksOf(answer)
  t.like(before[0], { verdict: false, id: 'no-secret', deny: true, async: false, transformed: false, feedback: null, type: 'guardrail' })
  t.like(before[0]?.checks[0], { verdict: false, id: 'default.regexMatch', log: null, fail_on_error: true, transformed: false })
  t.is(typeof before[0]?.checks[0]?.execution_time, 'number')
  t.deepEqual(after, [])
  t.is(emulator.requests.length, 0)
  t.like(bed.logged.at(-1)?.record, { status: 446, outcome: 'error', errorCode: 'hooks_failed' })
})

test.serial('all passes: 200, the answer with what was found, the request byte for byte', async (t) => {
  const body = '{"model":"m",  "messages":[{"role":"user","content":"hello"}], "seed":1234567890123456789}'
  const answer = await ask({ input: ['no-secret'], output: [one('default.contains', { words: ['emulator'] })], body })
  t.is(answer.status, 200)
  t.is(emulator.requests[0]?.body.toString(), body)
  const hooks = hooksOf(answer)
  t.true(hooks.before_request_hooks[0]?.verdict)
  t.true(hooks.after_request_hooks[0]?.verdict)
  const { hook_results: _, ...rest } = JSON.parse(answer.text) as Record<string, unknown>
  t.like(rest, { object: 'chat.completion', model: 'm' })
  t.is(answer.headers['content-length'], String(answer.body.length))
  t.like(bed.logged.at(-1)?.record, { status: 200, usage: { inputTokens: 11, outputTokens: 7 } })
})

test.serial('a failure that does not deny is 246, before and after', async (t) => {
  const before = await ask({ input: ['warn-secret'], body: say('secret') })
  t.is(before.status, 246)
  t.false(hooksOf(before).before_request_hooks[0]?.verdict)
  const after = await ask({ output: [forbids('emulator', warn)] })
  t.is(after.status, 246)
  t.false(hooksOf(after).after_request_hooks[0]?.verdict)
  t.is(bed.logged.at(-1)?.record.status, 246)
})

test.serial('an answer that a guardrail denies is 446, and metered', async (t) => {
  const answer = await ask({ output: ['no-emulator'] })
  t.is(answer.status, 446)
  t.false(answer.text.includes('Hello from'))
  t.false(hooksOf(answer).after_request_hooks[0]?.verdict)
  t.like(bed.logged.at(-1)?.record, { status: 446, outcome: 'error', errorCode: 'hooks_failed', usage: { totalTokens: 18 } })
})

test.serial('an answer that is compressed is looked into too', async (t) => {
  t.is((await ask({ output: ['no-emulator'], headers: { 'x-emulate': 'gzip', 'accept-encoding': 'gzip' } })).status, 446)
  t.is(emulator.requests[0]?.headers['accept-encoding'], 'identity')
  const passed = await ask({ output: ['no-secret'], headers: { 'x-emulate': 'gzip' } })
  t.is(passed.headers['content-encoding'], undefined)
  t.true(hooksOf(passed).after_request_hooks[0]?.verdict)
})

const scoped = (rule: string, scope?: string) => one('default.regexMatch', { rule, not: true, ...(scope !== undefined && { scope }) })

test.serial('the whole conversation is read, and the scope can be narrowed', async (t) => {
  const body = {
    model: 'm',
    messages: [
      { role: 'system', content: 'be good' },
      { role: 'user', content: [{ type: 'text', text: 'a secret' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"x":"quiet"}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'loud' },
      { role: 'user', content: 'thanks' },
    ],
  }
  for (const [guardrail, status] of [
    [scoped('secret'), 446],
    [scoped('secret', 'last'), 200],
    [scoped('thanks', 'last'), 446],
    [scoped('secret', 'user'), 446],
    [scoped('secret', 'system'), 200],
    [scoped('be good', 'system'), 446],
    [scoped('quiet'), 446],
    [scoped('quiet', 'assistant'), 446],
    [scoped('loud', 'tool'), 446],
    [scoped('loud', 'user'), 200],
  ] as const)
    t.is((await ask({ input: [guardrail], body })).status, status, JSON.stringify(guardrail.checks[0]?.parameters))
})

const said: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', say('a secret')],
  ['/v1/completions', { model: 'm', prompt: ['fine', 'a secret'] }],
  ['/v1/embeddings', { model: 'm', input: ['a secret'] }],
  ['/v1/messages', { model: 'm', max_tokens: 5, system: [{ type: 'text', text: 'a secret' }], messages: [] }],
  [
    '/v1/messages',
    {
      model: 'm',
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'a secret' }] }] }],
    },
  ],
  ['/v1/responses', { model: 'm', input: 'a secret' }],
  ['/v1/responses', { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: 'a secret' }] }] }],
  ['/v1/responses', { model: 'm', instructions: 'a secret', input: 'x' }],
  ['/v1/images/generations', { model: 'm', prompt: 'a secret' }],
  ['/v1/audio/speech', { model: 'm', input: 'a secret', voice: 'v' }],
  ['/v1/rerank', { model: 'm', query: 'x', documents: ['a secret'] }],
  ['/v1/models/gemini:generateContent', { contents: [{ parts: [{ text: 'a secret' }] }] }],
  ['/v1/messages', { ...say([{ type: 'document', source: { type: 'text', data: 'a secret' } }]), max_tokens: 9 }],
  ['/v1/chat/completions', { ...say('x'), tools: [{ type: 'function', function: { name: 'f', description: 'a secret' } }] }],
  ['/v1/some/path/of/a/provider', { text: 'a secret', messages: [] }],
  ['/v1/some/path/of/a/provider', { anything: { at: ['all', { deep: 'a secret' }] } }],
]
for (const [path, body] of said)
  test.serial(`denied on every endpoint alike: ${path} ${JSON.stringify(body).slice(0, 60)}`, async (t) => {
    const answer = await ask({ input: ['no-secret'], path, body })
    t.is(answer.status, 446, answer.text)
    t.is(emulator.requests.length, 0)
    t.not((await ask({ input: [forbids('nothing of this')], path, body })).status, 446)
  })

test.serial('an Anthropic caller is told in its own words', async (t) => {
  const answer = await ask({
    input: ['no-secret'],
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'secret' }] },
  })
  t.is(answer.status, 446)
  const body = JSON.parse(answer.text) as Record<string, unknown>
  t.like(body, { type: 'error', error: { type: 'invalid_request_error', message: 'Not here.', code: 'hooks_failed' } })
  t.truthy(body['hook_results'])
})

test.serial('a body cannot be hidden from a guardrail', async (t) => {
  const encoded = await ask({ input: ['no-secret'], headers: { 'content-encoding': 'compress' }, path: '/v1/probe' })
  t.is(encoded.status, 415)
  const folded = await ask({
    input: ['no-secret'],
    headers: { 'content-encoding': 'gzip' },
    path: '/v1/probe',
    body: gzipSync('{"prompt":"a secret"}'),
  })
  t.is(folded.status, 446)
  const asText = await ask({
    input: ['no-secret'],
    headers: { 'content-type': 'text/plain' },
    path: '/v1/probe',
    body: '{"prompt":"a secret"}',
  })
  t.is(asText.status, 446)
  t.is(emulator.requests.length, 0)
  const media = await ask({ input: ['no-secret'], headers: { 'content-type': 'audio/mpeg' }, path: '/v1/probe', body: 'a secret' })
  t.is(media.status, 446)
  t.is(emulator.requests.length, 0)
})

test.serial('a heap of crumbs is no hiding place, on neither way', async (t) => {
  const crumbs = say(Array.from({ length: 100_000 }, () => ({})))
  const strict = one('default.regexMatch', { rule: 'secret', not: true })
  t.is((await ask({ input: [strict], body: crumbs })).status, 446)
  t.is((await ask({ input: [one('default.modelWhitelist', { models: ['other'] })], body: crumbs })).status, 446, 'the model can be read')
  t.is(emulator.requests.length, 0)
  const nested = `${'{"content":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  emulator.script({ behaviour: { body: nested, headers: { 'content-type': 'application/json' } } })
  t.is((await ask({ output: [strict] })).status, 446)
})

const manyTools = { ...say('x'), tools: Array.from({ length: 100_000 }, () => ({})) }

test.serial('many tools are compared with many names at once', async (t) => {
  const names = Array.from({ length: 400 }, (_, at) => `t${at}`)
  const from = process.cpuUsage()
  const answer = await ask({ input: [one('default.requestParametersCheck', { tools: { allowedTypes: names } })], body: manyTools })
  const { user, system } = process.cpuUsage(from)
  t.is(answer.status, 446)
  t.true(answer.text.length < 2000)
  t.true(user + system < 2_000_000, `${(user + system) / 1000} ms`)
})

test.serial('what is dropped in too many places is refused', async (t) => {
  const answer = await ask({ more: { drop_params: ['x[*]'] }, body: { ...say('x'), x: Array.from({ length: 150_000 }, () => 0) } })
  t.is(answer.status, 400)
  t.like(errorIn(answer), { param: 'drop_params' })
  t.is((await ask({ more: { drop_params: ['x[*]'] }, body: { ...say('x'), x: [1, 2] } })).status, 200)
  t.deepEqual(emulator.requests.at(-1)?.json, { ...say('x'), x: [] })
})

test.serial('the pass-through is the provider’s, byte for byte, unless it is denied', async (t) => {
  const path = '/v1/echo'
  const plain = await ask({ path })
  const passed = await ask({ path, output: [forbids('nothing of this')], input: ['warn-secret'], body: say('secret') })
  t.is(passed.status, 200)
  t.false(passed.text.includes('hook_results'))
  t.deepEqual(Object.keys(JSON.parse(passed.text) as object), Object.keys(JSON.parse(plain.text) as object))
  t.is((await ask({ path, output: [forbids('sha256|[a-z]')] })).status, 446)
})

test.serial('texts are replaced before and after, and nothing else changes', async (t) => {
  const input = one('default.regexReplace', { rule: '\\d{4}', redactText: '#' })
  const output = one('default.regexReplace', { rule: '(?i)EMULATOR' })
  const body =
    '{"model":"m","seed":1234567890123456789, "messages":[{"role":"user","content":"card 1234 and 5678"},{"role":"user","content":"none"}]}'
  const answer = await ask({ input: [input], output: [output], body })
  t.is(emulator.requests[0]?.body.toString(), body.replace('card 1234 and 5678', 'card # and #'))
  t.is(answer.status, 200)
  const { choices } = JSON.parse(answer.text) as { choices: { message: { content: string } }[] }
  t.is(choices[0]?.message.content, 'Hello from the [REDACTED].')
  t.true(hooksOf(answer).before_request_hooks[0]?.transformed)
  t.true(hooksOf(answer).after_request_hooks[0]?.checks[0]?.transformed)
  const failing = await ask({ input: [one('default.regexReplace', { rule: 'secret', failOnDetection: true })], body: say('secret') })
  t.is(failing.status, 446)
})

const order = (ids: readonly ('mask' | 'forbid')[]): Given => ({
  checks: ids.map((id) =>
    id === 'mask'
      ? { id: 'default.regexReplace', parameters: { rule: 'secret' } }
      : { id: 'default.regexMatch', parameters: { rule: 'secret', not: true } },
  ),
  actions: block,
})

test.serial('what comes after a change sees what was changed', async (t) => {
  t.is((await ask({ input: [order(['mask', 'forbid'])], body: say('secret') })).status, 200)
  t.is((await ask({ input: [order(['forbid', 'mask'])], body: say('secret') })).status, 446)
})

test.serial('guardrails of the key’s workspace and organisation apply, once each, and one that is gone stops all', async (t) => {
  const denied = await ask({ headers: { 'x-service-api-key': defaultsKey }, body: say('secret'), input: ['no-secret'] })
  t.is(denied.status, 446)
  t.is(hooksOf(denied).before_request_hooks.length, 1)
  t.is((await ask({ headers: { 'x-service-api-key': defaultsKey } })).status, 200)
  const gone = await ask({ headers: { 'x-service-api-key': goneKey } })
  t.is(gone.status, 400)
  t.regex(gone.text, /no guardrail \\"gone\\"/)
  t.is((await ask({ input: ['unknown'] })).status, 400)
})

test.serial('a guardrail of the config never stands in for a stored one of the same id', async (t) => {
  const own = { id: 'no-secret', checks: [{ id: 'default.wordCount', parameters: { minWords: 0 } }] }
  const asked = (content: string) =>
    ask({
      body: say(content),
      headers: { 'x-service-api-key': defaultsKey },
      more: { input_guardrails: [own, 'no-secret', 'no-emulator', 'no-emulator'] },
    })
  t.is((await asked('a secret')).status, 446)
  const { hook_results: found } = JSON.parse((await asked('a word')).body.toString()) as { hook_results: HookResults }
  t.deepEqual(found.before_request_hooks.map(({ id }) => id).toSorted(), ['no-emulator', 'no-secret', 'no-secret'])
})

test.serial('feedback is worth what the guardrail says', async (t) => {
  const actions = { deny: false, on_success: { feedback: { value: 3, weight: 0.5, metadata: { by: 'me' } } }, on_fail: { feedback: {} } }
  const passed = await ask({ input: [{ ...forbids('secret'), actions }] })
  t.like(hooksOf(passed).before_request_hooks[0]?.feedback, {
    value: 3,
    weight: 0.5,
    metadata: { by: 'me', successfulChecks: 'default.regexMatch' },
  })
  const failed = await ask({ input: [{ ...forbids('secret'), actions }], body: say('secret') })
  t.like(hooksOf(failed).before_request_hooks[0]?.feedback, { value: -5, weight: 1, metadata: { failedChecks: 'default.regexMatch' } })
})

const hook = (parameters: Record<string, unknown> = {}, actions: Given['actions'] = block): Given =>
  one('default.webhook', { webhookURL: hooked.url, ...parameters }, actions)

test.serial('a webhook is told of the request and of the answer, and decides', async (t) => {
  const headers = { 'x-tenant': 'acme', 'x-other': 'o', 'x-service-metadata': '{"team":"a"}' }
  const given = {
    headers: { 'X-Token': 'abc', 'Content-Type': 'text/plain' },
    forwardHeaders: ['X-Tenant', 'authorization', 'accept-encoding'],
    secret: 'a-secret-of-16-chars',
  }
  t.is(
    (await ask({ input: [hook(given)], output: [hook()], headers: { ...headers, authorization: `Bearer ${workspaceKey}` } })).status,
    200,
  )
  const [first, second] = hooked.calls
  t.is(first?.url, '/check?a=b')
  t.like(first?.headers, {
    'x-token': 'abc',
    'x-tenant': 'acme',
    'content-type': 'application/json',
    'accept-encoding': 'identity',
  })
  t.is(first?.headers['x-other'], undefined)
  t.is(first?.headers.authorization, undefined)
  t.regex(String(first?.headers['x-service-signature']), /^t=\d+,v1=[0-9a-f]{64}$/)
  t.like(JSON.parse(first?.body ?? ''), {
    request: { json: say('hello'), text: 'hello', isStreamingRequest: false },
    response: { json: null, statusCode: null },
    provider: 'openai',
    requestType: 'chatComplete',
    metadata: { team: 'a' },
    eventType: 'beforeRequestHook',
  })
  t.like(JSON.parse(second?.body ?? ''), { response: { text: 'Hello from the emulator.', statusCode: 200 }, eventType: 'afterRequestHook' })
  hooked.answer = { status: 200, body: '{"verdict":false}' }
  t.is((await ask({ input: [hook()] })).status, 446)
})

test.serial('a webhook may change the request and the answer', async (t) => {
  hooked.answer = {
    status: 200,
    body: JSON.stringify({ verdict: true, transformedData: { request: { json: say('changed') }, response: { json: { a: 1 } } } }),
  }
  const answer = await ask({ input: [hook()], output: [hook()] })
  t.deepEqual(emulator.requests[0]?.json, say('changed'))
  t.like(JSON.parse(answer.text), { a: 1 })
  t.true(hooksOf(answer).after_request_hooks[0]?.transformed)
})

test.serial('a check that fails itself does as its on_error says', async (t) => {
  const broken: readonly (() => void)[] = [
    () => (hooked.answer = { status: 500, body: '{"verdict":true}' }),
    () => (hooked.answer = { status: 200, body: 'nonsense' }),
    () => (hooked.answer = { status: 200, body: '{"verdict":"yes"}' }),
    () => (hooked.answer = { status: 200, body: '', hangs: true }),
  ]
  for (const breakIt of broken) {
    breakIt()
    const allowed = await ask({ input: [hook({ timeout: 100, on_error: 'allow' })] })
    t.is(allowed.status, 200)
    const [check] = hooksOf(allowed).before_request_hooks[0]?.checks ?? []
    t.like(check, { verdict: true, fail_on_error: false })
    t.truthy(check?.error?.message)
    for (const on of [{}, { on_error: 'deny' }, { failOnError: true }])
      t.is((await ask({ input: [hook({ timeout: 100, ...on })] })).status, 446)
  }
})

test.serial('nobody waits for a guardrail that is async, and it stops nothing', async (t) => {
  hooked.answer = { status: 200, body: '', hangs: true }
  const answer = await ask({ input: [hook({}, { deny: true, async: true })], output: [hook({}, { onFail: 'log' })] })
  t.is(answer.status, 200)
  t.false(answer.text.includes('hook_results'))
  await eventually(() => hooked.calls.length === 2, 2000, 'both calls')
})

test.serial('a webhook in a private network is not called', async (t) => {
  const answer = await ask({ input: [one('default.webhook', { webhookURL: 'http://169.254.169.254/latest', on_error: 'deny' })] })
  t.is(answer.status, 446)
  t.regex(JSON.stringify(hooksOf(answer)), /never|not allowed/)
})

test.serial('prefixes, models, metadata, request types and parameters', async (t) => {
  await ask({ input: [one('default.addPrefix', { prefix: 'Please: ' })] })
  t.deepEqual(emulator.requests[0]?.json, say('Please: hello'))
  const cases: readonly (readonly [Given, Asked, number])[] = [
    [one('default.modelWhitelist', { models: ['m'] }), {}, 200],
    [one('default.modelWhitelist', { models: ['other'] }), {}, 446],
    [one('default.modelWhitelist', { models: ['gpt'] }), { body: { ...say('x'), model: '@p/gpt' } }, 200],
    [one('default.modelWhitelist', { models: ['@p/gpt'], not: true }), { body: { ...say('x'), model: '@p/gpt' } }, 446],
    [
      one('default.modelRules', { rules: { defaults: ['a'], metadata: { tier: { pro: ['m'] } } } }),
      { headers: { 'x-service-metadata': '{"tier":"pro"}' } },
      200,
    ],
    [one('default.modelRules', { rules: { defaults: ['a'], metadata: { tier: { pro: ['m'] } } } }), {}, 446],
    [one('default.requiredMetadataKeys', { metadataKeys: ['team'] }), {}, 446],
    [one('default.requiredMetadataKeys', { metadataKeys: ['team'] }), { headers: { 'x-service-metadata': '{"team":"x"}' } }, 200],
    [one('default.allowedRequestTypes', { blockedTypes: 'chatComplete' }), {}, 446],
    [one('default.allowedRequestTypes', { blockedTypes: ['stream-chatComplete'] }), { body: { ...say('x'), stream: true } }, 446],
    [one('default.allowedRequestTypes', { allowedTypes: ['chatComplete'] }), { body: { ...say('x'), stream: true } }, 200],
    [one('default.allowedRequestTypes', { allowedTypes: ['embed'] }), { path: '/v1/rerank', body: { query: 'x' } }, 446],
    [one('default.allowedRequestTypes', { allowedTypes: ['rerank'] }), { path: '/v1/rerank', body: { query: 'x' } }, 404],
    [
      one('default.requestParametersCheck', { params: { values: { temperature: { blockedValues: [2] } } } }),
      { body: { ...say('x'), temperature: 2 } },
      446,
    ],
    [one('default.requestParametersCheck', { params: { blockedKeys: ['seed'] } }), { body: { ...say('x'), seed: 2 } }, 446],
    [one('default.requestParametersCheck', { params: { allowedKeys: ['model', 'messages'] } }), {}, 200],
    [
      one('default.requestParametersCheck', { tools: { blockedTypes: ['web_search'] } }),
      { body: { ...say('x'), tools: [{ type: 'web_search' }] } },
      446,
    ],
    [
      one('default.requestParametersCheck', { tools: { allowedFunctionNames: ['f'] } }),
      { body: { ...say('x'), tools: [{ type: 'function', function: { name: 'g' } }] } },
      446,
    ],
  ]
  for (const [guardrail, asked, status] of cases)
    t.is((await ask({ input: [guardrail], ...asked })).status, status, JSON.stringify([guardrail.checks, asked]))
})

test.serial('nothing of it runs when guardrails are off', async (t) => {
  const off = await startGateway({
    providers: { p: { customHost: emulator.url } },
    keys: { [defaultsKey]: starts(['no-secret'], ['gone']) },
    settings: { acts: { configs: () => true, guardrails: () => false, policies: () => true } },
  })
  const headers = {
    'x-service-api-key': defaultsKey,
    'content-type': 'application/json',
    'x-service-config': JSON.stringify({ provider: '@p', input_guardrails: [inline(forbids('secret'))] }),
  }
  const answer = await send(`${off.origin}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(say('secret')) })
  t.is(answer.status, 200)
  t.false(answer.text.includes('hook_results'))
  await off.stop()
})
