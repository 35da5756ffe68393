import test from 'ava'
import { openPrompt, type Prompt } from '../../../src/gateway/prompts/prompt.ts'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, keyView, startGateway, workspaceKey } from '../../support/gateway.ts'

/** A field that one provider of a format takes otherwise than the others is no silent loss, neither in translations nor in prompts. */
let cloud: Emulator
let bed: GatewayBed

const rows = ['mistral-ai', 'moonshot', 'z-ai', 'zhipu', 'groq', 'perplexity-ai', 'cerebras', 'together-ai', 'x-ai'] as const

const promptOf = (virtualKey: string, parameters: Record<string, unknown>): Promise<Prompt> =>
  openPrompt(
    {
      id: virtualKey,
      slug: virtualKey,
      organisationId: keyView.organisationId,
      workspaceId: keyView.workspaceId ?? '',
      versionId: 'v',
      version: 1,
      string: '[{"role":"user","content":"hi"}]',
      isRaw: false,
      virtualKey,
      model: 'm',
      parameters,
      functions: null,
      tools: null,
      toolChoice: null,
      templateMetadata: {},
    },
    () => Promise.resolve(new Map()),
  )

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: Object.fromEntries(rows.map((provider) => [provider, { provider, customHost: `${cloud.origin}/v1`, credential }])),
    prompts: {
      steers: await promptOf('mistral-ai', { temperature: 2, seed: 7, logit_bias: { 5: 1 }, store: false, n: 1 }),
      means: await promptOf('zhipu', { n: 2 }),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  cloud.script({ behaviour: json(chat) })
})

const chat = {
  id: 'c1',
  object: 'chat.completion',
  created: 5,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
}

const send = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(bed.origin + path, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const strict = { 'x-service-strict-translation': 'true' }

/** The formats in which a request is written, each with its names of the fields. */
const clients = {
  google: (at: string, generationConfig: object, headers?: Record<string, string>) =>
    send(
      '/v1beta/models/m:generateContent',
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig },
      { 'x-service-provider': `@${at}`, ...headers },
    ),
  messages: (at: string, fields: object, headers?: Record<string, string>) =>
    send(
      '/v1/messages',
      { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields },
      { 'x-service-provider': `@${at}`, ...headers },
    ),
  responses: (at: string, fields: object, headers?: Record<string, string>) =>
    send('/v1/responses', { model: 'm', input: 'hi', store: false, ...fields }, { 'x-service-provider': `@${at}`, ...headers }),
  chats: (at: string, fields: object, headers?: Record<string, string>) =>
    send(
      '/v1/chat/completions',
      { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields },
      { 'x-service-provider': `@${at}`, ...headers },
    ),
  completions: (at: string, fields: object, headers?: Record<string, string>) =>
    send('/v1/completions', { model: 'm', prompt: 'hi', max_tokens: 9, ...fields }, { 'x-service-provider': `@${at}`, ...headers }),
} as const
type Client = keyof typeof clients

/** A steering field, its replacement on arrival, and the report to the caller. */
const steering: readonly (readonly [client: Client, at: string, asked: object, arrives: object, named: string | null])[] = [
  ['google', 'mistral-ai', { temperature: 1.8 }, { temperature: 1.5 }, 'generationConfig.temperature'],
  ['google', 'mistral-ai', { temperature: 1.2, seed: 7 }, { temperature: 1.2, random_seed: 7, seed: undefined }, null],
  ['google', 'moonshot', { temperature: 1.8 }, { temperature: 1 }, 'generationConfig.temperature'],
  ['responses', 'z-ai', { temperature: 1.8 }, { temperature: 1 }, 'temperature'],
  ['completions', 'zhipu', { temperature: 1.8, seed: 5 }, { temperature: 1, seed: undefined }, 'temperature, seed'],
  ['google', 'zhipu', { candidateCount: 1, responseLogprobs: false }, { n: undefined, logprobs: undefined }, null],
  ['google', 'groq', { logprobs: 3 }, { top_logprobs: undefined }, 'generationConfig.logprobs'],
  ['messages', 'perplexity-ai', { stop_sequences: ['END'] }, { stop: undefined }, 'stop_sequences'],
  ['messages', 'x-ai', { model: 'grok-4.5', stop_sequences: ['END'] }, { stop: undefined }, 'stop_sequences'],
  ['messages', 'x-ai', { model: 'grok-4-fast-non-reasoning', stop_sequences: ['END'] }, { stop: ['END'] }, null],
  ['messages', 'mistral-ai', { metadata: { user_id: 'u1' } }, { user: undefined }, 'metadata.user_id'],
  ['responses', 'mistral-ai', { text: { verbosity: 'low' } }, { verbosity: undefined, store: undefined }, 'text.verbosity'],
  [
    'google',
    'cerebras',
    { presencePenalty: 0.5, frequencyPenalty: 0 },
    { presence_penalty: undefined, frequency_penalty: undefined },
    'generationConfig.presencePenalty',
  ],
]
for (const [client, at, asked, arrives, named] of steering)
  test.serial(`${client} at ${at}: ${JSON.stringify(asked)} ${named === null ? 'loses nothing' : 'is told'}`, async (t) => {
    const response = await clients[client](at, asked)
    t.is(response.status, 200, await response.text())
    t.like(cloud.requests[0]?.json, arrives)
    t.is(response.headers.get('x-service-dropped-params'), named)
    const refused = await clients[client](at, asked, strict)
    t.is(refused.status, named === null ? 200 : 400, await refused.text())
    t.is(cloud.requests.length, named === null ? 2 : 1)
  })

/** A meaningful field: it is refused by the caller's name of it, before any call. */
const meaning: readonly (readonly [client: Client, at: readonly string[], asked: object, field: string])[] = [
  ['google', ['groq', 'z-ai', 'zhipu'], { candidateCount: 2 }, 'generationConfig.candidateCount'],
  ['completions', ['z-ai', 'zhipu'], { n: 2 }, 'n'],
  ['google', ['groq', 'mistral-ai', 'perplexity-ai', 'z-ai', 'zhipu'], { responseLogprobs: true }, 'generationConfig.responseLogprobs'],
  ['responses', ['groq', 'mistral-ai', 'z-ai'], { include: ['message.output_text.logprobs'], top_logprobs: 3 }, 'include'],
]
for (const [client, places, asked, field] of meaning)
  for (const at of places)
    test.serial(`${client} at ${at}: ${JSON.stringify(asked)} is refused`, async (t) => {
      const response = await clients[client](at, asked)
      const body: unknown = await response.json()
      t.is(response.status, 400, JSON.stringify(body))
      t.true(JSON.stringify(body).includes(field), JSON.stringify(body))
      t.is(cloud.requests.length, 0)
    })

const chats: readonly (readonly [at: string, asked: object, arrives: object])[] = [
  ['mistral-ai', { max_completion_tokens: 5, seed: 7 }, { max_tokens: 5, random_seed: 7 }],
  ['mistral-ai', { max_completion_tokens: 5, max_tokens: 6, seed: 7 }, { max_completion_tokens: 5, max_tokens: 6, random_seed: 7 }],
  ['moonshot', { max_completion_tokens: 5, temperature: 1.8 }, { max_tokens: 5, temperature: 1.8 }],
  ['groq', { max_completion_tokens: 5, logprobs: true }, { max_completion_tokens: 5, logprobs: true }],
]
for (const [at, asked, arrives] of chats)
  test.serial(`a chat of one's own at ${at} gets its names of parameters, and no other change: ${JSON.stringify(asked)}`, async (t) => {
    const response = await clients.chats(at, asked, strict)
    t.is(response.status, 200, await response.text())
    t.is(cloud.requests[0]?.url, '/v1/chat/completions')
    t.deepEqual(cloud.requests[0]?.json, { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...arrives })
    t.is(response.headers.get('x-service-dropped-params'), null)
  })

test.serial('fields in the provider’s own words arrive as they are given', async (t) => {
  const response = await clients.messages('groq', { provider_options: { openai: { logprobs: true } } })
  t.is(response.status, 200)
  t.like(cloud.requests[0]?.json, { logprobs: true })
  t.is(response.headers.get('x-service-dropped-params'), null)
})

test.serial('a prompt is made so that its provider takes it, and what is lost is told', async (t) => {
  const logged = bed.nextLog()
  const response = await send('/v1/prompts/steers/completions', { variables: {} })
  t.is(response.status, 200, await response.text())
  t.deepEqual(cloud.requests[0]?.json, {
    model: 'm',
    temperature: 1.5,
    random_seed: 7,
    n: 1,
    messages: [{ role: 'user', content: 'hi' }],
  })
  t.is(response.headers.get('x-service-dropped-params'), 'temperature, logit_bias')
  t.deepEqual((await logged).record.translation?.dropped, ['temperature', 'logit_bias'])
  const refused = await send('/v1/prompts/steers/completions', { variables: {} }, strict)
  t.like(await refused.json(), { error: { param: 'temperature' } })
  t.is(refused.status, 400)
  t.is(cloud.requests.length, 1)
})

test.serial('a prompt whose provider cannot do what it means is refused before any call', async (t) => {
  const response = await send('/v1/prompts/means/completions', { variables: {} })
  t.is(response.status, 400)
  t.like(await response.json(), { error: { param: 'n' } })
  t.is(cloud.requests.length, 0)
})

test.serial("a caller's own chat goes on byte for byte: its parameters are the provider's to judge", async (t) => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], n: 2, logprobs: true, temperature: 2 }
  const response = await send('/v1/chat/completions', body, { 'x-service-provider': '@zhipu' })
  t.is(response.status, 200)
  t.deepEqual(cloud.requests[0]?.json, body)
  t.is(response.headers.get('x-service-dropped-params'), null)
})

const call = (id: string) => ({ id, type: 'function', function: { name: 'weather', arguments: '{}' } })
/** The ids of calls in a chat, and those in their results. */
const idsIn = (body: unknown) => {
  const [, said, ...results] = (body as { messages: { tool_calls?: { id: string }[]; tool_call_id?: string }[] }).messages
  return [said?.tool_calls?.map(({ id }) => id), results.map((result) => result.tool_call_id)]
}

test.serial('a conversation that another provider began goes on at Mistral: ids of calls have the form that it takes', async (t) => {
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: [call('call_of_another'), call('AbCdE1234')] },
    { role: 'tool', tool_call_id: 'call_of_another', content: 'sun' },
    { role: 'tool', tool_call_id: 'AbCdE1234', content: 'rain' },
  ]
  for (const at of ['mistral-ai', 'together-ai'])
    t.is((await send('/v1/chat/completions', { model: 'm', messages }, { 'x-service-provider': `@${at}` })).status, 200)
  const [bent, other] = cloud.requests.map(({ json: body }) => idsIn(body))
  t.deepEqual(bent?.[0], bent?.[1])
  t.regex(String(bent?.[0]?.[0]), /^[A-Za-z0-9]{9}$/)
  t.is(bent?.[0]?.[1], 'AbCdE1234')
  t.deepEqual(other, idsIn({ messages }))
})
