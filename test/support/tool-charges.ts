import { type Charged, sse } from './charges.ts'

const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }
const response = (output: readonly object[], more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-4o',
  output,
  usage,
  ...more,
})
const picture = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aGk=', background: 'opaque' }
const asked = { provider: 'openai', model: 'gpt-4o', path: '/v1/responses' }
const tools = [{ type: 'image_generation' }]
const drawnTokens = {
  image_gen: {
    input_tokens: 50,
    input_tokens_details: { image_tokens: 40, text_tokens: 10 },
    output_tokens: 1000,
    output_tokens_details: { image_tokens: 1000, text_tokens: 0 },
    total_tokens: 1050,
  },
  web_search: { num_requests: 0 },
}
const said = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi', annotations: [] }] }

const grounded = (more: object) => ({
  modelVersion: 'gemini-2.5-flash',
  candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP', groundingMetadata: more }],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
})
const ofGemini = {
  provider: 'vertex-ai',
  model: 'gemini-2.5-flash',
  path: '/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:generateContent',
}

/** Tools that providers run and sell beside the tokens of an answer. gpt-4o: 2.50, out 10.00, so that each response itself is 350,000,000. */
export const toolCharges: Readonly<Record<string, Charged>> = {
  // gpt-image-1, low, 1024x1536: $0.016
  'an image that a response drew, by its size and quality, at the prices of the model that drew it': {
    ...asked,
    body: { input: 'hi', tools },
    answer: response([{ ...picture, quality: 'low', size: '1024x1536' }, said]),
    amount: '16350000000',
  },
  'an image that a stream of a response drew, which tells it several times': {
    ...asked,
    body: { input: 'hi', tools, stream: true },
    answer: sse(
      { type: 'response.created', response: response([], { usage: null, status: 'in_progress' }) },
      { type: 'response.output_item.added', output_index: 0, item: { id: 'ig_1', type: picture.type, status: 'in_progress' } },
      { type: 'response.image_generation_call.partial_image', item_id: 'ig_1', partial_image_b64: 'aGk=', size: '1024x1024' },
      { type: 'response.output_item.done', output_index: 0, item: { ...picture, quality: 'low', size: '1024x1536' } },
      { type: 'response.completed', response: response([{ ...picture, quality: 'low', size: '1024x1536' }]) },
    ),
    amount: '16350000000',
  },
  // 10 x 5.00 + 40 x 10.00 + 1000 x 40.00: 50,000,000 + 400,000,000 + 40,000,000,000
  'the tokens of images, where the answer tells them': {
    ...asked,
    body: { input: 'hi', tools },
    answer: response([{ ...picture, quality: 'low', size: '1024x1024' }], { tool_usage: drawnTokens }),
    amount: '40800000000',
  },
  'the tokens of images in a stream of a response': {
    ...asked,
    body: { input: 'hi', tools, stream: true },
    answer: sse({ type: 'response.completed', response: response([picture], { tool_usage: drawnTokens }) }),
    amount: '40800000000',
  },
  // gpt-image-1-mini, medium, 1536x1024: $0.015 each
  'images by the model, the size and the quality that the request names, where the answer tells none': {
    ...asked,
    body: { input: 'hi', tools: [{ type: 'image_generation', model: 'gpt-image-1-mini', quality: 'medium', size: '1536x1024' }] },
    answer: response([picture, { ...picture, id: 'ig_2' }, { ...picture, id: 'ig_3', status: 'failed' }]),
    amount: '30350000000',
  },
  // gpt-image-2.6-flare has no price by the image: 6,240 x 30.00
  'an image of a model that is sold by tokens alone counts as the finest': {
    ...asked,
    body: { input: 'hi', tools: [{ type: 'image_generation', model: 'gpt-image-2.6-flare' }] },
    answer: response([picture]),
    state: 'estimated',
    amount: '187550000000',
  },
  'an image of a model without a price is named, and not free': {
    ...asked,
    body: { input: 'hi', tools: [{ type: 'image_generation', model: 'gpt-image-of-tomorrow' }] },
    answer: response([picture], { tool_usage: drawnTokens }),
    state: 'partly_priced',
    amount: '350000000',
  },
  // gpt-5-codex: 1.25, out 10.00: 125,000,000 + 100,000,000
  'an image, for a caller of Messages': {
    provider: 'openai',
    model: 'gpt-5-codex',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    answer: response([{ ...picture, quality: 'low', size: '1024x1536' }, said], { model: 'gpt-5-codex' }),
    amount: '16225000000',
  },
  // $0.03 for a gigabyte
  'a container of four gigabytes costs four times as much as one': {
    ...asked,
    body: { input: 'hi', tools: [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }] },
    answer: response([{ id: 'ci_1', type: 'code_interpreter_call', container_id: 'c' }]),
    lines: { input: 100, output: 10, code_session: 4 },
    amount: '120350000000',
  },
  'commands cost the container in which the provider runs them, and nothing where the caller does': {
    ...asked,
    body: { input: 'hi', tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
    answer: response([
      { id: 'sh_1', type: 'shell_call', environment: { type: 'container_reference' }, container_id: 'c' },
      { id: 'sh_2', type: 'shell_call', environment: { type: 'local' } },
    ]),
    lines: { input: 100, output: 10, code_session: 1 },
    amount: '30350000000',
  },
  // The integration has a price for tokens alone: 1.50, out 6.00, a search $0.014: 150,000,000 + 60,000,000 + 14,000,000,000
  'a tool has the fee of its provider, where the price of the model does not name it': {
    provider: 'plain',
    model: 'house',
    path: '/v1/responses',
    body: { input: 'hi' },
    answer: response([{ id: 'ws_1', type: 'web_search_call', action: { type: 'search' } }], { model: 'house' }),
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '14210000000',
  },
  // grok-4: 3.00, out 15.00, a run of code $0.005: 300,000,000 + 150,000,000 + 5,000,000,000
  'a run of code at Grok': {
    provider: 'x-ai',
    model: 'grok-4',
    path: '/v1/proxy/v1/responses',
    body: { input: 'hi' },
    answer: response([{ id: 'ci_1', type: 'code_interpreter_call' }], { model: 'grok-4' }),
    lines: { input: 100, output: 10, code_execution: 1 },
    amount: '5450000000',
  },
  'calls of tools that Grok counts in its usage alone': {
    provider: 'x-ai',
    model: 'grok-4',
    path: '/v1/proxy/v1/responses',
    body: { input: 'hi' },
    answer: response([said], {
      model: 'grok-4',
      usage: { ...usage, server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1, mcp_calls: 3 } },
    }),
    lines: { input: 100, output: 10, web_search: 2, x_search: 1 },
    amount: '15450000000',
  },
  // 0.30, out 2.50, an enterprise search $0.045: 30,000,000 + 25,000,000 + 45,000,000,000
  'a search for enterprises costs more than another': {
    ...ofGemini,
    body: { contents: [], tools: [{ enterpriseWebSearch: {} }] },
    answer: grounded({ webSearchQueries: ['a', 'b'] }),
    lines: { input: 100, output: 10, enterprise_web_search: 1 },
    amount: '45055000000',
  },
  "a search in the caller's own data that Vertex AI sells": {
    ...ofGemini,
    body: { contents: [], tools: [{ retrieval: { vertexAiSearch: { datastore: 'd' } } }] },
    answer: grounded({ retrievalQueries: ['a', 'b'] }),
    lines: { input: 100, output: 10, file_search: 1 },
    amount: '2555000000',
  },
  // mistral-medium-latest: 0.40, out 2.00, a search $0.03, an image $0.10
  'a conversation at Mistral, with what its tools found and did': {
    provider: 'mistral-ai',
    model: 'mistral-small-latest',
    path: '/v1/proxy/v1/conversations',
    body: { inputs: 'hi', tools: [{ type: 'web_search' }] },
    answer: {
      object: 'conversation.response',
      conversation_id: 'conv_1',
      outputs: [{ type: 'message.output', model: 'mistral-small-latest', content: 'hi' }],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 10,
        total_tokens: 210,
        connector_tokens: 100,
        connectors: { web_search: 1, image_generation: 2 },
      },
    },
    lines: { input: 200, output: 10, web_search: 1, image: 2 },
    amount: 'any',
  },
  // claude-sonnet-4-5: 3.00, out 15.00: 300,000,000 + 150,000,000, and what the tool's model costs
  'a tool that no table has: its cost is not known, whether it ran or not': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    body: {
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'x' }],
    },
    answer: { type: 'message', model: 'claude-sonnet-4-5', content: [], usage: { input_tokens: 100, output_tokens: 10 } },
    state: 'partly_priced',
    amount: '450000000',
  },
  // gpt-4o: 350,000,000
  'a tool in the input of a response that no table has': {
    ...asked,
    body: { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'unheard_of' }] }] },
    answer: response([said]),
    state: 'partly_priced',
    amount: '350000000',
  },
  'functions and free tools are priced whole': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    body: {
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [
        { name: 'a', input_schema: { type: 'object' } },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
        { type: 'bash_20250124', name: 'bash' },
      ],
    },
    answer: { type: 'message', model: 'claude-sonnet-4-5', content: [], usage: { input_tokens: 100, output_tokens: 10 } },
    state: 'priced',
    amount: '450000000',
  },
}
