import test, { type ExecutionContext } from 'ava'
import { messagesCodec } from '../../src/gateway/dialects/anthropic/codec.ts'
import { converseCodec } from '../../src/gateway/dialects/bedrock/codec.ts'
import type { Frame } from '../../src/gateway/dialects/codec.ts'
import type { DialectId } from '../../src/gateway/dialects/dialect.ts'
import { googleCodec } from '../../src/gateway/dialects/google/codec.ts'
import { foldEvents } from '../../src/gateway/dialects/neutral/answer.ts'
import { chatCodec } from '../../src/gateway/dialects/openai-chat/codec.ts'
import { contextFor, readStream, writeStream } from '../support/dialects/laws.ts'
import { type Body, translator } from '../support/dialects/translated.ts'

/** Faults of others that are no row of the tables beside this one: the rest of the reports, and observations in a run of another gateway. */
const base: Readonly<Partial<Record<DialectId, Body>>> = {
  'openai-chat': { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] },
  anthropic: { model: 'claude-sonnet-4-5', max_tokens: 2000, messages: [{ role: 'user', content: 'hi' }] },
  'openai-responses': { model: 'gpt-4o', input: 'hi' },
}

type Row = readonly [
  name: string,
  way: readonly [from: DialectId, to: DialectId],
  fields: Body,
  check: (t: ExecutionContext, body: Body, dropped: readonly string[]) => void,
]

const text = (value: unknown) => JSON.stringify(value)
const has = (part: string) => (t: ExecutionContext, body: Body) => t.true(text(body).includes(part), text(body))
const like = (part: Record<string, unknown>) => (t: ExecutionContext, body: Body) => t.like(body, part)

const bedrock = { model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' }
const tool = (parameters: Body, rest: Body = {}) => ({ tools: [{ type: 'function', function: { name: 'f', parameters, ...rest } }] })
const pdf = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' } }
const city = { type: 'object', properties: { city: { type: ['string', 'null'] }, kind: { const: 'a' } } }
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
const called = {
  ...tool({ type: 'object' }),
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'x' },
  ],
}

const requests: readonly Row[] = [
  [
    '12: vercel#14765, what another vendor signed does not go to Bedrock',
    ['openai-chat', 'bedrock'],
    {
      ...bedrock,
      ...called,
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: null,
          thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 'gh1:google:c2ln' }],
          tool_calls: [call],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
      ],
    },
    (t, body) => t.false(/hm|c2ln/.test(text(body['messages'])), text(body)),
  ],
  [
    '29: vercel#14950, a turn that is calls alone has no empty text, and one that is empty is none',
    ['openai-chat', 'anthropic'],
    { ...called, messages: [...called.messages, { role: 'assistant', content: '' }, { role: 'user', content: 'b' }] },
    (t, body) => t.false(text(body).includes('"text":""'), text(body)),
  ],
  [
    '30: vercel#17919, strict tools go to models of Bedrock that know them',
    ['openai-chat', 'bedrock'],
    { ...bedrock, ...tool({ type: 'object', properties: {}, additionalProperties: false }, { strict: true }) },
    has('"strict":true'),
  ],
  [
    '31: envoy#2232, strict is a field of tools',
    ['openai-chat', 'anthropic'],
    tool({ type: 'object', properties: {}, additionalProperties: false }, { strict: true }),
    like({ tools: { 0: { strict: true } } }),
  ],
  [
    '35: litellm#6970, Gemini before 2.5 gets enums of strings, and formats that it knows',
    ['openai-chat', 'google'],
    {
      model: 'gemini-1.5-pro',
      ...tool({ type: 'object', properties: { a: { type: 'string', format: 'uuid' }, b: { type: 'string', enum: ['x', 'y'] } } }),
    },
    (t, body) => {
      t.true(text(body).includes('"enum":["x","y"]'), text(body))
      t.false(text(body).includes('uuid'), text(body))
    },
  ],
  [
    '37: vercel#11319, #19141, #18652, nested empty objects and enums of numbers are schemas that Gemini takes',
    ['openai-chat', 'google'],
    {
      model: 'gemini-1.5-pro',
      ...tool({ type: 'object', properties: { a: { type: 'object', properties: {} }, b: { type: 'integer', enum: [1, 2] } } }),
    },
    (t, body) => {
      t.true(text(body).includes('"enum":["1","2"]'), text(body))
      t.false(text(body).includes('"properties":{}'), text(body))
    },
  ],
  [
    '38: litellm#8883, vercel#7220, the schema of an answer is no forced call while the model thinks',
    ['openai-chat', 'bedrock'],
    {
      model: 'anthropic.claude-3-7-sonnet-20250219-v1:0',
      max_completion_tokens: 4000,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    },
    (t, body) => t.false(/"toolChoice":\{"(?:tool|any)"/.test(text(body)), text(body)),
  ],
  [
    '58: litellm#27950, marks of the cache in responses reach Claude',
    ['openai-responses', 'anthropic'],
    {
      model: 'claude-sonnet-4-5',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'long', cache_control: { type: 'ephemeral' } }] }],
    },
    has('"cache_control":{"type":"ephemeral"}'),
  ],
  ...(
    [
      ['anthropic', { stop_sequences: ['END'] }],
      ['google', { generationConfig: { stopSequences: ['END'] } }],
      ['bedrock', { inferenceConfig: { stopSequences: ['END'] } }],
      ['cohere', { stop_sequences: ['END'] }],
    ] as const
  ).map(([to, want]): Row => [`a stop that is a text is a list of one (${to})`, ['openai-chat', to], { stop: 'END' }, like(want)]),
  [
    'an answer at Anthropic has a cap, and its default is named',
    ['openai-chat', 'anthropic'],
    { model: 'claude-sonnet-4-5' },
    (t, body, dropped) => {
      t.is(typeof body['max_tokens'], 'number')
      t.true(
        dropped.some((name) => name.startsWith('max_tokens=')),
        text(dropped),
      )
    },
  ],
  ['max_completion_tokens caps answers of Cohere', ['openai-chat', 'cohere'], { max_completion_tokens: 7 }, like({ max_tokens: 7 })],
  [
    'what only steers is named, never dropped in silence',
    ['openai-chat', 'anthropic'],
    { seed: 1, logit_bias: { '5': 1 }, frequency_penalty: 1 },
    (t, _, dropped) =>
      t.deepEqual(
        ['seed', 'logit_bias', 'frequency_penalty'].filter((name) => !dropped.includes(name)),
        [],
      ),
  ],
  [
    'calls one after the other at Anthropic',
    ['openai-chat', 'anthropic'],
    { ...called, parallel_tool_calls: false },
    has('"disable_parallel_tool_use":true'),
  ],
  [
    'schemas for Gemini have no lists of types',
    ['openai-chat', 'google'],
    { model: 'gemini-1.5-pro', ...tool(city) },
    (t, body) => {
      t.false(/"type":\[|"const"/.test(text(body)), text(body))
      t.true(text(body).includes('"nullable":true'), text(body))
    },
  ],
  [
    'the schema of an answer reaches Claude',
    ['openai-chat', 'anthropic'],
    { model: 'claude-sonnet-4-5', response_format: { type: 'json_schema', json_schema: { name: 'a', schema: city } } },
    has('"output_config":{"format":{"type":"json_schema"'),
  ],
  [
    'a PDF as a data URL is its bytes',
    ['openai-chat', 'anthropic'],
    { messages: [{ role: 'user', content: [pdf] }] },
    (t, body) => {
      t.true(text(body).includes('"data":"JVBERi0xLjQ="'), text(body))
      t.false(text(body).includes('data:application'), text(body))
    },
  ],
  [
    'results at Cohere name their calls, and no choice is null',
    ['openai-chat', 'cohere'],
    { model: 'command-a-03-2025', ...called, tool_choice: null },
    (t, body) => {
      t.true(text(body).includes('"tool_call_id":"c1"'), text(body))
      t.false(text(body).includes('null'), text(body))
    },
  ],
  [
    'a temperature above 1 is brought to 1, and named',
    ['openai-chat', 'anthropic'],
    { model: 'claude-sonnet-4-5', temperature: 1.5 },
    (t, body, dropped) => {
      t.is(body['temperature'], 1)
      t.true(
        dropped.some((name) => name.startsWith('temperature')),
        text(dropped),
      )
    },
  ],
  [
    'models that take no sampling get none',
    ['openai-chat', 'anthropic'],
    { model: 'claude-opus-4-7', temperature: 0.3, top_p: 0.5 },
    (t, body, dropped) => {
      t.false('temperature' in body || 'top_p' in body, text(body))
      t.deepEqual([...dropped].filter((name) => !name.startsWith('max_tokens')).toSorted(), ['temperature', 'top_p'])
    },
  ],
  [
    'the choice of a tool stands beside the tools at Bedrock',
    ['anthropic', 'bedrock'],
    { ...bedrock, tools: [{ name: 'f', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
    like({ toolConfig: { toolChoice: { any: {} } }, toolChoice: undefined }),
  ],
]

for (const [name, [from, to], fields, check] of requests)
  test(name, (t) => {
    const { body, dropped } = translator(from, to, base[from] ?? {})(fields)
    check(t, body, dropped)
  })

const frames = (events: readonly (object | string)[]): readonly Frame[] =>
  events.map((event) => ({ name: null, data: typeof event === 'string' ? event : JSON.stringify(event) }))

const claude = [
  { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

test('48: bifrost#600, the beginning of a call tells its id and name, and the end of a block ends no stream', (t) => {
  const context = contextFor('openai-chat')
  const written = writeStream(chatCodec, readStream(messagesCodec, frames(claude), context), context).flatMap(({ data }) =>
    data === null || data === '[DONE]' ? [] : [JSON.parse(data) as { choices: { delta: Body; finish_reason: string | null }[] }],
  )
  const calls = written.flatMap(({ choices }) => choices.flatMap(({ delta }) => (delta['tool_calls'] as Body[] | undefined) ?? []))
  t.like(calls[0], { index: 0, id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '' } })
  t.deepEqual(
    written.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? [])),
    ['tool_calls'],
  )
})

const chunk = (piece: Body) => ({ id: 'c', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...piece }] }, finish_reason: null }] })

test('28: vercel#5350, the type of a call may come late', (t) => {
  const events = [
    chunk({ id: 'a', function: { name: 'f', arguments: '{"x"' } }),
    chunk({ type: 'function', function: { arguments: ':1}' } }),
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    '[DONE]',
  ]
  const [choice] = foldEvents(readStream(chatCodec, frames(events), contextFor('anthropic'))).choices
  t.like(choice?.blocks, { 0: { block: { kind: 'tool-call', name: 'f' }, text: '{"x":1}' } })
})

test('39: litellm#31076, what was read from a cache and what was written to it stay apart for clients of Messages', (t) => {
  const usage = { inputTokens: 3, cacheReadInputTokens: 7, cacheWriteInputTokens: 5, outputTokens: 2, totalTokens: 17 }
  const answer = { output: { message: { role: 'assistant', content: [{ text: 'a' }] } }, stopReason: 'end_turn', usage }
  const context = contextFor('anthropic')
  t.like(messagesCodec.answer.encode(foldEvents(converseCodec.answer.decode(answer, context)), context), {
    usage: { input_tokens: 3, cache_read_input_tokens: 7, cache_creation_input_tokens: 5, output_tokens: 2 },
  })
})

const stopped = (parts: readonly object[]) => ({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] })
const part = (value: string, rest: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: value }] }, index: 0, ...rest }],
})

test('33: litellm#12240, #21577; envoy#2399, Gemini says STOP, and who called a tool is told so, whole and streamed', (t) => {
  const context = contextFor('openai-chat')
  const callParts = [{ functionCall: { name: 'f', args: {} } }]
  const whole = foldEvents(googleCodec.answer.decode(stopped(callParts), context))
  const streamed = foldEvents(readStream(googleCodec, frames([stopped(callParts), stopped([{ text: '' }])]), context))
  for (const found of [whole, streamed])
    t.like(chatCodec.answer.encode(found, context), { choices: { 0: { finish_reason: 'tool_calls' } } })
})

test("Gemini's last frame, an empty text with the reason and the counts, is read", (t) => {
  const context = contextFor('openai-chat')
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
  const found = foldEvents(readStream(googleCodec, frames([part('Hi'), { ...part('', { finishReason: 'STOP' }), usageMetadata }]), context))
  t.like(chatCodec.answer.encode(found, context), {
    choices: { 0: { message: { content: 'Hi' }, finish_reason: 'stop' } },
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  })
})
