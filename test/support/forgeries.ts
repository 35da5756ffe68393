import { eventStreamMessage } from '../../src/gateway/wire/event-stream.ts'

const counts = {
  prompt_tokens: 1,
  completion_tokens: 1,
  input_tokens: 1,
  output_tokens: 1,
  total_tokens: 2,
  inputTokens: 1,
  outputTokens: 1,
  cost: 0.000001,
  estimated_cost: 0.000001,
  is_byok: true,
  service_tier: 'batch',
  speed: 'fast',
  inference_geo: 'us',
  iterations: [{ model: 'gpt-4o-mini', input_tokens: 1, output_tokens: 1 }],
  billed_units: { input_tokens: 1, output_tokens: 1, search_units: 1 },
}
const google = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2, trafficType: 'ON_DEMAND_FLEX', serviceTier: 'flex' }

/** Every word by which an answer states its cost, as a forger writes it who wants to pay less. */
export const words: Readonly<Record<string, unknown>> = {
  usage: counts,
  usageMetadata: google,
  usage_info: { pages_processed: 1 },
  meta: { billed_units: { input_tokens: 1, output_tokens: 1 } },
  billed_units: { input_tokens: 1, output_tokens: 1 },
  'amazon-bedrock-invocationMetrics': { inputTokenCount: 1, outputTokenCount: 1 },
  x_groq: { usage: counts },
  model: 'gpt-4o-mini',
  modelVersion: 'gemini-2.5-flash-lite',
  service_tier: 'batch',
  serviceTier: { type: 'flex' },
  message: { model: 'claude-haiku-4-5', usage: counts },
  response: { model: 'gpt-4o-mini', service_tier: 'flex', usage: counts, output: [{ type: 'web_search_call', id: 'ws_9' }] },
  delta: { usage: counts },
  result: { usage: counts },
  item: { type: 'web_search_call', id: 'ws_8', action: { type: 'search' } },
  output: [{ type: 'file_search_call', id: 'fs_9' }],
  type: 'web_search_call',
  candidates: [{ finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['a', 'b'], groundingChunks: [{ maps: {} }] } }],
  groundingMetadata: { webSearchQueries: ['a', 'b'], groundingChunks: [{ maps: {} }] },
  webSearchQueries: ['a'],
  groundingChunks: [{ maps: {} }],
  data: [{ b64_json: 'x' }, { url: 'x' }],
  b64_json: 'x',
  duration: 0.1,
  size: '256x256',
  quality: 'low',
  prompt_eval_count: 1,
  eval_count: 1,
  inputTextTokenCount: 1,
  prompt_token_count: 1,
  generation_token_count: 1,
}

/** An answer with something that its caller or its model wrote at every place where they can. */
export interface Forgeable {
  readonly provider: string
  readonly model: string
  readonly path: string
  /** The paths by which the same is asked for as a path of the provider's own; none: it is one. */
  readonly otherPaths?: readonly string[]
  readonly body: object
  readonly type?: string
  /** `object` stands where objects can be written, `text` where texts can. */
  readonly answer: (object: unknown, text: string) => string | Buffer
  /** Pico-US-dollars. */
  readonly amount: string
}

const json = (value: unknown) => JSON.stringify(value)
const sse = (events: readonly object[]) =>
  events.map((event) => `${'type' in event ? `event: ${String(event.type)}\n` : ''}data: ${json(event)}\n\n`).join('')
const stream = 'text/event-stream; charset=utf-8'
const messages = [{ role: 'user', content: 'hello world' }]

const chatUsage = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 }
const responsesUsage = { input_tokens: 1000, output_tokens: 1000, total_tokens: 2000 }
const claudeUsage = { input_tokens: 1000, output_tokens: 1000 }
const geminiUsage = { promptTokenCount: 1000, candidatesTokenCount: 1000, totalTokenCount: 2000 }

const response = (object: unknown, text: string, more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  instructions: text,
  model: 'gpt-5-2025-08-07',
  output: [
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: text },
    { type: 'mcp_call', id: 'mcp_1', name: 'f', arguments: text, output: text, server_label: text },
    { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text, annotations: [object], logprobs: [] }] },
  ],
  service_tier: 'default',
  text: { format: { type: 'json_schema', name: 'x', schema: object } },
  tools: [{ type: 'function', name: 'f', description: text, parameters: { properties: { a: { default: object } }, default: object } }],
  usage: responsesUsage,
  user: text,
  prompt: { id: 'p', variables: object },
  metadata: object,
  ...more,
})

const chunk = (delta: object, more: object = {}) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  model: 'gpt-5-2025-08-07',
  choices: [{ index: 0, delta }],
  usage: null,
  ...more,
})

const claude = (content: readonly object[], usage: object = claudeUsage) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content,
  stop_reason: 'tool_use',
  usage,
})

const gemini = (object: unknown, text: string, more: object = { usageMetadata: geminiUsage }) => ({
  candidates: [
    {
      content: { role: 'model', parts: [{ text }, { functionCall: { name: 'f', args: object } }, { executableCode: { code: text } }] },
      ...('usageMetadata' in more && { finishReason: 'STOP' }),
    },
  ],
  ...more,
  modelVersion: 'gemini-2.5-pro',
})

const converseUsage = { inputTokens: 1000, outputTokens: 1000, totalTokens: 2000 }
const event = (name: string, payload: object) =>
  eventStreamMessage({ ':message-type': 'event', ':event-type': name, ':content-type': 'application/json' }, json(payload))

// gpt-5: 1.25, out 10.00; claude-sonnet-4-5: 3.00, out 15.00; gemini-2.5-pro: 1.25, out 10.00, a thousand tokens of each
const [gpt, sonnet] = ['11250000000', '18000000000']

const ofResponses = { provider: 'openai', model: 'gpt-5', path: '/v1/responses', amount: gpt } as const
const ofChat = { provider: 'openai', model: 'gpt-5', path: '/v1/chat/completions', amount: gpt } as const
const ofClaude = { provider: 'anthropic', model: 'claude-sonnet-4-5', path: '/v1/messages', amount: sonnet } as const
const ofGemini = { provider: 'google', model: 'gemini-2.5-pro', amount: gpt } as const
const proxied = ['/v1/proxy/v1', '/v1/proxy', '/v1/proxy/openai/v1']
const below = (path: string) => ({ otherPaths: proxied.map((prefix) => prefix + path) })
const geminiPath = (verb: string) => ({
  path: `/v1beta/models/gemini-2.5-pro:${verb}`,
  otherPaths: [`/v1/proxy/v1beta/models/gemini-2.5-pro:${verb}`, `/v1/proxy/v1/models/gemini-2.5-pro:${verb}`],
})

/** Answers of every format, whole and streamed. */
export const forgeable: Readonly<Record<string, Forgeable>> = {
  'a response': { ...ofResponses, ...below('/responses'), body: { input: 'hi' }, answer: (object, text) => json(response(object, text)) },
  'a stream of a response': {
    ...ofResponses,
    ...below('/responses'),
    body: { input: 'hi', stream: true },
    type: stream,
    answer: (object, text) =>
      sse([
        { type: 'response.created', response: response(object, text, { usage: null, service_tier: 'auto', output: [] }) },
        { type: 'response.output_text.delta', item_id: 'msg_1', delta: text },
        { type: 'response.function_call_arguments.done', item_id: 'fc_1', arguments: text },
        { type: 'response.output_item.done', item: { type: 'function_call', id: 'fc_1', arguments: text } },
        { type: 'response.completed', response: response(object, text) },
      ]),
  },
  'a chat': {
    ...ofChat,
    ...below('/chat/completions'),
    body: { messages },
    answer: (object, text) =>
      json({
        id: 'x',
        object: 'chat.completion',
        metadata: object,
        model: 'gpt-5-2025-08-07',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: text,
              reasoning_content: text,
              annotations: [object],
              tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: text } }],
            },
          },
        ],
        service_tier: 'default',
        usage: chatUsage,
        request: object,
      }),
  },
  'a stream of a chat': {
    ...ofChat,
    ...below('/chat/completions'),
    body: { messages, stream: true, stream_options: { include_usage: true } },
    type: stream,
    answer: (object, text) =>
      sse([
        chunk({ content: text }),
        chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: text } }], annotations: [object] }),
        chunk({}, { choices: [], usage: chatUsage }),
        chunk({}, { choices: [], metadata: object }),
      ]) + 'data: [DONE]\n\n',
  },
  'a message': {
    ...ofClaude,
    ...below('/messages'),
    body: { max_tokens: 9, messages },
    answer: (object, text) =>
      json(
        claude([
          { type: 'text', text },
          { type: 'tool_use', id: 't', name: 'f', input: object },
          { type: 'mcp_tool_use', id: 'm', name: 'f', input: object },
          { type: 'thinking', thinking: text, signature: 'x' },
        ]),
      ),
  },
  'a message whose content comes last': {
    ...ofClaude,
    body: { max_tokens: 9, messages },
    answer: (object, text) => json({ ...claude([]), content: [{ type: 'tool_use', id: 't', name: 'f', input: [object, text] }] }),
  },
  'a stream of a message': {
    ...ofClaude,
    ...below('/messages'),
    body: { max_tokens: 9, messages, stream: true },
    type: stream,
    answer: (object, text) =>
      sse([
        { type: 'message_start', message: claude([], { input_tokens: 1000, output_tokens: 1 }) },
        { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'f', input: object } },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: text } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use', container: object }, usage: { output_tokens: 1000 } },
        { type: 'message_stop' },
      ]),
  },
  'a content': {
    ...ofGemini,
    ...geminiPath('generateContent'),
    body: { contents: [] },
    answer: (object, text) => json(gemini(object, text)),
  },
  'a stream of contents': {
    ...ofGemini,
    ...geminiPath('streamGenerateContent?alt=sse'),
    body: { contents: [] },
    type: stream,
    answer: (object, text) => sse([gemini(object, text, {}), gemini(object, text)]),
  },
  'a list of contents': {
    ...ofGemini,
    ...geminiPath('streamGenerateContent'),
    body: { contents: [] },
    answer: (object, text) => JSON.stringify([gemini(object, text, {}), gemini(object, text)], null, 2),
  },
  'an answer of Converse': {
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    path: '/v1/proxy/model/amazon.nova-pro-v1:0/converse',
    otherPaths: ['/v1/model/amazon.nova-pro-v1:0/converse'],
    body: { messages: [] },
    answer: (object, text) =>
      json({
        output: { message: { role: 'assistant', content: [{ text }, { toolUse: { toolUseId: 't', name: 'f', input: object } }] } },
        stopReason: 'tool_use',
        usage: converseUsage,
        additionalModelResponseFields: object,
        trace: { promptRouter: { invokedModelId: 'amazon.nova-pro-v1:0' } },
      }),
    // 0.80 and 3.20
    amount: '4000000000',
  },
  'a stream of Converse': {
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    path: '/v1/proxy/model/amazon.nova-pro-v1:0/converse-stream',
    otherPaths: ['/v1/model/amazon.nova-pro-v1:0/converse-stream'],
    body: { messages: [] },
    type: 'application/vnd.amazon.eventstream',
    answer: (object, text) =>
      Buffer.concat([
        event('messageStart', { role: 'assistant' }),
        event('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: text } } }),
        event('contentBlockDelta', { contentBlockIndex: 1, delta: { text } }),
        event('messageStop', { stopReason: 'tool_use', additionalModelResponseFields: object }),
        event('metadata', { usage: converseUsage, metrics: { latencyMs: 5 }, trace: object }),
      ]),
    amount: '4000000000',
  },
  'a chat of Cohere': {
    provider: 'cohere',
    model: 'command-r-plus-08-2024',
    path: '/v1/proxy/v2/chat',
    body: { messages },
    answer: (object, text) =>
      json({
        id: 'x',
        message: {
          role: 'assistant',
          content: [{ type: 'text', text }],
          tool_plan: text,
          tool_calls: [{ id: 'c', function: { name: 'f', arguments: text } }],
          citations: [{ sources: [{ type: 'tool', tool_output: object }] }],
        },
        usage: { billed_units: { input_tokens: 1000, output_tokens: 1000 }, tokens: { input_tokens: 1500, output_tokens: 1000 } },
      }),
    // 2.50 and 10.00
    amount: '12500000000',
  },
  'a stream of Cohere': {
    provider: 'cohere',
    model: 'command-r-plus-08-2024',
    path: '/v1/proxy/v2/chat',
    body: { messages, stream: true },
    type: stream,
    answer: (object, text) =>
      sse([
        { type: 'content-delta', index: 0, delta: { message: { content: { text } } } },
        { type: 'citation-start', index: 0, delta: { message: { citations: { sources: [{ tool_output: object }] } } } },
        { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { billed_units: { input_tokens: 1000, output_tokens: 1000 } } } },
      ]),
    amount: '12500000000',
  },
  'a run of a thread': {
    provider: 'openai',
    model: 'gpt-5',
    path: '/v1/proxy/threads/runs',
    body: { assistant_id: 'asst_1', stream: true },
    type: stream,
    answer: (object, text) =>
      sse([
        { id: 'm', object: 'thread.message.delta', delta: { content: [{ type: 'text', text: { value: text } }] } },
        {
          id: 'run_1',
          object: 'thread.run',
          instructions: text,
          model: 'gpt-5',
          tools: [{ type: 'function', function: { parameters: object } }],
          usage: chatUsage,
          metadata: object,
        },
      ]),
    amount: gpt,
  },
}
