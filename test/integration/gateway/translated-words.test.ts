import test from 'ava'
import OpenAI from 'openai'
import { json, sse } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** The parts beside the text of an answer, and the names in an error, in the words of the client. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: {
      plain: { provider: 'krutrim', customHost: cloud.url, credential },
      claude: { provider: 'anthropic', customHost: cloud.url, credential },
      gemini: { provider: 'google', customHost: cloud.origin, credential },
      aws: {
        provider: 'bedrock',
        customHost: cloud.origin,
        credential: { key: null, fields: { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' } },
      },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const openai = () =>
  new OpenAI({
    baseURL: `${bed.origin}/v1`,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': '@plain' },
  })

const token = (said: string, logprob: number) => ({
  token: said,
  logprob,
  bytes: [...Buffer.from(said)],
  top_logprobs: [
    { token: said, logprob, bytes: [...Buffer.from(said)] },
    { token: 'Sün', logprob: -3, bytes: null },
  ],
})
/** The same in the form of OpenAI's responses, where no bytes are missing. */
const told = (said: string, logprob: number) => ({
  ...token(said, logprob),
  top_logprobs: [
    { token: said, logprob, bytes: [...Buffer.from(said)] },
    { token: 'Sün', logprob: -3, bytes: [83, 195, 188, 110] },
  ],
})
const probable = (...tokens: readonly object[]) => ({ content: tokens, refusal: null })
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const chunk = (delta: object, rest: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 5,
  model: 'm',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }],
})
const asked = {
  model: 'm',
  store: false,
  input: 'Rome?',
  tools: [{ type: 'function' as const, name: 'weather', strict: false, parameters: { type: 'object', properties: {} } }],
  include: ['message.output_text.logprobs' as const],
  top_logprobs: 2,
}

const probabilitiesIn = ({ output }: Pick<OpenAI.Responses.Response, 'output'>) =>
  output.flatMap((item) =>
    item.type === 'message' ? item.content.flatMap((part) => (part.type === 'output_text' ? [part.logprobs] : [])) : [],
  )

test.serial('responses hold how probable the tokens of a text were, whole, beside calls too', async (t) => {
  const message = { role: 'assistant', content: 'Rain.', refusal: null, tool_calls: [call] }
  cloud.script({
    behaviour: json({
      ...chunk({}),
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: probable(token('Rain', -0.1), token('.', -0.2)), finish_reason: 'tool_calls' }],
      usage,
    }),
  })
  const { data, response } = await openai().responses.create(asked).withResponse()
  t.deepEqual(probabilitiesIn(data), [[told('Rain', -0.1), told('.', -0.2)]])
  t.is(response.headers.get('x-service-dropped-params'), null)
  t.like(cloud.requests[0]?.json, { logprobs: true, top_logprobs: 2 })
  await openai().responses.create({ ...asked, include: [] })
  t.like(cloud.requests[1]?.json, { logprobs: true, top_logprobs: 2 })
  const { include: _include, top_logprobs: _top, ...plain } = asked
  await openai().responses.create({ ...plain, top_logprobs: 0 })
  t.false('logprobs' in (cloud.requests[2]?.json ?? {}))
  t.false('top_logprobs' in (cloud.requests[2]?.json ?? {}))
})

test.serial('streams of responses tell it piece by piece, and once more at the end', async (t) => {
  const frames = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Rain' }, { logprobs: probable(token('Rain', -0.1)) }),
    chunk({ content: '.' }, { logprobs: probable(token('.', -0.2)) }),
    chunk({ tool_calls: [{ index: 0, ...call }] }),
    chunk({}, { finish_reason: 'tool_calls' }),
  ]
  cloud.script({ behaviour: sse([...frames.map((data) => [null, data] as const), [null, '[DONE]']]) })
  const stream = openai().responses.stream(asked)
  const deltas: OpenAI.Responses.ResponseTextDeltaEvent[] = []
  const done: unknown[] = []
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') deltas.push(event)
    if (event.type === 'response.output_text.done') done.push(event.logprobs)
  }
  const all = [told('Rain', -0.1), told('.', -0.2)]
  t.is(deltas.map(({ delta }) => delta).join(''), 'Rain.')
  t.deepEqual(
    deltas.flatMap(({ logprobs }) => logprobs as object[]),
    all,
  )
  t.deepEqual(done, [all])
  const final = await stream.finalResponse()
  t.deepEqual(probabilitiesIn(final), [all])
  const again = await openai()
    .responses.create({
      ...asked,
      stream: false,
      input: [{ role: 'user', content: 'Rome?' }, ...(final.output as OpenAI.Responses.ResponseInputItem[])],
    })
    .withResponse()
  t.is(again.response.headers.get('x-service-dropped-params'), null)
})

const ask = async (provider: string, path: string, body: object): Promise<{ readonly status: number; readonly text: string }> => {
  const answer = await fetch(bed.origin + path, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': provider, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

const messages = [{ role: 'user', content: 'hi' }]
/** A request of each format, and its address. */
const clients = {
  chat: ['/v1/chat/completions', { model: 'm', messages }],
  responses: ['/v1/responses', { model: 'm', store: false, input: 'hi' }],
  messages: ['/v1/messages', { model: 'm', max_tokens: 9, messages }],
} as const

const claude = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } })
const gemini = (message: string, field: string | null = null) => ({
  error: {
    code: 400,
    message,
    status: 'INVALID_ARGUMENT',
    details:
      field === null ? [] : [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description: 'bad' }] }],
  },
})
const plain = (param: string) => ({
  error: { message: `Invalid '${param}'.`, type: 'invalid_request_error', param, code: 'invalid_value' },
})

/** A provider's name of a field, and each client's name for it; null: it has no such field, or the name is unknown. */
const refusals: readonly (readonly [
  provider: string,
  body: object,
  named: Readonly<Partial<Record<keyof typeof clients, string | null>>>,
])[] = [
  ['@claude', claude('max_tokens: 300000 > 64000, which is the maximum.'), { chat: 'max_tokens', responses: 'max_output_tokens' }],
  ['@claude', claude('`temperature` and `top_p` cannot both be specified.'), { chat: 'temperature', responses: 'temperature' }],
  ['@claude', claude('thinking.budget_tokens: Input should be at least 1024'), { chat: 'reasoning_effort', responses: 'reasoning' }],
  ['@claude', claude('stop_sequences: each must hold a letter'), { chat: 'stop', responses: null }],
  ['@claude', claude('messages.0.content.1.image: bad'), { chat: null, responses: null }],
  ['@claude', claude('model: not found'), { chat: 'model', responses: 'model' }],
  [
    '@gemini',
    gemini("Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), 9e12", 'generation_config.max_output_tokens'),
    { chat: 'max_tokens', responses: 'max_output_tokens', messages: 'max_tokens' },
  ],
  ['@gemini', gemini("Invalid value at 'generationConfig.topK' (TYPE_INT32), 1.5"), { chat: 'top_k', responses: null, messages: 'top_k' }],
  ['@gemini', gemini('contents[0] is empty', 'contents[0]'), { chat: null, messages: null }],
  ['@plain', plain('max_completion_tokens'), { responses: 'max_output_tokens', messages: 'max_tokens' }],
  ['@plain', plain('response_format.json_schema.schema'), { responses: 'text.format', messages: 'output_config.format' }],
  ['@plain', plain('tools[0].function.parameters'), { responses: 'tools', messages: 'tools' }],
  ['@plain', plain('seed'), { responses: null, messages: null }],
  ['@plain', plain('messages[0].content'), { responses: null, messages: null }],
  ['@plain', plain('__proto__'), { responses: null, messages: null }],
  [
    '@plain',
    { detail: [{ loc: ['body', 'reasoning_effort'], msg: 'Input should be low', type: 'enum' }] },
    { responses: 'reasoning', messages: 'thinking' },
  ],
  [
    '@aws',
    { message: "1 validation error detected: Value '-1' at 'inferenceConfig.maxTokens' failed to satisfy constraint: at least 1" },
    { chat: 'max_tokens', responses: 'max_output_tokens', messages: 'max_tokens' },
  ],
]

for (const [provider, body, named] of refusals)
  for (const [client, param] of Object.entries(named) as [keyof typeof clients, string | null][])
    test.serial(
      `a field that a provider refuses is named as the client knows it: ${client} at ${provider}, ${JSON.stringify(body).slice(0, 90)}`,
      async (t) => {
        cloud.script({ behaviour: json(body, 400) })
        const [path, request] = clients[client]
        const { status, text } = await ask(provider, path, request)
        t.is(status, 400, text)
        const { error } = JSON.parse(text) as { readonly error: { readonly message: string; readonly param?: string | null } }
        t.is(error.param ?? null, param, text)
        // Word for word.
        t.true(JSON.stringify(body).includes(JSON.stringify(error.message)), text)
      },
    )

test.serial('an error within a stream names it so too', async (t) => {
  cloud.script({
    behaviour: sse([
      [null, chunk({ role: 'assistant', content: 'Rain' })],
      [null, plain('max_tokens')],
    ]),
  })
  const [path, request] = clients.responses
  const { text } = await ask('@plain', path, { ...request, stream: true })
  const events = text
    .split('\n')
    .flatMap((line) =>
      line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as { readonly type: string; readonly param?: string }] : [],
    )
  t.is(events.at(-1)?.type, 'error')
  t.is(events.at(-1)?.param, 'max_output_tokens')
})
