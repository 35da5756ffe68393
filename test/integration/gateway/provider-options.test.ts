import test from 'ava'
import { json } from '../../support/dialects/strict.ts'
import { refusalOfOllama } from '../../support/dialects/strict-ollama.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Fields of providers' own reach the provider for which they are, and no other, also in untranslated requests. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const at = (provider: string, base: string) => ({
    provider,
    customHost: cloud.origin + base,
    credential: { key: 'sk-upstream', fields: {} },
  })
  bed = await startGateway({
    providers: {
      together: at('together-ai', '/v1'),
      claude: at('anthropic', '/v1'),
      own: at('openai', '/v1'),
      local: at('ollama', '/behind/a/proxy/v1'),
      azure: at('azure-openai', '/openai'),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const messages = [{ role: 'user', content: 'hi' }]
const ask = (path: string, provider: string, body: object) =>
  fetch(`${bed.origin}/v1${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': provider, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages, ...body }),
  })
const options = { openai: { reasoning: { exclude: true } }, anthropic: { inference_geo: 'eu' } }

test.serial('a provider of the caller’s own format gets its fields in their place, and nothing of the others', async (t) => {
  await ask('/chat/completions', '@together', { provider_options: options })
  await ask('/messages', '@claude', { max_tokens: 5, provider_options: options })
  t.deepEqual(
    cloud.requests.map(({ json: body }) => body),
    [
      { model: 'm', messages, reasoning: { exclude: true } },
      { model: 'm', messages, max_tokens: 5, inference_geo: 'eu' },
    ],
  )
})

test.serial('what the request itself says cannot be said there', async (t) => {
  const response = await ask('/chat/completions', '@together', { provider_options: { openai: { model: 'dearer' } } })
  t.is(response.status, 400)
  t.like(await response.json(), { error: { param: 'provider_options.openai.model' } })
  t.is(cloud.requests.length, 0)
})

test.serial('a host of one’s own that speaks as OpenAI does gets a request as it is: it may be a gateway that knows them', async (t) => {
  await ask('/chat/completions', '@own', { provider_options: options })
  t.deepEqual(cloud.requests[0]?.json, { model: 'm', messages, provider_options: options })
})

test.serial("Ollama gets OpenAI's chats as they are, and by its own API those that hold fields of it", async (t) => {
  const answer = { message: { role: 'assistant', content: 'Hi.' }, done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 2 }
  cloud.script({
    path: '/behind/a/proxy/api/chat',
    behaviour: (received) => {
      const refusal = refusalOfOllama(received)
      return refusal === null ? json({ model: 'm', created_at: '2026-11-23T10:00:00Z', ...answer }) : json({ error: refusal }, 400)
    },
  })
  await ask('/chat/completions', '@local', { temperature: 0.5 })
  const entry = bed.nextLog()
  const response = await ask('/chat/completions', '@local', {
    temperature: 0.5,
    provider_options: { ollama: { keep_alive: '5m', options: { num_ctx: 8192 } } },
  })
  t.like(await response.json(), {
    object: 'chat.completion',
    choices: { 0: { message: { content: 'Hi.' }, finish_reason: 'stop' } },
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  })
  t.like((await entry).record.usage, { inputTokens: 3, outputTokens: 2 })
  t.deepEqual(
    cloud.requests.map(({ url, json: body }) => [url, body]),
    [
      ['/behind/a/proxy/v1/chat/completions', { model: 'm', messages, temperature: 0.5 }],
      ['/behind/a/proxy/api/chat', { model: 'm', messages, keep_alive: '5m', options: { temperature: 0.5, num_ctx: 8192 }, stream: false }],
    ],
  )
})

test.serial('the version of a cloud’s API stays in the address of a request that was edited, with what the caller adds', async (t) => {
  const history = [...messages, { role: 'assistant', content: 'Hi.', reasoning_content: 'hm' }, { role: 'user', content: 'go on' }]
  await ask('/chat/completions?more={azure_api_version}', '@azure', { messages: history })
  await ask('/chat/completions', '@azure', { provider_options: options })
  t.deepEqual(
    cloud.requests.map(({ url }) => url),
    [
      '/openai/deployments/m/chat/completions?api-version=2024-10-21&more=%7Bazure_api_version}',
      '/openai/deployments/m/chat/completions?api-version=2024-10-21',
    ],
  )
  t.deepEqual(cloud.requests[0]?.json, { model: 'm', messages: [messages[0], { role: 'assistant', content: 'Hi.' }, history[2]] })
})
