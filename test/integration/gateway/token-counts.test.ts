import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** OpenAI's, Anthropic's and Google's own clients count tokens for models of every provider: by its own counter, or by an estimate. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  const at = (provider: string, fields: Record<string, string> = {}) => ({
    provider,
    customHost: cloud.origin,
    credential: { ...credential, fields },
  })
  bed = await startGateway({
    providers: {
      claude: at('anthropic'),
      gpt: at('openai'),
      gemini: at('google'),
      vertex: at('vertex-ai', { vertex_project_id: 'project', vertex_region: 'us-east5' }),
      bedrock: at('bedrock', { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }),
      groq: at('groq'),
      azure: at('azure-openai', { azure_resource_name: 'resource', azure_deployment_name: 'gpt-5', azure_api_version: '2025-04-01' }),
      cohere: at('cohere'),
    },
  })
  cloud.script({
    behaviour: (received) => json(counts.find(([path]) => received.url.includes(path))?.[1] ?? { error: { message: received.url } }, 200),
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})

const counts: readonly (readonly [path: string, answer: object])[] = [
  ['/responses/input_tokens', { object: 'response.input_tokens', input_tokens: 11 }],
  [
    '/responses/compact',
    { id: 'resp_1', object: 'response.compaction', created_at: 1, output: [], usage: { input_tokens: 21, output_tokens: 4 } },
  ],
  ['/count_tokens', { input_tokens: 12 }],
  ['count-tokens:rawPredict', { input_tokens: 13 }],
  [':countTokens', { totalTokens: 14 }],
  ['/count-tokens', { inputTokens: 15 }],
]
const anthropic = () => new Anthropic({ baseURL: bed.origin, apiKey: workspaceKey, maxRetries: 0 })
const google = () => new GoogleGenAI({ apiKey: workspaceKey, httpOptions: { baseUrl: bed.origin } })
const messages = [{ role: 'user' as const, content: 'How many tokens are these words?' }]
const asked = { system: 'Be brief.', messages, tools: [{ name: 'f', input_schema: { type: 'object' as const } }] }

const nativeCounters: readonly (readonly [model: string, path: RegExp, body: object, tokens: number])[] = [
  ['@claude/claude-sonnet-4-5', /\/messages\/count_tokens$/, { model: 'claude-sonnet-4-5', system: 'Be brief.' }, 12],
  ['@gpt/gpt-5', /\/responses\/input_tokens$/, { model: 'gpt-5', instructions: 'Be brief.', store: undefined, include: undefined }, 11],
  ['@gemini/gemini-2.5-flash', /\/gemini-2\.5-flash:countTokens$/, { generateContentRequest: { model: 'models/gemini-2.5-flash' } }, 14],
  ['@vertex/claude-sonnet-4-5', /\/count-tokens:rawPredict$/, { model: 'claude-sonnet-4-5', messages }, 13],
  [
    '@vertex/gemini-2.5-flash',
    /\/gemini-2\.5-flash:countTokens$/,
    { contents: [{ role: 'user', parts: [{ text: messages[0]?.content }] }] },
    14,
  ],
  [
    '@bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    /\/model\/anthropic\.claude[^/]+\/count-tokens$/,
    { input: { converse: { system: [{ text: 'Be brief.' }] } } },
    15,
  ],
]
for (const [model, path, body, tokens] of nativeCounters)
  // 66: portkey#1436, Bedrock's counter has model names without the region in front of them.
  test.serial(`Messages count by the counter of ${model}`, async (t) => {
    const counted = await anthropic().messages.countTokens({ model, ...asked })
    t.deepEqual({ ...counted }, { input_tokens: tokens })
    const last = cloud.requests.at(-1)
    t.regex(last?.url.split('?')[0] ?? '', path)
    t.like(last?.json, body)
  })

for (const model of ['@claude/claude-sonnet-4-5', '@vertex/claude-sonnet-4-5'])
  test.serial(`Claude counts no reasoning that another model gave: ${model}`, async (t) => {
    const foreign = { type: 'thinking' as const, thinking: 'hm', signature: 'gh1:google:c2ln' }
    const said = [...messages, { role: 'assistant' as const, content: [foreign, { type: 'text' as const, text: 'yes' }] }, ...messages]
    await anthropic().messages.countTokens({ model, messages: said })
    t.like(cloud.requests.at(-1)?.json, { messages: { 1: { content: [{ type: 'text', text: 'yes' }] } } })
  })

for (const model of ['@groq/llama-3.3-70b-versatile', '@cohere/command-a', '@azure/gpt-5'])
  test.serial(`where ${model} has no counter, the count is an estimate, and says so`, async (t) => {
    const before = cloud.requests.length
    const counted = await anthropic().messages.countTokens({ model, ...asked })
    t.true(Reflect.get(counted, 'estimated'))
    t.true(counted.input_tokens > 10 && counted.input_tokens < 40, String(counted.input_tokens))
    const again = await fetch(`${bed.origin}/v1beta/models/${model}:countTokens`, {
      method: 'POST',
      headers: { 'x-goog-api-key': workspaceKey, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ parts: [{ text: messages[0]?.content }] }] }),
    })
    t.like(await again.json(), { estimated: true })
    t.is(cloud.requests.length, before)
  })

test.serial("Google's client counts for models of others", async (t) => {
  for (const [model, tokens] of [
    ['@gpt/gpt-5', 11],
    ['@claude/claude-sonnet-4-5', 12],
    ['@vertex/gemini-2.5-flash', 14],
    ['@gemini/gemini-2.5-flash', 14],
  ] as const)
    t.is((await google().models.countTokens({ model, contents: 'hi' })).totalTokens, tokens, model)
})

const openai = () => new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
for (const [model, tokens, body] of [
  ['@gpt/gpt-5', 11, { model: 'gpt-5', input: 'hi', instructions: 'Be brief.' }],
  ['@claude/claude-sonnet-4-5', 12, { system: 'Be brief.', messages: [{ role: 'user', content: 'hi' }] }],
  ['@gemini/gemini-2.5-flash', 14, { generateContentRequest: { systemInstruction: { parts: [{ text: 'Be brief.' }] } } }],
] as const)
  test.serial(`the tokens of a response are counted by the counter of ${model}`, async (t) => {
    const counted = await openai().responses.inputTokens.count({ model, input: 'hi', instructions: 'Be brief.' })
    t.deepEqual({ ...counted }, { object: 'response.input_tokens', input_tokens: tokens })
    t.like(cloud.requests.at(-1)?.json, body)
  })

test.serial('the tokens of a response are estimated where nobody counts', async (t) => {
  const before = cloud.requests.length
  const counted = await openai().responses.inputTokens.count({ model: '@groq/llama-3.3-70b-versatile', input: 'How many are these?' })
  t.like(counted, { object: 'response.input_tokens', estimated: true })
  t.true(counted.input_tokens > 3 && counted.input_tokens < 30, String(counted.input_tokens))
  t.is(cloud.requests.length, before)
})

for (const [model, input] of [
  ['@groq/llama-3.3-70b-versatile', { role: 'user', content: 'How many are these?' }],
  ['@gpt/gpt-5', 7],
] as const)
  test.serial(`a prompt that is neither a text nor a list is refused, and not counted as nothing: ${model}`, async (t) => {
    const before = cloud.requests.length
    const answer = await fetch(`${bed.origin}/v1/responses/input_tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspaceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input }),
    })
    t.is(answer.status, 400)
    const { error } = (await answer.json()) as { error: { param: string; message: string } }
    t.is(error.param, 'input')
    t.regex(error.message, /^input: expected a string or a list\. Got /)
    t.is(cloud.requests.length, before, 'nobody was asked')
  })

test.serial('a compaction runs a model, whose tokens were used; who has no responses is a 400', async (t) => {
  const [logged, made] = [bed.nextLog(), openai().responses.compact({ model: '@gpt/gpt-5', input: 'hi' })]
  t.is((await made).object, 'response.compaction')
  const { record } = await logged
  t.is(record.operation, 'compactResponse')
  t.like(record.usage, { inputTokens: 21, outputTokens: 4 })
  const error = await t.throwsAsync(openai().responses.compact({ model: '@gemini/gemini-2.5-flash', input: 'hi' }), {
    instanceOf: OpenAI.BadRequestError,
  })
  t.regex(error.message, /google does not serve \/responses\/compact.*These do: openai, azure-openai\./)
})

test.serial('64: envoy#2546, an error of the counter comes in the format of the client', async (t) => {
  cloud.script({ behaviour: json({ error: { code: 404, message: 'No such model.', status: 'NOT_FOUND' } }, 404) })
  const error = await t.throwsAsync(anthropic().messages.countTokens({ model: '@gemini/gemini-9', ...asked }), {
    instanceOf: Anthropic.NotFoundError,
  })
  t.regex(error?.message ?? '', /No such model/)
})
