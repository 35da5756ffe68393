// Work is recognised by its path behind any prefix; possible costs without a price are unpriced, and only paths in a list are free.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator

type Fields = Readonly<Record<string, unknown>>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const withinMs = 15_000

async function made(key: string, path: string, body: object): Promise<Fields> {
  const response = await control.call(key, 'POST', path, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({ behaviour: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"id":"x","metadata":{}}' } })
  const configurations = { custom_host: emulator.url }
  await made(acme.workspaceKey, '/integrations', { name: 'p', slug: 'account', ai_provider_id: 'openai', key: 'sk-x', configurations })
  await made(acme.workspaceKey, '/providers', { name: 'p', slug: 'p', integration_id: 'account' })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

async function keyWith(on_unpriced: 'allow' | 'deny'): Promise<string> {
  const { key } = await made(acme.adminKey, '/api-keys/workspace/service', {
    name: 'spender',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { type: 'cost', credit_limit: 1, on_unpriced, output_policy: 'strict' },
  })
  return String(key)
}

interface Asked {
  readonly path: string
  readonly method?: Method
  readonly body?: object
}

const ask = (key: string, { path, method = 'POST', body = { text: 'hi' } }: Asked) =>
  send(`${control.origin}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': key, 'x-service-provider': '@p', 'content-type': 'application/json' },
    ...(method !== 'GET' && method !== 'DELETE' && { body: JSON.stringify(body) }),
  })

/** Returns the cost of a request as its log has it. */
async function costOf({ headers }: Awaited<ReturnType<typeof send>>): Promise<Fields> {
  const read = () => control.call(acme.workspaceKey, 'GET', `/logs/${String(headers['x-service-request-id'])}/cost`)
  await eventually(async () => (await read()).status === 200, withinMs)
  return (await read()).body
}

const prefixes = ['', '/proxy', '/proxy/v1', '/proxy/openai/v1', '/proxy//v1', '/proxy/some/where']
const image = { model: 'dall-e-2', prompt: 'a hat', n: 2, size: '1024x1024' }
const images = JSON.stringify({ created: 1, data: [{ url: 'https://a' }, { url: 'https://b' }] })

for (const prefix of prefixes)
  test.serial(`images and speech cost what they cost below ${prefix || 'the root'}, and a strict budget bounds them`, async (t) => {
    const stop = emulator.script({ behaviour: { status: 200, headers: { 'content-type': 'application/json' }, body: images } })
    const drawn = await ask(await keyWith('deny'), { path: `${prefix}/images/generations`, body: image })
    // 2 x 20,000,000,000
    t.like(await costOf(drawn), { state: 'priced', cost_pico_usd: '40000000000' }, drawn.text)
    const poor = await ask(await keyWith('deny'), { path: `${prefix}/images/generations`, body: { ...image, n: 60 } })
    t.is(poor.status, 412, poor.text)
    stop()
    const spoken = await ask(await keyWith('deny'), {
      path: `${prefix}/audio/speech`,
      body: { model: 'tts-1', input: 'Grüße 👋🏽', voice: 'a' },
    })
    t.like(await costOf(spoken), { state: 'priced', cost_pico_usd: '120000000' })
  })

/** Work that may cost an unknown amount. */
const unknown: readonly Asked[] = [
  { path: '/proxy/v1/listen?model=nova-3' },
  { path: '/proxy/v1/speak?model=aura-2' },
  { path: '/proxy/v1/text-to-speech/voice_1' },
  { path: '/proxy/v2beta/stable-image/generate/core' },
  { path: '/proxy/v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image' },
  { path: '/threads/runs', body: { assistant_id: 'asst_1' } },
  { path: '/threads/thread_1/runs', body: { assistant_id: 'asst_1' } },
  { path: '/threads/thread_1/runs/run_1/submit_tool_outputs', body: { tool_outputs: [] } },
  { path: '/proxy/evals/eval_1/runs', body: { name: 'a', data_source: {} } },
  { path: '/vector_stores', body: { name: 'a' } },
  { path: '/containers', body: { name: 'a' } },
  { path: '/proxy/predictions', body: { version: 'v', input: {} } },
  { path: '/proxy/v1/projects/p/locations/l/rankingConfigs/default:rank', body: { records: [] } },
  { path: '/proxy/anything', method: 'PUT' },
  { path: '/proxy/anything', method: 'PATCH' },
  // Paths that hide behind the words of free ones.
  { path: '/proxy/v1/responses%3f/files' },
  { path: '/proxy/v1/responses;a=/files' },
  { path: '/proxy/v1/responses%3f/input_tokens' },
  { path: '/proxy/v1/files/anything' },
]

for (const asked of unknown)
  test.serial(
    `${asked.method ?? 'POST'} ${asked.path} may cost: it is unpriced, and a budget that lets no such request through refuses it`,
    async (t) => {
      const before = emulator.requests.length
      const refused = await ask(await keyWith('deny'), asked)
      t.is(refused.status, 412, refused.text)
      t.like(JSON.parse(refused.text), { error: { reason: 'unpriced_work' } })
      t.is(emulator.requests.length, before, 'the provider was not asked')
      const allowed = await ask(await keyWith('allow'), asked)
      t.is(allowed.status, 200, allowed.text)
      t.like(await costOf(allowed), { state: 'unpriced', cost_pico_usd: null })
    },
  )

for (const [path, body] of [
  ['/conversations', { agent_id: 'ag_1' }],
  ['/conversations', { agent_id: 'ag_1', inputs: 'hi' }],
  ['/conversations/conv_1', {}],
  ['/conversations/conv_1', { tool_confirmations: [] }],
  ['/conversations/conv_1', { metadata: {}, stream: true }],
] as const)
  test.serial(`a conversation at Mistral runs a model, with or without inputs: ${path} ${JSON.stringify(body)}`, async (t) => {
    t.is((await ask(await keyWith('deny'), { path, body })).status, 412)
    t.like(await costOf(await ask(await keyWith('allow'), { path, body })), { state: 'unpriced', cost_pico_usd: null })
  })

test.serial('work of a known model at an unknown path keeps in a budget what was reserved for it', async (t) => {
  const key = await keyWith('deny')
  const asked = { path: '/proxy/v1/dreams', body: { model: 'gpt-4o', input: 'hi', max_tokens: 16_384 } }
  const first = await ask(key, asked)
  t.like(await costOf(first), { state: 'unpriced', cost_pico_usd: null })
  // 16,384 x 10,000,000 each
  const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await ask(key, asked)).status))
  t.true(statuses.includes(412), 'it was not free')
})

test.serial('work that failed and told no usage costs nothing', async (t) => {
  const stop = emulator.script({ behaviour: { status: 400, body: '{"error":{"message":"no"}}' } })
  const key = await keyWith('allow')
  for (const asked of [{ path: '/proxy/v1/listen' }, { path: '/audio/speech', body: { model: 'tts-1', input: 'hi', voice: 'a' } }])
    t.like(await costOf(await ask(key, asked)), { state: 'not_charged', cost_pico_usd: '0' }, asked.path)
  stop()
})

/** Paths that read, keep, delete or count. */
const free: readonly Asked[] = [
  { path: '/proxy/v1/models', method: 'GET' },
  { path: '/proxy/v1/listen', method: 'GET' },
  { path: '/proxy/v1/responses/resp_1', method: 'DELETE' },
  { path: '/files' },
  { path: '/proxy/v1/files' },
  { path: '/proxy/upload/v1beta/files' },
  { path: '/uploads' },
  { path: '/uploads/upload_1/complete' },
  { path: '/assistants' },
  { path: '/threads', body: {} },
  { path: '/threads/thread_1/messages', body: { role: 'user', content: 'hi' } },
  { path: '/conversations', body: {} },
  { path: '/proxy/v1/conversations', body: { items: [], metadata: {} } },
  { path: '/conversations/conv_1', body: { metadata: {} } },
  { path: '/proxy/v1/messages/count_tokens', body: { model: 'claude-sonnet-4-5', messages: [] } },
  { path: '/proxy/v1/responses/input_tokens', body: { model: 'gpt-5', input: 'hi' } },
  { path: '/proxy/v1beta/models/gemini-2.5-pro:countTokens', body: { contents: [] } },
  { path: '/proxy/model/anthropic.claude-3-haiku-20240307-v1:0/count-tokens', body: { input: {} } },
  { path: '/proxy/v1/tokenize', body: { text: 'hi' } },
  { path: '/proxy/v1/responses/resp_1/cancel', body: {} },
]

for (const asked of free)
  test.serial(
    `${asked.method ?? 'POST'} ${asked.path} costs nothing, and passes a budget that lets only known costs through`,
    async (t) => {
      const answer = await ask(await keyWith('deny'), asked)
      t.is(answer.status, 200, answer.text)
      t.like(await costOf(answer), { state: 'not_charged', cost_pico_usd: '0' })
    },
  )
