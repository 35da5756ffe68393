import test from 'ava'
import { ApiError } from '../../../../src/lib/errors.ts'
import type { Frame } from '../../../../src/gateway/dialects/codec.ts'
import { cohereCodec } from '../../../../src/gateway/dialects/cohere/codec.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { assertOrder, contextFor } from '../../../support/dialects/laws.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const user = (content: unknown) => ({ role: 'user', content })
const tool = (name: string, rest: object = {}) => ({ type: 'function', function: { name, parameters: { type: 'object' }, ...rest } })
const chatToCohere = translator('openai-chat', 'cohere', { model: 'command-a-reasoning-08-2025', messages: [user('hi')] })
const claudeToCohere = translator('anthropic', 'cohere', { model: 'command-a-03-2025', max_tokens: 50, messages: [user('hi')] })

test('the fields of a chat, as Cohere names them', (t) => {
  const { body, dropped } = chatToCohere({
    messages: [{ role: 'developer', content: 'a' }, user('hi')],
    max_completion_tokens: 100,
    stop: 'x',
    temperature: 0.5,
    top_p: 0.5,
    top_k: 3,
    seed: 7,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    logprobs: true,
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { $schema: 'x', type: 'object' } } },
    stream: true,
  })
  t.deepEqual(body, {
    model: 'command-a-reasoning-08-2025',
    messages: [{ role: 'system', content: 'a' }, user('hi')],
    max_tokens: 100,
    temperature: 0.5,
    seed: 7,
    stop_sequences: ['x'],
    logprobs: true,
    p: 0.5,
    k: 3,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    response_format: { type: 'json_object', json_schema: { type: 'object' } },
    stream: true,
  })
  t.deepEqual(dropped, [])
})

const steering: readonly (readonly [body: Body, dropped: readonly string[]])[] = [
  [{ logit_bias: { 5: 1 }, verbosity: 'low', user: 'u', metadata: { a: 'b' } }, ['logit_bias', 'verbosity', 'user', 'metadata']],
  [{ top_p: 1 }, ['top_p']],
  [{ frequency_penalty: -1 }, ['frequency_penalty']],
  [{ tools: [tool('f')], parallel_tool_calls: false }, ['parallel_tool_calls']],
  [{ tools: [tool('f', { strict: true }), tool('g')] }, ['tools.strict']],
  [{ model: 'command-r-plus', reasoning_effort: 'high' }, ['reasoning_effort']],
  [{ service_tier: 'priority' }, ['service_tier']],
]
for (const [body, dropped] of steering)
  test(`what only steers is dropped and named for Cohere: ${JSON.stringify(body)}`, (t) => {
    t.deepEqual(chatToCohere(body).dropped, dropped)
  })

const meaning: readonly (readonly [body: Body, param: string])[] = [
  [{ n: 2 }, 'n'],
  [{ tools: [tool('f')], response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } }, 'response_format'],
  [{ messages: [user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }])] }, 'messages[0].content[0]'],
  [{ messages: [user([{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0x' } }])] }, 'messages[0].content[0]'],
]
for (const [body, param] of meaning)
  test(`what would mean something else is refused by its name for Cohere: ${JSON.stringify(body)}`, (t) => {
    t.is(t.throws(() => chatToCohere(body), { instanceOf: ApiError }).param, param)
  })

test('what is said before calls is a plan; results keep their ids; a text document goes beside the conversation', (t) => {
  const { body } = claudeToCohere({
    tools: [
      { name: 'f', input_schema: { type: 'object' } },
      { name: 'g', input_schema: { type: 'object' } },
    ],
    tool_choice: { type: 'tool', name: 'f' },
    messages: [
      user([
        { type: 'text', text: 'look' },
        { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      ]),
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I will' },
          { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
        ],
      },
      user([{ type: 'tool_result', tool_use_id: 'c1', content: 'sun' }]),
    ],
  })
  t.deepEqual(body['messages'], [
    user('look'),
    { role: 'assistant', tool_plan: 'I will', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'sun' },
  ])
  t.deepEqual(body['documents'], [{ id: 'document-0', data: { title: 'T', text: 'words' } }])
  t.is(body['tool_choice'], 'REQUIRED')
  t.deepEqual(
    (body['tools'] as readonly { readonly function: Body }[]).map((one) => one.function['name']),
    ['f'],
  )
})

const thinking = (reasoning_effort: string, max_tokens: number | null = null) =>
  chatToCohere({ reasoning_effort, max_tokens }).body['thinking']

test('documents of an answer are given under the name of the provider', (t) => {
  const { body } = chatToCohere({ provider_options: { cohere: { documents: ['a fact'] } } })
  t.deepEqual(body['documents'], ['a fact'])
})

test('how much a model of Cohere thinks', (t) => {
  t.deepEqual(thinking('none'), { type: 'disabled' })
  t.deepEqual(thinking('medium'), { type: 'enabled', token_budget: 4096 })
  t.deepEqual(thinking('high', 100), { type: 'enabled', token_budget: 99 })
})

const context = contextFor('openai-chat')
const usage = { billed_units: { input_tokens: 3 }, tokens: { input_tokens: 30, output_tokens: 12 }, cached_tokens: 2 }
const whole = {
  id: 'c0',
  finish_reason: 'TOOL_CALL',
  message: {
    role: 'assistant',
    tool_plan: 'I will look.',
    tool_calls: [
      { id: 'f0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'g0', type: 'function', function: { name: 'g' } },
    ],
  },
  usage,
}
const frame = (type: string, rest: object): Frame => ({ name: type, data: JSON.stringify({ type, ...rest }) })
const told = (message: object) => ({ delta: { message } })
const stream: readonly Frame[] = [
  frame('message-start', { id: 'c0', ...told({ role: 'assistant' }) }),
  frame('tool-plan-delta', told({ tool_plan: 'I will ' })),
  frame('tool-plan-delta', told({ tool_plan: 'look.' })),
  frame('tool-call-start', { index: 0, ...told({ tool_calls: { id: 'f0', type: 'function', function: { name: 'f', arguments: '' } } }) }),
  frame('tool-call-delta', { index: 0, ...told({ tool_calls: { function: { arguments: '{"a":' } } }) }),
  frame('tool-call-delta', { index: 0, ...told({ tool_calls: { function: { arguments: '1}' } } }) }),
  frame('tool-call-end', { index: 0 }),
  frame('tool-call-start', { index: 1, ...told({ tool_calls: { id: 'g0', type: 'function', function: { name: 'g' } } }) }),
  frame('tool-call-end', { index: 1 }),
  frame('message-end', { delta: { finish_reason: 'TOOL_CALL', usage } }),
]
const readAll = (frames: readonly Frame[], count = frames.length): readonly NeutralEvent[] => {
  const decoder = cohereCodec.stream.decoder(context)
  return [...frames.slice(0, count).flatMap((one) => decoder.frame(one)), ...decoder.end()]
}

test('a stream of Cohere adds up to the whole answer, and is never whole when it was cut', (t) => {
  const events = readAll(stream)
  assertOrder(events)
  const answer = foldEvents(events)
  t.deepEqual(answer, foldEvents(cohereCodec.answer.decode(whole, context)))
  t.like(answer, { usage: { input: 3, cacheRead: 2, output: 12 }, choices: { 0: { finish: { reason: 'tool-calls' } } } })
  t.deepEqual(
    answer.choices[0]?.blocks.map(({ text }) => text),
    ['I will look.', '{"a":1}', '{}'],
  )
  for (let count = 0; count <= stream.length; count += 1) {
    const cut = readAll(stream, count)
    assertOrder(cut)
    t.is(
      cut.some(({ type }) => type === 'end'),
      count === stream.length,
    )
  }
  t.deepEqual(readAll([...stream, { name: null, data: '[DONE]' }]), events)
})

test('thoughts are reasoning, and sources that come behind a text belong to it', (t) => {
  const source = { type: 'document', id: 'd1', document: { title: 'T', url: 'https://a.example', text: 'words' } }
  const { choices } = foldEvents(
    readAll([
      frame('message-start', { id: 'c1' }),
      frame('content-start', { index: 0, ...told({ content: { type: 'thinking', thinking: '' } }) }),
      frame('content-delta', { index: 0, ...told({ content: { thinking: 'hm' } }) }),
      frame('content-end', { index: 0 }),
      frame('content-start', { index: 1, ...told({ content: { type: 'text', text: '' } }) }),
      frame('content-delta', {
        index: 1,
        ...told({ content: { text: 'Hello' } }),
        logprobs: { text: 'Hello', token_ids: [1], logprobs: [-0.5] },
      }),
      frame('content-end', { index: 1 }),
      frame('citation-start', { index: 0, ...told({ citations: { start: 0, end: 5, text: 'Hello', sources: [source] } }) }),
      frame('message-end', { delta: { finish_reason: 'COMPLETE' } }),
    ]),
  )
  t.like(choices[0]?.blocks, {
    length: 2,
    0: { block: { kind: 'reasoning' }, text: 'hm' },
    1: { text: 'Hello', citations: { 0: { url: 'https://a.example', title: 'T', start: 0, end: 5 } }, logprobs: { 0: { logprob: -0.5 } } },
  })
})

test('failures of Cohere: at the end of a stream, in it, and before it', (t) => {
  t.like(readAll([...stream.slice(0, 2), frame('message-end', { delta: { finish_reason: 'ERROR', error: 'it broke' } })]).at(-1), {
    type: 'error',
    error: { status: 502, message: 'it broke', type: 'ERROR' },
  })
  t.like(readAll([{ name: null, data: '{"message":"internal"}' }]).at(-1), { type: 'error', error: { status: 502, message: 'internal' } })
  t.like(cohereCodec.error.decode(498, { message: 'invalid token' }), { status: 401, message: 'invalid token' })
  t.deepEqual(cohereCodec.answer.decode({ text: 'x' }, context), [])
})
