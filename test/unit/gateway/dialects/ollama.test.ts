import test from 'ava'
import { ApiError } from '../../../../src/lib/errors.ts'
import { LineReader } from '../../../../src/gateway/wire/lines.ts'
import type { Frame } from '../../../../src/gateway/dialects/codec.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { ollamaCodec } from '../../../../src/gateway/dialects/ollama/codec.ts'
import { assertOrder, contextFor } from '../../../support/dialects/laws.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const user = (content: unknown) => ({ role: 'user', content })
const tool = (name: string, rest: object = {}) => ({ type: 'function', function: { name, parameters: { type: 'object' }, ...rest } })
const chatToOllama = translator('openai-chat', 'ollama', { model: 'qwen3:8b', messages: [user('hi')] })
const claudeToOllama = translator('anthropic', 'ollama', { model: 'qwen3:8b', max_tokens: 50, messages: [user('hi')] })
const pixel = 'iVBORw0KGgo='

test('the fields of a chat, as Ollama names them', (t) => {
  const { body, dropped } = chatToOllama({
    messages: [{ role: 'developer', content: 'a' }, user('hi')],
    max_completion_tokens: 100,
    stop: 'x',
    temperature: 0.5,
    top_p: 0.5,
    top_k: 3,
    seed: 7,
    frequency_penalty: 0.5,
    presence_penalty: -0.5,
    logprobs: true,
    top_logprobs: 2,
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    stream: true,
  })
  t.deepEqual(body, {
    model: 'qwen3:8b',
    messages: [{ role: 'system', content: 'a' }, user('hi')],
    format: { type: 'object' },
    logprobs: true,
    top_logprobs: 2,
    options: {
      num_predict: 100,
      temperature: 0.5,
      top_p: 0.5,
      top_k: 3,
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      stop: ['x'],
    },
    stream: true,
  })
  t.deepEqual(dropped, [])
})

test('nothing streams that nobody asked for, since Ollama streams by itself', (t) => {
  t.deepEqual(chatToOllama({}).body, { model: 'qwen3:8b', messages: [user('hi')], stream: false })
  t.is(chatToOllama({ response_format: { type: 'json_object' } }).body['format'], 'json')
})

const steering: readonly (readonly [body: Body, dropped: readonly string[]])[] = [
  [{ logit_bias: { 5: 1 }, verbosity: 'low', user: 'u', metadata: { a: 'b' } }, ['logit_bias', 'verbosity', 'user', 'metadata']],
  [{ tools: [tool('f')], parallel_tool_calls: false }, ['parallel_tool_calls']],
  [{ tools: [tool('f')], tool_choice: 'required' }, ['tool_choice']],
  [{ tools: [tool('f', { strict: true })] }, ['tools[0].strict']],
  [{ service_tier: 'priority' }, ['service_tier']],
  [{ model: 'gpt-oss:20b', reasoning_effort: 'none' }, ['reasoning_effort']],
]
for (const [body, dropped] of steering)
  test(`what only steers is dropped and named for Ollama: ${JSON.stringify(body)}`, (t) => {
    t.deepEqual(chatToOllama(body).dropped, dropped)
  })

const meaning: readonly (readonly [body: Body, param: string])[] = [
  [{ n: 2 }, 'n'],
  [{ messages: [user([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }])] }, 'messages[0].content[0]'],
  [{ messages: [user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }])] }, 'messages[0].content[0]'],
  [{ messages: [user([{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0x' } }])] }, 'messages[0].content[0]'],
]
for (const [body, param] of meaning)
  test(`what would mean something else is refused by its name for Ollama: ${JSON.stringify(body)}`, (t) => {
    t.is(t.throws(() => chatToOllama(body), { instanceOf: ApiError }).param, param)
  })

const think = (body: Body) => chatToOllama(body).body['think']

test('how much a model thinks: most know yes or no, gpt-oss knows how much', (t) => {
  t.is(think({}), undefined)
  t.is(think({ reasoning_effort: 'none' }), false)
  t.is(think({ reasoning_effort: 'high' }), true)
  t.is(think({ model: 'gpt-oss:20b', reasoning_effort: 'xhigh' }), 'high')
  t.is(think({ model: 'gpt-oss:20b', reasoning_effort: 'none' }), 'low')
  t.is(claudeToOllama({ thinking: { type: 'enabled', budget_tokens: 1024 } }).body['think'], true)
})

test('a tool that must be called is the only one that is offered; none is offered where none may be called', (t) => {
  const tools = [tool('f'), tool('g')]
  const offered = (tool_choice: unknown) =>
    (chatToOllama({ tools, tool_choice }).body['tools'] as readonly { readonly function: Body }[] | undefined)?.map(
      (one) => one.function['name'],
    )
  t.deepEqual(offered('auto'), ['f', 'g'])
  t.deepEqual(offered({ type: 'function', function: { name: 'g' } }), ['g'])
  t.is(offered('none'), undefined)
})

const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{"a":1}' } })

test('results stand in the order of their calls, with the names of the tools, and their images', (t) => {
  const { body } = chatToOllama({
    messages: [
      user([
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
        { type: 'text', text: 'here' },
      ]),
      { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call('c1', 'f'), call('c2', 'f')] },
      { role: 'tool', tool_call_id: 'c2', content: 'second' },
      { role: 'tool', tool_call_id: 'c1', content: 'first' },
    ],
  })
  t.deepEqual(body['messages'], [
    { role: 'user', content: 'look\n\nhere', images: [pixel] },
    {
      role: 'assistant',
      content: '',
      thinking: 'hm',
      tool_calls: [{ function: { name: 'f', arguments: { a: 1 } } }, { function: { name: 'f', arguments: { a: 1 } } }],
    },
    { role: 'tool', content: 'first', tool_name: 'f' },
    { role: 'tool', content: 'second', tool_name: 'f' },
  ])
  const shown = claudeToOllama({
    messages: [
      user('draw'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
      user([
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }],
        },
      ]),
    ],
  })
  t.deepEqual((shown.body['messages'] as readonly unknown[]).at(-1), { role: 'tool', content: '', images: [pixel], tool_name: 'f' })
})

test('a text document is said; what another vendor signed is dropped and named', (t) => {
  const { body, dropped } = claudeToOllama({
    messages: [
      user([{ type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'words' } }]),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'text', text: 'yes' },
        ],
      },
      user('go on'),
    ],
  })
  t.deepEqual(body['messages'], [user('T\n\nwords'), { role: 'assistant', content: 'yes' }, user('go on')])
  t.deepEqual(dropped, ['messages[1].content[0]'])
})

test("Ollama's own options stand beside those that were translated", (t) => {
  const { body } = chatToOllama({
    temperature: 0.5,
    seed: 1,
    provider_options: { ollama: { keep_alive: '5m', options: { num_ctx: 8192, seed: 2 } } },
  })
  t.deepEqual(body['options'], { temperature: 0.5, seed: 2, num_ctx: 8192 })
  t.is(body['keep_alive'], '5m')
})

const context = contextFor('openai-chat')
const read = (frames: readonly Frame[]): readonly NeutralEvent[] => {
  const decoder = ollamaCodec.stream.decoder(context)
  return [...frames.flatMap((frame) => decoder.frame(frame)), ...decoder.end()]
}
const line = (json: object): Frame => ({ name: null, data: JSON.stringify(json) })
const part = (message: object) => line({ model: 'm', created_at: '2026-11-23T10:00:00Z', message, done: false })
const done = { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 4 }

const ids = (requestId: string) => {
  const decoder = ollamaCodec.stream.decoder({ ...context, requestId })
  const events = decoder.frame(part({ content: '', tool_calls: [{ function: { name: 'f', arguments: {} } }, { function: { name: 'f' } }] }))
  return events.flatMap((event) => (event.type === 'block-start' && event.block.kind === 'tool-call' ? [event.block.id] : []))
}

test('ids of calls differ from answer to answer', (t) => {
  t.is(new Set([...ids('request-1'), ...ids('request-2')]).size, 4)
  t.deepEqual(ids('request-1'), ids('request-1'))
})

test('a stream of lines: thoughts, text with figures, a call, and the counts at its end', (t) => {
  const events = read([
    part({ content: '', thinking: 'hm' }),
    line({ message: { content: 'Hi' }, logprobs: [{ token: 'Hi', logprob: -0.5, top_logprobs: [{ token: 'Ho', logprob: -2 }] }] }),
    part({ content: '', tool_calls: [{ id: 'own', function: { name: 'f', arguments: { a: 1 } } }] }),
    line(done),
  ])
  assertOrder(events)
  const { choices, usage, created } = foldEvents(events)
  t.deepEqual(
    choices[0]?.blocks.map(({ block, text }) => [block.kind, text]),
    [
      ['reasoning', 'hm'],
      ['text', 'Hi'],
      ['tool-call', '{"a":1}'],
    ],
  )
  t.is(choices[0]?.blocks[1]?.logprobs[0]?.top[0]?.token, 'Ho')
  t.is(choices[0]?.finish?.reason, 'tool-calls')
  t.like(usage, { input: 3, output: 4, cacheRead: null })
  t.is(created, 1_795_428_000)
})

test('a line with an error ends a stream as a failure; a stream without its last line is cut', (t) => {
  const failed = read([part({ content: 'a' }), line({ error: 'model runner has unexpectedly stopped' }), line(done)])
  t.like(failed.at(-1), { type: 'error', error: { status: 502, message: 'model runner has unexpectedly stopped' } })
  t.false(read([part({ content: 'a' })]).some(({ type }) => type === 'end'))
  t.is(foldEvents(read([line({ ...done, done_reason: 'length', prompt_eval_count: undefined })])).choices[0]?.finish?.reason, 'length')
  t.is(ollamaCodec.answer.decode({ models: [] }, context).at(-1)?.type, undefined)
})

test('lines are read wherever bytes are cut, also within a letter, and the last one without its end', (t) => {
  const bytes = Buffer.from('{"a":"☀"}\r\n\n{"b":1}\n{"c":2}')
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const reader = new LineReader()
    const lines = [reader.push(bytes.subarray(0, cut)), reader.push(bytes.subarray(cut)), reader.end()].flatMap((some) => some ?? [])
    t.deepEqual(
      lines.map(({ data }) => JSON.parse(data) as unknown),
      [{ a: '☀' }, { b: 1 }, { c: 2 }],
    )
  }
})
