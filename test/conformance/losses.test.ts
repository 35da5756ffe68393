import test from 'ava'
import { type Body, translator } from '../support/dialects/translated.ts'
import { refusalOr, translated } from './fields.ts'
import type { ClientId, ProviderId } from './talk.ts'

/** Fields without a place at a provider are named, anywhere in a request; a wish that is granted anyhow is not. */
interface Loss {
  readonly title: string
  readonly client: ClientId
  readonly body: Body
  /** The providers, of which those that think are asked for a model that does. */
  readonly at: readonly ProviderId[]
  readonly thinks?: true
  readonly named: readonly string[]
  readonly notNamed?: readonly string[]
}

const hello = { messages: [{ role: 'user', content: 'Hello' }] }
const schema = { type: 'object', properties: {} }
const marked = { cache_control: { type: 'ephemeral' } }
const pdf = 'JVBERi0xLjQK'

/** A call and its result, with a mark somewhere. */
const results = (result: object, said: object = {}) => ({
  max_tokens: 100,
  tools: [{ name: 'f', input_schema: schema }],
  messages: [
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.', ...said },
        { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', ...result }] },
  ],
})
const withoutMarks: readonly ProviderId[] = ['openai-chat', 'openai-responses', 'google', 'cohere', 'ollama', 'oracle', 'oracle-cohere']

const losses: readonly Loss[] = [
  {
    title: 'what an answer should hold beside log probabilities and sealed reasoning',
    client: 'openai-responses',
    body: { input: 'Hello', include: ['file_search_call.results', 'reasoning.encrypted_content', 'message.output_text.logprobs'] },
    at: ['openai-chat', 'google', 'cohere', 'ollama', 'oracle'],
    named: ['include[0]'],
    notNamed: ['include[1]', 'include[2]'],
  },
  {
    title: 'letters that hide the length of pieces, for responses',
    client: 'openai-responses',
    body: { input: 'Hello', stream: true, stream_options: { include_obfuscation: true } },
    at: ['openai-chat', 'anthropic', 'google', 'bedrock'],
    named: ['stream_options.include_obfuscation'],
  },
  {
    title: 'letters that hide the length of pieces, for chats',
    client: 'openai-chat',
    body: { ...hello, stream: true, stream_options: { include_usage: true, include_obfuscation: true } },
    at: ['anthropic', 'google', 'bedrock', 'openai-responses'],
    named: ['stream_options.include_obfuscation'],
    notNamed: ['stream_options.include_usage'],
  },
  {
    title: 'no such letters, which is how it is',
    client: 'openai-chat',
    body: { ...hello, stream: true, stream_options: { include_obfuscation: false } },
    at: ['anthropic', 'google', 'bedrock', 'openai-responses'],
    named: [],
    notNamed: ['stream_options.include_obfuscation'],
  },
  {
    title: 'a summary of what was thought, where the provider tells it or not as it likes',
    client: 'openai-responses',
    body: { input: 'Hello', reasoning: { effort: 'low', summary: 'detailed' } },
    at: ['openai-chat', 'cohere', 'ollama', 'oracle'],
    thinks: true,
    named: ['reasoning.summary'],
  },
  {
    title: 'a summary of what was thought, where it is asked for',
    client: 'openai-responses',
    body: { input: 'Hello', max_output_tokens: 8000, reasoning: { effort: 'low', summary: 'auto' } },
    at: ['anthropic', 'google', 'bedrock'],
    thinks: true,
    named: [],
    notNamed: ['reasoning.summary'],
  },
  {
    title: 'thoughts that are not to be shown',
    client: 'openai-chat',
    body: { ...hello, max_tokens: 8000, thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' } },
    at: ['anthropic', 'bedrock', 'cohere', 'oracle'],
    thinks: true,
    named: ['thinking.display'],
  },
  {
    title: 'thoughts that are not to be shown, where the provider can keep them',
    client: 'openai-chat',
    body: { ...hello, max_tokens: 8000, thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' } },
    at: ['google', 'openai-responses'],
    thinks: true,
    named: [],
    notNamed: ['thinking.display'],
  },
  {
    title: 'a mark of the cache on a text within a result',
    client: 'anthropic',
    body: results({ content: [{ type: 'text', text: 'sunny', ...marked }] }),
    at: withoutMarks,
    named: ['cache_control'],
  },
  {
    title: 'a mark of the cache on a result',
    client: 'anthropic',
    body: results({ content: 'sunny', ...marked }),
    at: withoutMarks,
    named: ['cache_control'],
  },
  {
    title: 'a mark of the cache on what an assistant said',
    client: 'anthropic',
    body: results({ content: 'sunny' }, marked),
    at: withoutMarks,
    named: ['cache_control'],
  },
  {
    title: 'no mark of the cache',
    client: 'anthropic',
    body: results({ content: [{ type: 'text', text: 'sunny' }] }),
    at: withoutMarks,
    named: [],
    notNamed: ['cache_control'],
  },
  {
    title: 'tools that are strict',
    client: 'openai-chat',
    body: {
      ...hello,
      tools: ['f', 'g'].map((name) => ({ type: 'function', function: { name, parameters: schema, strict: name === 'g' } })),
    },
    at: ['oracle', 'oracle-cohere'],
    named: ['tools[1].strict'],
    notNamed: ['tools[0].strict'],
  },
  {
    title: 'the name of a file in a chat',
    client: 'openai-chat',
    body: {
      messages: [
        { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } }] },
      ],
    },
    at: ['google', 'vertex'],
    named: ['messages[0].content[0].file.filename'],
  },
  {
    title: 'the name of a file in a response',
    client: 'openai-responses',
    body: {
      input: [{ role: 'user', content: [{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` }] }],
    },
    at: ['google', 'vertex'],
    named: ['input[0].content[0].filename'],
  },
  {
    title: 'the title of a document',
    client: 'anthropic',
    body: {
      max_tokens: 100,
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', title: 'A', source: { type: 'base64', media_type: 'application/pdf', data: pdf } }],
        },
      ],
    },
    at: ['google', 'vertex'],
    named: ['messages[0].content[0].title'],
  },
  {
    title: 'the resolution of a document',
    client: 'google',
    body: {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Read.' },
            { inlineData: { mimeType: 'application/pdf', data: pdf }, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } },
          ],
        },
      ],
    },
    at: ['openai-chat', 'openai-responses', 'anthropic', 'bedrock', 'oracle'],
    named: ['contents[0].parts[1].mediaResolution'],
  },
]

for (const { title, client, body, at, thinks = false, named, notNamed = [] } of losses)
  test(`${client}: ${title}`, (t) => {
    for (const id of at) {
      const dropped = translated({ client, id, thinks }, body)?.dropped ?? []
      for (const name of named) t.true(dropped.includes(name), `${id} names ${dropped.join(', ')}`)
      for (const name of notNamed) t.false(dropped.includes(name), `${id} names ${dropped.join(', ')}`)
    }
  })

test('thoughts that are not to be shown are kept by models that can', (t) => {
  const asked = { max_tokens: 8000, thinking: { type: 'adaptive', display: 'omitted' } }
  const { body, dropped } = translator('openai-chat', 'anthropic', { model: 'claude-opus-4-6', ...hello })(asked)
  t.deepEqual(body['thinking'], { type: 'adaptive', display: 'omitted' })
  t.deepEqual(dropped, [])
})

test('a mark of the cache within a result stands behind the result at Bedrock', (t) => {
  const sent = translated({ client: 'anthropic', id: 'bedrock' }, results({ content: [{ type: 'text', text: 'sunny', ...marked }] }))
  t.like((sent?.body['messages'] as readonly { readonly content: readonly object[] }[] | undefined)?.[2]?.content, {
    0: { toolResult: { content: [{ text: 'sunny' }] } },
    1: { cachePoint: { type: 'default' } },
  })
  t.deepEqual(sent?.dropped, [])
})

/** An id of a file has a meaning for its vendor only. */
const files: readonly (readonly [client: ClientId, body: Body])[] = [
  ['openai-chat', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] }],
  ['openai-responses', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }],
  ['openai-responses', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] }],
  [
    'anthropic',
    { max_tokens: 100, messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file-1' } }] }] },
  ],
  ['google', { contents: [{ role: 'user', parts: [{ fileData: { mimeType: 'application/pdf', fileUri: 'files/file-1' } }] }] }],
]
const vendors = 'openai-chat anthropic google bedrock cohere ollama oracle oracle-cohere workers-ai azure-ai openai-responses'.split(' ')

for (const [client, body] of files)
  test(`${client}: the id of a file goes to no other vendor: ${JSON.stringify(body).slice(-80)}`, (t) => {
    for (const id of vendors as ProviderId[]) {
      const sent = refusalOr(() => translated({ client, id }, body))
      if (sent === null || sent === 'refused') continue
      // Models that OpenAI serves by responses alone accept the files of its chats.
      t.deepEqual([client, id], ['openai-chat', 'openai-responses'])
      t.true(sent.text.includes('"file_id":"file-1"'), sent.text)
    }
    t.is(
      refusalOr(() => translated({ client, id: 'oracle' }, body)),
      'refused',
    )
  })
