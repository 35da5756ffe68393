import test from 'ava'
import OpenAI from 'openai'
import { json, sse, strictly } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** OpenAI's client completes texts at providers that have chats alone. */
let cloud: Emulator
let bed: GatewayBed

const at = (provider: string, customHost: string) => ({ provider, customHost, credential: { key: 'sk-upstream', fields: {} } })

test.before(async () => {
  cloud = await startEmulator()
  bed = await startGateway({
    providers: {
      claude: at('anthropic', cloud.url),
      perplexity: at('perplexity-ai', cloud.url),
      gpt: at('openai', cloud.url),
      voyage: at('voyage', cloud.url),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: headers })
const message = (content: readonly object[], stop: string | null) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 2 },
})
const claudeStream = [
  { type: 'message_start', message: message([], null) },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: ' upon' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: ' a "time"' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'max_tokens', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
].map((event) => [event.type, event] as const)
const choice = (index: number) => ({ index, message: { role: 'assistant', content: `it ${index}` }, finish_reason: 'stop' })
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

test.serial('completions: a prompt is what a user says to Claude, and the answer is a completion with its usage', async (t) => {
  cloud.script({
    behaviour: (received) => strictly('anthropic', received, json(message([{ type: 'text', text: ' upon a time' }], 'end_turn'))),
  })
  const answer = openai().completions.create({
    model: '@claude/claude-sonnet-4-5',
    prompt: ['Once'],
    echo: true,
    seed: 5,
    best_of: 1,
    suffix: '',
    stop: ['.'],
  })
  const { data, response } = await answer.withResponse()
  t.like(data, {
    id: 'msg_1',
    object: 'text_completion',
    model: 'claude-sonnet-4-5',
    choices: [{ text: 'Once upon a time', index: 0, logprobs: null, finish_reason: 'stop' }],
    usage,
  })
  t.is(response.headers.get('x-service-dropped-params'), 'max_tokens=16, seed')
  t.deepEqual(cloud.requests[0]?.json, {
    model: 'claude-sonnet-4-5',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'Once' }],
    stop_sequences: ['.'],
  })
})

test.serial('completions: a stream is a stream of completions, the prompt in front where it is wanted, the usage behind', async (t) => {
  cloud.script({ behaviour: (received) => strictly('anthropic', received, sse(claudeStream)) })
  const logged = bed.nextLog()
  const chunks = []
  const asked = {
    model: '@claude/claude-sonnet-4-5',
    prompt: 'Once',
    echo: true,
    stream: true,
    stream_options: { include_usage: true },
  } as const
  for await (const chunk of await openai().completions.create(asked)) chunks.push(chunk)
  t.is(chunks.map(({ choices }) => choices[0]?.text ?? '').join(''), 'Once upon a "time"')
  t.true(chunks.every(({ object, id }) => object === 'text_completion' && id === 'msg_1'))
  t.deepEqual(
    chunks.flatMap(({ choices }) => choices.map(({ finish_reason: reason }) => reason)).filter((reason) => reason !== null),
    ['length'],
  )
  t.like(chunks.at(-1), { choices: [], usage })
  t.like((await logged).record, { operation: 'complete', usage: { inputTokens: 5, outputTokens: 2 } })
})

test.serial('completions: several answers, and the errors of a provider that has chats alone', async (t) => {
  const chat = { id: 'c1', object: 'chat.completion', created: 5, model: 'llama', choices: [choice(0), choice(1)], usage }
  cloud.script({ behaviour: (received) => strictly('openai', received, json(chat)) })
  const asked = { model: '@perplexity/sonar', prompt: 'Say', n: 2, seed: 5 }
  const { data, response } = await openai().completions.create(asked).withResponse()
  t.deepEqual(
    data.choices.map(({ text, index }) => [index, text]),
    [
      [0, 'it 0'],
      [1, 'it 1'],
    ],
  )
  t.is(response.headers.get('x-service-dropped-params'), 'max_tokens=16, seed')
  cloud.script({ behaviour: json({ error: { message: 'slow down', type: 'rate_limit_error', code: null, param: null } }, 429) })
  await t.throwsAsync(openai().completions.create(asked), { instanceOf: OpenAI.RateLimitError, message: /slow down/ })
})

const refusals: readonly (readonly [field: string, asked: object])[] = [
  ['prompt', { prompt: [1, 2] }],
  ['prompt[1]', { prompt: ['one', [1, 2]] }],
  ['prompt', { prompt: Array.from({ length: 33 }, () => 'a') }],
  ['prompt', { prompt: '' }],
  ['suffix', { suffix: '}' }],
  ['best_of', { best_of: 3 }],
  ['logprobs', { logprobs: 2 }],
]
test.serial('completions: what a chat cannot say is refused before any call, by its name', async (t) => {
  for (const [field, asked] of refusals) {
    const asks = openai().completions.create({ model: '@perplexity/sonar', prompt: 'Say', ...asked })
    const error = await t.throwsAsync(asks, { instanceOf: OpenAI.BadRequestError })
    t.is(error?.param, field)
  }
  t.is(cloud.requests.length, 0)
})

test.serial('completions: a provider that has completions gets them as they are', async (t) => {
  cloud.script({ behaviour: json({ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', choices: [], usage }) })
  await openai().completions.create({ model: '@gpt/gpt-3.5-turbo-instruct', prompt: ['one', 'two'], logprobs: 2 })
  t.deepEqual(cloud.requests[0]?.json, { model: 'gpt-3.5-turbo-instruct', prompt: ['one', 'two'], logprobs: 2 })
  t.is(cloud.requests[0]?.url, '/v1/completions')
})
