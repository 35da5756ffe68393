import test from 'ava'
import { valueAt } from '../../../../src/lib/json/json-path.ts'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import type { TextPart } from '../../../../src/gateway/dialects/neutral/texts.ts'
import { operations } from '../../../../src/gateway/operations/operations.ts'
import { requestTexts } from '../../../../src/gateway/dialects/request-texts.ts'
import { answerTexts } from '../../../../src/gateway/dialects/answer-texts.ts'

type Row = readonly [operation: string, body: unknown, says: readonly string[]]

const F = 'forbidden'
const user = (...content: readonly unknown[]) => ({ model: 'm', messages: [{ role: 'user', content }] })
const assistant = (message: object) => ({ model: 'm', messages: [{ role: 'assistant', ...message }] })
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The texts of requests, each as `role: text`, in the order in which they are read. */
const requests: readonly Row[] = [
  ['messages', user({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: F } }), [`user: ${F}`]],
  ['messages', user({ type: 'document', source: { type: 'content', content: [{ type: 'text', text: F }] } }), [`user: ${F}`]],
  ['messages', user({ type: 'document', title: 'A', context: 'B', source: { type: 'base64', data: 'QUJD' } }), ['user: A', 'user: B']],
  ['messages', user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }), []],
  ['messages', user({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: F }] }), [`tool: ${F}`]],
  ['messages', assistant({ content: [{ type: 'thinking', thinking: F, signature: image }] }), [`assistant: ${F}`]],
  ['messages', assistant({ content: [{ type: 'redacted_thinking', data: 'QUJD' }] }), []],
  [
    'messages',
    assistant({ content: [{ type: 'tool_use', id: 't', name: 'f', input: { id: F, deep: ['x'] } }] }),
    [`assistant: ${F}`, 'assistant: x'],
  ],
  ['messages', { messages: [], mcp_servers: [{ type: 'url', url: 'https://a.test', name: 'a', authorization_token: 'a b' }] }, []],
  [
    'createModelResponse',
    { input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: F }] }] },
    [`tool: ${F}`],
  ],
  ['createModelResponse', { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'f', input: F }] }, [`user: ${F}`]],
  [
    'createModelResponse',
    { input: [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: F }], encrypted_content: image }] },
    [`user: ${F}`],
  ],
  [
    'createModelResponse',
    {
      prompt: { id: 'pmpt_1', variables: { a: F, id: 'x', b: { type: 'input_image', image_url: `data:image/png;base64,${image}` } } },
      input: 'y',
    },
    [`user: ${F}`, 'user: x', 'user: y'],
  ],
  [
    'createModelResponse',
    { input: [{ role: 'user', content: [{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${image}` }] }] },
    [],
  ],
  ['createModelResponse', { input: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: image }] }, []],
  [
    'createModelResponse',
    {
      input: 'x',
      text: {
        format: {
          type: 'json_schema',
          name: 'n',
          schema: { type: 'object', properties: { id: { type: 'string', description: F } }, required: ['id'] },
        },
        verbosity: 'low',
      },
    },
    [`system: ${F}`, 'user: x'],
  ],
  [
    'createModelResponse',
    { input: 'x', tools: [{ type: 'mcp', server_url: 'https://a.test', headers: { Authorization: 'Bearer a' }, server_description: F }] },
    [`system: ${F}`, 'user: x'],
  ],
  ['chatComplete', assistant({ function_call: { name: 'f', arguments: F } }), [`assistant: ${F}`]],
  [
    'chatComplete',
    assistant({ content: null, tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: F } }] }),
    [`assistant: ${F}`],
  ],
  ['chatComplete', assistant({ reasoning_content: F, content: 'x' }), [`assistant: ${F}`, 'assistant: x']],
  [
    'chatComplete',
    { prediction: { type: 'content', content: F }, messages: [{ role: 'developer', content: 'x' }] },
    [`assistant: ${F}`, 'system: x'],
  ],
  [
    'chatComplete',
    {
      messages: [],
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: F, parameters: { type: 'object', properties: { type: { type: ['string', 'null'] } } } },
        },
      ],
    },
    [`system: ${F}`],
  ],
  [
    'chatComplete',
    user(
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      { type: 'image_url', image_url: { url: 'https://a.test/b.png', detail: 'low' } },
    ),
    [],
  ],
  ['chatComplete', user({ type: 'of_tomorrow', it: { says: [F] } }), [`user: ${F}`]],
  ['chatComplete', user({ type: 'of_tomorrow', payload: image.repeat(100) }), []],
  ['chatComplete', user({ type: `text ${F}` }), [`user: text ${F}`]],
  [
    'chatComplete',
    {
      ...user('x'),
      temperature: 1,
      user: 'u-1',
      stop: ['a b'],
      metadata: { a: 'b c' },
      service_tier: 'auto',
      reasoning_effort: 'low',
      modalities: ['text'],
      tool_choice: { type: 'function', function: { name: 'f' } },
    },
    ['user: x'],
  ],
  ['chatComplete', { messages: F }, [`user: ${F}`]],
  ['chatComplete', [{ messages: [F] }], [`user: ${F}`]],
  ['embed', { model: 'm', input: [[1, 2], F], encoding_format: 'float' }, [`user: ${F}`]],
  ['createSpeech', { model: 'm', input: 'x', voice: 'alloy', response_format: 'mp3', instructions: F }, [`system: ${F}`, 'user: x']],
  ['proxy', { contents: [{ role: 'model', parts: [{ executableCode: { language: 'PYTHON', code: F } }] }] }, [`assistant: ${F}`]],
  [
    'proxy',
    {
      contents: [
        { parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }, { functionResponse: { name: 'f', response: { id: F } } }] },
      ],
    },
    [`user: ${F}`],
  ],
  ['proxy', { tools: [{ functionDeclarations: [{ name: 'f', description: F }] }], contents: [] }, [`system: ${F}`]],
  ['proxy', { messages: [{ role: 'user', content: [{ guardContent: { text: { text: F } } }] }] }, [`user: ${F}`]],
  ['proxy', { messages: [{ role: 'user', content: [{ document: { name: 'd', format: 'txt', source: { text: F } } }] }] }, [`user: ${F}`]],
  ['proxy', { messages: [{ role: 'user', content: [{ image: { format: 'png', source: { bytes: image } } }] }] }, []],
  ['proxy', { text: F, messages: [] }, [`user: ${F}`]],
  ['proxy', { metadata: { say: F }, model: 'm', contents: [] }, [`user: ${F}`]],
]

const chat = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: { content: [{ token: 'a' }] }, finish_reason: 'stop' }],
})
const output = (...items: readonly object[]) => ({ id: 'r', object: 'response', instructions: 'of the caller', output: items })

/** The texts of answers, in the order in which they are read. */
const answers: readonly Row[] = [
  ['chatComplete', chat({ content: 'x', reasoning: F, refusal: null }), [F, 'x']],
  ['chatComplete', chat({ content: null, function_call: { name: 'f', arguments: F } }), [F]],
  ['chatComplete', chat({ content: null, tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: F } }] }), [F]],
  ['chatComplete', chat({ content: null, audio: { id: 'a', data: 'QUJD', expires_at: 1, transcript: F } }), [F]],
  [
    'chatComplete',
    chat({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: F }] },
        { type: 'text', text: 'x' },
      ],
    }),
    [F, 'x'],
  ],
  ['chatComplete', chat({ content: 'x', of_tomorrow: { says: F } }), [F, 'x']],
  ['chatComplete', [chat({ content: F })], ['c', 'chat.completion', 'm', 'assistant', F, 'a', 'stop']],
  ['chatComplete', { id: 'x', generations: [{ text: F }] }, [F]],
  ['createModelResponse', output({ type: 'custom_tool_call', id: 'c', call_id: 'd', name: 'f', input: F, status: 'completed' }), [F]],
  [
    'createModelResponse',
    output({
      type: 'code_interpreter_call',
      id: 'c',
      code: F,
      outputs: [
        { type: 'logs', logs: 'y' },
        { type: 'image', url: 'https://a.test' },
      ],
      container_id: 'e',
    }),
    [F, 'y'],
  ],
  [
    'createModelResponse',
    output({ type: 'message', content: [{ type: 'output_text', text: F, annotations: [], logprobs: [{ token: 'a' }] }] }),
    [F],
  ],
  ['createModelResponse', output({ type: 'image_generation_call', id: 'i', result: image, revised_prompt: F }), [F]],
  [
    'messages',
    {
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'tool_use', id: 't', name: 'f', input: { a: F } }],
      stop_reason: 'tool_use',
    },
    [F],
  ],
  ['proxy', { text: 'x', answer: F }, [F, 'x']],
  [
    'proxy',
    {
      candidates: [
        {
          content: { parts: [{ executableCode: { language: 'PYTHON', code: F }, thoughtSignature: image }], role: 'model' },
          finishReason: 'STOP',
        },
      ],
      modelVersion: 'm',
    },
    [F],
  ],
  ['imageGenerate', { created: 1, data: [{ b64_json: image, revised_prompt: F }] }, [F]],
  ['embed', { object: 'list', data: [{ object: 'embedding', embedding: image }], model: 'm' }, []],
  ['listFiles', { object: 'list', data: [{ filename: 'a b' }] }, []],
]

/** The dialect of an operation of ours, or of none. */
function dialectOf(name: string): DialectId | null {
  for (const [operation, { dialect }] of Object.entries(operations)) if (operation === name) return dialect
  return null
}

const inPlace = (body: unknown, parts: readonly TextPart[]): boolean => parts.every(({ path, text }) => valueAt(body, path) === text)

for (const [operation, body, says] of requests)
  test(`a request says: ${operation} ${JSON.stringify(body).slice(0, 300)}`, (t) => {
    const parts = requestTexts(body, dialectOf(operation))
    t.deepEqual(
      parts.map(({ role, text }) => `${role}: ${text}`),
      says,
    )
    t.true(inPlace(body, parts))
  })

for (const [operation, body, says] of answers)
  test(`an answer says: ${operation} ${JSON.stringify(body).slice(0, 300)}`, (t) => {
    const parts = answerTexts(body, { dialect: dialectOf(operation), method: 'POST' })
    t.deepEqual(
      parts.map(({ text }) => text),
      says,
    )
    t.true(inPlace(body, parts))
  })

test('the texts of the dialect have the last word, in whatever order a body names its fields', (t) => {
  const body = { prompt: 'another', messages: [{ role: 'user', content: 'the question' }], instructions: 'be kind', input: 'one more' }
  const last = { 'openai-chat': 'the question', completions: 'another', 'openai-responses': 'one more' } as const
  for (const [dialect, text] of Object.entries(last) as [keyof typeof last, string][]) {
    const texts = requestTexts(body, dialect).map((part) => part.text)
    t.is(texts.at(-1), text)
    t.deepEqual(texts.toSorted(), ['another', 'be kind', 'one more', 'the question'])
  }
})
