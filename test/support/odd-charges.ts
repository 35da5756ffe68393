import { type Charged, chat, hello, sse } from './charges.ts'

const brokenStream = sse(
  { type: 'message_start', message: { model: 'claude-sonnet-4-5-20250929', usage: { input_tokens: 25, output_tokens: 1 } } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello world' } },
  { type: 'message_stop' },
)

/** Answers that tell no usage, or tell it or their model in an odd way; rates and amounts as in `charges`. */
export const oddCharges: Readonly<Record<string, Charged>> = {
  // 2 tokens, 3 for the message, 3 for the answer; 2 tokens back
  'a stream without usage is estimated, and not free (langfuse#17696)': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { stream: true, messages: hello },
    answer: sse({ choices: [{ index: 0, delta: { content: 'hello' } }] }, { choices: [{ index: 0, delta: { content: ' world' } }] }),
    lines: { input: 8, output: 2 },
    state: 'estimated',
    amount: '40000000',
  },
  'an answer without usage that is no stream is estimated too': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages: hello },
    answer: { choices: [{ index: 0, message: { role: 'assistant', content: 'hello world' } }] },
    lines: { input: 8, output: 2 },
    state: 'estimated',
    amount: '40000000',
  },
  // text-embedding-3-small: 0.02
  'an embedding without usage costs its input': {
    provider: 'openai',
    model: 'text-embedding-3-small',
    path: '/v1/embeddings',
    body: { input: ['hello world', 'hello world'] },
    answer: { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] },
    lines: { input: 4 },
    state: 'estimated',
    amount: '80000',
  },
  // message_start tells the prompt; ceil(2 x 1.15) tokens reached the caller
  'a stream that breaks off costs what was delivered, and not nothing (new-api#5235, #7062)': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    body: { stream: true, messages: hello },
    answer: brokenStream,
    cutAt: brokenStream.length - 5,
    lines: { input: 25, output: 3 },
    state: 'estimated',
    amount: '120000000',
  },
  'an answer without usage to a request without words is estimated, and not unknown': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages: [] },
    answer: { choices: [{ index: 0, message: { role: 'assistant', content: '' } }] },
    lines: { input: 1 },
    state: 'estimated',
    amount: '2500000',
  },
  'a call whose prompt is cached whole costs its cached tokens alone (aider PR 5518)': {
    provider: 'openai',
    model: 'gpt-4o',
    answer: chat({ prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000, prompt_tokens_details: { cached_tokens: 1000 } }),
    lines: { cache_read: 1000 },
    amount: '1250000000',
  },
  // 1.50 and 6.00 for a million
  'a price for a million tokens is not multiplied by a million again (hermes-agent#52588)': {
    provider: 'plain',
    model: 'house',
    answer: chat({ prompt_tokens: 1_000_000, completion_tokens: 1_000_000, total_tokens: 2_000_000 }),
    amount: '7500000000000',
  },
  'a deployment of which nobody names the model is priced by the answer (#41605, PR #22724)': {
    provider: 'azure-openai',
    model: 'my-deployment',
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 }, { model: 'gpt-4o-2024-11-20' }),
    amount: '250000000',
  },
  'a deployment is unpriced where not even the answer names a model (#41605)': {
    provider: 'azure-openai',
    model: 'my-deployment',
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 }),
    state: 'unpriced',
    amount: null,
  },
  // gemini-2.0-flash: 0.10 at Google, 0.15 at Vertex AI
  'a stream of Gemini costs what its own host charges (#36042)': {
    provider: 'google',
    model: 'gemini-2.0-flash',
    path: '/v1/proxy/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse',
    answer: sse(
      { modelVersion: 'gemini-2.0-flash', candidates: [{ content: { parts: [{ text: 'hi' }] } }] },
      { modelVersion: 'gemini-2.0-flash', usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 1, totalTokenCount: 1001 } },
    ),
    lines: { input: 1000, output: 1 },
    amount: '100400000',
  },
  'a stream of a router costs what the model that it chose costs (#38656)': {
    provider: 'openrouter',
    model: 'openrouter/auto',
    body: { stream: true },
    answer: sse(
      { id: 'x', model: 'openai/gpt-4o-mini', choices: [{ delta: { content: 'hi' } }] },
      { id: 'x', model: 'openai/gpt-4o-mini', choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } },
    ),
    lines: { input: 100, output: 10 },
    amount: '21000000',
  },
  // gpt-4.1-mini at Azure: 0.40, out 1.60; routing 0.14
  'a routed model of Azure costs its own price and the fee for routing, in streams too (#38656)': {
    provider: 'azure-openai',
    model: 'model-router',
    body: { stream: true },
    answer: sse(
      { id: 'x', model: 'gpt-4.1-mini-2025-04-14', choices: [{ delta: { content: 'hi' } }] },
      { id: 'x', model: 'gpt-4.1-mini-2025-04-14', choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } },
    ),
    lines: { input: 100, output: 10, routing: 100 },
    // 40,000,000 + 16,000,000 + 14,000,000
    amount: '70000000',
  },
  'a cost that a stream names counts, and no average (openhuman#6374)': {
    provider: 'openrouter',
    model: 'deepseek/deepseek-r1',
    body: { stream: true },
    answer: sse(
      { id: 'x', choices: [{ delta: { content: 'hi' } }] },
      { id: 'x', choices: [], usage: { prompt_tokens: 9000, completion_tokens: 500, total_tokens: 9500, cost: 0.016 } },
    ),
    lines: { provider_reported_cost: 1 },
    amount: '16000000000',
  },
  'cached tokens that stand at the top': {
    provider: 'deepseek',
    model: 'deepseek-chat',
    answer: chat({
      prompt_tokens: 100,
      completion_tokens: 0,
      total_tokens: 100,
      prompt_cache_hit_tokens: 100,
      prompt_cache_miss_tokens: 0,
    }),
    lines: { cache_read: 100 },
    amount: 'any',
  },
}
