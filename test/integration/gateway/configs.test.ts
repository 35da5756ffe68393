// oxlint-disable unicorn/no-thenable -- the name of a field in every config there is
import test from 'ava'
import type { GatewayConfig } from '../../../src/gateway/config/config.schema.ts'
import type { KeyView, RequestDefaults } from '../../../src/gateway/ports.ts'
import { effectiveSettings } from '../../../src/lib/access/access-settings.ts'
import { errorOf } from '../../support/caller.ts'
import { type Emulator, type Received, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send, type RawAnswer } from '../../support/http.ts'

let emulator: Emulator
let other: Emulator
let bed: GatewayBed

const starts = (config: string, configLocked = false): Pick<KeyView, 'defaults'> => ({
  defaults: { config, configLocked, inputGuardrails: [], outputGuardrails: [] } satisfies RequestDefaults,
})
const keyThat = (name: string) => `gh-test-key-that-${name}-0000000000`

test.before(async () => {
  ;[emulator, other] = await Promise.all([startEmulator(), startEmulator()])
  const stored = { provider: 'openai', customHost: emulator.url } as const
  const configs: Record<string, GatewayConfig> = {
    'pc-stored': { provider: '@stored' },
    'pc-key': { virtual_key: 'stored' },
    'pc-own': { provider: 'openai', api_key: 'sk-of-the-config', custom_host: emulator.url },
    'pc-aws': {
      provider: 'bedrock',
      aws_access_key_id: 'AKIAEXAMPLE',
      aws_secret_access_key: 's3cr3t',
      aws_region: 'eu-west-1',
      custom_host: emulator.url,
    },
    'pc-params': {
      provider: '@stored',
      override_params: { temperature: 0, metadata: { a: 1 } },
      default_params: { max_tokens: 5, top_p: 1 },
      drop_params: ['tools[*].function.strict', 'user'],
    },
    'pc-model': { override_params: { model: '@second/gpt-other' } },
    'pc-target': {
      request_timeout: 20_000,
      override_params: { seed: 1 },
      strategy: { mode: 'fallback' },
      targets: [{ strategy: { mode: 'single' }, targets: [{ provider: '@second', override_params: { seed: 2 } }] }],
    },
    'pc-details': { provider: '@stored', openai_project: 'proj-1' },
    'pc-region': { provider: '@stored', aws_region: 'eu-west-1' },
    'pc-host': { provider: '@stored', custom_host: other.url },
    'pc-forward': { provider: 'openai', api_key: 'sk-x', custom_host: emulator.url, forward_headers: ['X-Api-Key'] },
    'pc-slow': { provider: '@stored', request_timeout: 50 },
    'pc-missing': { provider: '@nowhere' },
  }
  bed = await startGateway({
    configs,
    providers: { stored, second: { provider: 'openai', customHost: other.url }, bedrock: { provider: 'bedrock' } },
    keys: {
      [keyThat('starts')]: starts('pc-stored'),
      [keyThat('is-bound')]: starts('pc-stored', true),
      [keyThat('is-bound-to-slow')]: starts('pc-slow', true),
      [keyThat('is-lost')]: starts('pc-gone'),
      [keyThat('stores')]: { settings: effectiveSettings({ block_inline_config: true }, {}) },
      [keyThat('changes')]: starts('pc-model'),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await Promise.all([emulator?.stop(), other?.stop()])
})
test.beforeEach(() => {
  emulator.reset()
  other.reset()
})

const chat = (
  headers: Readonly<Record<string, string>>,
  body: string | object = { model: 'm', messages: [] },
  path = '/v1/chat/completions',
) =>
  send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const withConfig = (config: string | GatewayConfig, body?: string | object, headers: Readonly<Record<string, string>> = {}) =>
  chat({ 'x-service-config': typeof config === 'string' ? config : JSON.stringify(config), ...headers }, body)

function only(at: Emulator): Received {
  const [first, ...more] = at.requests
  if (first === undefined || more.length > 0) throw new Error(`${at.requests.length} requests arrived`)
  return first
}

const refused = (answer: RawAnswer) => {
  const { code, param, message } = errorOf(answer)
  return { status: answer.status, code, param, message, sent: emulator.requests.length + other.requests.length }
}

test.serial('a config names the stored provider, whether by slug, as JSON, or as the default of the key', async (t) => {
  for (const answer of [
    await withConfig('pc-stored'),
    await withConfig('pc-key'),
    await withConfig({ provider: '@stored' }),
    await chat({ 'x-service-api-key': keyThat('starts') }),
    await chat({ 'x-service-api-key': keyThat('is-bound') }),
    await chat({ 'x-service-api-key': keyThat('is-bound'), 'x-service-config': 'pc-stored' }),
  ]) {
    t.is(answer.status, 200, answer.text)
    t.is(answer.headers['x-service-last-used-option-index'], 'config')
  }
  t.deepEqual([...new Set(emulator.requests.map(({ headers }) => headers.authorization))], ['Bearer sk-stored-stored'])
  t.is(emulator.requests.length, 6)
})

test.serial('a body that the config does not change goes on byte for byte', async (t) => {
  const body = '{ "temperature":0,"metadata" : {"a":1.0}, "max_tokens":1234567890123456789, "top_p":\t1, "model":"m", "messages":[]}\n'
  await withConfig('pc-params', body)
  t.is(only(emulator).body.toString(), body)
})

test.serial('parameters are overridden, added and dropped, and all else stays as it was', async (t) => {
  const body =
    '{"model":"m", "seed":1234567890123456789, "temperature":1e0,"user":"u","messages":[ ], "tools":[{"function":{"name":"f","strict":true}},{"function":{"strict":null, "x":1}}]}'
  const { status } = await withConfig('pc-params', body)
  t.is(status, 200)
  t.is(
    only(emulator).body.toString(),
    '{"model":"m", "seed":1234567890123456789, "temperature":0,"messages":[ ], "tools":[{"function":{"name":"f"}},{"function":{ "x":1}}],"max_tokens":5,"top_p":1,"metadata":{"a":1}}',
  )
  t.is(only(emulator).headers['content-length'], String(only(emulator).body.length))
})

test.serial('a model that the config sets names the provider, and the check of the body sees what will be sent', async (t) => {
  await chat({ 'x-service-api-key': keyThat('changes') }, { model: 'anything', messages: [] })
  t.deepEqual(only(other).json, { model: 'gpt-other', messages: [] })
  const answer = await withConfig(
    { provider: '@stored', override_params: { suffix: 5 } },
    { model: 'm', prompt: 'x' },
    { 'x-emulate': 'normal' },
  )
  t.is(answer.status, 200, answer.text)
  const bad = await chat(
    { 'x-service-config': JSON.stringify({ provider: '@stored', override_params: { suffix: 5 } }) },
    { model: 'm', prompt: 'x' },
    '/v1/completions',
  )
  t.like(refused(bad), { status: 400, param: 'suffix' })
})

test.serial('a single target is used with what it takes over from above', async (t) => {
  const answer = await withConfig('pc-target')
  t.is(answer.status, 200, answer.text)
  t.is(answer.headers['x-service-last-used-option-index'], 'config.targets[0].targets[0]')
  t.is(only(other).json['seed'], 2)
  t.is(bed.logged.at(-1)?.record.lastUsedOption, 'config.targets[0].targets[0]')
})

test.serial('a credential of the config is used, and nothing of the caller’s beside it', async (t) => {
  await withConfig('pc-own', undefined, { authorization: 'Bearer sk-of-the-caller' })
  t.is(only(emulator).headers.authorization, 'Bearer sk-of-the-config')
  emulator.reset()
  const { status } = await chat({ 'x-service-config': 'pc-aws', 'x-service-aws-region': 'us-east-1' }, { a: 1 }, '/v1/probe')
  t.is(status, 404)
  t.regex(String(only(emulator).headers.authorization), /Credential=AKIAEXAMPLE\/\d+\/eu-west-1\//)
})

test.serial('a config without a credential takes the caller’s', async (t) => {
  await withConfig({ provider: 'openai', custom_host: emulator.url }, undefined, { authorization: 'Bearer sk-of-the-caller' })
  t.is(only(emulator).headers.authorization, 'Bearer sk-of-the-caller')
})

test.serial('what a stored credential needs stays with it: other hosts and details are refused', async (t) => {
  for (const [config, headers, param] of [
    ['pc-own', { 'x-service-custom-host': other.url }, 'x-service-custom-host'],
    ['pc-aws', { 'x-service-custom-host': other.url }, 'x-service-custom-host'],
    ['pc-stored', { 'x-service-custom-host': other.url }, 'x-service-custom-host'],
    ['pc-host', {}, 'config.custom_host'],
    [{ virtual_key: 'stored', custom_host: other.url }, {}, 'config.custom_host'],
    ['pc-region', {}, 'aws_region'],
  ] as const)
    t.like(refused(await withConfig(config, undefined, headers)), { status: 400, param, sent: 0 }, JSON.stringify(config))
})

test.serial('details that travel as headers join a stored credential', async (t) => {
  await withConfig('pc-details')
  t.is(only(emulator).headers['openai-project'], 'proj-1')
})

test.serial('headers that are named are forwarded, our key never', async (t) => {
  const headers = { 'x-api-key': 'of-the-caller', 'x-service-forward-headers': 'authorization', authorization: `Bearer ${workspaceKey}` }
  await withConfig('pc-forward', undefined, headers)
  t.is(only(emulator).headers['x-api-key'], 'of-the-caller')
  t.is(only(emulator).headers.authorization, 'Bearer sk-x')
  t.false(only(emulator).rawHeaders.some((text) => text.includes(workspaceKey)))
})

test.serial('a config bounds the time', async (t) => {
  emulator.script({ behaviour: { hang: 'before-headers' } })
  const answer = await withConfig('pc-slow')
  t.is(answer.status, 504)
  const shorter = await withConfig({ provider: '@stored', request_timeout: 20_000 }, undefined, { 'x-service-request-timeout': '30' })
  t.is(shorter.status, 504)
  emulator.script({ behaviour: { delayMs: 500 } })
  const more = { 'x-service-request-timeout': '60000' }
  t.is((await chat({ 'x-service-api-key': keyThat('is-bound-to-slow'), ...more })).status, 504)
  t.is((await chat({ 'x-service-api-key': keyThat('is-bound-to-slow'), 'x-service-config': 'pc-slow', ...more })).status, 504)
  t.is((await withConfig('pc-slow', undefined, more)).status, 200)
})

test.serial('what the request says goes before a default, and not before a config that was asked for', async (t) => {
  const second = { 'x-service-provider': '@second' }
  await chat({ 'x-service-api-key': keyThat('starts'), ...second })
  await chat({ 'x-service-api-key': keyThat('starts') }, { model: '@second/m', messages: [] })
  t.is(other.requests.length, 2)
  await withConfig('pc-stored', undefined, second)
  await chat({ 'x-service-api-key': keyThat('is-bound'), ...second })
  await chat({ 'x-service-api-key': keyThat('is-bound') }, { model: '@second/m', messages: [] })
  t.deepEqual([emulator.requests.length, other.requests.length], [3, 2])
})

test.serial('what a key does not allow is refused', async (t) => {
  const bound = { 'x-service-api-key': keyThat('is-bound') }
  for (const config of ['pc-own', '{"provider":"@second"}', 'pc-none'])
    t.like(refused(await chat({ ...bound, 'x-service-config': config })), {
      status: 403,
      code: 'forbidden',
      param: 'x-service-config',
      sent: 0,
    })
  const stores = { 'x-service-api-key': keyThat('stores') }
  t.like(refused(await chat({ ...stores, 'x-service-config': '{"provider":"@stored"}' })), {
    status: 403,
    param: 'x-service-config',
    sent: 0,
  })
  t.is((await chat({ ...stores, 'x-service-config': 'pc-stored' })).status, 200)
})

const faults: readonly (readonly [config: string, param: string, message: RegExp])[] = [
  ['pc-none', 'x-service-config', /no config "pc-none"/],
  ['{"provider":', 'x-service-config', /unexpected end at position 12/],
  ['{"provider":"openai","x":1}', 'config.x', /no such field/],
  ['{"strategy":{"mode":"fallback"},"targets":[{"provider":"nobody"}]}', 'config.targets[0].provider', /catalogue/],
  ['{"input_guardrails":[{"default.contains":{}, "deny":1}], "retry":{"attempts":9}}', 'config.retry.attempts', /must be at most 5/],
  ['{"__proto__":{}}', 'x-service-config', /__proto__/],
  ['pc-missing', 'config.provider', /@nowhere/],
]
for (const [config, param, message] of faults)
  test.serial(`refused: ${config}`, async (t) => {
    const { status, param: named, message: said, sent } = refused(await withConfig(config))
    t.deepEqual([status, named, sent], [400, param, 0])
    t.regex(said, message)
  })

test.serial('a default config that is gone is named', async (t) => {
  t.like(refused(await chat({ 'x-service-api-key': keyThat('is-lost') })), { status: 400, param: 'x-service-config', sent: 0 })
})

test.serial('retries of zero are nothing to carry out', async (t) => {
  t.is((await withConfig({ provider: '@stored', retry: { attempts: 0 } })).status, 200)
})

test.serial('parameters of a body that has none are refused, and a request without a body goes on', async (t) => {
  const headers = { 'x-service-config': 'pc-params' }
  t.like(refused(await chat({ ...headers, 'content-type': 'application/octet-stream' }, 'abc', '/v1/files')), {
    status: 400,
    param: 'body',
    sent: 0,
  })
  t.like(refused(await chat(headers, '[1]', '/v1/probe')), { status: 400, param: 'body', sent: 0 })
  const models = await send(`${bed.origin}/v1/models`, { headers: { 'x-service-api-key': workspaceKey, ...headers } })
  t.is(models.status, 200)
})

const guarded = (guardrail: Readonly<Record<string, unknown>>, content: string) => {
  const config = { provider: '@stored', input_guardrails: [{ deny: true, ...guardrail }] }
  return chat({ 'x-service-config': JSON.stringify(config) }, { model: 'm', messages: [{ role: 'user', content }] })
}

test.serial('a guardrail of a config may be switched off', async (t) => {
  const words = { words: ['hello'], operator: 'none' }
  for (const form of [{ 'default.contains': words }, { checks: [{ id: 'default.contains', parameters: words }] }]) {
    t.is((await guarded({ ...form, is_enabled: true }, 'hello')).status, 446)
    t.is((await guarded({ ...form, is_enabled: false }, 'hello')).status, 200)
  }
})

test.serial('a text is never too long for its characters and words to be counted', async (t) => {
  const long = 'ab '.repeat(370_000)
  const cases: readonly (readonly [id: string, parameters: Readonly<Record<string, unknown>>, status: number])[] = [
    ['default.characterCount', { maxCharacters: 1000 }, 446],
    ['default.characterCount', { maxCharacters: 2_000_000 }, 200],
    ['default.wordCount', { maxWords: 1000 }, 446],
    ['default.wordCount', { maxWords: 1000, not: true }, 200],
    ['default.wordCount', { minWords: 300_000, maxWords: 370_000 }, 200],
    ['default.sentenceCount', { maxSentences: 1000, on_error: 'deny' }, 446],
    ['default.contains', { words: ['none'], operator: 'none', on_error: 'deny' }, 446],
  ]
  for (const [id, parameters, status] of cases)
    t.is((await guarded({ [id]: parameters }, long)).status, status, JSON.stringify([id, parameters]))
})
