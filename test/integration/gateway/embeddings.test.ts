import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { oracleCredential } from '../../support/dialects/oracle-credential.ts'
import { json } from '../../support/dialects/strict.ts'
import { embedsStrictly, vectorOf } from '../../support/dialects/strict-embeddings.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** The official clients of OpenAI and Google get vectors from every provider that makes them, in any format. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const key = { key: 'sk-upstream', fields: {} }
  const at = (provider: string, base: string, fields: Record<string, string> = {}) => ({
    provider,
    customHost: cloud.origin + base,
    credential: { ...key, fields },
  })
  bed = await startGateway({
    providers: {
      gpt: at('openai', '/v1'),
      cohere: at('cohere', '/cohere'),
      gemini: at('google', '/google'),
      vertex: at('vertex-ai', '/vertex', { vertex_project_id: 'project', vertex_region: 'us-east5' }),
      bedrock: at('bedrock', '/bedrock', { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }),
      mistral: at('mistral-ai', '/mistral'),
      voyage: at('voyage', '/voyage'),
      jina: at('jina', '/jina'),
      cloudflare: at('workers-ai', '', { workers_ai_account_id: 'account' }),
      claude: at('anthropic', '/anthropic'),
      oracle: { provider: 'oracle', customHost: cloud.origin, credential: oracleCredential() },
      nomic: at('nomic', '/nomic'),
      hf: at('huggingface', '/hf'),
      ollama: at('ollama', '/ollama/v1'),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  cloud.script({ behaviour: embedsStrictly })
})

const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: headers })
const google = () => new GoogleGenAI({ apiKey: workspaceKey, httpOptions: { baseUrl: bed.origin } })

interface Row {
  readonly model: string
  /** So many calls make vectors of three texts. */
  readonly calls?: number
  /** The tokens in the provider's answer; absent: it has none. */
  readonly tokens?: number
  readonly dimensions?: number
  readonly sent: object
  readonly dropped?: string
}

const input = ['a text', 'another', 'a third']

const rows: readonly Row[] = [
  { model: '@cohere/embed-v4.0', tokens: 6, dimensions: 512, sent: { output_dimension: 512, input_type: 'search_query' } },
  {
    model: '@gemini/gemini-embedding-001',
    dimensions: 768,
    sent: { requests: { 0: { model: 'models/gemini-embedding-001', taskType: 'RETRIEVAL_QUERY', outputDimensionality: 768 } } },
  },
  {
    model: '@vertex/text-embedding-005',
    tokens: 6,
    dimensions: 256,
    sent: { instances: { 2: { content: 'a third', task_type: 'RETRIEVAL_QUERY' } }, parameters: { outputDimensionality: 256 } },
  },
  { model: '@vertex/gemini-embedding-001', calls: 3, tokens: 6, sent: { instances: { length: 1 } } },
  {
    model: '@vertex/gemini-embedding-2-preview',
    calls: 3,
    tokens: 6,
    dimensions: 128,
    sent: { embedContentConfig: { outputDimensionality: 128, taskType: 'RETRIEVAL_QUERY' } },
  },
  {
    model: '@bedrock/amazon.titan-embed-text-v2:0',
    calls: 3,
    tokens: 6,
    dimensions: 256,
    sent: { dimensions: 256 },
    dropped: 'input_type',
  },
  {
    model: '@bedrock/amazon.nova-2-multimodal-embeddings-v1:0',
    calls: 3,
    tokens: 6,
    dimensions: 384,
    sent: { singleEmbeddingParams: { embeddingPurpose: 'TEXT_RETRIEVAL', embeddingDimension: 384 } },
  },
  { model: '@bedrock/cohere.embed-multilingual-v3', tokens: 6, sent: { model: undefined, input_type: 'search_query' } },
  { model: '@mistral/codestral-embed', tokens: 6, dimensions: 64, sent: { output_dimension: 64 }, dropped: 'input_type' },
  { model: '@voyage/voyage-3.5', tokens: 6, dimensions: 256, sent: { output_dimension: 256, input_type: 'query' } },
  { model: '@jina/jina-embeddings-v4', tokens: 6, dimensions: 128, sent: { dimensions: 128, task: 'retrieval.query' } },
  { model: '@cloudflare/@cf/baai/bge-m3', tokens: 6, sent: { model: '@cf/baai/bge-m3' }, dropped: 'input_type' },
  {
    model: '@oracle/cohere.embed-v4.0',
    tokens: 6,
    dimensions: 256,
    sent: { inputType: 'SEARCH_QUERY', outputDimensions: 256, servingMode: { servingType: 'ON_DEMAND', modelId: 'cohere.embed-v4.0' } },
  },
  { model: '@nomic/nomic-embed-text-v1.5', tokens: 6, dimensions: 256, sent: { task_type: 'search_query', dimensionality: 256 } },
  { model: '@hf/sentence-transformers/all-MiniLM-L6-v2', sent: { inputs: input }, dropped: 'input_type' },
]

for (const { model, calls = 1, tokens, dimensions, sent, dropped } of rows)
  test.serial(`OpenAI's client gets vectors of ${model}`, async (t) => {
    const entry = bed.nextLog()
    const body = { model, input, input_type: 'search_query', ...(dimensions !== undefined && { dimensions }) }
    // The client asks for bytes when the program names no format, and decodes them.
    const { data, response } = await openai().embeddings.create(body).withResponse()
    t.deepEqual(
      data.data.map(({ embedding, index }) => [index, [...embedding]]),
      input.map((said, index) => [index, [...vectorOf(said)]]),
    )
    t.is(cloud.requests.length, calls)
    t.like(cloud.requests[0]?.json, sent)
    t.is(response.headers.get('x-service-dropped-params'), dropped ?? null)
    if (tokens === undefined) t.like(data.usage, { estimated: true })
    else t.like(data.usage, { prompt_tokens: tokens, total_tokens: tokens, estimated: undefined })
    t.true(data.usage.prompt_tokens > 0)
    const { usage } = (await entry).record
    t.is(usage?.inputTokens, data.usage.prompt_tokens)
  })

test.serial('Workers AI makes vectors in its own format for a caller that gives fields of it', async (t) => {
  const asked = { model: '@cloudflare/@cf/baai/bge-m3', input, provider_options: { 'workers-ai': { pooling: 'cls' } } }
  const answer = await openai().embeddings.create(asked)
  t.is(cloud.requests[0]?.url, '/client/v4/accounts/account/ai/run/%40cf/baai/bge-m3')
  t.deepEqual(cloud.requests[0]?.json, { text: input, pooling: 'cls' })
  t.deepEqual([...(answer.data[2]?.embedding ?? [])], [...vectorOf('a third')])
  t.is(answer.usage.prompt_tokens, 6)
})

test.serial("Google's client gets vectors of OpenAI's and Cohere's models, one and several", async (t) => {
  const entry = bed.nextLog()
  const one = await google().models.embedContent({ model: '@cohere/embed-v4.0', contents: 'hello', config: { taskType: 'CLUSTERING' } })
  t.deepEqual(one.embeddings, [{ values: [...vectorOf('hello')] }])
  t.like(cloud.requests[0]?.json, { model: 'embed-v4.0', texts: ['hello'], input_type: 'clustering' })
  cloud.script({ path: '/v1/embeddings', behaviour: json({ data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 3 } }) })
  t.is((await entry).record.operation, 'batchEmbedContents')
  const many = await google().models.embedContent({
    model: '@gpt/text-embedding-3-small',
    contents: ['hello'],
    config: { outputDimensionality: 2 },
  })
  t.deepEqual(many.embeddings, [{ values: [1, 2] }])
  t.deepEqual(cloud.requests[1]?.json, { model: 'text-embedding-3-small', input: ['hello'], dimensions: 2 })
})

test.serial('more texts than a call takes go in several, whose vectors come in the order of the texts', async (t) => {
  const many = Array.from({ length: 200 }, (_, at) => 'x'.repeat(at + 1))
  const { data, usage } = await openai().embeddings.create({ model: '@cohere/embed-v4.0', input: many, encoding_format: 'float' })
  t.deepEqual(
    data.map(({ embedding }) => embedding[0]),
    many.map(({ length }) => length),
  )
  t.is(usage.prompt_tokens, 400)
  t.deepEqual(
    cloud.requests.map(({ json: { texts } }) => (texts as unknown[]).length).toSorted((a, b) => b - a),
    [96, 96, 8],
  )
})

test.serial('a request that would go in more calls than 2,048 inputs need is refused before any is made', async (t) => {
  for (const model of ['@bedrock/amazon.titan-embed-text-v2:0', '@gemini/gemini-embedding-001', '@cohere/embed-v4.0']) {
    const many = { model, input: Array.from({ length: 2049 }, () => 'a') }
    const error = await t.throwsAsync(openai().embeddings.create(many), { instanceOf: OpenAI.APIError })
    t.like(error, { status: 400, param: 'input' })
    t.regex(error?.message ?? '', /at most 2048 inputs .*it has 2049/)
  }
  t.deepEqual(cloud.requests, [])
})

test.serial('if one of several calls fails, its error is the answer, and no vectors', async (t) => {
  cloud.script({
    behaviour: (received) =>
      received.json['inputText'] === 'another'
        ? json({ message: 'Too many requests' }, 429, { 'x-amzn-errortype': 'ThrottlingException' })
        : embedsStrictly(received),
  })
  const error = await t.throwsAsync(openai().embeddings.create({ model: '@bedrock/amazon.titan-embed-text-v2:0', input }), {
    instanceOf: OpenAI.APIError,
  })
  t.is(error.status, 429)
  t.regex(error.message, /Too many requests/)
})

const refusals: readonly (readonly [title: string, body: object, param: string])[] = [
  ['tokens', { model: '@cohere/embed-v4.0', input: [1, 2, 3] }, 'input'],
  ['lists of tokens', { model: '@cohere/embed-v4.0', input: ['a', [1, 2]] }, 'input[1]'],
  ['a length that the model cannot give', { model: '@bedrock/amazon.titan-embed-text-v1', input: 'a', dimensions: 256 }, 'dimensions'],
  [
    'content by provider_options',
    { model: '@cohere/embed-v4.0', input: 'a', provider_options: { cohere: { texts: ['b'] } } },
    'provider_options.cohere.texts',
  ],
]
for (const [title, body, param] of refusals)
  test.serial(`${title} cannot be translated: 400 before any call`, async (t) => {
    const error = await t.throwsAsync(openai().embeddings.create(body as never), { instanceOf: OpenAI.APIError })
    t.is(error.status, 400)
    t.is(error.param, param)
    t.is(cloud.requests.length, 0)
  })

test.serial('what only steers is dropped and named, or refused in strict mode; native fields go by provider_options', async (t) => {
  const body = { model: '@cohere/embed-v4.0', input: 'a', user: 'u', provider_options: { cohere: { truncate: 'NONE' } } }
  const { response } = await openai().embeddings.create(body).withResponse()
  t.is(response.headers.get('x-service-dropped-params'), 'user, input_type=search_document')
  t.like(cloud.requests[0]?.json, { truncate: 'NONE', texts: ['a'] })
  const error = await t.throwsAsync(openai({ 'x-service-strict-translation': 'true' }).embeddings.create(body), {
    instanceOf: OpenAI.APIError,
  })
  t.is(error.param, 'user')
})

test.serial('native fields for Gemini stand in each request of a call', async (t) => {
  await openai().embeddings.create({
    model: '@gemini/gemini-embedding-001',
    input: ['a', 'b'],
    provider_options: { google: { taskType: 'SEMANTIC_SIMILARITY' } },
  } as never)
  t.like(cloud.requests[0]?.json, {
    requests: { 0: { taskType: 'SEMANTIC_SIMILARITY' }, 1: { taskType: 'SEMANTIC_SIMILARITY' } },
    taskType: undefined,
  })
})

test.serial("Ollama's own API makes vectors for Google's client, and for OpenAI's with fields of Ollama's", async (t) => {
  const one = await google().models.embedContent({
    model: '@ollama/nomic-embed-text',
    contents: 'hello',
    config: { outputDimensionality: 64 },
  })
  t.deepEqual(one.embeddings, [{ values: [...vectorOf('hello')] }])
  const { data, usage } = await openai().embeddings.create({
    model: '@ollama/nomic-embed-text',
    input,
    provider_options: { ollama: { truncate: false, options: { num_ctx: 512 } } },
  } as never)
  t.deepEqual(
    data.map(({ embedding }) => embedding),
    input.map((said) => vectorOf(said)),
  )
  t.is(usage.prompt_tokens, 6)
  t.deepEqual(
    cloud.requests.map(({ url, json: body }) => [url, body]),
    [
      ['/ollama/api/embed', { model: 'nomic-embed-text', input: ['hello'], dimensions: 64 }],
      ['/ollama/api/embed', { model: 'nomic-embed-text', input, truncate: false, options: { num_ctx: 512 } }],
    ],
  )
})

test.serial("native fields of a provider that speaks OpenAI's embeddings go on, parts and tokens too", async (t) => {
  await openai().embeddings.create({
    model: '@jina/jina-embeddings-v4',
    input: [{ text: 'a' }, { image: 'b' }],
    late_chunking: true,
    encoding_format: 'float',
  } as never)
  t.deepEqual(cloud.requests[0]?.json, { model: 'jina-embeddings-v4', input: [{ text: 'a' }, { image: 'b' }], late_chunking: true })
})

test.serial('a provider that makes no vectors is a 400 that names those that do', async (t) => {
  const response = await fetch(`${bed.origin}/v1beta/models/claude-sonnet-4-5:embedContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': '@claude' },
    body: JSON.stringify({ content: { parts: [{ text: 'a' }] } }),
  })
  t.is(response.status, 400)
  const { error } = (await response.json()) as { error: { message: string } }
  t.regex(error.message, /anthropic does not serve \/embeddings.*These do: openai, 302ai, .* and \d+ more/)
})
