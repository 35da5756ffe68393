import { type Charged, chat, hello, sse } from './charges.ts'

const brokenStream = sse(
  { type: 'message_start', message: { model: 'claude-sonnet-4-5-20250929', usage: { input_tokens: 25, output_tokens: 1 } } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello world' } },
  { type: 'message_stop' },
)

/** Answers without usage, or with it or their model in an odd form; rates and amounts as in `charges`. */
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
  // message_start has the prompt; ceil(2 x 1.15) tokens reached the caller
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
  // $0.006 a minute: 9 x 100,000,000 for a second
  'a transcription that is told in seconds has the rate of answers without tokens': {
    provider: 'openai',
    model: 'gpt-4o-transcribe',
    path: '/v1/audio/transcriptions',
    form: { file: 'a.mp3' },
    answer: { text: 'hi', usage: { type: 'duration', seconds: 9 } },
    lines: { input_audio_second: 9000 },
    amount: '900000000',
  },
  // $0.003 a minute: 30 x 50,000,000 for a second
  'a transcription of Mistral is paid by its seconds, not by the tokens beside them': {
    provider: 'mistral-ai',
    model: 'voxtral-mini-latest',
    path: '/v1/audio/transcriptions',
    form: { file: 'a.mp3' },
    answer: {
      model: 'voxtral-mini-latest',
      text: 'hi',
      language: null,
      segments: [],
      usage: { prompt_audio_seconds: 30, prompt_tokens: 4, completion_tokens: 10, total_tokens: 389 },
    },
    lines: { input_audio_second: 30_000 },
    amount: '1500000000',
  },
  // 2.50, 40.00 a million of sound: cached text and sound, fresh text and sound, spoken and written words, each once
  'cached and fresh sound and text together, each once': {
    provider: 'openai',
    model: 'gpt-4o-realtime-preview',
    answer: chat({
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      prompt_tokens_details: { cached_tokens: 300, audio_tokens: 500, cached_tokens_details: { text_tokens: 200, audio_tokens: 100 } },
      completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 0 },
    }),
    lines: { cache_read_audio: 100, cache_read: 200, input_audio: 400, input: 300, output_audio: 60, output: 40 },
    // 250,000,000 + 500,000,000 + 16,000,000,000 + 1,500,000,000 + 4,800,000,000 + 800,000,000
    amount: '23850000000',
  },
  // 3.00, read 0.30, write 3.75, hour 6.00, out 15.00: 9,000,000 + 3,000,000 + 300,000,000 + 375,000,000 + 30,000,000
  'writes of both lives whose total nobody tells': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    answer: {
      type: 'message',
      usage: {
        input_tokens: 3,
        output_tokens: 2,
        cache_read_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 50 },
      },
    },
    lines: { input: 3, cache_read: 10, cache_write: 100, cache_write_1h: 50, output: 2 },
    amount: '717000000',
  },
  // 3.75 and 15.00, the rates of tuned models
  'a tuned model has the rates of its base that is tuned, and an unknown base none': {
    provider: 'openai',
    model: 'ft:gpt-4o-2024-08-06:org:name:id',
    answer: chat({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }, { model: 'ft:gpt-4o-2024-08-06:org:name:id' }),
    amount: '525000000',
  },
  'a stream that tells its usage twice, and then null, is charged by the last that it tells': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { stream: true },
    answer: sse(
      {
        id: 'x',
        model: 'gpt-4o',
        choices: [{ delta: { content: 'hi' } }],
        usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
      },
      { id: 'x', model: 'gpt-4o', choices: [], usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } },
      { id: 'x', model: 'gpt-4o', choices: [], usage: null },
    ),
    // 2.50 and 10.00
    amount: '750000000',
  },
  // 1.25 x 10, 2.50 x 40 (an image that is cached), 5.00 x 90, 10.00 x 160, the answer 40.00 x 1,000
  'an edit of an image by its tokens, some of them cached': {
    provider: 'openai',
    model: 'gpt-image-1',
    path: '/v1/images/edits',
    form: { prompt: 'a hat', image: 'a.png' },
    answer: {
      created: 1,
      data: [{ b64_json: 'x' }],
      usage: {
        input_tokens: 300,
        input_tokens_details: {
          text_tokens: 100,
          image_tokens: 200,
          cached_tokens: 50,
          cached_tokens_details: { text_tokens: 10, image_tokens: 40 },
        },
        output_tokens: 1000,
        total_tokens: 1300,
        output_tokens_details: { text_tokens: 100, image_tokens: 900 },
      },
    },
    lines: { cache_read: 10, cache_read_image: 40, input: 90, input_image: 160, output_image: 900, output: 100 },
    amount: '42162500000',
  },
  'what a provider gives away costs nothing although its answer tells no usage': {
    provider: 'openai',
    model: 'omni-moderation-latest',
    path: '/v1/moderations',
    body: { input: 'x' },
    answer: { id: 'm', model: 'omni-moderation-latest', results: [] },
    lines: {},
    amount: '0',
  },
  // 0.12, an image 0.47: 12,000,000 + 23,500,000
  'pictures among the embeddings of Cohere, by their tokens': {
    provider: 'cohere',
    model: 'embed-v4.0',
    path: '/v1/proxy/v2/embed',
    body: { inputs: [] },
    answer: { id: 'x', embeddings: {}, meta: { billed_units: { input_tokens: 100, image_tokens: 50, images: 1 } } },
    lines: { input: 100, input_image: 50 },
    amount: '35500000',
  },
  // 0.15 and 0.60: 15,000,000 + 6,000,000
  'tokens of pictures that somebody else counts beside the prompt, which has them': {
    provider: 'openai',
    model: 'gpt-4o-mini',
    body: { messages: hello },
    answer: { usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, image_tokens: 40 } },
    lines: { input: 100, output: 10 },
    amount: '21000000',
  },
  // $0.005 a page, $0.004 without annotations
  'pages that Mistral annotates cost more, as only the request tells': {
    provider: 'mistral-ai',
    model: 'mistral-ocr-latest',
    path: '/v1/proxy/ocr',
    body: { document: {}, document_annotation_format: { type: 'json_schema' } },
    answer: { pages: [{}], model: 'mistral-ocr-latest', usage_info: { pages_processed: 3, doc_size_bytes: 10 } },
    lines: { annotated_page: 3 },
    amount: '15000000000',
  },
  'pages that nobody annotates': {
    provider: 'mistral-ai',
    model: 'mistral-ocr-latest',
    path: '/v1/proxy/ocr',
    body: { document: {} },
    answer: { pages: [{}], model: 'mistral-ocr-latest', usage_info: { pages_processed: 3, doc_size_bytes: 10 } },
    lines: { page: 3 },
    amount: '12000000000',
  },
  'a chat of Grok that is deferred has not told what it costs': {
    provider: 'x-ai',
    model: 'grok-4',
    body: { messages: hello, deferred: true },
    answer: { request_id: 'abc' },
    state: 'unpriced',
    amount: null,
  },
  // 8 x 2,500,000 + 2 x 10,000,000
  'a chat that names fields of other requests is estimated as any': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages: hello, background: true, deferred: true },
    answer: { choices: [{ index: 0, message: { role: 'assistant', content: 'hello world' } }] },
    lines: { input: 8, output: 2 },
    state: 'estimated',
    amount: '40000000',
  },
  'the same of embeddings': {
    provider: 'openai',
    model: 'text-embedding-3-small',
    path: '/v1/embeddings',
    body: { input: ['hello world', 'hello world'], background: true, deferred: true },
    answer: { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] },
    lines: { input: 4 },
    state: 'estimated',
    amount: '80000',
  },
  // dall-e-2: $0.02 an image
  'images that came are counted, and not those that were asked for, where a line ends the answer': {
    provider: 'openai',
    model: 'dall-e-2',
    path: '/v1/images/generations',
    body: { prompt: 'p', n: 4 },
    answer: `${JSON.stringify({ created: 1, data: [{ url: 'https://a' }, { url: 'https://b' }, { url: 'https://c' }] })}\n`,
    answerType: 'application/json',
    lines: { image: 3 },
    amount: '60000000000',
  },
  // gemini-2.5-flash: 0.30, cached 0.03, out 2.50: 150,000,000 + 30,000,000 + 12,000,000 + 25,000,000
  'a film of which some was cached is not counted twice': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: { contents: [] },
    answer: {
      modelVersion: 'gemini-2.5-flash',
      candidates: [{ content: { parts: [{ text: 'hi' }] } }],
      usageMetadata: {
        promptTokenCount: 1000,
        promptTokensDetails: [
          { modality: 'VIDEO', tokenCount: 900 },
          { modality: 'TEXT', tokenCount: 100 },
        ],
        cachedContentTokenCount: 400,
        cacheTokensDetails: [{ modality: 'VIDEO', tokenCount: 400 }],
        candidatesTokenCount: 10,
        totalTokenCount: 1010,
      },
    },
    lines: { cache_read: 400, input_video: 500, input: 100, output: 10 },
    amount: '217000000',
  },
}
