// The answers of a provider are charged also where its caller gets an error in their place: parts of a joined answer, and answers that cannot be read.
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  const sellers = [
    'openai',
    'anthropic',
    'google',
    'vertex-ai',
    'cohere',
    'perplexity-ai',
    'mistral-ai',
    'groq',
    'voyage',
    'x-ai',
    'deepseek',
  ]
  const aws = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }
  bed = await startGateway({
    providers: {
      ...Object.fromEntries(sellers.map((provider) => [provider, { provider, customHost: emulator.url }])),
      bedrock: { provider: 'bedrock', customHost: emulator.url, credential: { key: null, fields: aws } },
    },
    prices: createPriceLists({ layers: [], builtIn: openBuiltIn() }),
  })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
})
test.beforeEach(() => emulator.reset())

const json = (body: object, more: Behaviour = {}): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
  ...more,
})
const later = { delayMs: 150 }

async function ask(provider: string, path: string, body: object) {
  const logged = bed.nextLog()
  const answer = await send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': `@${provider}` },
    body: JSON.stringify(body),
  })
  return { answer, record: (await logged).record }
}

/** A request that goes in several calls. `part`: the answer to one of them, and its cost in pico-US-dollars. */
interface Joined {
  readonly provider: string
  readonly path: string
  readonly body: object
  /** Words of the calls, by which they are known; `null`: all are alike, and are known by their order. */
  readonly words: readonly [string, string, string] | null
  readonly part: object
  readonly amount: number
  readonly tokens: number | null
  /** As the provider writes an answer that is none, with its usage. */
  readonly unreadable: object
}

const words = ['first', 'second', 'third'] as const
const said = { type: 'message', role: 'assistant', id: 'm', model: 'claude-sonnet-4-5', stop_reason: 'end_turn' }
const claudeUsage = { usage: { input_tokens: 100, output_tokens: 10 } }
const chatUsage = { usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }
const drawnUsage = {
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 1290,
    totalTokenCount: 1300,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
  },
}
const picture = {
  content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] },
  finishReason: 'STOP',
}

const joined = {
  // 100 x 3,000,000 + 10 x 15,000,000
  'prompts of a completion': {
    provider: 'anthropic',
    path: '/v1/completions',
    body: { model: 'claude-sonnet-4-5', prompt: words, max_tokens: 10 },
    words,
    part: { ...said, content: [{ type: 'text', text: 'hi' }], ...claudeUsage },
    amount: 450_000_000,
    tokens: 110,
    unreadable: claudeUsage,
  },
  // 100 x 20,000
  'inputs of an embedding': {
    provider: 'bedrock',
    path: '/v1/embeddings',
    body: { model: 'amazon.titan-embed-text-v2:0', input: words },
    words,
    part: { embedding: [1], inputTextTokenCount: 100 },
    amount: 2_000_000,
    tokens: 100,
    unreadable: { inputTextTokenCount: 100 },
  },
  // 10 x 300,000 + 1,290 x 30,000,000
  'images that are drawn one by one': {
    provider: 'google',
    path: '/v1/images/generations',
    body: { model: 'gemini-2.5-flash-image', prompt: 'a hat', n: 3 },
    words: null,
    part: { modelVersion: 'gemini-2.5-flash-image', candidates: [picture], ...drawnUsage },
    amount: 38_703_000_000,
    tokens: 1300,
    unreadable: drawnUsage,
  },
} satisfies Readonly<Record<string, Joined>>

/** Scripts the answers to the calls, in their order; a call without one hangs. */
function script({ words: known }: Joined, behaviours: readonly Behaviour[]): void {
  let asked = 0
  emulator.script({
    behaviour: ({ body }) => {
      const text = body.toString('utf8')
      const at = known === null ? asked : known.findIndex((word) => text.includes(word))
      asked += 1
      return behaviours[at] ?? { hang: 'before-headers' }
    },
  })
}

const refusal = { error: { message: 'no', type: 'server_error' } }
/** Answers to one of the calls that end all of them. `isCharged`: the provider states its usage. */
const ends: Readonly<Record<string, { readonly behaviour: (one: Joined) => Behaviour; readonly isCharged?: true }>> = {
  'is refused': { behaviour: () => json(refusal, { status: 500, ...later }) },
  'is refused with its usage': {
    behaviour: ({ unreadable }) => json({ ...refusal, ...unreadable }, { status: 500, ...later }),
    isCharged: true,
  },
  'is a page': { behaviour: () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>', ...later }) },
  'cannot be read': { behaviour: ({ unreadable }) => json(unreadable, later), isCharged: true },
}

for (const [name, one] of Object.entries<Joined>(joined))
  for (const [end, { behaviour, isCharged }] of Object.entries(ends)) {
    test.serial(`${name}: those that were answered are charged when another one ${end}`, async (t) => {
      script(one, [json(one.part), json(one.part), behaviour(one)])
      const { answer, record } = await ask(one.provider, one.path, one.body)
      t.true(answer.status >= 400, answer.text)
      const charged = isCharged === true ? 3 : 2
      t.like(record.cost, { state: 'priced', amount: String(one.amount * charged) })
      if (one.tokens !== null) t.is(record.usage?.totalTokens, one.tokens * charged)
      t.is(record.cost?.charges.length, charged)
    })

    test.serial(`${name}: one that was cut when another one ${end} has an unknown cost`, async (t) => {
      script(one, [json(one.part), behaviour(one)])
      const { answer, record } = await ask(one.provider, one.path, one.body)
      t.true(answer.status >= 400, answer.text)
      const charged = isCharged === true ? 2 : 1
      t.like(record.cost, { state: 'partly_priced', amount: String(one.amount * charged), unpriced: ['unseen_output'] })
    })
  }

test.serial('the first answer that cannot be used ends all calls: no other one is made', async (t) => {
  for (const end of ['is refused', 'is a page', 'cannot be read'] as const) {
    emulator.reset()
    const embeddings = joined['inputs of an embedding']
    script(embeddings, [ends[end]?.behaviour(embeddings) ?? {}])
    const input = [...words, ...Array.from({ length: 20 }, (_, at) => `more ${at}`)]
    const { answer } = await ask(embeddings.provider, embeddings.path, { ...embeddings.body, input })
    t.true(answer.status >= 400, answer.text)
    t.is(emulator.requests.length, 4, end)
  }
})

const events = (...data: readonly object[]): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: `${data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`,
})
const chunk = (more: object) => ({ id: 'x', object: 'chat.completion.chunk', model: 'sonar', ...more })

test.serial('a stream of several prompts that one of them ends is charged for the others', async (t) => {
  const prompts = joined['prompts of a completion']
  const stream = events(
    chunk({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] }),
    chunk({ choices: [], ...chatUsage }),
  )
  script(prompts, [stream, stream, json(refusal, { status: 500, ...later })])
  const { answer, record } = await ask('perplexity-ai', '/v1/completions', {
    model: 'sonar',
    prompt: words,
    max_tokens: 10,
    stream: true,
    stream_options: { include_usage: true },
  })
  t.true(answer.text.includes('error'), answer.text)
  t.is(record.cost?.state, 'priced')
  t.deepEqual(
    record.cost?.lines.map(({ dimension, count }) => [dimension, count]),
    [0, 1].flatMap(() => [
      ['input', 100],
      ['output', 10],
    ]),
  )
})

const chats = '/v1/chat/completions'
const messages = [{ role: 'user', content: 'hi' }]

/** Answers that state their usage and give the caller nothing: [provider, path, body, the part of the answer with its usage, cost in pico-US-dollars]. */
const stated: Readonly<Record<string, readonly [provider: string, path: string, body: object, answer: object, amount: number]>> = {
  // 100 x 3,000,000 + 10 x 15,000,000
  "Anthropic's": ['anthropic', chats, { model: 'claude-sonnet-4-5', messages }, claudeUsage, 450_000_000],
  // 100 x 300,000 + 10 x 2,500,000
  "Google's": [
    'google',
    chats,
    { model: 'gemini-2.5-flash', messages },
    { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 } },
    55_000_000,
  ],
  // 100 x 2,500,000 + 10 x 10,000,000
  "Cohere's": [
    'cohere',
    chats,
    { model: 'command-r-plus-08-2024', messages },
    { usage: { billed_units: { input_tokens: 100, output_tokens: 10 } } },
    350_000_000,
  ],
  // 100 x 3,300,000 + 10 x 16,500,000
  "Bedrock's": [
    'bedrock',
    chats,
    { model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', messages },
    { usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 } },
    495_000_000,
  ],
  "OpenAI's, for a caller of Anthropic's": [
    'openai',
    '/v1/messages',
    { model: 'gpt-4o', max_tokens: 10, messages },
    { usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } },
    350_000_000,
  ],
  'vectors of Cohere': [
    'cohere',
    '/v1/embeddings',
    { model: 'embed-v4.0', input: ['hi', 'you'] },
    { id: 'e', meta: { billed_units: { input_tokens: 100 } } },
    12_000_000,
  ],
  'an image of Gemini': [
    'google',
    '/v1/images/generations',
    { model: 'gemini-2.5-flash-image', prompt: 'a hat' },
    drawnUsage,
    38_703_000_000,
  ],
}

/** Ways of an answer to give its caller nothing. */
const ways: Readonly<Record<string, (usage: object) => Behaviour>> = {
  'that is none of its API': (usage) => json(usage),
  'that is an error': (usage) => json({ ...refusal, ...usage }, { status: 400 }),
  'that is an error in spite of its status': (usage) => json({ ...refusal, ...usage }),
}

for (const [name, [provider, path, body, usage, amount]] of Object.entries(stated))
  for (const [way, behaviour] of Object.entries(ways))
    test.serial(`an answer ${way} costs what it states: ${name}`, async (t) => {
      emulator.script({ behaviour: behaviour(usage) })
      const { answer, record } = await ask(provider, path, body)
      t.true(answer.status >= 400, answer.text)
      t.like(record.cost, { state: 'priced', amount: String(amount) })
      t.truthy(record.usage?.totalTokens)
    })
