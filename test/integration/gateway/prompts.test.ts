import test from 'ava'
import type { GatewayConfig } from '../../../src/gateway/config/config.schema.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type RawAnswer, send, sendJson } from '../../support/http.ts'
import { promptOf } from '../../support/prompts.ts'

let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  const stored = { customHost: emulator.url }
  bed = await startGateway({
    providers: { mine: stored, other: stored, mistral: { ...stored, provider: 'mistral-ai' }, gone: { ...stored, status: 'expired' } },
    configs: { 'pc-tuned': { override_params: { temperature: 0.7 }, drop_params: ['max_tokens'] }, 'pc-other': { virtual_key: 'other' } },
    keys: { reader: { scopes: new Set(['prompts.render']) } },
    prompts: {
      'pp-test': await promptOf({ parameters: { temperature: 0.1, max_tokens: 5 } }),
      'pp-test@2': await promptOf({ string: 'Second {{name}}', version: 2 }),
      'pp-test@prod label': await promptOf({ string: 'Labelled' }),
      'pp-at': await promptOf({ virtualKey: '@other', model: '@mine/gpt-4o' }),
      'pp-quirky': await promptOf({ virtualKey: 'mistral', parameters: { seed: 7, max_completion_tokens: 9, temperature: 1.9 } }),
      'pp-gone': await promptOf({ virtualKey: 'gone' }),
      'pp-nowhere': await promptOf({ virtualKey: 'nowhere' }),
      'pp-modelless': await promptOf({ model: null }),
      'pp-partial': await promptOf({ string: '{{>pp-a}} {{>pp-b@3}}' }, { 'pp-a': 'here' }),
    },
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

const key = { 'x-service-api-key': workspaceKey }
const complete = (reference: string, body: unknown, headers: Readonly<Record<string, string>> = key): Promise<RawAnswer> =>
  sendJson(`${bed.origin}/v1/prompts/${reference}/completions`, headers, body)
const errorOf = ({ text }: RawAnswer) => (JSON.parse(text) as { error: { code: string; param: string | null; message: string } }).error
const last = () => emulator.requests.at(-1)

test.serial('a prompt becomes a chat completion at the provider of its virtual key', async (t) => {
  const log = bed.nextLog()
  const answer = await complete('pp-test', { variables: { name: 'Ada "x"' }, max_tokens: 9 })
  t.is(answer.status, 200, answer.text)
  t.is((JSON.parse(answer.text) as { object: string }).object, 'chat.completion')
  t.is(last()?.url, '/v1/chat/completions')
  t.is(last()?.headers.authorization, 'Bearer sk-stored-mine')
  t.is(last()?.headers['content-length'], String(last()?.body.length))
  t.deepEqual(last()?.json, {
    temperature: 0.1,
    max_tokens: 9,
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Hi Ada "x"' }],
  })
  const { record, bodies } = await log
  t.like(record, { path: '/prompts/pp-test/completions', operation: 'chatComplete', model: 'gpt-4o', providerSlug: 'mine', status: 200 })
  t.like(record, { usageSource: 'provider', outcome: 'complete', stream: false })
  t.like(record.prompt, { slug: 'pp-test' })
  t.true((record.usage?.totalTokens ?? 0) > 0)
  t.deepEqual(JSON.parse(Buffer.from(bodies.request ?? []).toString()), last()?.json)
})

test.serial('a guardrail may allow and block it as a prompt, and as the chat completion that it becomes', async (t) => {
  const cases: readonly (readonly [parameters: object, status: number])[] = [
    [{ blockedTypes: ['promptComplete'] }, 446],
    [{ blockedTypes: ['chatComplete'] }, 446],
    [{ blockedTypes: ['stream-chatComplete'] }, 200],
    [{ allowedTypes: ['promptComplete'] }, 200],
    [{ allowedTypes: ['chatComplete'] }, 200],
    [{ allowedTypes: ['embed'] }, 446],
  ]
  for (const [parameters, status] of cases) {
    const config = { input_guardrails: [{ 'default.allowedRequestTypes': parameters, deny: true }] }
    const answer = await complete('pp-test', { variables: {} }, { ...key, 'x-service-config': JSON.stringify(config) })
    t.is(answer.status, status, answer.text)
  }
  const chat = { model: '@mine/m', messages: [] }
  const only = JSON.stringify({ input_guardrails: [{ 'default.allowedRequestTypes': { allowedTypes: ['promptComplete'] }, deny: true }] })
  t.is((await sendJson(`${bed.origin}/v1/chat/completions`, { ...key, 'x-service-config': only }, chat)).status, 446)
})

test.serial('it is sent in the words and within the bounds of its provider; what a caller wrote itself goes as it came', async (t) => {
  const answer = await complete('pp-quirky', { variables: { name: 'Ada' } })
  t.is(answer.status, 200, answer.text)
  t.like(last()?.json, { random_seed: 7, max_tokens: 9, temperature: 1.5 })
  t.is(last()?.headers['content-length'], String(last()?.body.length))
  const own = { model: '@mistral/gpt-4o', seed: 7, temperature: 1.9, messages: [{ role: 'user', content: 'x' }] }
  t.is((await sendJson(`${bed.origin}/v1/chat/completions`, key, own)).status, 200)
  t.deepEqual(last()?.json, { ...own, model: 'gpt-4o' })
})

test.serial('it streams as any chat does', async (t) => {
  const log = bed.nextLog()
  const answer = await complete('pp-test', { variables: {}, stream: true, stream_options: { include_usage: true } })
  t.is(answer.status, 200)
  t.regex(String(answer.headers['content-type']), /^text\/event-stream/)
  t.true(answer.text.endsWith('data: [DONE]\n\n'))
  const { record } = await log
  t.true(record.stream)
  t.true((record.usage?.outputTokens ?? 0) > 0)
})

test.serial('a suffix names the version, also when it is encoded', async (t) => {
  for (const [reference, content] of [
    ['pp-test@2', 'Second Ada'],
    ['pp-test%402', 'Second Ada'],
    ['pp-test@prod%20label', 'Labelled'],
  ] as const) {
    t.is((await complete(reference, { variables: { name: 'Ada' } })).status, 200, reference)
    t.deepEqual(last()?.json['messages'], [{ role: 'user', content }])
  }
})

test.serial('the query goes on, the prompt’s path does not', async (t) => {
  await complete('pp-test', { variables: {} }).then(() => t.is(last()?.url, '/v1/chat/completions'))
  const answer = await sendJson(`${bed.origin}/v1/prompts/pp-test/completions?a=1`, key, { variables: {} })
  t.is(answer.status, 200)
  t.is(last()?.url, '/v1/chat/completions?a=1')
})

test.serial('no header puts another provider in the place of the prompt’s; a model may', async (t) => {
  await complete('pp-test', { variables: {} }, { ...key, 'x-service-provider': '@other', 'x-service-virtual-key': 'other' })
  t.is(last()?.headers.authorization, 'Bearer sk-stored-mine')
  await complete('pp-test', { variables: {}, model: '@other/m' })
  t.is(last()?.headers.authorization, 'Bearer sk-stored-other')
  t.is(last()?.json['model'], 'm')
  await complete('pp-at', { variables: {} })
  t.is(last()?.headers.authorization, 'Bearer sk-stored-mine')
  t.is(last()?.json['model'], 'gpt-4o')
  await complete('pp-at', { variables: {}, model: 'plain' })
  t.is(last()?.headers.authorization, 'Bearer sk-stored-other')
})

test.serial('a config that is asked for changes the chat that the prompt makes, and where it goes', async (t) => {
  await complete('pp-test', { variables: { name: 'x' } }, { ...key, 'x-service-config': 'pc-tuned' })
  t.deepEqual(last()?.json, { temperature: 0.7, model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi x' }] })
  t.is(last()?.headers.authorization, 'Bearer sk-stored-mine')
  await complete('pp-test', { variables: {} }, { ...key, 'x-service-config': 'pc-other' })
  t.is(last()?.headers.authorization, 'Bearer sk-stored-other')
})

const refusals: readonly (readonly [name: string, reference: string, body: unknown, error: readonly [number, string, string | null]])[] = [
  ['an unknown prompt', 'pp-never', { variables: {} }, [404, 'not_found', 'promptId']],
  ['an unknown version', 'pp-test@9', { variables: {} }, [404, 'not_found', 'promptId']],
  ['nonsense', '%00%ff', { variables: {} }, [404, 'not_found', 'promptId']],
  ['no variables', 'pp-test', {}, [400, 'invalid_request', 'variables']],
  ['variables that are a list', 'pp-test', { variables: [] }, [400, 'invalid_request', 'variables']],
  ['nested hyperparameters', 'pp-test', { variables: {}, hyperparameters: {} }, [400, 'invalid_request', 'hyperparameters']],
  ['a parameter of a wrong type', 'pp-test', { variables: {}, temperature: 'hot' }, [400, 'invalid_request', 'temperature']],
  ['a body that is a list', 'pp-test', [], [400, 'invalid_request', 'body']],
  ['a missing partial', 'pp-partial', { variables: {} }, [400, 'invalid_request', 'string']],
  ['no model', 'pp-modelless', { variables: {} }, [400, 'invalid_request', 'model']],
  ['an expired provider', 'pp-gone', { variables: {} }, [403, 'forbidden', 'virtual_key']],
  ['a provider that is gone', 'pp-nowhere', { variables: {} }, [400, 'unknown_provider', 'virtual_key']],
]
for (const [name, reference, body, expected] of refusals)
  test.serial(`refused and logged: ${name}`, async (t) => {
    const [known, log] = [emulator.requests.length, bed.nextLog()]
    const answer = await complete(reference, body)
    const { code, param } = errorOf(answer)
    t.deepEqual([answer.status, code, param], [...expected], answer.text)
    t.is(emulator.requests.length, known)
    t.like((await log).record, { status: expected[0], errorCode: code })
  })

test.serial('the partials that are missing are named', async (t) => {
  t.is(errorOf(await complete('pp-partial', { variables: {} })).message, 'Missing prompt partials: pp-b@3.')
})

test.serial('who may not call providers may not call prompts', async (t) => {
  t.is((await complete('pp-test', { variables: {} }, { 'x-service-api-key': 'reader' })).status, 403)
  t.is((await complete('pp-test', { variables: {} }, { 'x-service-api-key': 'nobody' })).status, 401)
})

test.serial('a body that is no plain JSON is refused', async (t) => {
  const url = `${bed.origin}/v1/prompts/pp-test/completions`
  const text = await send(url, { method: 'POST', headers: { ...key, 'content-type': 'text/plain' }, body: '{"variables":{}}' })
  t.deepEqual([text.status, errorOf(text).param], [415, 'content-type'])
  const packed = { ...key, 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const gzip = await send(url, { method: 'POST', headers: packed, body: '{"variables":{}}' })
  t.deepEqual([gzip.status, errorOf(gzip).param], [400, 'content-encoding'])
  const none = await send(url, { method: 'POST', headers: key })
  t.is(none.status, 400)
})

const chat = (config: GatewayConfig | string, body: object, more: Readonly<Record<string, string>> = {}) =>
  sendJson(
    `${bed.origin}/v1/chat/completions`,
    { ...key, 'x-service-config': typeof config === 'string' ? config : JSON.stringify(config), ...more },
    body,
  )

test.serial('a config makes a chat completion by its prompt, with the variables and parameters of the request', async (t) => {
  const log = bed.nextLog()
  const answer = await chat({ prompt_id: 'pp-test', override_params: { temperature: 0.5 } }, { variables: { name: 'Ada' }, max_tokens: 9 })
  t.is(answer.status, 200, answer.text)
  t.is(last()?.headers.authorization, 'Bearer sk-stored-mine')
  t.deepEqual(last()?.json, { temperature: 0.5, max_tokens: 9, model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi Ada' }] })
  const { record } = await log
  t.like(record, { operation: 'chatComplete', path: '/chat/completions', model: 'gpt-4o', providerSlug: 'mine' })
  t.like(record.prompt, { slug: 'pp-test' })
})

test.serial('what a chat client sends goes before what the prompt says, also its messages', async (t) => {
  const messages = [{ role: 'user', content: 'my own' }]
  t.is((await chat({ prompt_id: 'pp-test' }, { model: 'gpt-5', messages })).status, 200)
  t.deepEqual(last()?.json, { temperature: 0.1, max_tokens: 5, model: 'gpt-5', messages })
})

test.serial('targets compare two prompts, for requests that name another, too; each attempt has its own', async (t) => {
  const config: GatewayConfig = {
    strategy: { mode: 'fallback' },
    targets: [{ prompt_id: 'pp-test@2' }, { prompt_id: 'pp-test@prod label', provider: '@other' }],
  }
  emulator.script({ behaviour: { status: 500 }, times: 1 })
  const answer = await sendJson(
    `${bed.origin}/v1/prompts/pp-modelless/completions`,
    { ...key, 'x-service-config': JSON.stringify(config) },
    { variables: { name: 'Ada' }, model: 'm' },
  )
  t.is(answer.status, 200, answer.text)
  const [first, second] = emulator.requests.slice(-2)
  t.deepEqual(first?.json['messages'], [{ role: 'user', content: 'Second Ada' }])
  t.deepEqual(second?.json['messages'], [{ role: 'user', content: 'Labelled' }])
  t.deepEqual([first?.headers.authorization, second?.headers.authorization], ['Bearer sk-stored-mine', 'Bearer sk-stored-other'])
  t.is(answer.headers['x-service-last-used-option-index'], 'config.targets[1]')
})

test.serial('a prompt that is not there, and a request that a prompt cannot make, are told', async (t) => {
  const gone = await chat({ prompt_id: 'pp-none' }, { variables: {} })
  t.is(gone.status, 400)
  t.like(errorOf(gone), { param: 'config.prompt_id', message: 'config.prompt_id: There is no prompt "pp-none" in this workspace.' })
  const wrong = await chat({ prompt_id: 'pp-test' }, { variables: 'Ada' })
  t.like(errorOf(wrong), { code: 'invalid_request', param: 'variables' })
  const embedding = await sendJson(`${bed.origin}/v1/embeddings`, { ...key, 'x-service-config': '{"prompt_id":"pp-test"}' }, { input: 'a' })
  t.is(embedding.status, 400)
  t.regex(errorOf(embedding).message, /a prompt makes chat completions/)
})
