import test from 'ava'
import { ApiError } from '../../../../src/lib/errors.ts'
import { converseCodec } from '../../../../src/gateway/dialects/bedrock/codec.ts'
import type { Frame } from '../../../../src/gateway/dialects/codec.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { assertOrder, contextFor } from '../../../support/dialects/laws.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const user = (content: unknown) => ({ role: 'user', content })
const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}
const call = (id: string) => ({ id, type: 'function', function: { name: 'weather', arguments: '' } })
const chatToConverse = translator('openai-chat', 'bedrock', { model: sonnet, messages: [user('hi')] })
const claudeToConverse = translator('anthropic', 'bedrock', { model: sonnet, max_tokens: 4000, messages: [user('hi')] })

test('the fields of a chat, as Converse names them', (t) => {
  const { body, dropped } = chatToConverse({
    messages: [{ role: 'system', content: 'a' }, user('hi')],
    max_tokens: 100,
    stop: 'x',
    temperature: 0.5,
    top_k: 3,
    service_tier: 'flex',
    metadata: { team: 'a' },
    stream: true,
  })
  t.deepEqual(body, {
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    system: [{ text: 'a' }],
    inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ['x'] },
    additionalModelRequestFields: { top_k: 3 },
    requestMetadata: { team: 'a' },
    serviceTier: { type: 'flex' },
  })
  t.deepEqual(dropped, [])
})

const steering: readonly (readonly [body: Body, dropped: readonly string[]])[] = [
  [{ seed: 1, frequency_penalty: 1, presence_penalty: 1, user: 'u' }, ['seed', 'frequency_penalty', 'presence_penalty', 'user']],
  [{ temperature: 1.5 }, ['temperature']],
  [{ temperature: 0.5, top_p: 0.5 }, ['top_p']],
  [{ model: 'meta.llama3-70b', top_k: 5 }, ['top_k']],
  [{ model: 'meta.llama3-70b', reasoning_effort: 'high' }, ['reasoning_effort']],
  [{ service_tier: 'scale' }, ['service_tier']],
  [{ tools: [weather], parallel_tool_calls: false }, ['parallel_tool_calls']],
  [{ response_format: { type: 'json_object' } }, ['response_format']],
  [{ metadata: { a: 'x'.repeat(300) } }, ['metadata']],
]
for (const [body, dropped] of steering)
  test(`what only steers is dropped and named for Converse: ${JSON.stringify(body).slice(0, 120)}`, (t) => {
    t.deepEqual(chatToConverse(body).dropped, dropped)
  })

const meaning: readonly (readonly [body: Body, param: string])[] = [
  [{ n: 2 }, 'n'],
  [{ logprobs: true }, 'logprobs'],
  [{ messages: [user([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }])] }, 'messages[0].content[0]'],
  [{ messages: [user([{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,AAAA' } }])] }, 'messages[0].content[0]'],
  [{ messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] }, 'messages[0].content[0]'],
  [{ web_search_options: {} }, 'web_search_options'],
]
for (const [body, param] of meaning)
  test(`what would mean something else is refused by its name for Converse: ${JSON.stringify(body)}`, (t) => {
    t.is(t.throws(() => chatToConverse(body), { instanceOf: ApiError }).param, param)
  })

test('envoy#736, mlflow#24296, litellm#24361, envoy#2191: results are one message, text stands before calls, nothing is empty', (t) => {
  const { body } = claudeToConverse({
    messages: [
      { role: 'assistant', content: 'first' },
      user([{ type: 'text', text: ' ' }]),
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a.b', name: 'weather', input: {} },
          { type: 'text', text: 'looking' },
          { type: 'tool_use', id: 'c', name: 'weather', input: { city: 'Rome' } },
        ],
      },
      user([{ type: 'tool_result', tool_use_id: 'a.b', content: '' }]),
      user([
        { type: 'tool_result', tool_use_id: 'c', is_error: true, content: [{ type: 'text', text: 'no' }] },
        { type: 'text', text: 'go' },
      ]),
    ],
  })
  const messages = body['messages'] as readonly { readonly role: string; readonly content: readonly { readonly toolUse?: Body }[] }[]
  t.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant', 'user'],
  )
  const id = messages[3]?.content[1]?.toolUse?.['toolUseId']
  t.regex(String(id), /^[A-Za-z0-9]{24}$/)
  t.deepEqual(messages[3]?.content, [
    { text: 'looking' },
    { toolUse: { toolUseId: id, name: 'weather', input: {} } },
    { toolUse: { toolUseId: 'c', name: 'weather', input: { city: 'Rome' } } },
  ] as never)
  t.deepEqual(messages[4]?.content, [
    { toolResult: { toolUseId: id, content: [{ text: '(no output)' }] } },
    { toolResult: { toolUseId: 'c', content: [{ text: 'no' }], status: 'error' } },
    { text: 'go' },
  ] as never)
  t.like(body, { toolConfig: { tools: { 0: { toolSpec: { name: 'weather' } } } } })
})

const choice = (tool_choice: unknown, rest: Body = {}) => chatToConverse({ tools: [weather], tool_choice, ...rest })

test('bifrost#2049: every choice of a tool; tools stay as long as the conversation holds a call', (t) => {
  t.like(choice('auto').body, { toolConfig: { toolChoice: { auto: {} } } })
  t.like(choice('required').body, { toolConfig: { toolChoice: { any: {} } } })
  t.like(choice({ type: 'function', function: { name: 'weather' } }).body, { toolConfig: { toolChoice: { tool: { name: 'weather' } } } })
  t.is(choice('none').body['toolConfig'], undefined)
  const messages = [user('a'), { role: 'assistant', tool_calls: [call('c')] }, { role: 'tool', tool_call_id: 'c', content: 'x' }]
  const kept = choice('none', { messages })
  t.deepEqual(Object.keys(kept.body['toolConfig'] as Body), ['tools'])
  t.deepEqual(kept.dropped, ['tool_choice'])
})

test('portkey#1762, envoy#2476: marks of the cache stand behind what they mark, four at most', (t) => {
  const cache_control = { type: 'ephemeral', ttl: '1h' }
  const marked = (text: string) => ({ type: 'text', text, cache_control })
  const { body, dropped } = claudeToConverse({
    system: [marked('s')],
    tools: [{ name: 'f', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } }],
    messages: [user([marked('a'), marked('b'), marked('c')])],
  })
  const point = { cachePoint: { type: 'default', ttl: '1h' } }
  t.deepEqual(body['system'], [{ text: 's' }, point])
  t.deepEqual(body['messages'], [{ role: 'user', content: [{ text: 'a' }, point, { text: 'b' }, point, { text: 'c' }, point] }])
  t.deepEqual(dropped, ['cache_control'])
  t.deepEqual(claudeToConverse({ model: 'meta.llama3', system: [marked('s')] }).dropped, ['cache_control'])
})

const pdf = (title: string) => ({ type: 'document', title, source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' } })

test('vercel#12971: documents have names that Bedrock takes, each another, and a text beside them', (t) => {
  const { body } = claudeToConverse({ messages: [user([pdf('my_file.v2.pdf'), pdf('my file v2')])] })
  const source = { bytes: 'JVBERi0x' }
  t.deepEqual(body['messages'], [
    {
      role: 'user',
      content: [
        { document: { format: 'pdf', source, name: 'my file v2' } },
        { document: { format: 'pdf', source, name: 'my file v2 2' } },
        { text: '(empty)' },
      ],
    },
  ])
})

const extra = (model: string, reasoning_effort: string) =>
  chatToConverse({ model, reasoning_effort, max_tokens: 10_000 }).body['additionalModelRequestFields']

test('how much a model thinks, in the words of its vendor; signed reasoning comes back', (t) => {
  t.deepEqual(extra(sonnet, 'medium'), { thinking: { type: 'enabled', budget_tokens: 3000 } })
  t.like(extra('anthropic.claude-opus-4-6-v1', 'high'), { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
  t.deepEqual(extra('us.amazon.nova-2-lite-v1:0', 'max'), { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } })
  t.deepEqual(extra('openai.gpt-oss-120b-1:0', 'low'), { reasoning_effort: 'low' })
  const blocks = [
    { type: 'thinking', thinking: 'hm', signature: 'sig' },
    { type: 'redacted_thinking', data: 'gh1:bedrock:c2VhbGVk' },
    { type: 'thinking', thinking: 'other', signature: 'gh1:google:abc' },
    { type: 'text', text: 'hello' },
  ]
  const { body, dropped } = claudeToConverse({ messages: [user('a'), { role: 'assistant', content: blocks }, user('b')] })
  t.deepEqual((body['messages'] as readonly Body[])[1]?.['content'], [
    { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
    { reasoningContent: { redactedContent: 'c2VhbGVk' } },
    { text: 'hello' },
  ])
  t.deepEqual(dropped, ['messages[1].content[2]'])
})

test('a schema is native where the model knows it, else a tool whose arguments are the answer', (t) => {
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object', properties: {} } } }
  const closed = '{"type":"object","properties":{},"additionalProperties":false}'
  t.deepEqual(chatToConverse({ response_format }).body['outputConfig'], {
    textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: closed, name: 'n' } } },
  })
  const { body, memory } = chatToConverse({ response_format, model: 'amazon.nova-pro-v1:0' })
  t.like(body, { toolConfig: { toolChoice: { tool: { name: 'final_answer' } } } })
  t.deepEqual(memory.schemaTool, { name: 'final_answer', wrapped: false })
})

const context = contextFor('openai-chat')
const whole = {
  output: {
    message: {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
        { reasoningContent: { redactedContent: 'c2VhbGVk' } },
        { text: 'Hello' },
        { toolUse: { toolUseId: 't1', name: 'f', input: { a: 1 } } },
        { toolUse: { toolUseId: 't2', name: 'g', input: {} } },
      ],
    },
  },
  stopReason: 'tool_use',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 42, cacheReadInputTokens: 20, cacheWriteInputTokens: 7 },
}
const frame = (name: string, data: object): Frame => ({ name, data: JSON.stringify({ ...data, p: 'abc' }) })
const stream: readonly Frame[] = [
  frame('messageStart', { role: 'assistant' }),
  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'h' } } }),
  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'm' } } }),
  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }),
  frame('contentBlockStop', { contentBlockIndex: 0 }),
  frame('contentBlockDelta', { contentBlockIndex: 1, delta: { reasoningContent: { redactedContent: 'c2VhbGVk' } } }),
  frame('contentBlockStop', { contentBlockIndex: 1 }),
  frame('contentBlockDelta', { contentBlockIndex: 3, delta: { text: 'Hel' } }),
  frame('contentBlockDelta', { contentBlockIndex: 3, delta: { text: 'lo' } }),
  frame('contentBlockStop', { contentBlockIndex: 3 }),
  frame('contentBlockStart', { contentBlockIndex: 4, start: { toolUse: { toolUseId: 't1', name: 'f' } } }),
  frame('contentBlockDelta', { contentBlockIndex: 4, delta: { toolUse: { input: '{"a":' } } }),
  frame('contentBlockDelta', { contentBlockIndex: 4, delta: { toolUse: { input: '1}' } } }),
  frame('contentBlockStop', { contentBlockIndex: 4 }),
  frame('contentBlockStart', { contentBlockIndex: 5, start: { toolUse: { toolUseId: 't2', name: 'g' } } }),
  frame('contentBlockStop', { contentBlockIndex: 5 }),
  frame('messageStop', { stopReason: 'tool_use' }),
  frame('metadata', { usage: whole.usage, metrics: { latencyMs: 1 } }),
]
const readAll = (frames: readonly Frame[], count = frames.length): readonly NeutralEvent[] => {
  const decoder = converseCodec.stream.decoder(context)
  return [...frames.slice(0, count).flatMap((one) => decoder.frame(one)), ...decoder.end()]
}

test('vercel#14968: a stream of Converse adds up to the whole answer, blocks that nobody opened and calls without arguments too', (t) => {
  const events = readAll(stream)
  assertOrder(events)
  const answer = foldEvents(events)
  t.deepEqual(answer, foldEvents(converseCodec.answer.decode(whole, context)))
  t.like(answer.usage, { input: 37, cacheRead: 20, cacheWrite: 7, output: 5 })
  t.deepEqual(
    answer.choices[0]?.blocks.map(({ text, end }) => [text, end.signature?.value, end.redacted]),
    [
      ['hm', 'sig', false],
      ['', 'c2VhbGVk', true],
      ['Hello', undefined, false],
      ['{"a":1}', undefined, false],
      ['{}', undefined, false],
    ],
  )
})

test('a stream of Converse that is cut before its stop never ends whole', (t) => {
  for (let count = 0; count <= stream.length; count += 1) {
    const events = readAll(stream, count)
    assertOrder(events)
    t.is(
      events.some(({ type }) => type === 'end'),
      count >= stream.length - 1,
    )
  }
})

test('vercel#19039: an exception in a stream is an error with the status that it stands for', (t) => {
  const slow: Frame = { name: 'exception:throttlingException', data: '{"message":"slow down"}' }
  t.like(readAll([...stream.slice(0, 3), slow, ...stream.slice(3)]).at(-1), {
    type: 'error',
    error: { status: 429, message: 'slow down', type: 'throttlingException' },
  })
  const stop = frame('messageStop', { stopReason: 'malformed_tool_use' })
  t.like(readAll([frame('messageStart', {}), stop]).at(-1), { type: 'error', error: { status: 502 } })
})

test('bifrost#6942, envoy#2157: a cache within the input counts once; an answer without output is none', (t) => {
  const usage = { inputTokens: 30, outputTokens: 5, totalTokens: 35, cacheReadInputTokens: 20 }
  t.like(foldEvents(converseCodec.answer.decode({ ...whole, usage }, context)).usage, { input: 30, cacheRead: 20, output: 5 })
  t.deepEqual(converseCodec.answer.decode({}, context), [])
})

const finishes: readonly (readonly [string, string])[] = [
  ['end_turn', 'tool-calls'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['guardrail_intervened', 'content-filter'],
  ['model_context_window_exceeded', 'context'],
  ['malformed_model_output', 'other'],
]
for (const [stopReason, reason] of finishes)
  test(`Converse stops for ${stopReason} behind a call: ${reason}`, (t) => {
    t.is(foldEvents(converseCodec.answer.decode({ ...whole, stopReason }, context)).choices[0]?.finish?.reason ?? '', reason)
  })

test('errors of Bedrock, whose type may be in the body', (t) => {
  t.like(converseCodec.error.decode(400, { __type: 'com.amazon#ValidationException', message: 'bad' }), {
    type: 'ValidationException',
    message: 'bad',
  })
  t.like(converseCodec.error.decode(424, { message: 'model' }), { status: 502 })
})
