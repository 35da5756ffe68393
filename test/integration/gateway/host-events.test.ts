import Anthropic from '@anthropic-ai/sdk'
import test from 'ava'
import OpenAI from 'openai'
import { eventStreamMessage } from '../../../src/gateway/wire/event-stream.ts'
import { json, sse } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

/** Events that only one host of a vendor's models adds do not reach that vendor's clients. */
let cloud: Emulator
let bed: GatewayBed
const key = (fields: Record<string, string>) => ({ key: 'sk-upstream', fields })
const aws = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }

test.before(async () => {
  cloud = await startEmulator()
  bed = await startGateway({
    providers: {
      vertex: {
        provider: 'vertex-ai',
        customHost: cloud.origin,
        credential: key({ vertex_project_id: 'project', vertex_region: 'us-east5' }),
      },
      bedrock: { provider: 'bedrock', customHost: cloud.origin, credential: { key: null, fields: aws } },
      foundry: { provider: 'azure-ai', customHost: cloud.origin, credential: key({}) },
      azure: {
        provider: 'azure-openai',
        customHost: `${cloud.origin}/openai`,
        credential: key({ azure_resource_name: 'r', azure_deployment_name: 'd' }),
      },
      github: { provider: 'github', customHost: cloud.origin, credential: key({}) },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const start = { id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [], usage: { input_tokens: 3, output_tokens: 1 } }
const own = [
  { type: 'message_start', message: start },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Sun.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
]
/** The events that hosts add, before, between and behind. */
const added = [
  { type: 'vertex_event', usage: {} },
  { type: 'amazon-bedrock-guardrailAssessment', more: 1 },
  { type: 'content_filter_results' },
]
const mixed = [...added, ...own.flatMap((event, at) => [event, ...added.slice(at % 2)])]
const events = sse(mixed.map((event) => [event.type, event]))
const framed: Behaviour = {
  status: 200,
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  bodyBase64: Buffer.concat(
    mixed.map((event) =>
      eventStreamMessage(
        { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
        JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') }),
      ),
    ),
  ).toString('base64'),
}

const hosts: Readonly<Record<string, readonly [model: string, answer: Behaviour]>> = {
  vertex: ['anthropic.claude-sonnet-4-5', events],
  bedrock: ['anthropic.claude-sonnet-4-5-20250929-v1:0', framed],
  foundry: ['claude-sonnet-4-5', events],
}
const ask = (provider: string, path: string, body: object) =>
  send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': `@${provider}` },
    body: JSON.stringify(body),
  })

for (const [provider, [model, answer]] of Object.entries(hosts))
  for (const [way, change] of Object.entries({ 'at once': {}, 'in pieces': { drip: { bytes: 11, everyMs: 0 } } }))
    test.serial(`Claude at ${provider}, ${way}: its client gets the events of Anthropic alone`, async (t) => {
      cloud.script({ behaviour: { ...answer, ...change } })
      const body = { model, max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hi' }] }
      const { text } = await ask(provider, '/v1/messages', { ...body, stream: true })
      t.deepEqual(
        [...text.matchAll(/^event: ?(.*)$/gm)].map(([, name]) => name),
        own.map(({ type }) => type),
      )
      const client = new Anthropic({
        baseURL: bed.origin,
        apiKey: workspaceKey,
        maxRetries: 0,
        defaultHeaders: { 'x-service-provider': `@${provider}` },
      })
      const message = await client.messages.stream(body).finalMessage()
      t.like(message, { stop_reason: 'end_turn', content: { 0: { text: 'Sun.' } } })
    })

const chunk = (choices: readonly object[], rest: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices,
  ...rest,
})
const filters = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }] }
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const chats = sse([
  [null, { id: '', object: '', created: 0, model: '', choices: [], ...filters }],
  [null, chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])],
  [null, chunk([{ index: 0, delta: { content: 'prompt_filter_results' }, finish_reason: null }])],
  [null, chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])],
  [null, chunk([], { ...filters, usage })],
  [null, '[DONE]'],
])

for (const provider of ['azure', 'foundry', 'github'])
  test.serial(`OpenAI's models at ${provider}: each chunk has a choice or the usage`, async (t) => {
    cloud.script({ behaviour: chats })
    const client = new OpenAI({
      baseURL: `${bed.origin}/v1`,
      apiKey: workspaceKey,
      maxRetries: 0,
      defaultHeaders: { 'x-service-provider': `@${provider}` },
    })
    const chunks = await Array.fromAsync(
      await client.chat.completions.create({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    )
    t.is(chunks.length, 4)
    t.true(chunks.every((one) => one.choices.length > 0 || one.usage?.total_tokens === 2))
    t.is(chunks.map((one) => one.choices[0]?.delta.content ?? '').join(''), 'prompt_filter_results')
  })

test.serial('what is no stream stays as it came', async (t) => {
  const given = json({ ...chunk([{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]), ...filters })
  cloud.script({ behaviour: given })
  const { text } = await ask('azure', '/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  t.is(text, given.body ?? '')
})
