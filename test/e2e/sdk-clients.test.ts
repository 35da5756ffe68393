import Anthropic from '@anthropic-ai/sdk'
import { ApiError, GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI, { toFile } from 'openai'
import { storeProvider } from '../support/admin.ts'
import { type Emulator, startEmulator } from '../support/emulator/emulator.ts'
import { adminKey, type Gatehouse, startGatehouse, workspaceKey } from '../support/process.ts'

/** The official clients with a base URL and a key, without other settings. */
let emulator: Emulator
let google: Emulator
let gatehouse: Gatehouse

const candidate = { content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP', index: 0 }
const answer = JSON.stringify({ candidates: [candidate], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } })

test.before(async () => {
  ;[emulator, google, gatehouse] = await Promise.all([startEmulator(), startEmulator(), startGatehouse()])
  const json = { status: 200, headers: { 'content-type': 'application/json' } }
  google.script({ behaviour: { ...json, body: answer } })
  google.script({
    path: 'alt=sse',
    behaviour: { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `data: ${answer}\r\n\r\n` },
  })
  google.script({ method: 'GET', path: '/v1beta/models', behaviour: { ...json, body: '{"models":[{"name":"models/gemini-2.5-flash"}]}' } })
  await storeProvider(gatehouse.origin, { slug: 'o', url: emulator.url })
  const stored = await fetch(`${gatehouse.origin}/v1/integrations`, {
    method: 'POST',
    headers: { 'x-service-api-key': adminKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'g',
      ai_provider_id: 'google',
      key: 'AIza-stored-0123456789',
      default_provider_slug: 'g',
      configurations: { custom_host: google.origin },
    }),
  })
  if (!stored.ok) throw new Error(await stored.text())
})
test.after.always(async () => {
  await Promise.all([gatehouse?.stop(), emulator?.stop(), google?.stop()])
})

const genai = (apiKey = workspaceKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gatehouse.origin } })
const openai = () => new OpenAI({ baseURL: `${gatehouse.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
const model = '@g/gemini-2.5-flash'

test.serial('@google/genai: generate, stream, and list models', async (t) => {
  t.is((await genai().models.generateContent({ model, contents: 'hi' })).text, 'hello')
  const sent = google.requests.at(-1)
  t.is(sent?.url, '/v1beta/models/gemini-2.5-flash:generateContent')
  t.is(sent?.headers['x-goog-api-key'], 'AIza-stored-0123456789')
  let text = ''
  for await (const chunk of await genai().models.generateContentStream({ model, contents: 'hi' })) text += chunk.text
  t.is(text, 'hello')
  const names: string[] = []
  for await (const { name } of await genai().models.list({ config: { pageSize: 1 } })) names.push(name ?? '')
  t.true(names.includes(`models/${model}`) && names.includes('models/@o/emulated-model'), names.join(' '))
})

test.serial('@google/genai: an error of ours is one of its own', async (t) => {
  const error = await t.throwsAsync(genai('gh-nobody').models.generateContent({ model, contents: 'hi' }), { instanceOf: ApiError })
  t.is(error.status, 401)
  t.regex(error.message, /UNAUTHENTICATED/)
})

test.serial('openai: models, and a form whose model names the provider', async (t) => {
  const ids: string[] = []
  for await (const { id } of openai().models.list()) ids.push(id)
  t.true(ids.includes('@o/emulated-model') && ids.includes(model), ids.join(' '))
  t.is((await openai().models.retrieve('@o/emulated-model')).id, '@o/emulated-model')
  const file = await toFile(Buffer.alloc(300_000, 'a'), 'a.wav')
  const { text } = await openai().audio.transcriptions.create({ file, model: '@o/whisper-1' })
  t.is(text, '300000 bytes of a.wav')
})

test.serial('anthropic: models in pages, and an error with its type', async (t) => {
  const client = new Anthropic({ baseURL: gatehouse.origin, apiKey: workspaceKey, maxRetries: 0 })
  const ids: string[] = []
  for await (const { id } of client.models.list({ limit: 2 })) ids.push(id)
  t.true(ids.includes('@o/emulated-model') && ids.includes(model), ids.join(' '))
  const error = await t.throwsAsync(client.models.retrieve('@o/none'), { instanceOf: Anthropic.NotFoundError })
  t.is(error.type, 'not_found_error')
})
