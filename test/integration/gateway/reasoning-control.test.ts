import test from 'ava'
import { json, sse } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Each provider of OpenAI's format gets the amount of thinking in its own words, and gets its reasoning back in its own form. */
let cloud: Emulator
let bed: GatewayBed

const rows = [
  'cerebras',
  'dashscope',
  'deepinfra',
  'deepseek',
  'fireworks-ai',
  'groq',
  'hyperbolic',
  'lingyi',
  'mistral-ai',
  'moonshot',
  'novita-ai',
  'openrouter',
  'perplexity-ai',
  'siliconflow',
  'together-ai',
  'x-ai',
  'z-ai',
  'zhipu',
] as const
type Row = (typeof rows)[number]

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: Object.fromEntries(rows.map((provider) => [provider, { provider, customHost: `${cloud.origin}/v1`, credential }])),
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  cloud.script({ behaviour: json(chat({ content: 'Hi.' })) })
})

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const chat = (message: object, finish = 'stop') => ({
  id: 'c1',
  object: 'chat.completion',
  created: 5,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  usage,
})

interface Asking {
  readonly at: Row
  readonly model: string
  readonly headers?: Record<string, string>
}

const send = (path: string, body: object, { at, headers = {} }: Asking) =>
  fetch(bed.origin + path, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': `@${at}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const user = { role: 'user', content: 'hi' }

const clients = {
  /** A budget, or that it thinks at all. */
  messages: (fields: object, asking: Asking) =>
    send('/v1/messages', { model: asking.model, max_tokens: 10_000, messages: [user], ...fields }, asking),
  /** An effort. */
  responses: (reasoning: object, asking: Asking) =>
    send('/v1/responses', { model: asking.model, input: 'hi', store: false, reasoning }, asking),
  /** A budget, and whether it is shown. */
  google: (thinkingConfig: object, asking: Asking) =>
    send(
      `/v1beta/models/${encodeURIComponent(asking.model)}:generateContent`,
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { thinkingConfig } },
      asking,
    ),
} as const

const budget = (tokens: number) => ({ thinking: { type: 'enabled', budget_tokens: tokens } })
const off = { thinking: { type: 'disabled' } }
const effort = (word: string) => ({ output_config: { effort: word } })
const adaptive = { thinking: { type: 'adaptive' } }

/** The fields by which providers think. */
const words = new Set([
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'chat_template_kwargs',
  'prompt_mode',
  'reasoning_format',
])

type Told = readonly [client: keyof typeof clients, at: Row, model: string, asked: object, arrives: object, named: string | null]
const controls: readonly Told[] = [
  ['messages', 'dashscope', 'qwen-plus', budget(2000), { enable_thinking: true, thinking_budget: 2000 }, null],
  ['messages', 'dashscope', 'qwen-plus', adaptive, { enable_thinking: true }, null],
  ['messages', 'dashscope', 'qwen-plus', off, { enable_thinking: false }, null],
  ['messages', 'dashscope', 'qwen3-32b', {}, { enable_thinking: false }, null],
  ['messages', 'dashscope', 'qwen3-235b-a22b', budget(2000), { enable_thinking: false }, 'thinking'],
  ['responses', 'dashscope', 'qwen-plus', { effort: 'medium' }, { enable_thinking: true, thinking_budget: 4096 }, null],
  [
    'google',
    'siliconflow',
    'Qwen/Qwen3-8B',
    { thinkingBudget: 50 },
    { enable_thinking: true, thinking_budget: 128 },
    'generationConfig.thinkingConfig',
  ],
  ['responses', 'siliconflow', 'Qwen/Qwen3-8B', { effort: 'none' }, { enable_thinking: false }, null],
  ['messages', 'z-ai', 'glm-5', adaptive, { thinking: { type: 'enabled' } }, null],
  ['messages', 'z-ai', 'glm-5', off, { thinking: { type: 'disabled' } }, null],
  ['responses', 'zhipu', 'glm-5', { effort: 'high' }, { thinking: { type: 'enabled' } }, 'reasoning'],
  ['messages', 'novita-ai', 'qwen/qwen3', budget(2000), { enable_thinking: true }, 'thinking'],
  ['messages', 'openrouter', 'anthropic/claude-opus-5', budget(2000), { reasoning: { enabled: true, max_tokens: 2000 } }, null],
  ['responses', 'openrouter', 'openai/gpt-5', { effort: 'max' }, { reasoning: { enabled: true, effort: 'max' } }, null],
  ['responses', 'openrouter', 'z-ai/glm-5', { effort: 'none' }, { reasoning: { effort: 'none' } }, null],
  ['google', 'openrouter', 'z-ai/glm-5', { thinkingBudget: 2048 }, { reasoning: { enabled: true, max_tokens: 2048, exclude: true } }, null],
  ['google', 'openrouter', 'z-ai/glm-5', { includeThoughts: true }, {}, null],
  ['responses', 'mistral-ai', 'mistral-medium-latest', { effort: 'high' }, { reasoning_effort: 'high' }, null],
  ['responses', 'mistral-ai', 'mistral-medium-latest', { effort: 'low' }, { reasoning_effort: 'high' }, 'reasoning'],
  ['responses', 'mistral-ai', 'mistral-medium-latest', { effort: 'none' }, { reasoning_effort: 'none' }, null],
  ['messages', 'mistral-ai', 'magistral-medium-latest', adaptive, { prompt_mode: 'reasoning' }, null],
  ['messages', 'mistral-ai', 'codestral-latest', adaptive, {}, 'thinking'],
  ['messages', 'fireworks-ai', 'accounts/fireworks/models/glm-5', effort('xhigh'), { reasoning_effort: 'max' }, 'thinking'],
  ['messages', 'fireworks-ai', 'accounts/fireworks/models/glm-5', budget(6000), { reasoning_effort: 'high' }, null],
  ['messages', 'fireworks-ai', 'accounts/fireworks/models/glm-5', off, { reasoning_effort: 'none' }, null],
  ['messages', 'fireworks-ai', 'accounts/fireworks/models/kimi-k2p5', off, { reasoning_effort: 'low' }, 'thinking'],
  ['messages', 'fireworks-ai', 'accounts/fireworks/models/deepseek-v4-pro', effort('xhigh'), { reasoning_effort: 'xhigh' }, null],
  [
    'responses',
    'deepseek',
    'deepseek-v4-pro',
    { effort: 'xhigh' },
    { thinking: { type: 'enabled' }, reasoning_effort: 'max' },
    'reasoning',
  ],
  ['messages', 'deepseek', 'deepseek-v4-pro', off, { thinking: { type: 'disabled' } }, null],
  ['messages', 'deepseek', 'deepseek-reasoner', adaptive, {}, 'thinking'],
  ['responses', 'moonshot', 'kimi-k3', { effort: 'medium' }, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }, 'reasoning'],
  ['messages', 'moonshot', 'kimi-k3', budget(2000), { thinking: { type: 'enabled', budget_tokens: 2000 } }, null],
  ['responses', 'groq', 'qwen/qwen3-32b', { effort: 'none' }, { reasoning_effort: 'none', reasoning_format: 'parsed' }, null],
  ['responses', 'groq', 'qwen/qwen3-32b', { effort: 'high' }, { reasoning_effort: 'default', reasoning_format: 'parsed' }, 'reasoning'],
  ['messages', 'groq', 'qwen/qwen3-32b', {}, { reasoning_format: 'parsed' }, null],
  ['responses', 'groq', 'llama-3.3-70b-versatile', { effort: 'high' }, {}, 'reasoning'],
  ['responses', 'groq', 'openai/gpt-oss-120b', { effort: 'high' }, { reasoning_effort: 'high' }, null],
  ['responses', 'cerebras', 'gpt-oss-120b', { effort: 'max' }, { reasoning_effort: 'high' }, 'reasoning'],
  ['messages', 'x-ai', 'grok-4.6', effort('xhigh'), { reasoning_effort: 'xhigh' }, null],
  ['messages', 'x-ai', 'grok-4.5', off, { reasoning_effort: 'low' }, 'thinking'],
  ['messages', 'x-ai', 'grok-4.20-reasoning', effort('high'), {}, 'thinking'],
  ['messages', 'x-ai', 'grok-4.5', effort('xhigh'), { reasoning_effort: 'high' }, 'thinking'],
  ['responses', 'deepinfra', 'm', { effort: 'minimal' }, { reasoning_effort: 'low' }, 'reasoning'],
  ['messages', 'x-ai', 'grok-4-0709', budget(2000), {}, 'thinking'],
  ['messages', 'together-ai', 'zai-org/GLM-5', off, { reasoning: { enabled: false } }, null],
  ['messages', 'together-ai', 'openai/gpt-oss-20b', budget(3000), { reasoning_effort: 'medium' }, null],
  ['messages', 'perplexity-ai', 'sonar-pro', adaptive, {}, 'thinking'],
  ['messages', 'hyperbolic', 'Qwen/Qwen3-235B', off, { chat_template_kwargs: { enable_thinking: false } }, null],
  ['responses', 'lingyi', 'yi-next', { effort: 'xhigh' }, { reasoning_effort: 'xhigh' }, null],
]
for (const [client, at, model, asked, arrives, named] of controls)
  test.serial(`${client} to ${model} at ${at}: ${JSON.stringify(asked)} is ${JSON.stringify(arrives)}`, async (t) => {
    const response = await clients[client](asked, { at, model })
    t.is(response.status, 200, await response.text())
    const sent = Object.entries(cloud.requests[0]?.json ?? {}).filter(([name]) => words.has(name))
    t.deepEqual(Object.fromEntries(sent), { ...arrives })
    t.is(response.headers.get('x-service-dropped-params'), named)
    const refused = await clients[client](asked, { at, model, headers: { 'x-service-strict-translation': 'true' } })
    t.is(refused.status, named === null ? 200 : 400, await refused.text())
  })

const tool = { name: 'f', input_schema: { type: 'object', properties: {} } }
for (const at of ['deepseek', 'dashscope'] as const)
  test.serial(`a tool that is forced on a model that thinks is refused at ${at}`, async (t) => {
    const asked = { ...adaptive, tools: [tool], tool_choice: { type: 'any' } }
    const response = await clients.messages(asked, { at, model: 'deepseek-v4' })
    t.is(response.status, 400)
    t.regex(await response.text(), /tool_choice/)
    t.is(cloud.requests.length, 0)
  })

const twoTurns = (thought: object) => [
  user,
  { role: 'assistant', content: [thought, { type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }] },
]
const hm = { type: 'thinking', thinking: 'hm', signature: '' }
const askTwice = (model: string) => clients.messages({ messages: twoTurns(hm), tools: [tool] }, { at: 'deepseek', model })

test.serial('reasoning goes back to later models of DeepSeek, and not to R1', async (t) => {
  await askTwice('deepseek-v4-pro')
  await askTwice('deepseek-reasoner')
  const response = await askTwice('deepseek-r1')
  const said = cloud.requests.map(({ json: body }) => (body['messages'] as readonly object[])[1])
  for (const later of said.slice(0, 2)) t.like(later, { role: 'assistant', reasoning_content: 'hm' })
  t.false('reasoning_content' in (said[2] ?? {}))
  t.is(response.headers.get('x-service-dropped-params'), 'messages[1].content[0]')
})

test.serial('nor does it from a client of chat, whose messages go on otherwise as they are', async (t) => {
  const messages = [user, { role: 'assistant', content: 'Hi.', reasoning_content: 'hm' }, user]
  const ask = (model: string) => send('/v1/chat/completions', { model, messages }, { at: 'deepseek', model })
  await ask('deepseek-v4-pro')
  const response = await ask('deepseek-r1')
  t.deepEqual(cloud.requests[0]?.json['messages'], messages)
  t.deepEqual(cloud.requests[1]?.json['messages'], [user, { role: 'assistant', content: 'Hi.' }, user])
  t.is(response.headers.get('x-service-dropped-params'), 'messages[1].reasoning_content')
})

/** OpenRouter's answer for Claude, and for a model that seals its reasoning. */
const signed = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0, text: 'Let me see.', signature: 'c2ln' }
const sealed = { type: 'reasoning.encrypted', format: 'google-gemini-v1', index: 0, id: 'call_1', data: 'c2VhbGVk' }
const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }]
const pieces = [
  { role: 'assistant', content: '', reasoning: 'Let me', reasoning_details: [{ ...signed, text: 'Let me', signature: undefined }] },
  { content: '', reasoning: ' see.', reasoning_details: [{ ...signed, text: ' see.', signature: undefined }] },
  { content: '', reasoning: null, reasoning_details: [{ ...signed, text: '' }] },
  { content: null, tool_calls: calls, reasoning_details: [sealed] },
]
const stream = [
  ...pieces.map((delta) => ({ id: 'c1', model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })),
  { id: 'c1', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
].map((chunk) => [null, chunk] as const)

interface Block {
  readonly type: string
  readonly thinking?: string
  readonly signature?: string
  readonly data?: string
}

/** Returns the blocks of an answer, or of a stream of one. */
async function blocksOf(response: Response): Promise<readonly Block[]> {
  const text = await response.text()
  if (!text.startsWith('event:')) return (JSON.parse(text) as { readonly content: readonly Block[] }).content
  const blocks: Record<string, unknown>[] = []
  for (const line of text.split('\n').filter((one) => one.startsWith('data: '))) {
    const {
      type,
      index,
      content_block: block,
      delta,
    } = JSON.parse(line.slice(6)) as Record<string, Record<string, string>> & { index: number }
    const event: unknown = type
    if (event === 'content_block_start') blocks[index] = { ...block, ...(block?.['type'] === 'tool_use' && { input: {} }) }
    if (event !== 'content_block_delta') continue
    const at = (blocks[index] ??= {})
    if (delta?.['type'] === 'thinking_delta') at['thinking'] = String(at['thinking']) + delta['thinking']
    if (delta?.['type'] === 'signature_delta') at['signature'] = delta['signature']
  }
  return blocks as unknown as readonly Block[]
}

for (const isStream of [false, true])
  test.serial(
    `what OpenRouter's vendors signed comes to clients of Messages ${isStream ? 'in streams' : 'whole'}, and goes back as it was`,
    async (t) => {
      const message = { content: null, reasoning: 'Let me see.', reasoning_details: [signed, sealed], tool_calls: calls }
      cloud.script({ behaviour: isStream ? sse([...stream, [null, '[DONE]']]) : json(chat(message, 'tool_calls')) })
      const model = 'anthropic/claude-opus-5'
      const content = await blocksOf(await clients.messages({ tools: [tool], ...adaptive, stream: isStream }, { at: 'openrouter', model }))
      const thoughts = content.filter(({ type }) => type !== 'tool_use' && type !== 'text')
      t.is(thoughts.map(({ thinking = '' }) => thinking).join(''), 'Let me see.')
      t.true(
        thoughts.every(({ signature, data }) => (signature ?? data ?? '').startsWith('gh1:openrouter:')),
        JSON.stringify(content),
      )
      t.is(content.at(-1)?.type, 'tool_use')
      cloud.reset()
      cloud.script({ behaviour: json(chat({ content: 'Done.' })) })
      const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }] }
      const messages = [user, { role: 'assistant', content }, result]
      const second = await clients.messages({ messages, tools: [tool], ...adaptive }, { at: 'openrouter', model })
      t.is(second.status, 200, await second.text())
      t.is(second.headers.get('x-service-dropped-params'), null)
      const [, said] = (cloud.requests[0]?.json['messages'] ?? []) as readonly Record<string, unknown>[]
      t.deepEqual(said?.['reasoning_details'], [signed, sealed])
      t.is(said?.['reasoning'], undefined)
      // Another provider gets no part of it.
      await clients.messages({ messages, tools: [tool] }, { at: 'together-ai', model: 'm' })
      t.notRegex(JSON.stringify(cloud.requests[1]?.json), /c2ln|c2VhbGVk|reasoning_details/)
    },
  )

const topK: readonly (readonly [at: Row, known: boolean])[] = [
  ['together-ai', true],
  ['fireworks-ai', true],
  ['openrouter', true],
  ['deepinfra', true],
  ['siliconflow', true],
  ['dashscope', true],
  ['novita-ai', true],
  ['groq', false],
  ['mistral-ai', false],
  ['x-ai', false],
]
for (const [at, known] of topK)
  test.serial(`top_k ${known ? 'arrives' : 'is told as dropped'} at ${at}`, async (t) => {
    const response = await clients.messages({ top_k: 40 }, { at, model: 'm' })
    t.is(response.status, 200)
    t.is(cloud.requests[0]?.json['top_k'], known ? 40 : undefined)
    t.is(response.headers.get('x-service-dropped-params'), known ? null : 'top_k')
  })
