import test from 'ava'
import { eventStreamMessage } from '../../src/gateway/wire/event-stream.ts'
import { sse } from '../support/dialects/strict.ts'
import type { Behaviour } from '../support/emulator/behaviour.ts'
import { addressAt, type Product, startProduct } from './product.ts'
import { isServed, talkers } from './sides/index.ts'
import type { Ask, ClientId, ProviderId } from './talk.ts'

/** Blocks of a stream that overlap: parts within a call never cut its arguments off, for every provider and every client. */
let product: Product
test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

type Body = Readonly<Record<string, unknown>>

const chunk = (delta: Body, finish: string | null = null): readonly [null, Body] => [
  null,
  { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] },
]
const call = (index: number, text: string, head: Body = {}) => ({
  tool_calls: [{ index, ...head, function: { ...(Object.hasOwn(head, 'id') && { name: 'run' }), arguments: text } }],
})
const begun = (index: number, text = '') => call(index, text, { id: `call_${index}`, type: 'function' })

const chat = (...frames: readonly (readonly [null, Body])[]): Behaviour => {
  const { body = '', ...rest } = sse([chunk({ role: 'assistant', content: '' }), ...frames, chunk({}, 'tool_calls')])
  return { ...rest, body: `${body}data: [DONE]\n\n` }
}

const messages = (...events: readonly Body[]): Behaviour =>
  sse(
    [
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
      ...events,
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ].map((event) => [event.type as string, event] as const),
  )
const startOf = (index: number, content_block: Body): Body => ({ type: 'content_block_start', index, content_block })
const toolAt = (index: number): Body => startOf(index, { type: 'tool_use', id: `call_${index}`, name: 'run', input: {} })
const jsonAt = (index: number, partial_json: string): Body => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
})
const textAt = (index: number, text: string): Body => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
const stopAt = (index: number): Body => ({ type: 'content_block_stop', index })

const converse = (...events: readonly (readonly [type: string, payload: Body])[]): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  bodyBase64: Buffer.concat(
    [['messageStart', { role: 'assistant' }] as const, ...events, ['messageStop', { stopReason: 'tool_use' }] as const].map(
      ([type, payload]) =>
        eventStreamMessage({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, JSON.stringify(payload)),
    ),
  ).toString('base64'),
})
const toolDelta = (contentBlockIndex: number, input: string) =>
  ['contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input } } }] as const
const toolStart = (contentBlockIndex: number) =>
  ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: `call_${contentBlockIndex}`, name: 'run' } } }] as const
const blockStop = (contentBlockIndex: number) => ['contentBlockStop', { contentBlockIndex }] as const
const textDelta = (contentBlockIndex: number, text: string) => ['contentBlockDelta', { contentBlockIndex, delta: { text } }] as const

const cohere = (...events: readonly Body[]): Behaviour =>
  sse(
    [
      { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
      ...events,
      { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
    ].map((event) => [event.type as string, event] as const),
  )
const cohereCall = (type: string, index: number, text: string | null, head: Body = {}): Body => ({
  type,
  index,
  ...(text !== null && { delta: { message: { tool_calls: { ...head, function: { name: 'run', arguments: text } } } } }),
})
const cohereText = (text: string): Body => ({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } })

const responses = (...events: readonly Body[]): Behaviour => {
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [] }
  return sse(
    [{ type: 'response.created', response }, ...events, { type: 'response.completed', response }].map(
      (event) => [event.type as string, event] as const,
    ),
  )
}
const itemAt = (output_index: number, what: 'added' | 'done', item: Body): Body => ({
  type: `response.output_item.${what}`,
  output_index,
  item,
})
const callItem = (index: number, given: string): Body => ({
  type: 'function_call',
  id: `fc_${index}`,
  call_id: `call_${index}`,
  name: 'run',
  arguments: given,
})
const argueAt = (output_index: number, delta: string): Body => ({ type: 'response.function_call_arguments.delta', output_index, delta })

const [first, second] = ['{"command":', '"ls"}']
/** Parts that come within the arguments of a call of chat. */
const within: Readonly<Record<string, readonly Body[]>> = {
  'a text': [{ content: '\n' }],
  'reasoning, as one server names it': [{ reasoning_content: 'Hm.' }],
  'reasoning, as another names it': [{ reasoning: 'Hm.' }],
  'a refusal': [{ refusal: 'No.' }],
  'a picture': [{ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }] }],
  'a source': [{ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }] }],
  'a part that is a thought': [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }],
  'signed thoughts': [{ thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }] }],
  'a text in pieces': [{ content: 'a' }, { content: 'b' }, { content: null }],
  'a text and reasoning': [{ content: 'a' }, { reasoning_content: 'b' }, { content: 'c' }],
}

interface Case {
  readonly provider: ProviderId
  readonly title: string
  readonly answer: Behaviour
  readonly calls: number
}

const cases: readonly Case[] = [
  ...Object.entries(within).flatMap(([title, pieces]): readonly Case[] => {
    const frames = pieces.map((piece) => chunk(piece))
    return [
      { provider: 'openai-chat', title, calls: 1, answer: chat(chunk(begun(0, first)), ...frames, chunk(call(0, second))) },
      {
        provider: 'openai-chat',
        title: `${title}, before the first argument`,
        calls: 1,
        answer: chat(chunk(begun(0)), ...frames, chunk(call(0, first + second))),
      },
      {
        provider: 'openai-chat',
        title: `${title}, in the frames of the call`,
        calls: 1,
        answer: chat(chunk(begun(0, first)), ...pieces.map((piece, at) => chunk({ ...piece, ...call(0, at === 0 ? second : '') }))),
      },
      {
        provider: 'openai-chat',
        title: `${title}, between two calls that take turns`,
        calls: 2,
        answer: chat(
          chunk(begun(0, first)),
          ...frames,
          chunk(begun(1, first)),
          ...frames,
          chunk(call(0, second)),
          ...frames,
          chunk(call(1, second)),
        ),
      },
    ]
  }),
  {
    provider: 'anthropic',
    title: 'a text',
    calls: 1,
    answer: messages(
      toolAt(0),
      jsonAt(0, first),
      startOf(1, { type: 'text', text: '' }),
      textAt(1, '\n'),
      stopAt(1),
      jsonAt(0, second),
      stopAt(0),
    ),
  },
  {
    provider: 'anthropic',
    title: 'another call',
    calls: 2,
    answer: messages(toolAt(0), jsonAt(0, first), toolAt(1), jsonAt(1, first), jsonAt(0, second), jsonAt(1, second), stopAt(1), stopAt(0)),
  },
  {
    provider: 'bedrock',
    title: 'a text',
    calls: 1,
    answer: converse(toolStart(0), toolDelta(0, first), textDelta(1, '\n'), blockStop(1), toolDelta(0, second), blockStop(0)),
  },
  {
    provider: 'bedrock',
    title: 'another call',
    calls: 2,
    answer: converse(
      toolStart(0),
      toolDelta(0, first),
      toolStart(1),
      toolDelta(1, first),
      toolDelta(0, second),
      blockStop(0),
      toolDelta(1, second),
    ),
  },
  {
    provider: 'cohere',
    title: 'a text',
    calls: 1,
    answer: cohere(
      cohereCall('tool-call-start', 0, first, { id: 'call_0' }),
      cohereText('\n'),
      cohereCall('tool-call-delta', 0, second),
      cohereCall('tool-call-end', 0, null),
    ),
  },
  {
    provider: 'cohere',
    title: 'another call',
    calls: 2,
    answer: cohere(
      cohereCall('tool-call-start', 0, first, { id: 'call_0' }),
      cohereCall('tool-call-start', 1, first, { id: 'call_1' }),
      cohereCall('tool-call-delta', 0, second),
      cohereCall('tool-call-delta', 1, second),
      cohereCall('tool-call-end', 0, null),
      cohereCall('tool-call-end', 1, null),
    ),
  },
  {
    provider: 'openai-responses',
    title: 'a text',
    calls: 1,
    answer: responses(
      itemAt(0, 'added', callItem(0, '')),
      argueAt(0, first),
      itemAt(1, 'added', { type: 'message', id: 'msg', content: [] }),
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: '\n' },
      itemAt(1, 'done', { type: 'message', id: 'msg', content: [{ type: 'output_text', text: '\n' }] }),
      argueAt(0, second),
      itemAt(0, 'done', callItem(0, first + second)),
    ),
  },
]

const ask: Ask = {
  turns: [{ role: 'user', pieces: [{ text: 'List.' }] }],
  tools: [{ name: 'run', parameters: { type: 'object', properties: { command: { type: 'string' } } } }],
  maxTokens: 50,
}
const clients: readonly ClientId[] = ['openai-chat', 'openai-responses', 'anthropic', 'google']

for (const client of clients)
  for (const { provider, title, answer, calls } of cases) {
    if (!isServed(client, provider) || (client as string) === provider) continue
    test.serial(`${client} at ${provider}: ${title} within a call`, async (t) => {
      product.emulator.script({ behaviour: answer })
      const talk = await talkers[client](addressAt(product.bed, { client, provider, name: 'plain' })).talk(ask, true)
      t.deepEqual(
        talk.calls.map(({ name, args }) => ({ name, args })),
        Array.from({ length: calls }, () => ({ name: 'run', args: { command: 'ls' } })),
      )
    })
  }
