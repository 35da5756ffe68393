import type { LoggedCost } from '../../src/gateway/ports.ts'

/** An answer as a provider sends it, and its cost. */
export interface Charged {
  readonly provider: string
  readonly model: string
  readonly path?: string
  readonly body?: object
  /** The fields of a form in place of a body; those with a dot are names of files. */
  readonly form?: Readonly<Record<string, string>>
  /** As the provider sends it. */
  readonly answer: object | string
  /** The type of an answer that is neither JSON nor a stream of events. */
  readonly answerType?: string
  readonly status?: number
  /** The bytes after which the provider breaks off. */
  readonly cutAt?: number
  readonly amount: string | null
  readonly state?: LoggedCost['state']
  readonly lines?: Readonly<Record<string, number>>
}

export const chat = (usage: object, more: object = {}) => ({ id: 'x', object: 'chat.completion', choices: [], usage, ...more })
export const sse = (...events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

/** An answer of Claude, and one run of those that it may be made of. */
export const run = (model: string, input: number, output: number) => ({
  type: 'message',
  model,
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
})
export const claude = (usage: object) => ({ type: 'message', model: 'claude-opus-4-6', content: [], usage })

/** A conversation of two tokens. */
export const hello = [{ role: 'user', content: 'hello world' }]

const grounded = (model: string, webSearchQueries: readonly string[]) => ({
  modelVersion: model,
  candidates: [{ content: { parts: [{ text: 'so' }] }, groundingMetadata: { webSearchQueries } }],
  usageMetadata: { promptTokenCount: 100, totalTokenCount: 100 },
})

/** Rates of the catalogue are written beside each case; the amounts are worked out by hand. */
export const charges: Readonly<Record<string, Charged>> = {
  // gpt-4o: 2.50, cached 1.25, out 10.00
  'cached tokens are within the prompt, and not charged twice (#6215, aider#5516)': {
    provider: 'openai',
    model: 'gpt-4o',
    answer: chat({ prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010, prompt_tokens_details: { cached_tokens: 800 } }),
    lines: { cache_read: 800, input: 200, output: 10 },
    amount: '1600000000',
  },
  'the same in a stream, whose last chunk tells all (#39088, new-api#6144)': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { stream: true },
    answer: sse(
      { id: 'x', model: 'gpt-4o-2024-08-06', choices: [{ delta: { content: 'hi' } }], usage: null },
      {
        id: 'x',
        model: 'gpt-4o-2024-08-06',
        choices: [],
        usage: { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010, prompt_tokens_details: { cached_tokens: 800 } },
      },
    ),
    lines: { cache_read: 800, input: 200, output: 10 },
    amount: '1600000000',
  },
  'a priority that was asked and not served costs the usual (#31837)': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { service_tier: 'priority' },
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 }, { service_tier: 'default' }),
    amount: '250000000',
  },
  // gpt-4o priority: 4.25 in
  'a priority that was served costs its own rate (#37046, langfuse#13780)': {
    provider: 'openai',
    model: 'gpt-4o',
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 }, { service_tier: 'priority' }),
    amount: '425000000',
  },
  'an answer of zero tokens of an unknown model is unpriced, not free (langfuse#4112, #20412)': {
    provider: 'openai',
    model: 'gpt-of-tomorrow',
    answer: chat({ prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 }),
    state: 'unpriced',
    amount: null,
  },
  // claude-sonnet-4-5: 3.00, read 0.30, write 3.75, hour 6.00, out 15.00
  'cache writes are apart from the input, and charged once (#9812, bifrost#904, #3451, pi PR 2148, stakgraph PR 1688)': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    answer: {
      type: 'message',
      model: 'claude-sonnet-4-5-20250929',
      usage: { input_tokens: 10, cache_creation_input_tokens: 1000, cache_read_input_tokens: 2000, output_tokens: 20 },
    },
    lines: { input: 10, cache_write: 1000, cache_read: 2000, output: 20 },
    // 30,000,000 + 3,750,000,000 + 600,000,000 + 300,000,000
    amount: '4680000000',
  },
  'writes for an hour cost more than those for five minutes (#29432, PR #36762, PR #37104, daiv#1127)': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    answer: {
      type: 'message',
      usage: {
        input_tokens: 0,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        output_tokens: 1,
      },
    },
    lines: { cache_write: 100, cache_write_1h: 200, output: 1 },
    amount: '1590000000',
  },
  'counts of a stream replace each other, and are not added (message_start says 1)': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    body: { stream: true },
    answer: sse(
      {
        type: 'message_start',
        message: {
          model: 'claude-sonnet-4-5',
          usage: { input_tokens: 25, cache_read_input_tokens: 100, cache_creation_input_tokens: 0, output_tokens: 1 },
        },
      },
      { type: 'message_delta', usage: { output_tokens: 15 } },
    ),
    lines: { input: 25, cache_read: 100, output: 15 },
    amount: '330000000',
  },
  'a prompt above 200,000 tokens, most of it cached, is priced above the threshold (#30135, Helicone PR 5730, 5765, tokscale#862)': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    answer: {
      type: 'message',
      usage: { input_tokens: 1, cache_read_input_tokens: 150_000, cache_creation_input_tokens: 50_000, output_tokens: 1 },
    },
    // 6,000,000 + 90,000,000,000 + 375,000,000,000 + 22,500,000
    amount: '465028500000',
  },
  'searches that the model ran are charged by the call': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    answer: {
      type: 'message',
      usage: { input_tokens: 0, output_tokens: 1, cache_read_input_tokens: 0, server_tool_use: { web_search_requests: 2 } },
    },
    amount: '20015000000',
  },
  // gemini-2.5-flash: 0.30, cached 0.03, out 2.50
  'cached tokens of Gemini are within the prompt (#14849)': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1/proxy/v1beta/models/gemini-2.5-flash:generateContent',
    answer: {
      modelVersion: 'gemini-2.5-flash',
      usageMetadata: { promptTokenCount: 1000, cachedContentTokenCount: 900, candidatesTokenCount: 10, totalTokenCount: 1010 },
    },
    lines: { cache_read: 900, input: 100, output: 10 },
    // 27,000,000 + 30,000,000 + 25,000,000
    amount: '82000000',
  },
  'thoughts of Gemini are charged as the answer (new-api#1014, req_llm#336, braintrust-proxy#920, deepeval#2943, crewAI#5699)': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1/proxy/v1beta/models/gemini-2.5-flash:generateContent',
    answer: {
      modelVersion: 'gemini-2.5-flash',
      usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 10, thoughtsTokenCount: 90, totalTokenCount: 100 },
    },
    lines: { output: 10, reasoning: 90 },
    amount: '250000000',
  },
  'thoughts that OpenAI’s words at Google leave out are in the total': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1/proxy/v1beta/openai/chat/completions',
    answer: chat({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 }),
    lines: { input: 10, output: 105 },
    amount: '265500000',
  },
  'reasoning of xAI is apart from the completion, as its total proves': {
    provider: 'x-ai',
    model: 'grok-3-mini',
    answer: chat({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 115, completion_tokens_details: { reasoning_tokens: 100 } }),
    lines: { input: 10, output: 5, reasoning: 100 },
    // 0.30 and 0.50: 3,000,000 + 52,500,000
    amount: '55500000',
  },
  'a cost that the provider names is taken to the last digit (agentic-flow#234)': {
    provider: 'openrouter',
    model: 'deepseek/deepseek-r1',
    answer: chat({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.000_014_93 }),
    lines: { provider_reported_cost: 1 },
    amount: '14930000',
  },
  'DeepInfra names its cost too (#38802)': {
    provider: 'deepinfra',
    model: 'any',
    answer: chat({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, estimated_cost: 1.5e-7 }),
    amount: '150000',
  },
  'a cost of fifteen digits is exact': {
    provider: 'openrouter',
    model: 'any',
    answer: chat({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 123.456_789_012_345 }),
    amount: '123456789012345',
  },
  'a failure of which the provider names nothing but the cost': {
    provider: 'openrouter',
    model: 'any',
    status: 502,
    answer: { error: { code: 502, message: 'no' }, usage: { cost: 0.01 } },
    lines: { provider_reported_cost: 1 },
    amount: '10000000000',
  },
  'what Cohere bills, not what it counts': {
    provider: 'cohere',
    model: 'command-r-plus-08-2024',
    path: '/v1/proxy/v2/chat',
    answer: { id: 'x', usage: { billed_units: { input_tokens: 5, output_tokens: 3 }, tokens: { input_tokens: 70, output_tokens: 3 } } },
    lines: { input: 5, output: 3 },
    // 2.50 and 10.00
    amount: '42500000',
  },
  'search units of a rerank (bifrost#4239, synaplan#1778, gbrain#3492)': {
    provider: 'cohere',
    model: 'rerank-v3.5',
    path: '/v1/proxy/v2/rerank',
    answer: { id: 'x', results: [], meta: { billed_units: { search_units: 2 } } },
    lines: { search_unit: 2 },
    amount: '4000000000',
  },
  'cached tokens of Converse are apart, and Claude at Bedrock has a price (langfuse#4072)': {
    provider: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    path: '/v1/proxy/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse',
    answer: {
      output: {},
      usage: { inputTokens: 10, outputTokens: 1, cacheReadInputTokens: 100, cacheWriteInputTokens: 0, totalTokens: 111 },
    },
    lines: { input: 10, cache_read: 100, output: 1 },
    // Geographic profiles cost 1.1 times the global ones: 33,000,000 + 33,000,000 + 16,500,000
    amount: '82500000',
  },
  'embeddings tell the input alone': {
    provider: 'openai',
    model: 'text-embedding-3-small',
    path: '/v1/embeddings',
    answer: { data: [], model: 'text-embedding-3-small', usage: { prompt_tokens: 100, total_tokens: 100 } },
    lines: { input: 100 },
    amount: '2000000',
  },
  'a total alone is input': {
    provider: 'voyage',
    model: 'voyage-3.5',
    path: '/v1/embeddings',
    body: { input: 'a text' },
    answer: { data: [], usage: { total_tokens: 100 } },
    lines: { input: 100 },
    amount: '6000000',
  },
  'images by their tokens, not by pixels, and the words of their prompt too (#13847, PR #17906, #31142; Portkey gateway 2.0)': {
    provider: 'openai',
    model: 'gpt-image-1',
    path: '/v1/images/generations',
    answer: {
      created: 1,
      data: [{ b64_json: 'x' }],
      usage: { input_tokens: 50, input_tokens_details: { text_tokens: 10, image_tokens: 40 }, output_tokens: 1000, total_tokens: 1050 },
    },
    lines: { input_image: 40, input: 10, output_image: 1000 },
    // 40 x 10.00 + 10 x 5.00 + 1000 x 40.00 for a million
    amount: '40450000000',
  },
  'images without tokens by number, quality and size': {
    provider: 'openai',
    model: 'gpt-image-1',
    path: '/v1/images/generations',
    body: { n: 2, quality: 'low', size: '1024x1536' },
    answer: { created: 1, data: [{ url: 'https://a' }, { url: 'https://b' }] },
    lines: { image: 2 },
    amount: '32000000000',
  },
  'speech by code points': {
    provider: 'openai',
    model: 'tts-1',
    path: '/v1/audio/speech',
    body: { input: 'Grüße 👋🏽' },
    answer: 'ID3',
    lines: { input_character: 8 },
    amount: '120000000',
  },
  'a transcription by its duration (#6509, #14447, #19154, #20228, PR #36357)': {
    provider: 'openai',
    model: 'whisper-1',
    path: '/v1/audio/transcriptions',
    answer: { task: 'transcribe', duration: 8.47, text: 'hi' },
    lines: { input_audio_second: 8470 },
    amount: '847000000',
  },
  'a transcription in subtitles is estimated by the last of them (aisix#868)': {
    provider: 'openai',
    model: 'whisper-1',
    path: '/v1/audio/transcriptions',
    answer: '1\n00:00:00,000 --> 00:00:03,500\nhi\n\n2\n00:00:03,500 --> 00:01:02,250\nyou\n',
    lines: { input_audio_second: 62_250 },
    state: 'estimated',
    amount: '6225000000',
  },
  'a transcription as bare text is unpriced, never 0': {
    provider: 'openai',
    model: 'whisper-1',
    path: '/v1/audio/transcriptions',
    answer: 'just words',
    state: 'unpriced',
    amount: null,
  },
  'a failure without usage is not charged': {
    provider: 'openai',
    model: 'gpt-4o',
    status: 500,
    answer: { error: { message: 'no' } },
    state: 'not_charged',
    amount: '0',
  },
  'a failure with usage is charged (Portkey gateway 2.0)': {
    provider: 'openai',
    model: 'gpt-4o',
    status: 400,
    answer: { error: { message: 'filtered' }, usage: { prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 } },
    amount: '250000000',
  },
  'counts that contradict each other are cut down, never negative (#15263, PR #25517)': {
    provider: 'openai',
    model: 'gpt-4o',
    answer: chat({ prompt_tokens: 10, completion_tokens: 0, total_tokens: 10, prompt_tokens_details: { cached_tokens: 800 } }),
    lines: { cache_read: 10 },
    amount: '12500000',
  },
  'a deployment is priced as the model that the operator names, whatever family the answer names (#7004, #1810, langchain#14912)': {
    provider: 'custom',
    model: 'dep-1',
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 }, { model: 'gpt-4' }),
    // half of 2.50
    amount: '125000000',
  },
  'a custom price, with the factors of the integration (#40006)': {
    provider: 'custom',
    model: 'house',
    answer: chat({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 40 } }),
    lines: { cache_read: 40, input: 60, output: 10 },
    // 40 x 3.00 + 60 x 0.75 + 10 x 3.00
    amount: '195000000',
  },
  'provisioned throughput is counted and not charged': {
    provider: 'ptu',
    model: 'gpt-4o',
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 }),
    state: 'not_charged',
    amount: '0',
  },
  // gemini-2.5-flash: 0.30, a grounded prompt 0.035
  'a grounded prompt of Gemini 2 costs one search, however many it made (#15858, langsmith-sdk#2296)': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1/proxy/v1beta/models/gemini-2.5-flash:generateContent',
    answer: grounded('gemini-2.5-flash', ['one', 'a "two"]', 'three']),
    lines: { input: 100, web_search: 1 },
    amount: '35030000000',
  },
  // gemini-3.1-pro-preview: 2.00, a query 0.014
  'each query of Gemini 3 costs (#15858)': {
    provider: 'google',
    model: 'gemini-3.1-pro-preview',
    path: '/v1/proxy/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent',
    answer: sse(grounded('gemini-3.1-pro-preview', ['one', 'a "two"]', 'three'])),
    lines: { input: 100, web_search: 3 },
    amount: '42200000000',
  },
  'a tier that Anthropic served is in its usage (PR #30558)': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    answer: { type: 'message', model: 'claude-sonnet-4-5', usage: { input_tokens: 100, output_tokens: 0, service_tier: 'batch' } },
    amount: '150000000',
  },
  // gpt-5: flex 0.625, cached 0.0625, out 5.00
  'flex that was served costs its own rate (#13810, PR #14796)': {
    provider: 'openai',
    model: 'gpt-5',
    answer: chat({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }, { service_tier: 'flex' }),
    amount: '112500000',
  },
  // gpt-5: 1.25, cached 0.125
  'cached tokens of responses are within the input (langfuse#10592, #12306, codex-plugin#22)': {
    provider: 'openai',
    model: 'gpt-5',
    path: '/v1/responses',
    answer: {
      object: 'response',
      model: 'gpt-5',
      output: [],
      usage: { input_tokens: 117_231, input_tokens_details: { cached_tokens: 115_584 }, output_tokens: 0, total_tokens: 117_231 },
    },
    lines: { cache_read: 115_584, input: 1647 },
    // 1,647 x 1,250,000 + 115,584 x 125,000
    amount: '16506750000',
  },
  // grok-4: 3.00, cached 0.75, out 15.00
  'cached tokens of xAI are charged once (#14874)': {
    provider: 'x-ai',
    model: 'grok-4',
    answer: chat({ prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000, prompt_tokens_details: { cached_tokens: 800 } }),
    lines: { cache_read: 800, input: 200 },
    amount: '1200000000',
  },
  'a model that only another provider lists is unpriced, at no other one’s price (Helicone#4893)': {
    provider: 'groq',
    model: 'claude-sonnet-4-5',
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 }),
    state: 'unpriced',
    amount: null,
  },
  'a custom price without a rate for cached tokens charges them as input (#9049, bifrost PR 1872, PR #40016)': {
    provider: 'plain',
    model: 'house',
    answer: chat({ prompt_tokens: 100, completion_tokens: 0, total_tokens: 100, prompt_tokens_details: { cached_tokens: 40 } }),
    lines: { cache_read: 40, input: 60 },
    // 100 x 1.50
    amount: '150000000',
  },
  'on-demand traffic beyond provisioned throughput is charged': {
    provider: 'ptu-vertex',
    model: 'gemini-2.5-flash',
    path: '/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:generateContent',
    answer: { modelVersion: 'gemini-2.5-flash', usageMetadata: { promptTokenCount: 100, totalTokenCount: 100, trafficType: 'ON_DEMAND' } },
    state: 'priced',
    amount: 'any',
  },
  'provisioned traffic is not': {
    provider: 'ptu-vertex',
    model: 'gemini-2.5-flash',
    path: '/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:generateContent',
    answer: {
      modelVersion: 'gemini-2.5-flash',
      usageMetadata: { promptTokenCount: 100, totalTokenCount: 100, trafficType: 'PROVISIONED_THROUGHPUT' },
    },
    state: 'not_charged',
    amount: '0',
  },
}
