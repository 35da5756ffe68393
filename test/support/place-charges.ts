import { type Charged, chat, claude, hello, run, sse } from './charges.ts'

const none = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
const begun = { type: 'message_start', message: { model: 'claude-sonnet-4-5-20250929', usage: { input_tokens: 25, output_tokens: 1 } } }
const said = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const piece = (content: string) => ({ model: 'gpt-4o', choices: [{ index: 0, delta: { content } }] })
/** With a last line that is cut off. */
const cut = (...events: readonly object[]) => `${sse(...events)}data: {"cut`
const afterEvents = (answer: string) => ({ answer, cutAt: answer.length - 3, body: { stream: true, messages: hello, max_tokens: 9 } })

/** Odd values at the places of an answer, and missing ones. The amounts are worked out by hand. */
export const placeCharges: Readonly<Record<string, Charged>> = {
  'a provider that says that nothing was used is taken at its word': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages: hello },
    answer: chat(none, { model: 'gpt-4o' }),
    state: 'priced',
    lines: {},
    amount: '0',
  },
  'a stream that says that nothing was used': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages: hello, stream: true },
    answer: sse(piece('hi'), { choices: [], usage: none }),
    state: 'priced',
    lines: {},
    amount: '0',
  },
  'of an unknown model it is not free all the same': {
    provider: 'openai',
    model: 'gpt-of-tomorrow',
    body: { messages: hello },
    answer: chat(none),
    state: 'unpriced',
    amount: null,
  },
  // Sonnet 3.00, out 15.00; 45 runs of 1,000 and 300
  'a usage object of many runs is read whole, however long it is': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [] },
    answer: claude({
      input_tokens: 1000,
      output_tokens: 300,
      iterations: Array.from({ length: 45 }, () => ({ ...run('claude-sonnet-4-5', 1000, 300), padding: 'x'.repeat(200) })),
    }),
    amount: '337500000000',
  },
  // gpt-4o-mini-tts: 0.60, sound 12.00
  'speech in a stream of events tells tokens of sound': {
    provider: 'openai',
    model: 'gpt-4o-mini-tts',
    path: '/v1/audio/speech',
    body: { input: 'hello', voice: 'a', stream_format: 'sse' },
    answer: sse(
      { type: 'speech.audio.delta', audio: 'AAAA' },
      { type: 'speech.audio.done', usage: { input_tokens: 100, output_tokens: 1000, total_tokens: 1100 } },
    ),
    lines: { input: 100, output_audio: 1000 },
    amount: '12060000000',
  },
  // 2.50 for input, cached as the list has it
  'more tokens from the cache than are billed are no more than those': {
    provider: 'cohere',
    model: 'command-a-03-2025',
    path: '/v1/proxy/v2/chat',
    answer: { id: 'x', usage: { billed_units: { input_tokens: 25, output_tokens: 3 }, cached_tokens: 100 } },
    lines: { cache_read: 25, output: 3 },
    amount: 'any',
  },
  // ceil(2 x 1.15) tokens reached the caller
  'the end of a stream that a model only writes of ends none': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    ...afterEvents(cut(begun, said('event: message_stop "finishReason" data: [DONE] "response.completed"'))),
    state: 'estimated',
    lines: { input: 25, output: 20 },
    amount: 'any',
  },
  'an error in a stream is no output of the model': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    ...afterEvents(
      cut(begun, said('hello world'), { type: 'error', error: { type: 'overloaded_error', message: 'so many words that are no output' } }),
    ),
    state: 'estimated',
    lines: { input: 25, output: 3 },
    amount: '120000000',
  },
  'an error in a stream of a chat is none either': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { stream: true, messages: hello },
    answer: sse(piece('hello'), piece(' world'), {
      error: { message: 'so many words that are no output', type: 'server_error', code: null },
    }),
    state: 'estimated',
    lines: { input: 8, output: 2 },
    amount: '40000000',
  },
  'an error in a stream of a response is none either': {
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/responses',
    body: { stream: true, input: 'hello world' },
    answer: sse(
      { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'hello world' },
      {
        type: 'response.failed',
        response: { model: 'gpt-4o', error: { code: 'server_error', message: 'so many words that are no output' } },
      },
    ),
    state: 'estimated',
    amount: 'any',
    lines: { input: 2, output: 2 },
  },
  // amazon.titan-embed-text-v2:0: 0.02
  'an embedding of Invoke tells its tokens beside it': {
    provider: 'bedrock',
    model: 'amazon.titan-embed-text-v2:0',
    path: '/v1/proxy/model/amazon.titan-embed-text-v2:0/invoke',
    body: { inputText: 'hi' },
    answer: { embedding: [1], inputTextTokenCount: 100 },
    lines: { input: 100 },
    amount: '2000000',
  },
  // meta.llama3-70b-instruct-v1:0: 2.65, out 3.50
  'Llama at Invoke tells its tokens beside its answer': {
    provider: 'bedrock',
    model: 'meta.llama3-70b-instruct-v1:0',
    path: '/v1/proxy/model/meta.llama3-70b-instruct-v1:0/invoke',
    body: { prompt: 'hi' },
    answer: { generation: 'hi', prompt_token_count: 100, generation_token_count: 10, stop_reason: 'stop' },
    lines: { input: 100, output: 10 },
    amount: '300000000',
  },
  "Ollama's own path": {
    provider: 'ollama',
    model: 'house',
    path: '/v1/proxy/api/chat',
    body: { messages: hello },
    answer: [
      { model: 'house', message: { role: 'assistant', content: 'hi' }, done: false },
      { model: 'house', message: { role: 'assistant', content: '' }, done: true, prompt_eval_count: 100, eval_count: 10 },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
    answerType: 'application/x-ndjson',
    lines: { input: 100, output: 10 },
    amount: '210000000',
  },
}
