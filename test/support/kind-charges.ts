import { chat, type Charged, claude, hello, run, sse } from './charges.ts'

const gemini = (usageMetadata: object, model: string) => ({
  modelVersion: model,
  candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  usageMetadata,
})
const drawn = {
  promptTokenCount: 10,
  candidatesTokenCount: 1290,
  totalTokenCount: 1300,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
}
const heard = {
  promptTokenCount: 100,
  toolUsePromptTokenCount: 50,
  cachedContentTokenCount: 20,
  candidatesTokenCount: 30,
  thoughtsTokenCount: 15,
  totalTokenCount: 195,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 60 },
    { modality: 'AUDIO', tokenCount: 40 },
  ],
  cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
}
const onMaps = {
  modelVersion: 'gemini-2.5-flash',
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'There is a gate.' }] },
      finishReason: 'STOP',
      groundingMetadata: { groundingChunks: [{ maps: { uri: 'https://maps.example/1', title: 'Gate', placeId: 'places/1' } }] },
    },
  ],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
}
const ofSound = { input: 110, cache_read_audio: 20, input_audio: 20, output: 30, reasoning: 15 }

const response = (output: readonly object[]) => ({
  object: 'response',
  model: 'gpt-4o',
  output,
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
})
const searched = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'a "} b' } }
const opened = { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'open_page', url: 'https://a.example' } }

/** Kinds of tokens and tools that have rates of their own, in the providers' own formats and translated. The amounts are worked out by hand. */
export const kindCharges: Readonly<Record<string, Charged>> = {
  // 0.30, a picture 30.00: 3,000,000 + 38,700,000,000
  'a picture that Gemini drew, for a caller of chats, costs the rate of pictures (#31142)': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    body: { messages: hello },
    answer: gemini(drawn, 'gemini-2.5-flash-image'),
    lines: { input: 10, output_image: 1290 },
    amount: '38703000000',
  },
  'the same in a stream': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    body: { messages: hello, stream: true },
    answer: sse(gemini(drawn, 'gemini-2.5-flash-image')),
    lines: { input: 10, output_image: 1290 },
    amount: '38703000000',
  },
  // 0.30, sound 1.00, cached 0.10, out 2.50: 33,000,000 + 20,000,000 + 2,000,000 + 75,000,000 + 37,500,000
  'sound of which some was cached, for a caller of chats': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    body: { messages: hello },
    answer: gemini(heard, 'gemini-2.5-flash'),
    lines: ofSound,
    amount: '167500000',
  },
  "the same for a caller of Google's": {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    answer: gemini(heard, 'gemini-2.5-flash'),
    lines: ofSound,
    amount: '167500000',
  },
  // flex: 0.15, out 1.25
  'a tier that Gemini names in its usage (#13810)': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: { contents: [] },
    answer: gemini({ promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110, serviceTier: 'flex' }, 'gemini-2.5-flash'),
    amount: '27500000',
  },
  'the same for a caller of chats, who asked for priority': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    body: { messages: hello, service_tier: 'priority' },
    answer: gemini(
      { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110, trafficType: 'ON_DEMAND_FLEX' },
      'gemini-2.5-flash',
    ),
    amount: '27500000',
  },
  // 0.30, out 2.50, the prompt that rests on places $0.025: 30,000,000 + 25,000,000 + 25,000,000,000
  "places of Google Maps, for a caller of Google's": {
    provider: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: { contents: [], tools: [{ googleMaps: {} }] },
    answer: onMaps,
    lines: { input: 100, output: 10, maps: 1 },
    amount: '25055000000',
  },
  'the same for a caller of chats, in a stream': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    body: { messages: hello, stream: true },
    answer: sse(onMaps),
    lines: { input: 100, output: 10, maps: 1 },
    amount: '25055000000',
  },
  // flex: 0.40, out 1.60
  'a tier that Converse names beside its usage': {
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    path: '/v1/proxy/model/amazon.nova-pro-v1:0/converse',
    answer: { output: {}, usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 }, serviceTier: { type: 'flex' } },
    amount: '56000000',
  },
  // 2.50, out 10.00, a search $0.01, of a file $0.0025: 250,000,000 + 100,000,000 + 10,000,000,000 + 2,500,000,000
  'searches that a response shows: those that search, whatever field of them comes first': {
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/responses',
    body: { input: 'hi' },
    answer: response([searched, opened, { type: 'file_search_call', id: 'fs_1', queries: [] }]),
    lines: { input: 100, output: 10, web_search: 1, file_search: 1 },
    amount: '12850000000',
  },
  'the same in a stream, which tells each of them several times': {
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/responses',
    body: { input: 'hi', stream: true },
    answer: sse(
      { type: 'response.created', response: { object: 'response', model: 'gpt-4o', output: [], usage: null } },
      ...[searched, opened].flatMap(({ id, type, ...item }) => [
        { type: 'response.output_item.added', item: { id, type, status: 'in_progress' } },
        { type: 'response.output_item.done', item: { id, type, ...item } },
      ]),
      { type: 'response.completed', response: response([searched, opened]) },
    ),
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '10350000000',
  },
  'the same for a caller of Messages': {
    provider: 'openai',
    model: 'gpt-5-codex',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    answer: {
      ...response([
        searched,
        opened,
        { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'hi', annotations: [] }] },
      ]),
      id: 'r',
      status: 'completed',
      model: 'gpt-5-codex',
    },
    // 1.25, out 10.00: 125,000,000 + 100,000,000 + 10,000,000,000
    lines: { input: 100, output: 10, web_search: 1 },
    amount: '10225000000',
  },
  // 350,000,000 and $0.03
  'a container in which code ran, once': {
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/responses',
    body: { input: 'hi' },
    answer: response([
      { id: 'ci_1', type: 'code_interpreter_call', container_id: 'c' },
      { id: 'ci_2', type: 'code_interpreter_call', container_id: 'c' },
    ]),
    lines: { input: 100, output: 10, code_session: 1 },
    amount: '30350000000',
  },
  // Sonnet 3.00, out 15.00; Opus 5.00, out 25.00: 300,000,000 + 105,000,000 + 50,000,000 + 500,000,000; the blocked run is free.
  'an answer that several models made costs what each of them does (PR #39294)': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [] },
    answer: claude({
      input_tokens: 10,
      output_tokens: 20,
      iterations: [run('claude-sonnet-4-5', 100, 7), run('claude-sonnet-4-5', 900, 0), run('claude-opus-4-6', 10, 20)],
    }),
    amount: '955000000',
  },
  // 5.00, out 25.00, a search $0.01: 1,000,000,000 + 100,000,000 + 50,000,000 + 500,000,000 + 10,000,000,000
  'a conversation that was made shorter first costs that too, and its searches once': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [] },
    answer: claude({
      input_tokens: 10,
      output_tokens: 20,
      server_tool_use: { web_search_requests: 1 },
      iterations: [
        { type: 'compaction', input_tokens: 200, output_tokens: 4 },
        { type: 'message', input_tokens: 10, output_tokens: 20 },
      ],
    }),
    amount: '11650000000',
  },
  // sonar: 1.00 for each, a request that reads much $0.012
  'the fee of Perplexity for a request, by how much of the web it reads': {
    provider: 'perplexity-ai',
    model: 'sonar',
    body: { messages: hello },
    answer: { model: 'sonar', ...chat({ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, search_context_size: 'high' }) },
    lines: { input: 100, output: 10, web_search_high: 1 },
    amount: '12110000000',
  },
  // 0.14, cached 0.0028, out 0.28
  'cached tokens at the top of the usage, for a caller of Messages': {
    provider: 'deepseek',
    model: 'deepseek-chat',
    path: '/v1/messages',
    body: { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    answer: {
      id: 'x',
      object: 'chat.completion',
      model: 'deepseek-chat',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, cached_tokens: 80, completion_tokens: 10, total_tokens: 110 },
    },
    lines: { cache_read: 80, input: 20, output: 10 },
    amount: '5824000',
  },
}
