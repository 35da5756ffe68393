import { chat, type Charged, claude, run } from './charges.ts'

const two = { prompt: ['one', 'two'] }
const completions = '/v1/completions'
const said = { role: 'assistant', content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn', id: 'm' }
const chosen = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
const hundred = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

const painted = {
  modelVersion: 'gemini-2.5-flash-image',
  candidates: [
    { content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] }, finishReason: 'STOP' },
  ],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 1290,
    totalTokenCount: 1300,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
  },
}

/** Completions of two prompts for providers that have chats: each is answered for itself, in the same way, and charged for itself. */
export const promptCharges: Readonly<Record<string, Charged>> = {
  // $0.00605 each
  'completions of several prompts cost what the provider names for each': {
    provider: 'perplexity-ai',
    model: 'sonar',
    path: completions,
    body: two,
    answer: chat({ ...hundred, cost: { request_cost: 0.006, total_cost: 0.00605 } }, { choices: chosen }),
    lines: { provider_reported_cost: 1 },
    amount: '12100000000',
  },
  // 1.00 and 1.00, the fee $0.012 for a large context, each: 2 x (100,000,000 + 10,000,000 + 12,000,000,000)
  'a fee for a request is taken for each of several prompts': {
    provider: 'perplexity-ai',
    model: 'sonar',
    path: completions,
    body: two,
    answer: chat({ ...hundred, search_context_size: 'high' }, { choices: chosen }),
    amount: '24220000000',
  },
  // Each below the threshold of 200,000, both above it: 2 x (150,000 x 3,000,000 + 10 x 15,000,000)
  'several prompts are no long one: each has the rates of its own length': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: completions,
    body: { ...two, max_tokens: 10 },
    answer: { ...claude({ input_tokens: 150_000, output_tokens: 10 }), ...said, model: 'claude-sonnet-4-5' },
    amount: '900300000000',
  },
  // Twice 300,000,000 + 105,000,000 + 50,000,000 + 500,000,000
  'runs of several models for each of several prompts': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    path: completions,
    body: { ...two, max_tokens: 10 },
    answer: {
      ...claude({ input_tokens: 10, output_tokens: 20, iterations: [run('claude-sonnet-4-5', 100, 7), run('claude-opus-4-6', 10, 20)] }),
      ...said,
    },
    amount: '1910000000',
  },
  // 0.30 and $0.035 for a grounded prompt, however many searches it made: 2 x (30,000,000 + 35,000,000,000)
  'each of several prompts that Gemini grounds costs a search': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: completions,
    body: two,
    answer: {
      modelVersion: 'gemini-2.5-flash',
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'so' }] },
          finishReason: 'STOP',
          groundingMetadata: { webSearchQueries: ['one', 'two'] },
        },
      ],
      usageMetadata: { promptTokenCount: 100, totalTokenCount: 100 },
    },
    amount: '70060000000',
  },
  // 0.30, an image 30.00: 3,000,000 + 38,700,000,000
  'an image of Gemini costs its own rate, for a caller of images (#31142)': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    path: '/v1/images/generations',
    body: { prompt: 'a cat' },
    answer: painted,
    lines: { input: 10, output_image: 1290 },
    amount: '38703000000',
  },
  'each of two images of Gemini, which makes one at a time': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    path: '/v1/images/generations',
    body: { prompt: 'a cat', n: 2 },
    answer: painted,
    amount: '77406000000',
  },
}
