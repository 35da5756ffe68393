import test, { type ExecutionContext } from 'ava'
import { chatCodec } from '../../src/gateway/dialects/openai-chat/codec.ts'
import { messagesCodec } from '../../src/gateway/dialects/anthropic/codec.ts'
import type { DialectId } from '../../src/gateway/dialects/dialect.ts'
import { foldEvents } from '../../src/gateway/dialects/neutral/answer.ts'
import { SseReader } from '../../src/gateway/wire/sse-events.ts'
import { contextFor, readStream } from '../support/dialects/laws.ts'
import { type Body, translator } from '../support/dialects/translated.ts'

/**
 * Faults that other gateways had, by the name of their report, and the number in our reference. Those of the wire of one dialect are in
 * `test/unit/gateway/dialects`, under the same names.
 */
const chat: Body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }
const messages: Body = { model: 'claude-sonnet-4-5', max_tokens: 2000, messages: [{ role: 'user', content: 'hi' }] }
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
const f = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
const called = (result: unknown, assistant: Body = {}) => ({
  tools: [f],
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [call], ...assistant },
    { role: 'tool', tool_call_id: 'c1', content: result },
  ],
})
const use = { type: 'tool_use', id: 'c1', name: 'f', input: {} }
const used = (content: unknown, before: readonly object[] = []) => ({
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [...before, use] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
  ],
})
const pixel = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
const defs = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } }
const bedrock = { model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' }

type Row = readonly [name: string, from: DialectId, to: DialectId, fields: Body, check: (t: ExecutionContext, body: Body) => void]

const has = (text: string) => (t: ExecutionContext, body: Body) => t.true(JSON.stringify(body).includes(text), JSON.stringify(body))
const hasNot = (text: string) => (t: ExecutionContext, body: Body) => t.false(JSON.stringify(body).includes(text), JSON.stringify(body))

const requests: readonly Row[] = [
  [
    '12: vercel#15181, reasoning that nobody signed is not sent',
    'openai-chat',
    'bedrock',
    { ...called('x', { reasoning_content: 'hm' }), ...bedrock },
    hasNot('hm'),
  ],
  [
    '20: litellm#6422, the content of a result may be a list',
    'openai-chat',
    'anthropic',
    called([{ type: 'text', text: 'sunny' }]),
    has('sunny'),
  ],
  ['29: vercel#13744, no empty text stands beside calls', 'anthropic', 'openai-chat', used('x'), hasNot('"content":""')],
  [
    '31: envoy#2472, $defs stay in the schema of a tool',
    'openai-chat',
    'anthropic',
    { tools: [{ type: 'function', function: { name: 'f', parameters: defs } }] },
    has('"$defs"'),
  ],
  [
    '31: envoy#2472, $defs stay in the schema of a tool, at Bedrock',
    'openai-chat',
    'bedrock',
    { ...bedrock, tools: [{ type: 'function', function: { name: 'f', parameters: defs } }] },
    has('"$defs"'),
  ],
  [
    '38: litellm#8901, #9594, no tool is forced on a model that thinks',
    'openai-chat',
    'anthropic',
    {
      model: 'claude-3-7-sonnet-20250219',
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    },
    (t, body) => t.not((body['tool_choice'] as Body | undefined)?.['type'], 'tool'),
  ],
  [
    '58: litellm#19916, a mark that is null is none',
    'openai-chat',
    'anthropic',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: null }] }] },
    hasNot('cache_control'),
  ],
  [
    '59: litellm#12850, marks of the cache do not go to who refuses them',
    'anthropic',
    'openai-chat',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] }] },
    hasNot('cache_control'),
  ],
  ['60: litellm#18674, an image in a result is kept', 'anthropic', 'bedrock', { ...used([pixel]), ...bedrock }, has('iVBORw0KGgo=')],
  [
    '60: vercel#17432, an image in a result is kept where results are texts',
    'anthropic',
    'openai-chat',
    used([pixel]),
    has('iVBORw0KGgo='),
  ],
  [
    '62: envoy#2189, instructions in the midst of a conversation are no role at Bedrock',
    'openai-chat',
    'bedrock',
    {
      ...bedrock,
      messages: [
        ...(chat['messages'] as object[]),
        { role: 'assistant', content: 'a' },
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'b' },
      ],
    },
    hasNot('"role":"system"'),
  ],
]

const nine = /^[A-Za-z0-9]{9}$/

const mistral: readonly Row[] = ['toolu_01', 'c1', 'abcdefghi'].map((id) => [
  `23: vercel#11863, ids of calls have nine letters and digits for models of Mistral on Bedrock: ${id}`,
  'openai-chat',
  'bedrock',
  {
    model: 'eu.mistral.pixtral-large-2502-v1:0',
    tools: [f],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, tool_calls: [{ ...call, id }] },
      { role: 'tool', tool_call_id: id, content: 'x' },
    ],
  },
  (t, body) => {
    const ids = [...JSON.stringify(body).matchAll(/"toolUseId":"([^"]*)"/g)].map(([, found]) => found ?? '')
    t.is(ids.length, 2)
    t.is(ids[0], ids[1])
    t.regex(ids[0] ?? '', nine)
    t.is(ids[0] === id, nine.test(id))
  },
])

const signed = { type: 'thinking', thinking: 'hm', signature: 'sig' }
const marked = { cache_control: { type: 'ephemeral' } }

const more: readonly Row[] = [
  [
    '3: litellm#18926, thinking stays on where the first turns of a conversation have none',
    'anthropic',
    'bedrock',
    {
      ...bedrock,
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    },
    has('budget_tokens'),
  ],
  [
    '13: vercel#14175, a signed block without a text goes back',
    'anthropic',
    'bedrock',
    { ...bedrock, ...used('x', [{ ...signed, thinking: '' }]) },
    has('sig'),
  ],
  [
    '15: vercel#16687, thinking that is switched off is told to models that think by themselves',
    'openai-chat',
    'google',
    { model: 'gemini-2.5-flash', reasoning_effort: 'none' },
    has('"thinkingBudget":0'),
  ],
  [
    '15: vercel#16687, the same of Claude',
    'openai-chat',
    'anthropic',
    { model: 'claude-opus-4-6', reasoning_effort: 'none' },
    has('"thinking":{"type":"disabled"}'),
  ],
  [
    '16: vercel#18247, models that think as they see fit are asked to show it',
    'openai-chat',
    'anthropic',
    { model: 'claude-opus-4-6', reasoning_effort: 'high' },
    has('"display":"summarized"'),
  ],
  [
    '17: envoy#2366, a signature that the client has goes to Google',
    'openai-chat',
    'google',
    {
      model: 'gemini-3-pro',
      ...called('x', { tool_calls: [{ ...call, extra_content: { google: { thought_signature: 'c2ln' } } }] }),
    },
    has('"thoughtSignature":"c2ln"'),
  ],
  [
    '17: envoy#2366, a call without one bears the mark that Google documents',
    'openai-chat',
    'google',
    { model: 'gemini-3-pro', ...called('x') },
    has('skip_thought_signature_validator'),
  ],
  [
    '30: vercel#16237, strict tools do not go to models of Bedrock that refuse them',
    'openai-chat',
    'bedrock',
    {
      model: 'anthropic.claude-opus-4-7-v1:0',
      tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: { type: 'object' } } }],
    },
    hasNot('strict'),
  ],
  [
    '57: bifrost#5629, marks of the cache on tools go along',
    'anthropic',
    'bedrock',
    { ...bedrock, tools: [{ name: 'f', input_schema: { type: 'object' }, ...marked }] },
    has('cachePoint'),
  ],
  [
    '57: envoy#2488, #2358, marks of the cache on system prompts and results go along',
    'anthropic',
    'bedrock',
    {
      ...bedrock,
      system: [{ type: 'text', text: 'Be brief.', ...marked }],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [use] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x', ...marked }] },
      ],
    },
    (t, body) => t.is(JSON.stringify(body).split('"cachePoint"').length, 3, JSON.stringify(body)),
  ],
  [
    '66: vercel#17410, the ARN of an inference profile is a model of its vendor',
    'openai-chat',
    'bedrock',
    {
      model: 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      reasoning_effort: 'low',
    },
    has('budget_tokens'),
  ],
  [
    '67: vercel#17820, a model that nobody knows yet is taken for the newest of its family',
    'openai-chat',
    'anthropic',
    { model: 'claude-novel-9', reasoning_effort: 'high' },
    has('"type":"adaptive"'),
  ],
  [
    '67: vercel#17820, the same of Google',
    'openai-chat',
    'google',
    { model: 'gemini-9-ultra', reasoning_effort: 'high' },
    has('thinkingLevel'),
  ],
]

for (const [name, from, to, fields, check] of [...requests, ...mistral, ...more])
  test(name, (t) => check(t, translator(from, to, from === 'anthropic' ? messages : chat)(fields).body))

const delta = (usage: object) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })
const streamed = (events: readonly object[]) =>
  foldEvents(
    readStream(
      messagesCodec,
      events.map((event) => ({ name: null, data: JSON.stringify(event) })),
      contextFor('openai-chat'),
    ),
  )
const started = { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } }

test('42: envoy#2236, #2239, counts that grow are not added up; envoy#2292, vercel#11611, those of the input may come last', (t) => {
  const { usage } = streamed([started, delta({ output_tokens: 5 }), delta({ input_tokens: 9, output_tokens: 7 }), { type: 'message_stop' }])
  t.like(usage, { input: 9, output: 7 })
})

test('39: litellm#13207, what was written to a cache is in the sum', (t) => {
  const counts = { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 2 }
  const answer = foldEvents(
    messagesCodec.answer.decode(
      { type: 'message', id: 'm', role: 'assistant', content: [], stop_reason: 'end_turn', usage: counts },
      contextFor('openai-chat'),
    ),
  )
  t.like(chatCodec.answer.encode(answer, contextFor('openai-chat')), {
    usage: { prompt_tokens: 18, completion_tokens: 2, total_tokens: 20 },
  })
})

test('52: envoy#2470, data without a space behind its colon', (t) => {
  t.like(new SseReader().push(Buffer.from('data:{"a":1}\n\n')), { 0: { data: '{"a":1}' } })
})

test('64: envoy#2161, the code of an error may be a number', (t) => {
  t.like(chatCodec.error.decode(400, { error: { message: 'no', code: 1234 } }), { status: 400, message: 'no' })
})
