import { chat, type Charged, claude, hello, run, sse } from './charges.ts'

const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const severalRuns = {
  input_tokens: 10,
  output_tokens: 20,
  server_tool_use: { web_search_requests: 1 },
  iterations: [run('claude-sonnet-4-5', 100, 7), run('claude-sonnet-4-5', 900, 0), run('claude-opus-4-6', 10, 20)],
}
const hundred = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
const ownKey = { ...hundred, is_byok: true, cost: 0.0000475, cost_details: { upstream_inference_cost: 0.00095 } }
const answered = (model: string, usage: object) => ({
  ...chat(usage),
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
})

/** Fees beside counts of tokens, costs that a provider names, and answers of several models. The amounts are worked out by hand. */
export const feeCharges: Readonly<Record<string, Charged>> = {
  // 2.50, out 10.00, the search $0.025: 250,000,000 + 100,000,000 + 25,000,000,000
  'a chat model that always searches takes its fee for each request': {
    provider: 'openai',
    model: 'gpt-4o-search-preview',
    body: { messages: hello, web_search_options: { search_context_size: 'high' } },
    answer: answered('gpt-4o-search-preview-2025-03-11', hundred),
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '25350000000',
  },
  // 3.00, out 15.00, a search $0.01: 30,000,000 + 150,000,000 + 20,000,000,000
  'Claude whose counts of the cache are null': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: hello },
    answer: {
      ...claude({
        input_tokens: 10,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        cache_creation: null,
        output_tokens: 10,
        server_tool_use: { web_search_requests: 2 },
        service_tier: null,
      }),
      model: 'claude-sonnet-4-5',
    },
    lines: { input: 10, output: 10, web_search: 2 },
    amount: '20180000000',
  },
  // 300,000,000 + 3,750,000,000 + 150,000,000
  'Claude that wrote into its cache and counts no read': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: hello },
    answer: {
      ...claude({ input_tokens: 100, cache_creation_input_tokens: 1000, cache_read_input_tokens: null, output_tokens: 10 }),
      model: 'claude-sonnet-4-5',
    },
    lines: { input: 100, cache_write: 1000, output: 10 },
    amount: '4200000000',
  },
  'the fee of a chat model that always searches, in a stream': {
    provider: 'openai',
    model: 'gpt-4o-search-preview',
    body: { messages: hello, stream: true, stream_options: { include_usage: true } },
    answer: sse(
      { id: 'x', model: 'gpt-4o-search-preview-2025-03-11', choices: [{ index: 0, delta: { content: 'hi' } }], usage: null },
      { id: 'x', model: 'gpt-4o-search-preview-2025-03-11', choices: [], usage: hundred },
    ),
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '25350000000',
  },
  // 0.15, out 0.60, the search $0.01: 15,000,000 + 6,000,000 + 10,000,000,000
  'the fee of the smaller model that always searches': {
    provider: 'openai',
    model: 'gpt-4o-mini-search-preview',
    body: { messages: hello },
    answer: answered('gpt-4o-mini-search-preview', hundred),
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '10021000000',
  },
  // 1.25, out 10.00, the search $0.01: 125,000,000 + 100,000,000 + 10,000,000,000
  'the fee of the later model that always searches, for a caller of Messages': {
    provider: 'openai',
    model: 'gpt-5-search-api',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    answer: answered('gpt-5-search-api-2025-10-14', hundred),
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '10225000000',
  },
  // 2 + 1 tokens of the prompt and of the answer are counted here: 2.50 x 9, and the search
  'one whose answer tells no usage takes its fee too': {
    provider: 'openai',
    model: 'gpt-4o-search-preview',
    body: { messages: hello },
    answer: { id: 'x', object: 'chat.completion', model: 'gpt-4o-search-preview', choices: [] },
    state: 'estimated',
    amount: 'any',
    lines: { input: 8, web_search: 1 },
  },
  // 350,000,000 and $0.014
  'the fee of a search that no list names is that of the provider': {
    provider: 'azure-openai',
    model: 'gpt-4o-search-preview',
    body: { messages: hello },
    answer: answered('gpt-4o-search-preview', hundred),
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '14350000000',
  },
  // The fee of OpenRouter and the vendor's charge: 47,500,000 + 950,000,000
  "OpenRouter with a key of the caller's own: its fee, and what the vendor charges to that key": {
    provider: 'openrouter',
    model: 'openai/gpt-4o',
    body: { messages: hello },
    answer: answered('openai/gpt-4o', ownKey),
    lines: { provider_reported_cost: 1 },
    amount: '997500000',
  },
  "OpenRouter with a key of the caller's own, in a stream for a caller of Messages": {
    provider: 'openrouter',
    model: 'openai/gpt-4o',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], stream: true },
    answer: sse(
      { id: 'x', model: 'openai/gpt-4o', choices: [{ index: 0, delta: { content: 'hi' } }] },
      { id: 'x', model: 'openai/gpt-4o', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: ownKey },
    ),
    lines: { provider_reported_cost: 1 },
    amount: '997500000',
  },
  // 2.50 and 10.00: the fee alone would be too little
  'a key of its own of which nobody tells what the vendor charges is priced by the lists': {
    provider: 'openrouter',
    model: 'openai/gpt-4o',
    body: { messages: hello },
    answer: answered('openai/gpt-4o', { ...ownKey, cost_details: { upstream_inference_cost: null } }),
    lines: { input: 100, output: 10 },
    amount: '350000000',
  },
  'what a provider names counts in translated answers too (#38802)': {
    provider: 'deepinfra',
    model: 'meta-llama/Meta-Llama-3.1-8B-Instruct',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    answer: answered('meta-llama/Meta-Llama-3.1-8B-Instruct', { ...hundred, estimated_cost: 0.0000123 }),
    lines: { provider_reported_cost: 1 },
    amount: '12300000',
  },
  // As for a caller of Messages above, and a search $0.01: 955,000,000 + 10,000,000,000
  'an answer that several models made, for a caller of chats (PR #39294)': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    body: { max_tokens: 10, messages: hello },
    answer: {
      ...claude(severalRuns),
      id: 'm',
      role: 'assistant',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
    },
    amount: '10955000000',
  },
  'a stream that several models made, for a caller of chats': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    body: { max_tokens: 10, messages: hello, stream: true },
    answer: sse(
      {
        type: 'message_start',
        message: { ...claude({ input_tokens: 10, output_tokens: 1 }), id: 'm', role: 'assistant', stop_reason: null },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: severalRuns },
      { type: 'message_stop' },
    ),
    amount: '10955000000',
  },
  // 5.00 x 1.1 and 25.00 x 1.1: 550,000,000 + 275,000,000
  'a place that Claude names in its usage, for a caller of chats': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    body: { max_tokens: 10, messages: hello },
    answer: {
      ...claude({ input_tokens: 100, output_tokens: 10, inference_geo: 'us' }),
      id: 'm',
      role: 'assistant',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
    },
    amount: '825000000',
  },
  // An image of low quality, 1024x1536: $0.016
  'the size and quality of an image are those of the answer, where a request leaves them to the model': {
    provider: 'openai',
    model: 'gpt-image-1',
    path: '/v1/images/generations',
    body: { prompt: 'a "size": "x"', size: 'auto', quality: 'auto' },
    answer: { created: 1, background: 'opaque', data: [{ b64_json: image }], output_format: 'png', quality: 'low', size: '1024x1536' },
    lines: { image: 1 },
    amount: '16000000000',
  },
  // medium, 1024x1024: $0.011 each
  'the size and quality of images where the request says nothing, and the answer tells them before its images': {
    provider: 'openai',
    model: 'gpt-image-1-mini',
    path: '/v1/images/generations',
    body: { prompt: 'p', n: 2 },
    answer: { created: 1, quality: 'medium', size: '1024x1024', data: [{ b64_json: image }, { b64_json: image }] },
    lines: { image: 2 },
    amount: '22000000000',
  },
  'the size and quality of an image at the end of a stream': {
    provider: 'openai',
    model: 'gpt-image-1',
    path: '/v1/images/generations',
    body: { prompt: 'p', size: 'auto', stream: true },
    answer: sse({ type: 'image_generation.completed', b64_json: image, size: '1536x1024', quality: 'medium', output_format: 'png' }),
    lines: { image: 1 },
    amount: '63000000000',
  },
  'an image of which the answer says neither size nor quality is priced by what was asked': {
    provider: 'openai',
    model: 'gpt-image-1',
    path: '/v1/images/generations',
    body: { prompt: 'p', size: '1024x1536', quality: 'low' },
    answer: { created: 1, data: [{ url: 'https://images.example/1.png', revised_prompt: 'the "size": "1024x1024"' }] },
    lines: { image: 1 },
    amount: '16000000000',
  },
  // 3.00, out 15.00, a source $0.005: 300,000,000 + 150,000,000 + 35,000,000,000
  'sources that Grok looked into, where it names no cost': {
    provider: 'x-ai',
    model: 'grok-3',
    body: { messages: hello, search_parameters: { mode: 'on' } },
    answer: answered('grok-3', { ...hundred, num_sources_used: 7 }),
    lines: { input: 100, output: 10, web_search: 7 },
    amount: '35450000000',
  },
  'sources that Grok looked into, for a caller of Messages': {
    provider: 'x-ai',
    model: 'grok-3',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    answer: answered('grok-3', { ...hundred, num_sources_used: 7 }),
    lines: { input: 100, output: 10, web_search: 7 },
    amount: '35450000000',
  },
  // 123,456,789 ticks of 10^-10 dollars
  'where Grok names its cost, the sources are in it': {
    provider: 'x-ai',
    model: 'grok-3',
    body: { messages: hello },
    answer: answered('grok-3', { ...hundred, num_sources_used: 7, cost_in_usd_ticks: 123456789 }),
    lines: { provider_reported_cost: 1 },
    amount: '12345678900',
  },
}
