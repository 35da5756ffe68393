import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { json, sse } from '../../support/dialects/strict.ts'
import { strictResponses } from '../../support/dialects/strict-responses.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Official clients of other formats at models that OpenAI serves by responses alone; the provider refuses the same requests as the real one. */
let gpt: Emulator
let bed: GatewayBed

test.before(async () => {
  gpt = await startEmulator()
  bed = await startGateway({
    providers: { gpt: { provider: 'openai', customHost: `${gpt.origin}/v1`, credential: { key: 'sk-up', fields: {} } } },
  })
  gpt.script({ behaviour: (received) => strictResponses(received, received.json['stream'] === true ? sse(events) : json(response)) })
})
test.after.always(async () => {
  await bed?.stop()
  await gpt?.stop()
})

const headers = { 'x-service-provider': '@gpt' }
const openai = () => new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: headers })
const anthropic = () => new Anthropic({ baseURL: bed.origin, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: headers })
const google = () => new GoogleGenAI({ apiKey: workspaceKey, httpOptions: { baseUrl: bed.origin, headers } })
const model = 'gpt-5-pro'

const reasoning = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Look it up.' }], encrypted_content: 'gAAA' }
const said = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Looking ☀', annotations: [] }],
}
const calls = ['Rome', 'Oslo'].map((city, index) => ({
  id: `fc_${index}`,
  type: 'function_call',
  call_id: `call_${index}`,
  name: 'weather',
  arguments: JSON.stringify({ city }),
  status: 'completed',
}))
const output: readonly object[] = [reasoning, said, ...calls]
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 50,
}
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model,
  output,
  usage,
}

const piece = (type: string, at: number, fields: object) => ({ type, output_index: at, ...fields })
const callEvents = calls.flatMap((call, index) => [
  piece('response.output_item.added', index + 2, { item: { ...call, arguments: '' } }),
  piece('response.function_call_arguments.delta', index + 2, { item_id: call.id, delta: call.arguments.slice(0, 5) }),
  piece('response.function_call_arguments.delta', index + 2, { item_id: call.id, delta: call.arguments.slice(5) }),
  piece('response.output_item.done', index + 2, { item: call }),
])
const events = [
  { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
  piece('response.output_item.added', 0, { item: { ...reasoning, summary: [], encrypted_content: '' } }),
  piece('response.reasoning_summary_part.added', 0, { summary_index: 0, part: { type: 'summary_text', text: '' } }),
  piece('response.reasoning_summary_text.delta', 0, { summary_index: 0, delta: 'Look it up.' }),
  piece('response.output_item.done', 0, { item: reasoning }),
  piece('response.output_item.added', 1, { item: { ...said, content: [] } }),
  piece('response.output_text.delta', 1, { content_index: 0, delta: 'Looking', logprobs: [] }),
  piece('response.output_text.delta', 1, { content_index: 0, delta: ' ☀', logprobs: [] }),
  piece('response.content_part.done', 1, { content_index: 0, part: said.content[0] }),
  piece('response.output_item.done', 1, { item: said }),
  ...callEvents,
  { type: 'response.completed', response },
].map((event) => [event.type, event] as const)

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const last = () => gpt.requests.at(-1)?.json ?? {}

test.serial('a chat reaches it, whole and as a stream, with calls, reasoning and usage', async (t) => {
  const body = {
    model,
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Weather?' },
          { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    reasoning_effort: 'high',
    max_completion_tokens: 500,
    prompt_cache_key: 'k',
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    seed: 7,
  } satisfies OpenAI.ChatCompletionCreateParams
  const { data, response: got } = await openai().chat.completions.create(body).withResponse()
  t.deepEqual(
    data.choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && [call.id, call.function.arguments]),
    [
      ['call_0', '{"city":"Rome"}'],
      ['call_1', '{"city":"Oslo"}'],
    ],
  )
  t.deepEqual([data.choices[0]?.message.content, data.choices[0]?.finish_reason], ['Looking ☀', 'tool_calls'])
  t.like(data.usage, { prompt_tokens: 20, completion_tokens: 30, completion_tokens_details: { reasoning_tokens: 12 } })
  t.is(got.headers.get('x-service-dropped-params'), 'seed')
  t.like(last(), {
    instructions: 'Be brief.',
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high' },
    max_output_tokens: 500,
    prompt_cache_key: 'k',
    tool_choice: { type: 'function', name: 'weather' },
    text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: false } },
  })
  const chunks = await Array.fromAsync(
    await openai().chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } }),
  )
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
  const given = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []).map((call) => call.function?.arguments ?? '')
  t.deepEqual([text, given.join('')], ['Looking ☀', '{"city":"Rome"}{"city":"Oslo"}'])
  t.is(chunks.at(-1)?.usage?.total_tokens, 50)
})

test.serial('Messages keep its sealed reasoning and calls over turns, whole and streamed', async (t) => {
  const base = {
    model,
    max_tokens: 4000,
    thinking: { type: 'enabled' as const, budget_tokens: 2000 },
    tools: [{ name: 'weather', input_schema: { ...parameters, type: 'object' as const } }],
  }
  const question: Anthropic.MessageParam = { role: 'user', content: 'Weather?' }
  const whole = await anthropic().messages.create({ ...base, messages: [question] })
  t.deepEqual(last()['reasoning'], { effort: 'high', summary: 'auto' })
  const streamed = await anthropic()
    .messages.stream({ ...base, messages: [question] })
    .finalMessage()
  t.deepEqual(streamed.content, whole.content)
  t.deepEqual(
    whole.content.map(({ type }) => type),
    ['thinking', 'text', 'tool_use', 'tool_use'],
  )
  const results = [0, 1].map((index) => ({ type: 'tool_result' as const, tool_use_id: `call_${index}`, content: 'sunny' }))
  await anthropic().messages.create({
    ...base,
    messages: [question, { role: 'assistant', content: whole.content }, { role: 'user', content: results }],
  })
  t.deepEqual(last()['input'], [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
    reasoning,
    { type: 'message', role: 'assistant', content: 'Looking ☀' },
    ...calls.map(({ call_id, name, arguments: given }) => ({ type: 'function_call', call_id, name, arguments: given })),
    ...results.map((_, index) => ({ type: 'function_call_output', call_id: `call_${index}`, output: 'sunny' })),
  ])
})

test.serial('Gemini’s client reaches it too', async (t) => {
  const answer = await google().models.generateContent({
    model: `@gpt/${model}`,
    contents: 'Weather?',
    config: { tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: parameters }] }] },
  })
  t.deepEqual(
    answer.functionCalls?.map(({ args }) => args),
    [{ city: 'Rome' }, { city: 'Oslo' }],
  )
  t.is(answer.usageMetadata?.totalTokenCount, 50)
})

test.serial('its errors, a cut stream and an answer that was too long come in the format of the client', async (t) => {
  const ask = () => anthropic().messages.create({ model, max_tokens: 100, messages: [{ role: 'user', content: 'x' }] })
  gpt.script({ behaviour: () => json({ error: { message: 'Slow down.', type: 'requests', code: 'rate_limit_exceeded' } }, 429) })
  const error = await t.throwsAsync(ask(), { instanceOf: Anthropic.RateLimitError })
  t.regex(error?.message ?? '', /Slow down/)
  gpt.script({
    behaviour: () => json({ ...response, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [said] }),
  })
  t.is((await ask()).stop_reason, 'max_tokens')
  gpt.script({ behaviour: () => sse(events.slice(0, -1)) })
  const stream = anthropic().messages.stream({ model, max_tokens: 100, messages: [{ role: 'user', content: 'x' }] })
  await t.throwsAsync(stream.finalMessage())
  gpt.script({
    behaviour: () =>
      sse([
        ...events.slice(0, 3),
        [
          'response.failed',
          { type: 'response.failed', response: { ...response, status: 'failed', error: { code: 'server_error', message: 'Broken.' } } },
        ],
      ]),
  })
  const failed = await t.throwsAsync(
    anthropic()
      .messages.stream({ model, max_tokens: 100, messages: [{ role: 'user', content: 'x' }] })
      .finalMessage(),
  )
  t.regex(failed?.message ?? '', /Broken/)
})
