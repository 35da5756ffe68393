import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { eventStreamMessage } from '../../../src/gateway/wire/event-stream.ts'
import { json, sse } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Clients of Anthropic's and Google's own formats at clouds that serve these formats at addresses of their own. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  bed = await startGateway({
    providers: {
      bedrock: {
        provider: 'bedrock',
        customHost: cloud.origin,
        credential: { key: null, fields: { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' } },
      },
      vertex: {
        provider: 'vertex-ai',
        customHost: cloud.origin,
        credential: { key: 'ya29.token', fields: { vertex_project_id: 'project', vertex_region: 'europe-west1' } },
      },
      azure: { provider: 'azure-ai', customHost: cloud.origin, credential: { key: 'k', fields: {} } },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const anthropic = (provider: string) =>
  new Anthropic({ baseURL: bed.origin, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: { 'x-service-provider': provider } })
const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const hello = { model, max_tokens: 50, messages: [{ role: 'user' as const, content: 'hi' }] }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Grüße ☀' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
}
const events: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[] = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '☀' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 3 } },
]
const chunk = (event: object) =>
  eventStreamMessage(
    { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
    JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' }),
  )
const binary = (messages: readonly Buffer[]): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  bodyBase64: Buffer.concat(messages).toString('base64'),
  drip: { bytes: 11, everyMs: 0 },
})
const exception = (name: string) => eventStreamMessage({ ':message-type': 'exception', ':exception-type': name }, '{"message":"slow down"}')
const answers = (behaviour: Behaviour) => cloud.script({ behaviour })

test.serial(
  '63: envoy#2512, #2148; portkey#1502: Claude on Bedrock answers Messages whole and as a stream; version and the betas that it knows move into the body',
  async (t) => {
    answers(json(message))
    const { data: whole, response } = await anthropic('@bedrock')
      .beta.messages.create({ ...hello, betas: ['context-1m-2025-08-07', 'other-beta'] })
      .withResponse()
    // Bedrock refuses a request that names an unknown beta.
    t.is(response.headers.get('x-service-dropped-params'), 'anthropic-beta: other-beta')
    t.like(whole.content[0], { text: 'Grüße ☀' })
    const first = cloud.requests.at(-1)
    t.regex(first?.url ?? '', /\/model\/eu\.anthropic\.claude-sonnet-4-5-20250929-v1(?::|%3A)0\/invoke(?:\?beta=true)?$/)
    t.deepEqual(first?.json, {
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 50,
      messages: hello.messages,
      anthropic_beta: ['context-1m-2025-08-07'],
    })
    answers(binary(events.map((event) => chunk(event))))
    const streamed = await anthropic('@bedrock').messages.stream(hello).finalMessage()
    t.deepEqual([streamed.content, streamed.usage.output_tokens], [[{ type: 'text', text: 'Grüße ☀' }], 2])
    const last = cloud.requests.at(-1)
    t.regex(last?.url ?? '', /\/invoke-with-response-stream$/)
    t.false('stream' in (last?.json ?? {}))
  },
)

test.serial('errors of Bedrock have the form of Anthropic: before the stream, within it, and when it is cut or damaged', async (t) => {
  answers(json({ message: 'The model is not there.' }, 404, { 'x-amzn-errortype': 'ResourceNotFoundException' }))
  const gone = await t.throwsAsync(anthropic('@bedrock').messages.create(hello), { instanceOf: Anthropic.NotFoundError })
  t.regex(gone?.message ?? '', /not_found_error.*The model is not there/)
  answers(binary([exception('throttlingException')]))
  await t.throwsAsync(anthropic('@bedrock').messages.stream(hello).finalMessage(), { instanceOf: Anthropic.RateLimitError })
  answers(binary([...events.slice(0, 3).map((event) => chunk(event)), exception('throttlingException')]))
  const late = await t.throwsAsync(anthropic('@bedrock').messages.stream(hello).finalMessage())
  t.regex(late?.message ?? '', /slow down/)
  answers(binary(events.slice(0, 5).map((event) => chunk(event))))
  await t.throwsAsync(anthropic('@bedrock').messages.stream(hello).finalMessage())
  const damaged = Buffer.concat(events.map((event) => chunk(event)))
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1)
  answers(binary([damaged]))
  await t.throwsAsync(anthropic('@bedrock').messages.stream(hello).finalMessage())
})

test.serial('Claude on Azure is asked at its own path', async (t) => {
  answers(json(message))
  await anthropic('@azure').messages.create({ ...hello, model: 'claude-sonnet-4-5' })
  t.regex(cloud.requests.at(-1)?.url ?? '', /\/anthropic\/v1\/messages$/)
})

test.serial('Azure serves Claude by Anthropic’s API and all other models by its own, whatever the client speaks', async (t) => {
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const openai = new OpenAI({
    baseURL: `${bed.origin}/v1`,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': '@azure' },
  })
  answers(json(message))
  const claude = await openai.chat.completions.create({ model: 'claude-sonnet-4-5', messages })
  t.is(claude.choices[0]?.message.content, 'Grüße ☀')
  t.like(cloud.requests.at(-1), { url: '/anthropic/v1/messages', headers: { 'anthropic-version': '2023-06-01', 'api-key': 'k' } })
  const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }
  answers(json({ id: 'c1', object: 'chat.completion', created: 5, model: 'm', choices: [choice] }))
  const other = await anthropic('@azure').messages.create({ ...hello, model: 'Llama-3.3-70B-Instruct' })
  t.like(other.content[0], { type: 'text', text: 'Hello' })
  t.is(cloud.requests.at(-1)?.url, '/chat/completions?api-version=2024-05-01-preview')
})

const google = () => new GoogleGenAI({ apiKey: workspaceKey, httpOptions: { baseUrl: bed.origin } })
const said = (text: string, rest: object = {}) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...rest }] })

test.serial("Google's own client reaches Gemini on Vertex AI with nothing but a base URL, whole and as a stream", async (t) => {
  const place = '/v1/projects/project/locations/europe-west1/publishers/google/models/gemini-2.5-flash'
  answers(json(said('Hello', { finishReason: 'STOP' })))
  const whole = await google().models.generateContent({ model: '@vertex/gemini-2.5-flash', contents: 'hi', config: { maxOutputTokens: 5 } })
  t.is(whole.text, 'Hello')
  const first = cloud.requests.at(-1)
  t.is(first?.url, `${place}:generateContent`)
  t.is(first?.headers.authorization, 'Bearer ya29.token')
  t.false(JSON.stringify(first?.headers).includes(workspaceKey))
  answers(
    sse([
      [null, said('Hel')],
      [null, said('lo', { finishReason: 'STOP' })],
    ]),
  )
  let text = ''
  for await (const part of await google().models.generateContentStream({ model: '@vertex/gemini-2.5-flash', contents: 'hi' }))
    text += part.text ?? ''
  t.is(text, 'Hello')
  t.is(cloud.requests.at(-1)?.url, `${place}:streamGenerateContent?alt=sse`)
})
