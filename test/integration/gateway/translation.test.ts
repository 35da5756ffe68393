import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { json, sse, strictly } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Official clients of one format at a provider of another, through the data plane; the providers refuse the same requests as the real ones. */
let claude: Emulator
let gpt: Emulator
let bed: GatewayBed

test.before(async () => {
  ;[claude, gpt] = await Promise.all([startEmulator(), startEmulator()])
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: {
      claude: { provider: 'anthropic', customHost: claude.url, credential },
      gpt: { provider: 'openai', customHost: gpt.url, credential },
      vertex: {
        provider: 'vertex-ai',
        customHost: claude.origin,
        credential: { key: 'ya29.token', fields: { vertex_project_id: 'project', vertex_region: 'europe-west1' } },
      },
      gemini: { provider: 'google', customHost: gpt.origin, credential },
      google: { provider: 'bedrock', credential: { key: null, fields: { aws_access_key_id: 'a', aws_secret_access_key: 'b' } } },
    },
    configs: {
      'to-gpt': {
        strategy: { mode: 'fallback' },
        targets: [{ provider: '@claude' }, { provider: '@gpt', override_params: { model: 'gpt-4o' } }],
      },
    },
    guardrails: {
      words: {
        checks: [{ id: 'default.regexReplace', parameters: { rule: 'Paris', redactText: 'P.' } }],
        actions: {},
      },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await Promise.all([claude?.stop(), gpt?.stop()])
})
test.beforeEach(() => {
  claude.reset()
  gpt.reset()
})

const openai = (headers: Record<string, string> = {}, provider: string | null = '@claude') =>
  new OpenAI({
    baseURL: `${bed.origin}/v1`,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { ...(provider !== null && { 'x-service-provider': provider }), ...headers },
  })
const anthropic = (headers: Record<string, string> = {}) =>
  new Anthropic({ baseURL: bed.origin, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: { 'x-service-provider': '@gpt', ...headers } })

const answersAs = (emulator: Emulator, api: 'anthropic' | 'openai', ...behaviours: readonly Behaviour[]) => {
  let count = 0
  emulator.script({ behaviour: (received) => strictly(api, received, behaviours[Math.min(count++, behaviours.length - 1)] ?? {}) })
}

const usage = { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 1, output_tokens: 7 }
const message = (content: readonly object[], stop = 'end_turn') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage,
})
const text = (said: string) => ({ type: 'text', text: said })
const events = (list: readonly { readonly type: string; readonly [field: string]: unknown }[]) =>
  list.map((event) => [event.type, event] as const)
const claudeStream = events([
  { type: 'message_start', message: { ...message([]), stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig-1' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: text('') },
  { type: 'ping' },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'In Par' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'is ☀' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"Paris"}' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'toolu_2', name: 'time', input: {} } },
  { type: 'content_block_stop', index: 3 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
])
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 5,
  model: 'gpt-4o',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const counted = { prompt_tokens: 15, completion_tokens: 7, total_tokens: 22, prompt_tokens_details: { cached_tokens: 4 } }
const gptStream = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Look' }),
  chunk({ content: 'ing' }),
  chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Rome"}' } }] }),
  chunk({}, 'tool_calls'),
  { ...chunk({}), choices: [], usage: counted },
].map((data) => [null, data] as const)

const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
  { type: 'function', function: { name: 'time' } },
]

test.serial('openai at Anthropic: a stream with reasoning, text and parallel tools, then a second turn made of the answer', async (t) => {
  answersAs(claude, 'anthropic', sse(claudeStream), json(message([text('Sunny.')])))
  const log = bed.nextLog()
  const asked: OpenAI.ChatCompletionCreateParamsStreaming = {
    model: 'claude-sonnet-4-5',
    max_completion_tokens: 4000,
    reasoning_effort: 'low',
    seed: 5,
    tools,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Weather in Paris?' },
    ],
  }
  const runner = openai().chat.completions.stream(asked)
  const final = await runner.finalChatCompletion()
  const [choice] = final.choices
  t.is(choice?.finish_reason, 'tool_calls')
  t.is(choice?.message.content, 'In Paris ☀')
  t.deepEqual(
    choice?.message.tool_calls?.map((call) => (call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [])),
    [
      ['toolu_1', 'weather', '{"city":"Paris"}'],
      ['toolu_2', 'time', '{}'],
    ],
  )
  t.like(final.usage, { prompt_tokens: 15, completion_tokens: 9, total_tokens: 24, prompt_tokens_details: { cached_tokens: 4 } })
  const sent = claude.requests[0]
  t.is(sent?.url, '/v1/messages')
  t.is(sent?.headers['x-api-key'], 'sk-upstream')
  t.is(sent?.headers['anthropic-version'], '2023-06-01')
  const { record } = await log
  t.like(record, { status: 200, outcome: 'complete', stream: true })
  t.like(record.usage, { inputTokens: 15, outputTokens: 9, cacheReadTokens: 4 })
  const second = await openai().chat.completions.create({
    ...asked,
    stream: false,
    stream_options: null,
    messages: [
      ...asked.messages,
      {
        ...choice?.message,
        thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 'sig-1' }],
      } as OpenAI.ChatCompletionMessageParam,
      { role: 'tool', tool_call_id: 'toolu_2', content: 'noon' },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'sun' },
    ],
  })
  t.is(second.choices[0]?.message.content, 'Sunny.')
  t.like(claude.requests[1]?.json, {
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: { 1: { content: { 0: { signature: 'sig-1' } } } },
  })
})

test.serial('what was dropped is named in a header, and refused when nothing may be dropped', async (t) => {
  answersAs(claude, 'anthropic', json(message([text('Hello')])))
  const asked = {
    model: 'claude-sonnet-4-5',
    seed: 5,
    temperature: 1.5,
    max_tokens: 5,
    messages: [{ role: 'user' as const, content: 'hi' }],
  }
  const { response } = await openai().chat.completions.create(asked).withResponse()
  t.is(response.headers.get('x-service-dropped-params'), 'seed, temperature')
  const refused = await t.throwsAsync(openai({ 'x-service-strict-translation': 'true' }).chat.completions.create(asked), {
    instanceOf: OpenAI.BadRequestError,
  })
  t.is(refused.param, 'seed')
  const several = await t.throwsAsync(openai().chat.completions.create({ ...asked, n: 2 }), { instanceOf: OpenAI.BadRequestError })
  t.is(several.param, 'n')
  t.is(claude.requests.length, 1)
})

test.serial('anthropic at OpenAI: a stream, and a second turn made of the answer', async (t) => {
  answersAs(
    gpt,
    'openai',
    sse([...gptStream, [null, '[DONE]']]),
    json({
      ...chunk({}),
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Rain.', refusal: null }, finish_reason: 'stop' }],
      usage: counted,
    }),
  )
  const asked = {
    model: 'gpt-4o',
    max_tokens: 100,
    system: 'Be short.',
    tools: [{ name: 'weather', input_schema: { type: 'object' as const, properties: {} } }],
    messages: [{ role: 'user' as const, content: 'Rome?' }],
  }
  const final = await anthropic().messages.stream(asked).finalMessage()
  t.is(final.stop_reason, 'tool_use')
  t.like(final.content, {
    0: { type: 'text', text: 'Looking' },
    1: { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rome' } },
  })
  t.like(final.usage, { input_tokens: 11, cache_read_input_tokens: 4, output_tokens: 7 })
  const second = await anthropic().messages.create({
    ...asked,
    messages: [
      ...asked.messages,
      { role: 'assistant', content: final.content as Anthropic.ContentBlockParam[] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'rain' }] },
          { type: 'text', text: 'so?' },
        ],
      },
    ],
  })
  t.like(second.content[0], { type: 'text', text: 'Rain.' })
  t.is(second.stop_reason, 'end_turn')
  t.is(gpt.requests[1]?.url, '/v1/chat/completions')
})

test.serial('responses at Anthropic: a stream as Codex reads it, and a second turn made of its output', async (t) => {
  answersAs(claude, 'anthropic', sse(claudeStream), json(message([text('Sunny.')], 'max_tokens')))
  const asked = {
    model: 'claude-sonnet-4-5',
    instructions: 'Be short.',
    max_output_tokens: 4000,
    reasoning: { effort: 'low' as const, summary: 'auto' as const },
    include: ['reasoning.encrypted_content' as const],
    store: false,
    tools: [
      { type: 'function' as const, name: 'weather', strict: false, parameters: { type: 'object', properties: {} } },
      { type: 'function' as const, name: 'time', strict: null, parameters: null },
    ],
  }
  const stream = openai().responses.stream({ ...asked, input: 'Weather in Paris?' })
  const seen: string[] = []
  let sequence = 0
  for await (const event of stream) {
    t.is(event.sequence_number, sequence)
    sequence += 1
    if (seen.at(-1) !== event.type) seen.push(event.type)
  }
  t.deepEqual(seen.slice(0, 4), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.reasoning_summary_part.added',
  ])
  t.is(seen.at(-1), 'response.completed')
  const final = await stream.finalResponse()
  t.is(final.output_text, 'In Paris ☀')
  t.deepEqual(
    final.output.map(({ type }) => type),
    ['reasoning', 'message', 'function_call', 'function_call'],
  )
  t.like(final.usage, { input_tokens: 15, output_tokens: 9, total_tokens: 24 })
  t.is(final.instructions, 'Be short.')
  const calls = final.output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))
  const second = await openai().responses.create({
    ...asked,
    input: [
      { role: 'user', content: 'Weather in Paris?' },
      ...(final.output as OpenAI.Responses.ResponseInputItem[]),
      ...calls.map((call_id) => ({ type: 'function_call_output' as const, call_id, output: 'sun' })),
    ],
  })
  t.is(second.output_text, 'Sunny.')
  t.is(second.status, 'incomplete')
  t.like(claude.requests[1]?.json, {
    system: 'Be short.',
    messages: { 1: { content: { 0: { type: 'thinking', thinking: 'hm', signature: 'sig-1' } } } },
  })
  const stateful = openai().responses.create({ model: 'm', input: 'x', previous_response_id: 'resp_1' })
  const unknown = await t.throwsAsync(stateful, { instanceOf: OpenAI.BadRequestError })
  t.is(unknown.param, 'previous_response_id')
  t.regex(unknown.message, /Previous response with id 'resp_1' not found/)
  t.notRegex(unknown.message, /translated/)
})

test.serial('Google at OpenAI and at Anthropic: whole, as a stream of events, and as an array that comes in pieces', async (t) => {
  answersAs(
    gpt,
    'openai',
    json({
      ...chunk({}),
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Rain.' }, finish_reason: 'stop' }],
      usage: counted,
    }),
  )
  answersAs(claude, 'anthropic', sse(claudeStream))
  const genai = new GoogleGenAI({ apiKey: workspaceKey, httpOptions: { baseUrl: bed.origin } })
  const whole = await genai.models.generateContent({ model: '@gpt/gpt-4o', contents: 'Rome?', config: { maxOutputTokens: 50 } })
  t.is(whole.text, 'Rain.')
  t.is(whole.usageMetadata?.promptTokenCount, 15)
  t.like(gpt.requests[0]?.json, { model: 'gpt-4o', max_completion_tokens: 50 })
  let said = ''
  const names: (string | undefined)[] = []
  for await (const part of await genai.models.generateContentStream({ model: '@claude/claude-sonnet-4-5', contents: 'Paris?' })) {
    said += part.text ?? ''
    names.push(...(part.functionCalls ?? []).map(({ name }) => name))
  }
  t.is(said, 'In Paris ☀')
  t.deepEqual(names, ['weather', 'time'])
  const answer = await fetch(`${bed.origin}/v1beta/models/@claude/claude-sonnet-4-5:streamGenerateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [{ parts: [{ text: 'Paris?' }] }] }),
  })
  const pieces = (await answer.json()) as readonly object[]
  t.true(pieces.length > 2)
  t.like(pieces.at(-1), { candidates: { 0: { finishReason: 'STOP' } } })
})

test.serial('openai and anthropic at Google', async (t) => {
  const said = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Sunny.' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 4, totalTokenCount: 9 },
    modelVersion: 'gemini-2.5-pro',
    responseId: 'r1',
  }
  gpt.script({ path: ':generateContent', behaviour: json(said) })
  gpt.script({ path: ':streamGenerateContent?alt=sse', behaviour: sse([[null, said]]) })
  const messages = [{ role: 'user' as const, content: 'Paris?' }]
  const whole = await openai({}, '@gemini').chat.completions.create({ model: 'gemini-2.5-pro', messages })
  t.is(whole.choices[0]?.message.content, 'Sunny.')
  t.like(whole.usage, { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 })
  t.like(gpt.requests[0], { json: { contents: { 0: { role: 'user' } } } })
  t.is(gpt.requests[0]?.url, '/v1beta/models/gemini-2.5-pro:generateContent')
  t.is(gpt.requests[0]?.headers['x-goog-api-key'], 'sk-upstream')
  const final = await anthropic({ 'x-service-provider': '@gemini' })
    .messages.stream({ model: 'gemini-2.5-pro', max_tokens: 50, messages })
    .finalMessage()
  t.like(final.content[0], { type: 'text', text: 'Sunny.' })
})

test.serial('Anthropic at Vertex AI: the same format at another address, whole and as a stream; and chat completions there', async (t) => {
  claude.script({ path: ':rawPredict', behaviour: json(message([text('Sunny.')])) })
  claude.script({ path: ':streamRawPredict', behaviour: sse(claudeStream) })
  const client = anthropic({ 'x-service-provider': '@vertex' })
  const asked = { model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user' as const, content: 'Paris?' }] }
  t.like((await client.messages.create(asked)).content[0], { text: 'Sunny.' })
  t.is((await client.messages.stream(asked).finalMessage()).stop_reason, 'tool_use')
  const chat = await openai({}, '@vertex').chat.completions.create({ ...asked, max_tokens: 5 })
  t.is(chat.choices[0]?.message.content, 'Sunny.')
  for (const { url, json: sent, headers } of claude.requests) {
    t.regex(
      url,
      /\/projects\/project\/locations\/europe-west1\/publishers\/anthropic\/models\/claude-sonnet-4-5:(?:rawPredict|streamRawPredict)$/,
    )
    t.is(sent['anthropic_version'], 'vertex-2023-10-16')
    t.false('model' in sent)
    t.is(headers.authorization, 'Bearer ya29.token')
  }
})

test.serial('errors keep status, message and code in the format of the client', async (t) => {
  answersAs(
    claude,
    'anthropic',
    json({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }, 429, {
      'retry-after': '3',
      'anthropic-ratelimit-requests-remaining': '0',
    }),
  )
  const limited = await t.throwsAsync(openai().chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }), {
    instanceOf: OpenAI.RateLimitError,
  })
  t.regex(limited.message, /Slow down\./)
  t.is(limited.headers?.get('retry-after'), '3')
  t.is(limited.headers?.get('x-ratelimit-remaining-requests'), '0')
  answersAs(
    gpt,
    'openai',
    json({ error: { message: 'No such model.', type: 'invalid_request_error', code: 'model_not_found', param: 'model' } }, 404),
  )
  const missing = await t.throwsAsync(
    anthropic().messages.create({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }),
    { instanceOf: Anthropic.NotFoundError },
  )
  t.is(missing.type, 'not_found_error')
})

const askStream = () => openai().chat.completions.create({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })

test.serial('envoy#2698: a stream that begins with an error is answered with its status; a later error is one in the stream', async (t) => {
  const overloaded = ['error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }] as const
  answersAs(claude, 'anthropic', sse([claudeStream[0] ?? overloaded, overloaded]), sse([...claudeStream.slice(0, 8), overloaded]))
  t.is((await t.throwsAsync(askStream(), { instanceOf: OpenAI.APIError })).status, 503)
  const stream = await askStream()
  await t.throwsAsync(
    async () => {
      for await (const _ of stream) void _
    },
    { instanceOf: OpenAI.APIError, message: /Overloaded/ },
  )
})

test.serial('vercel#19169: a stream that is cut at any byte never ends like a whole one', async (t) => {
  const whole = sse(claudeStream)
  const length = Buffer.byteLength(whole.body ?? '')
  const cuts = Array.from({ length: 24 }, (_, index) => Math.floor(((index + 1) * (length - 3)) / 25))
  for (const cut of cuts) {
    claude.reset()
    claude.script({
      behaviour: {
        status: 200,
        headers: whole.headers ?? {},
        bodyBase64: Buffer.from(whole.body ?? '')
          .subarray(0, cut)
          .toString('base64'),
      },
    })
    const answer = await fetch(`${bed.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': '@claude', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    })
    const said = await answer.text()
    t.false(said.includes('[DONE]'), `cut at ${cut}`)
    t.true(said.includes('upstream_bad_response'), `cut at ${cut}: ${said.slice(-200)}`)
  }
})

test.serial('a fallback goes on in another dialect, with the ids and the reasoning of the conversation', async (t) => {
  answersAs(claude, 'anthropic', json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529))
  answersAs(gpt, 'openai', sse([...gptStream, [null, '[DONE]']]))
  const client = new Anthropic({
    baseURL: bed.origin,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-config': 'to-gpt' },
  })
  const final = await client.messages
    .stream({
      model: 'claude-sonnet-4-5',
      max_tokens: 3000,
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Rome?' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 'toolu_9', name: 'weather', input: { city: 'Rome' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'rain' }] },
      ],
    })
    .finalMessage()
  t.is(final.stop_reason, 'tool_use')
  t.is(claude.requests.length, 1)
  t.like(gpt.requests[0]?.json, {
    model: 'gpt-4o',
    messages: { 1: { tool_calls: { 0: { id: 'toolu_9' } } }, 2: { tool_call_id: 'toolu_9' } },
  })
})

test.serial('guardrails read and change the format of the caller, in streams too', async (t) => {
  answersAs(claude, 'anthropic', sse(claudeStream), json(message([text('In Paris.')])))
  const client = openai({ 'x-service-config': JSON.stringify({ output_guardrails: ['words'] }) })
  const final = await client.chat.completions
    .stream({ model: 'claude-sonnet-4-5', tools, messages: [{ role: 'user', content: 'hi' }] })
    .finalChatCompletion()
  t.is(final.choices[0]?.message.content, 'In P. ☀')
  const whole = await client.chat.completions.create({ model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'hi' }] })
  t.is(whole.choices[0]?.message.content, 'In P..')
})

test.serial('what cannot be translated is refused with the names of those who can do it', async (t) => {
  const refused = await t.throwsAsync(openai({}, '@google').audio.speech.create({ model: 'm', input: 'x', voice: 'alloy' }), {
    instanceOf: OpenAI.BadRequestError,
  })
  t.is(refused.code, 'unsupported_operation')
  t.regex(refused.message, /bedrock does not serve \/audio\/speech.*These do: openai/)
})

for (const stream of [false, true])
  test.serial(`an input of a tool that is nested very deeply is a fault of the provider${stream ? ', streamed' : ''}`, async (t) => {
    const depth = 7500
    const input = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const body = JSON.stringify(message([{ type: 'tool_use', id: 'toolu_1', name: 'f', input: 0 }], 'tool_use')).replace(
      '"input":0',
      `"input":${input}`,
    )
    claude.script({ behaviour: () => ({ ...json({}), body }) })
    const answer = await fetch(`${bed.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspaceKey}`, 'content-type': 'application/json', 'x-service-provider': '@claude' },
      body: JSON.stringify({ model: 'claude-sonnet-4-5', stream, messages: [{ role: 'user', content: 'x' }] }),
    })
    t.is(answer.status, 502)
    t.regex(await answer.text(), /nested too deeply|not one of its API/)
  })
