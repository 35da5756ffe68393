import { type Charged, sse } from './charges.ts'

const words = (more: object = {}) =>
  sse({ id: 'x', object: 'chat.completion.chunk', model: 'x', choices: [{ index: 0, delta: { content: 'hello' } }], ...more }) +
  'data: [DONE]\n\n'
const said10 = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
const messages = [{ role: 'user', content: 'hello world' }]
const inSound = { messages, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }
const told = (model: string, more: object = {}) => ({ id: 'x', object: 'chat.completion', model, choices: [], usage: said10, ...more })

const unsaid = (usage?: object) => ({
  id: 'x',
  object: 'chat.completion',
  model: 'llama-3.3-70b-versatile',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello world' }, finish_reason: 'stop' }],
  ...(usage && { usage }),
})

/** The requests of each format whose words are translated to chats. */
const clients: Readonly<Record<string, { readonly path: string; readonly body: object }>> = {
  anthropic: { path: '/v1/messages', body: { messages, max_tokens: 100 } },
  google: {
    path: '/v1beta/models/llama-3.3-70b-versatile:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'hello world' }] }] },
  },
  completions: { path: '/v1/completions', body: { prompt: 'hello world' } },
  responses: { path: '/v1/responses', body: { input: 'hello world' } },
}

/** Gatehouse's own figures in a translation are nobody's statement: answers without usage are estimated in every format. */
const translated: Readonly<Record<string, Charged>> = Object.fromEntries(
  Object.entries(clients).flatMap(([name, { path, body }]) => {
    const asked = { provider: 'groq', model: 'llama-3.3-70b-versatile', path, state: 'estimated', amount: 'any' } as const
    const streams = path.includes(':generate') ? { path: path.replace(':generateContent', ':streamGenerateContent?alt=sse') } : {}
    return [
      [`a translated answer without usage, to a client of ${name}`, { ...asked, body, answer: unsaid() }],
      [`a translated answer with an empty usage, to a client of ${name}`, { ...asked, body, answer: unsaid({}) }],
      [
        `a translated stream without usage, to a client of ${name}`,
        { ...asked, ...streams, body: { ...body, stream: true }, answer: words() },
      ],
    ] satisfies [string, Charged][]
  }),
)

const text = { type: 'text', text: 'sum it up' }
const holding = (part: object) => ({ messages: [{ role: 'user', content: [part, text] }] })
const pdf = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }

/** Requests whose prompts have more than their bodies show. */
const open: Readonly<Record<string, Partial<Charged>>> = {
  'a file by its id': { body: holding({ type: 'file', file: { file_id: 'file-1' } }) },
  'a packed document': { body: holding(pdf) },
  'a picture by its address': { body: holding({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }) },
  'earlier turns': { path: '/v1/responses', body: { input: 'go on', previous_response_id: 'resp_1' } },
  'a conversation': { path: '/v1/responses', body: { input: 'go on', conversation: 'conv_1' } },
  'a kept prompt': { path: '/v1/responses', body: { prompt: { id: 'pmpt_1' } } },
  'servers of tools': {
    path: '/v1/responses',
    body: { input: 'look', tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a' }] },
  },
}

/** Without usage, the cost of a prompt that the body does not show is a lower bound. */
const hidden: Readonly<Record<string, Charged>> = Object.fromEntries(
  Object.entries(open).flatMap(([name, asked]) => {
    const one = { provider: 'openai', model: 'gpt-4o', ...asked, state: 'partly_priced', amount: 'any' } as const
    return [
      [`a whole answer without usage: ${name}`, { ...one, answer: unsaid() }],
      [`a stream without usage: ${name}`, { ...one, body: { ...asked.body, stream: true }, answer: words() }],
    ] satisfies [string, Charged][]
  }),
)

/** Answers that do not tell all that their cost depends on: the dearer is taken, and what nobody saw is named. */
export const silentCharges: Readonly<Record<string, Charged>> = {
  // gpt-4o: 2.50, out 10.00; priority 4.25, out 17.00
  'a tier that costs more counts as asked, where the answer does not say': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages, service_tier: 'priority' },
    answer: told('gpt-4o'),
    amount: '595000000',
  },
  'a tier that costs more counts where the answer leaves it open': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages, service_tier: 'priority' },
    answer: told('gpt-4o', { service_tier: 'auto' }),
    amount: '595000000',
  },
  'a tier that costs more counts in a stream that broke off before it was told': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages, service_tier: 'priority', stream: true },
    answer: words(),
    state: 'estimated',
    amount: 'any',
  },
  // gpt-5: 1.25, out 10.00
  'a discount that was asked is not given, where the answer does not say': {
    provider: 'openai',
    model: 'gpt-5',
    body: { messages, service_tier: 'flex' },
    answer: told('gpt-5'),
    amount: '225000000',
  },
  // half
  'a discount is given, where the answer confirms it': {
    provider: 'openai',
    model: 'gpt-5',
    body: { messages, service_tier: 'flex' },
    answer: told('gpt-5', { service_tier: 'flex' }),
    amount: '112500000',
  },
  'a stream of a model that thinks, without usage, is a lower bound': {
    provider: 'openai',
    model: 'gpt-5',
    body: { messages, stream: true },
    answer: words(),
    state: 'partly_priced',
    amount: 'any',
  },
  'a whole answer of a model that thinks, without usage': {
    provider: 'deepseek',
    model: 'deepseek-reasoner',
    body: { messages },
    answer: {
      id: 'x',
      object: 'chat.completion',
      model: 'deepseek-reasoner',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }],
    },
    state: 'partly_priced',
    amount: 'any',
  },
  'a stream of Gemini that thinks, without usage': {
    provider: 'google',
    model: 'gemini-2.5-pro',
    path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    answer: sse({ modelVersion: 'gemini-2.5-pro', candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] } }] }),
    state: 'partly_priced',
    amount: 'any',
  },
  'Claude that was asked to think and told no end': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    body: { max_tokens: 2000, stream: true, thinking: { type: 'enabled', budget_tokens: 1024 }, messages },
    answer: sse({ type: 'message_start', message: { model: 'claude-sonnet-4-5', usage: { input_tokens: 10, output_tokens: 1 } } }),
    cutAt: 100,
    state: 'partly_priced',
    amount: 'any',
  },
  'a stream of a model that does not think is an estimate': {
    provider: 'openai',
    model: 'gpt-4o',
    body: { messages, stream: true },
    answer: words(),
    state: 'estimated',
    amount: 'any',
  },
  // gpt-audio: 2.50, sound out 64.00: 250,000,000 + 640,000,000
  'sound is charged as sound, where the usage does not tell which tokens it is': {
    provider: 'openai',
    model: 'gpt-audio',
    body: inSound,
    answer: told('gpt-audio'),
    lines: { input: 100, output_audio: 10 },
    amount: '890000000',
  },
  'sound in a stream is charged as sound': {
    provider: 'openai',
    model: 'gpt-audio',
    body: { ...inSound, stream: true },
    answer: words({ usage: said10, model: 'gpt-audio' }),
    lines: { input: 100, output_audio: 10 },
    amount: '890000000',
  },
  // 250,000,000 + 4 x 10.00 + 6 x 64.00
  'text beside sound is charged as text, where the usage tells them apart': {
    provider: 'openai',
    model: 'gpt-audio',
    body: inSound,
    answer: told('gpt-audio', { usage: { ...said10, completion_tokens_details: { audio_tokens: 6, text_tokens: 4 } } }),
    lines: { input: 100, output_audio: 6, output: 4 },
    amount: '674000000',
  },
  'sound in a stream that tells no usage is a lower bound': {
    provider: 'openai',
    model: 'gpt-audio',
    body: { ...inSound, stream: true },
    answer: words({ model: 'gpt-audio' }),
    state: 'partly_priced',
    amount: 'any',
  },
  ...translated,
  ...hidden,
}
