import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, Type } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { eventStreamMessage } from '../../../src/gateway/wire/event-stream.ts'
import { json, sse } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, type Received, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** The official clients of OpenAI and Anthropic at Google, Bedrock and Cohere, and Google's at OpenAI, through the data plane. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  const aws = { key: null, fields: { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' } }
  bed = await startGateway({
    providers: {
      google: { provider: 'google', customHost: cloud.url, credential },
      bedrock: { provider: 'bedrock', customHost: cloud.url, credential: aws },
      cohere: { provider: 'cohere', customHost: cloud.url, credential },
      gpt: { provider: 'openai', customHost: cloud.url, credential },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const openai = (provider: string) =>
  new OpenAI({
    baseURL: `${bed.origin}/v1`,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': provider },
  })
const anthropic = (provider: string) =>
  new Anthropic({ baseURL: bed.origin, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: { 'x-service-provider': provider } })

/** Answers with each behaviour in turn, and keeps the requests. */
function answersWith(...behaviours: readonly Behaviour[]): readonly Received[] {
  const asked: Received[] = []
  cloud.script({
    behaviour: (received) => {
      asked.push(received)
      return behaviours[asked.length - 1] ?? {}
    },
  })
  return asked
}

const tools = [
  { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
]
const content = (parts: readonly object[], rest: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }],
})

test.serial("OpenAI's client calls a tool of Gemini over two turns: the signature of the call comes back", async (t) => {
  const counts = { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 3, totalTokenCount: 16 }
  const asked = answersWith(
    sse([
      [null, content([{ text: 'hm', thought: true }])],
      [null, content([{ functionCall: { name: 'weather', args: { city: 'Paris' } }, thoughtSignature: 'c2ln' }])],
      [null, { candidates: [{ finishReason: 'STOP', index: 0 }], usageMetadata: counts }],
    ]),
    json({ ...content([{ text: 'Sun.' }], { finishReason: 'STOP' }), usageMetadata: counts }),
  )
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather in Paris?' }]
  const model = 'gemini-3-pro-preview'
  const stream = openai('@google').chat.completions.stream({
    model,
    messages,
    tools,
    reasoning_effort: 'low',
    stream_options: { include_usage: true },
  })
  const first = await stream.finalChatCompletion()
  const message = first.choices[0]?.message
  const call = message?.tool_calls?.[0]
  t.is(first.choices[0]?.finish_reason ?? '', 'tool_calls')
  t.like(call, { function: { name: 'weather', arguments: '{"city":"Paris"}' } })
  t.like(first.usage, { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 })
  if (message === undefined || call === undefined) return
  const second = await openai('@google').chat.completions.create({
    model,
    tools,
    messages: [...messages, message, { role: 'tool', tool_call_id: call.id, content: 'sunny' }],
  })
  t.is(second.choices[0]?.message.content, 'Sun.')
  t.regex(asked[0]?.url ?? '', /\/models\/gemini-3-pro-preview:streamGenerateContent\?.*alt=sse/)
  t.regex(asked[1]?.url ?? '', /\/models\/gemini-3-pro-preview:generateContent/)
  t.like(asked[0]?.json, { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } } })
  t.like(asked[1]?.json['contents'], {
    1: { role: 'model', parts: { 0: { functionCall: { name: 'weather' }, thoughtSignature: 'c2ln' } } },
    2: { role: 'user', parts: { 0: { functionResponse: { name: 'weather', response: { output: 'sunny' } } } } },
  })
})

const event = (type: string, payload: object) =>
  eventStreamMessage({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, JSON.stringify(payload))
const converse: readonly Buffer[] = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße' } }),
  event('contentBlockStop', { contentBlockIndex: 0 }),
  event('messageStop', { stopReason: 'end_turn' }),
  event('metadata', { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 9, cacheReadInputTokens: 4 } }),
]
const binary = (events: readonly Buffer[], rest: Behaviour = {}): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  bodyBase64: Buffer.concat(events).toString('base64'),
  ...rest,
})
const nova = 'amazon.nova-pro-v1:0'
const hello = { model: nova, max_tokens: 50, messages: [{ role: 'user' as const, content: 'hi' }] }

test.serial(
  "Anthropic's client reads Bedrock's binary stream, whose bytes come in pieces; one that is cut or damaged is no answer",
  async (t) => {
    const damaged = Buffer.concat(converse)
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1)
    const asked = answersWith(binary(converse, { drip: { bytes: 7, everyMs: 0 } }), binary(converse.slice(0, 3)), binary([damaged]))
    const message = await anthropic('@bedrock').messages.stream(hello).finalMessage()
    t.like(message.content[0], { type: 'text', text: 'Grüße' })
    t.like(message.usage, { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 4 })
    t.regex(asked[0]?.url ?? '', /\/model\/[^/]+\/converse-stream$/)
    t.deepEqual(asked[0]?.json, { messages: [{ role: 'user', content: [{ text: 'hi' }] }], inferenceConfig: { maxTokens: 50 } })
    for (let count = 0; count < 2; count += 1) await t.throwsAsync(anthropic('@bedrock').messages.stream(hello).finalMessage())
  },
)

/** Its words for a rate, and not for a request that is too long. */
const tooMany = '{"message":"Too many tokens, please wait before trying again."}'

test.serial('an exception that Bedrock streams first has its status; an answer of Cohere is whole', async (t) => {
  const slow = eventStreamMessage({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, tooMany)
  const answer = { id: 'c0', finish_reason: 'COMPLETE', message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] } }
  const asked = answersWith(binary([slow]), json({ ...answer, usage: { tokens: { input_tokens: 3, output_tokens: 1 } } }))
  const refused = await t.throwsAsync(openai('@bedrock').chat.completions.create({ ...hello, stream: true }), {
    instanceOf: OpenAI.RateLimitError,
  })
  t.regex(refused.message, /Too many tokens/)
  t.not(refused.code, 'context_length_exceeded')
  const { data, response } = await openai('@cohere')
    .chat.completions.create({ ...hello, model: 'command-a-03-2025', logit_bias: { 5: 1 } })
    .withResponse()
  t.is(data.choices[0]?.message.content, 'Hello')
  t.like(data.usage, { prompt_tokens: 3, completion_tokens: 1 })
  t.is(response.headers.get('x-service-dropped-params'), 'logit_bias')
  t.regex(asked[1]?.url ?? '', /\/v2\/chat$/)
})

const piece = (delta: object, finish_reason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o',
  choices: [{ index: 0, delta, finish_reason }],
})
const part = (index: number, rest: object) => piece({ tool_calls: [{ index, ...rest }] })

test.serial("Google's client calls a tool of an OpenAI model in a stream, and gives its result back", async (t) => {
  const asked = answersWith(
    sse([
      [null, part(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":' } })],
      [null, part(0, { function: { arguments: '"Paris"}' } })],
      [null, piece({}, 'tool_calls')],
      [null, '[DONE]'],
    ]),
    sse([
      [null, piece({ content: 'Sun.' })],
      [null, piece({}, 'stop')],
      [null, '[DONE]'],
    ]),
  )
  const google = new GoogleGenAI({
    apiKey: workspaceKey,
    httpOptions: { baseUrl: bed.origin, headers: { 'x-service-provider': '@gpt' } },
  })
  const functionDeclarations = [{ name: 'weather', parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } } } }]
  const chat = google.chats.create({ model: 'gpt-4o', config: { tools: [{ functionDeclarations }] } })
  const calls = []
  for await (const chunk of await chat.sendMessageStream({ message: 'Weather in Paris?' })) calls.push(...(chunk.functionCalls ?? []))
  t.like(calls[0], { id: 'call_1', name: 'weather', args: { city: 'Paris' } })
  const texts = []
  const result = { functionResponse: { id: 'call_1', name: 'weather', response: { output: 'sunny' } } }
  for await (const chunk of await chat.sendMessageStream({ message: [result] })) texts.push(chunk.text)
  t.is(texts.join(''), 'Sun.')
  t.like(asked[1]?.json['messages'], {
    1: { tool_calls: { 0: { id: 'call_1' } } },
    2: { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  })
})
