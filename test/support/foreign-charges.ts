import { type Charged, hello, sse } from './charges.ts'

const chatOf = (more: object = {}) => ({ messages: hello, max_tokens: 9, ...more })
const message = { messages: hello, max_tokens: 9 }
const contents = { contents: [{ role: 'user', parts: [{ text: 'hello world' }] }] }
const wrapped = (result: object) => ({ result, success: true, errors: [], messages: [] })
const messages = '/v1/messages'

/**
 * Answers in formats of providers, for callers of another: the usage in a provider's own words is charged, in every format of the caller. Rates are
 * dollars for a million tokens unless a comment names another unit; the amounts are worked out by hand.
 */
export const foreignCharges: Readonly<Record<string, Charged>> = {
  // 0.72 and 0.72: 100 x 720,000 + 10 x 720,000
  'Oracle, generic, for a caller of chats': {
    provider: 'oracle',
    model: 'meta.llama-3.3-70b-instruct',
    body: chatOf(),
    answer: {
      modelId: 'meta.llama-3.3-70b-instruct',
      modelVersion: '1.0.0',
      chatResponse: {
        apiFormat: 'GENERIC',
        choices: [{ index: 0, message: { role: 'ASSISTANT', content: [{ type: 'TEXT', text: 'hi' }] }, finishReason: 'stop' }],
        usage: { promptTokens: 100, completionTokens: 10, totalTokens: 110 },
      },
    },
    lines: { input: 100, output: 10 },
    amount: '79200000',
  },
  // 1.56 and 1.56
  "Oracle, Cohere's models, for a caller of Messages": {
    provider: 'oracle',
    model: 'cohere.command-a-03-2025',
    path: messages,
    body: message,
    answer: {
      modelId: 'cohere.command-a-03-2025',
      modelVersion: '1.0',
      chatResponse: {
        apiFormat: 'COHERE',
        text: 'hi',
        finishReason: 'COMPLETE',
        usage: { promptTokens: 100, completionTokens: 10, totalTokens: 110 },
      },
    },
    lines: { input: 100, output: 10 },
    amount: '171600000',
  },
  // 0.65 and 2.75: 65,000,000 + 27,500,000
  'a prediction of Replicate tells its tokens in its metrics': {
    provider: 'replicate',
    model: 'meta/llama-3-70b-instruct',
    body: chatOf(),
    status: 201,
    answer: {
      id: 'p1',
      status: 'succeeded',
      model: 'meta/llama-3-70b-instruct',
      output: ['h', 'i'],
      error: null,
      metrics: { input_token_count: 100, output_token_count: 10, predict_time: 1.5 },
    },
    lines: { input: 100, output: 10 },
    amount: '92500000',
  },
  // 0.293 and 2.253: 29,300,000 + 22,530,000
  "Workers AI's own format wraps what it tells": {
    provider: 'workers-ai',
    model: '@cf/meta/llama-3.3-70b-instruct-fp8-fast',
    body: chatOf({ provider_options: { 'workers-ai': { raw: false } } }),
    answer: wrapped({ response: 'hi', usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }),
    lines: { input: 100, output: 10 },
    amount: '51830000',
  },
  // 2.50 and 10.00: the billed figures, not the counted ones
  'Cohere, for a caller of responses': {
    provider: 'cohere',
    model: 'command-a-03-2025',
    path: '/v1/responses',
    body: { input: 'hello world', store: false },
    answer: {
      id: 'c1',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'hi' }] },
      usage: { billed_units: { input_tokens: 100, output_tokens: 10 }, tokens: { input_tokens: 600, output_tokens: 12 } },
    },
    lines: { input: 100, output: 10 },
    amount: '350000000',
  },
  // 0.50 and 1.50: 50,000,000 + 15,000,000
  'Mistral, for a caller of Messages': {
    provider: 'mistral-ai',
    model: 'mistral-large-latest',
    path: messages,
    body: message,
    answer: {
      id: 'c1',
      object: 'chat.completion',
      model: 'mistral-large-latest',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi', tool_calls: null }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    },
    lines: { input: 100, output: 10 },
    amount: '65000000',
  },
  // 0.30 and 0.90
  'Mistral fills a text in': {
    provider: 'mistral-ai',
    model: 'codestral-latest',
    path: '/v1/completions',
    body: { prompt: 'def a(', suffix: 'return 1' },
    answer: {
      id: 'c1',
      object: 'chat.completion',
      model: 'codestral-latest',
      choices: [{ index: 0, message: { role: 'assistant', content: '):' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    },
    lines: { input: 100, output: 10 },
    amount: '39000000',
  },
  // 0.30 and 1.20
  "Hugging Face, for a caller of Google's": {
    provider: 'huggingface',
    model: 'MiniMaxAI/MiniMax-M2',
    path: '/v1beta/models/MiniMaxAI/MiniMax-M2:generateContent',
    body: contents,
    answer: {
      id: 'c1',
      object: 'chat.completion',
      model: 'MiniMaxAI/MiniMax-M2',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    },
    lines: { input: 100, output: 10 },
    amount: '42000000',
  },
  // The price that was agreed for `house`: 1.50 and 6.00
  "Ollama's own format, at a price of one's own": {
    provider: 'ollama',
    model: 'house',
    path: messages,
    body: message,
    answer: {
      model: 'house',
      created_at: '2026-11-23T10:00:00Z',
      message: { role: 'assistant', content: 'hi' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 100,
      eval_count: 10,
    },
    lines: { input: 100, output: 10 },
    amount: '210000000',
  },
  // 0.80, read 0.20, write 0.80, out 3.20: 80,000,000 + 10,000,000 + 16,000,000 + 32,000,000
  'Converse, for a caller of chats': {
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    body: chatOf(),
    answer: {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 100, outputTokens: 10, cacheReadInputTokens: 50, cacheWriteInputTokens: 20, totalTokens: 180 },
      metrics: { latencyMs: 5 },
    },
    lines: { input: 100, cache_read: 50, cache_write: 20, output: 10 },
    amount: '138000000',
  },
  // 0.30, cached 0.03, out 2.50: 30,000,000 + 1,500,000 + 25,000,000 + 12,500,000
  'Gemini, for a caller of Messages': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: messages,
    body: message,
    answer: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 150,
        cachedContentTokenCount: 50,
        candidatesTokenCount: 10,
        thoughtsTokenCount: 5,
        totalTokenCount: 165,
      },
      modelVersion: 'gemini-2.5-flash',
    },
    lines: { input: 100, cache_read: 50, output: 10, reasoning: 5 },
    amount: '69000000',
  },
  // 3.00, read 0.30, write 3.75, out 15.00: 300,000,000 + 15,000,000 + 75,000,000 + 150,000,000
  "Claude, for a caller of Google's": {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1beta/models/claude-sonnet-4-5:generateContent',
    body: contents,
    answer: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 100, cache_read_input_tokens: 50, cache_creation_input_tokens: 20, output_tokens: 10 },
    },
    lines: { input: 100, cache_read: 50, cache_write: 20, output: 10 },
    amount: '540000000',
  },
  // 1.25, read 0.125, out 10.00: 125,000,000 + 6,250,000 + 60,000,000 + 40,000,000
  'responses, for a caller of Messages': {
    provider: 'openai',
    model: 'gpt-5-codex',
    path: messages,
    body: message,
    answer: {
      id: 'resp_1',
      object: 'response',
      created_at: 5,
      status: 'completed',
      model: 'gpt-5-codex',
      output: [
        {
          type: 'message',
          id: 'm1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'hi', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: 150,
        input_tokens_details: { cached_tokens: 50 },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 160,
      },
    },
    lines: { input: 100, cache_read: 50, output: 6, reasoning: 4 },
    amount: '231250000',
  },
  // 1.35 and 5.40: 135,000,000 + 54,000,000
  'Azure AI Inference, for a caller of Messages': {
    provider: 'azure-ai',
    model: 'deepseek-r1',
    path: messages,
    body: message,
    answer: {
      id: 'c1',
      object: 'chat.completion',
      model: 'deepseek-r1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    },
    lines: { input: 100, output: 10 },
    amount: '189000000',
  },
  'a stream of Oracle, whose last event tells all': {
    provider: 'oracle',
    model: 'meta.llama-3.3-70b-instruct',
    body: chatOf({ stream: true }),
    answer: sse(
      { index: 0, message: { role: 'ASSISTANT', content: [{ type: 'TEXT', text: 'hi' }] } },
      { finishReason: 'stop', usage: { promptTokens: 100, completionTokens: 10, totalTokens: 110 } },
    ),
    lines: { input: 100, output: 10 },
    amount: '79200000',
  },
  "a stream of Workers AI's own": {
    provider: 'workers-ai',
    model: '@cf/meta/llama-3.3-70b-instruct-fp8-fast',
    body: chatOf({ stream: true, provider_options: { 'workers-ai': { raw: false } } }),
    answer: `${sse({ response: 'hi' }, { response: '', usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } })}data: [DONE]\n\n`,
    lines: { input: 100, output: 10 },
    amount: '51830000',
  },
  'a stream of Cohere': {
    provider: 'cohere',
    model: 'command-a-03-2025',
    body: chatOf({ stream: true }),
    answer: [
      { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant', content: [] } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'hi' } } } },
      { type: 'content-end', index: 0 },
      {
        type: 'message-end',
        delta: {
          finish_reason: 'COMPLETE',
          usage: { billed_units: { input_tokens: 100, output_tokens: 10 }, tokens: { input_tokens: 600, output_tokens: 12 } },
        },
      },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
    answerType: 'text/event-stream',
    lines: { input: 100, output: 10 },
    amount: '350000000',
  },
  "a stream of Ollama's own, one JSON to a line": {
    provider: 'ollama',
    model: 'house',
    path: messages,
    body: { ...message, stream: true },
    answer: [
      { model: 'house', created_at: '2026-11-23T10:00:00Z', message: { role: 'assistant', content: 'hi' }, done: false },
      {
        model: 'house',
        created_at: '2026-11-23T10:00:00Z',
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 100,
        eval_count: 10,
      },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
    answerType: 'application/x-ndjson',
    lines: { input: 100, output: 10 },
    amount: '210000000',
  },
}
