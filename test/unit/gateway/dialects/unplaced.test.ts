import test from 'ava'
import { clientCodecOf } from '../../../../src/gateway/dialects/codecs.ts'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'

/** Fields at every depth that a decoder does not read are named; those that it reads are not. */
const cases: readonly (readonly [dialect: DialectId, body: Readonly<Record<string, unknown>>, unplaced: readonly string[]])[] = [
  [
    'anthropic',
    {
      system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h', scope: 's' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'x', citations: null, mood: 1 }], name: 'ada' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { any: 1 }, caller: { type: 'direct' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: { type: 'url', url: 'u', alt: 'a' } }] }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object', x: 1 }, defer_loading: true, input_examples: [] }],
      thinking: { type: 'adaptive', between_tools: true },
      metadata: { user_id: 'u', other: 1 },
    },
    [
      'system[0].cache_control.scope',
      'messages[0].content[0].mood',
      'messages[0].name',
      'messages[1].content[0].caller',
      'messages[2].content[0].content[0].source.alt',
      'tools[0].defer_loading',
      'thinking.between_tools',
      'metadata.other',
    ],
  ],
  [
    'openai-chat',
    {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: 'low', size: 1 } }], name: 'ada' },
        {
          role: 'assistant',
          content: 'x',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}', x: 1 } }],
          annotations: [],
        },
        { role: 'tool', tool_call_id: 'a', name: 'f', content: 'x' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { deep: 1 }, response: 1 } }],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, more: 1 } },
    },
    [
      'messages[0].content[0].image_url.size',
      'messages[0].name',
      'messages[1].tool_calls[0].function.x',
      'tools[0].function.response',
      'response_format.json_schema.more',
    ],
  ],
  [
    'openai-responses',
    {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'x', weight: 1 }] },
        {
          type: 'message',
          id: 'm',
          status: 'completed',
          role: 'assistant',
          phase: 'final',
          content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [] }],
        },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}', created_by: 'n' },
        { type: 'function_call_output', call_id: 'a', output: 'x' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: {}, strict: true, defer_loading: true }],
      reasoning: { effort: 'low', summary: 'auto', mode: 'pro' },
      text: { format: { type: 'text' }, verbosity: 'low' },
    },
    ['input[0].content[0].weight', 'input[1].phase', 'input[2].created_by', 'tools[0].defer_loading', 'reasoning.mode'],
  ],
  [
    'google',
    {
      contents: [
        { role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } }, { text: 'x', partMetadata: {} }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {}, willContinue: true } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { x: 1 }, scheduling: 'SILENT' } }] },
      ],
      tools: [{ function_declarations: [{ name: 'f', response: { type: 'STRING' } }] }],
      generation_config: { thinkingConfig: { includeThoughts: true, other: 1 } },
      toolConfig: { retrievalConfig: { languageCode: 'de' } },
    },
    [
      'contents[0].parts[1].partMetadata',
      'contents[1].parts[0].functionCall.willContinue',
      'contents[2].parts[0].functionResponse.scheduling',
      'generationConfig.thinkingConfig.other',
      'toolConfig.retrievalConfig',
      'tools[0].functionDeclarations[0].response',
    ],
  ],
]
for (const [dialect, body, unplaced] of cases)
  test(dialect, (t) => {
    t.deepEqual([...(clientCodecOf(dialect)?.request.decode(body).unplaced ?? [])].toSorted(), [...unplaced].toSorted())
  })

test('a body with a hundred thousand such fields names some of them', (t) => {
  const part = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, 1]))
  const decoded = clientCodecOf('openai-chat')?.request.decode({ messages: [{ role: 'user', content: 'x', ...part }] })
  t.is(decoded?.unplaced.length, 64)
})
