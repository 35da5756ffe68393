import test from 'ava'
import { messagesCodec } from '../../src/gateway/dialects/anthropic/codec.ts'
import type { Codec, Frame } from '../../src/gateway/dialects/codec.ts'
import type { DialectId } from '../../src/gateway/dialects/dialect.ts'
import { chatCodec } from '../../src/gateway/dialects/openai-chat/codec.ts'
import { responsesCodec } from '../../src/gateway/dialects/openai-responses/codec.ts'
import { contextFor, readStream, writeStream } from '../support/dialects/laws.ts'
import { type Body, translator } from '../support/dialects/translated.ts'

/** Faults of others in the order of a stream's events, and in requests as wholes: `named-bugs.test.ts` has the rest. */
const data = (json: object | string): Frame => ({ name: null, data: typeof json === 'string' ? json : JSON.stringify(json) })
const chunk = (delta: Body, finish: string | null = null): Frame =>
  data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })
const usage = data({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27, prompt_tokens_details: { cached_tokens: 8 } },
})
const calls = (...all: readonly Body[]) => ({ tool_calls: all })

/** A stream of chat as a client of another format gets it. */
function streamed(to: Codec, frames: readonly Frame[]): readonly Body[] {
  const context = contextFor(to.id)
  return writeStream(to, readStream(chatCodec, frames, context), context).flatMap(({ data: text }) =>
    text === null ? [] : [JSON.parse(text) as Body],
  )
}

/** Thoughts, a text, thoughts again, and two calls whose arguments come in turns. */
const switching: readonly Frame[] = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'first ' }),
  chunk({ reasoning_content: 'thought' }),
  chunk({ content: 'one' }),
  chunk({ content: ' two' }),
  chunk({ reasoning_content: 'again' }),
  chunk({ content: 'three' }),
  chunk(calls({ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a"' } })),
  chunk(calls({ index: 1, id: 'c2', type: 'function', function: { name: 'g', arguments: '{"b"' } })),
  chunk(calls({ index: 0, function: { arguments: ':1}' } })),
  chunk(calls({ index: 1, function: { arguments: ':2}' } })),
  chunk({}, 'tool_calls'),
  usage,
  data('[DONE]'),
]

const fitting: Readonly<Record<string, string>> = {
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  text_delta: 'text',
  input_json_delta: 'tool_use',
}
const spoken = ['thinking', 'text', 'partial_json'] as const

test('46: litellm#33224, each delta is in a block of its kind; litellm#30765, the first one after a switch is not swallowed', (t) => {
  const blocks: { readonly type: unknown; text: string; isOpen: boolean }[] = []
  for (const event of streamed(messagesCodec, switching)) {
    if (event['type'] === 'content_block_start') {
      t.is(event['index'], blocks.length)
      t.false(blocks.at(-1)?.isOpen ?? false)
      blocks.push({ type: (event['content_block'] as Body)['type'], text: '', isOpen: true })
    }
    const open = blocks.at(-1)
    if (event['type'] === 'content_block_stop' && open !== undefined) open.isOpen = false
    if (event['type'] !== 'content_block_delta') continue
    const delta = event['delta'] as Body
    t.is(event['index'], blocks.length - 1)
    t.is(fitting[String(delta['type'])], String(open?.type))
    const said = spoken.map((name) => delta[name]).filter((piece) => typeof piece === 'string')
    if (open !== undefined) open.text += said.join('')
  }
  t.deepEqual(
    blocks.map(({ type, text }) => [type, text]),
    [
      ['thinking', 'first thought'],
      ['text', 'one two'],
      ['thinking', 'again'],
      ['text', 'three'],
      ['tool_use', '{"a":1}'],
      ['tool_use', '{"b":2}'],
    ],
  )
})

test("43: envoy#2352, #2350, vercel#17326, the input tokens that come last reach Anthropic's clients, and those of the cache apart", (t) => {
  const events = streamed(messagesCodec, switching)
  const last = events.findLast(({ type }) => type === 'message_delta')
  t.like(last?.['delta'], { stop_reason: 'tool_use', stop_sequence: null })
  t.like(last?.['usage'], { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 7 })
  t.is(events.filter(({ type }) => type === 'message_delta').length, 1)
  t.is(events.at(-1)?.['type'], 'message_stop')
  t.like(events[0], { type: 'message_start', message: { usage: { output_tokens: 1 } } })
})

test('47: litellm#22102, #19368, #15432, #32724, every item of a response is told when it begins and ends, and the last event has all of them', (t) => {
  const events = streamed(responsesCodec, switching)
  t.deepEqual(
    events.map((event) => event['sequence_number']),
    events.map((_, at) => at),
  )
  const items = (type: string) =>
    events
      .filter((event) => event['type'] === `response.output_item.${type}`)
      .map((event) => [event['output_index'], event['item'] as Body])
  const [added, done] = [items('added'), items('done')]
  t.deepEqual(
    added.map(([index]) => index),
    [0, 1, 2, 3, 4, 5],
  )
  t.deepEqual(
    added.map(([, item]) => (item as Body)['id']),
    done.map(([, item]) => (item as Body)['id']),
  )
  for (const event of events)
    if (String(event['type']).endsWith('.delta'))
      t.true(added.some(([index, item]) => index === event['output_index'] && (item as Body)['id'] === event['item_id']))
  const last = events.at(-1)
  t.is(last?.['type'], 'response.completed')
  const response = last?.['response'] as { readonly output: readonly Body[]; readonly usage: Body }
  t.deepEqual(
    response.output,
    done.map(([, item]) => item as Body),
  )
  t.like(response.usage, { input_tokens: 20, output_tokens: 7, input_tokens_details: { cached_tokens: 8 } })
})

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
/** One conversation with a tool, in the words of each client. */
const asking: readonly (readonly [from: DialectId, body: Body])[] = [
  [
    'openai-chat',
    {
      model: 'claude-sonnet-4-5',
      max_tokens: 50,
      tools: [{ type: 'function', function: { name: 'weather', description: 'Looks.', parameters: schema } }],
      tool_choice: 'required',
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'sun' },
      ],
    },
  ],
  [
    'openai-responses',
    {
      model: 'claude-sonnet-4-5',
      max_output_tokens: 50,
      tools: [{ type: 'function', name: 'weather', description: 'Looks.', parameters: schema, strict: false }],
      tool_choice: 'required',
      input: [
        { role: 'user', content: 'Weather?' },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Paris"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sun' },
      ],
    },
  ],
  [
    'google',
    {
      model: 'claude-sonnet-4-5',
      generationConfig: { maxOutputTokens: 50 },
      tools: [{ functionDeclarations: [{ name: 'weather', description: 'Looks.', parametersJsonSchema: schema }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      contents: [
        { role: 'user', parts: [{ text: 'Weather?' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'weather', args: { city: 'Paris' } } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'weather', response: { output: 'sun' } } }] },
      ],
    },
  ],
]
for (const [from, body] of asking)
  test(`22: bifrost#3511, #3512, a request with a tool reaches Anthropic whole, from ${from}`, (t) => {
    const { body: sent, dropped } = translator(from, 'anthropic', body)({})
    t.deepEqual(dropped, [])
    t.deepEqual(sent, {
      model: 'claude-sonnet-4-5',
      max_tokens: 50,
      messages: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Paris' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'sun' }] },
      ],
      tools: [{ name: 'weather', description: 'Looks.', input_schema: schema }],
      tool_choice: { type: 'any' },
    })
  })

test('61: vercel#17681, objects of S3 go to Bedrock by their address', (t) => {
  const source = { type: 'url', url: 's3://bucket/a.jpg' }
  const base = { model: 'amazon.nova-pro-v1:0', max_tokens: 50, messages: [{ role: 'user', content: [{ type: 'image', source }] }] }
  t.like(translator('anthropic', 'bedrock', base)({}).body, {
    messages: { 0: { content: { 0: { image: { format: 'jpeg', source: { s3Location: { uri: 's3://bucket/a.jpg' } } } } } } },
  })
})
