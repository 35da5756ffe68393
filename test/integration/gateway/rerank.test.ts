import test from 'ava'
import { ranksStrictly } from '../../support/dialects/strict-rerank.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { oracleCredential } from '../../support/dialects/oracle-credential.ts'

/** Texts are ordered by Cohere's format at every provider that orders them. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  cloud.script({ behaviour: ranksStrictly })
  const credential = { key: 'sk-upstream', fields: {} }
  const aws = { key: null, fields: { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' } }
  bed = await startGateway({
    providers: {
      cohere: { provider: 'cohere', customHost: `${cloud.origin}/cohere`, credential },
      versioned: { provider: 'cohere', customHost: `${cloud.origin}/cohere/v1`, credential },
      voyage: { provider: 'voyage', customHost: `${cloud.origin}/voyage`, credential },
      bedrock: { provider: 'bedrock', customHost: `${cloud.origin}/bedrock`, credential: aws },
      gpt: { provider: 'openai', customHost: `${cloud.origin}/gpt`, credential },
      together: { provider: 'together-ai', customHost: `${cloud.origin}/together`, credential },
      silicon: { provider: 'siliconflow', customHost: `${cloud.origin}/silicon`, credential },
      cloudflare: {
        provider: 'workers-ai',
        customHost: cloud.origin,
        credential: { key: 'k', fields: { workers_ai_account_id: 'account' } },
      },
      oracle: { provider: 'oracle', customHost: cloud.origin, credential: oracleCredential() },
      vertex: {
        provider: 'vertex-ai',
        customHost: cloud.origin,
        credential: { key: 'ya29.token', fields: { vertex_project_id: 'project', vertex_region: 'europe-west1' } },
      },
      jina: { provider: 'jina', customHost: `${cloud.origin}/jina`, credential },
      ears: { provider: 'deepgram', customHost: `${cloud.origin}/ears`, credential },
      fireworks: { provider: 'fireworks-ai', customHost: `${cloud.origin}/fireworks`, credential },
      novita: { provider: 'novita-ai', customHost: cloud.origin, credential },
      dedicated: {
        provider: 'huggingface',
        credential: { key: 'k', fields: { huggingface_base_url: `${cloud.origin}/dedicated` } },
      },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})

const ask = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${bed.origin}/v1/rerank`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const asked = { query: 'sun?', documents: ['rain', { title: 'Sun', text: 'It shines.' }], top_n: 2, return_documents: true }
const models = [
  '@cohere/rerank-v3.5',
  '@voyage/rerank-2.5',
  '@jina/jina-reranker-v3',
  '@bedrock/cohere.rerank-v3-5:0',
  '@bedrock/amazon.rerank-v1:0',
  '@cloudflare/@cf/baai/bge-reranker-base',
  '@oracle/cohere.rerank.v3-5',
  '@vertex/semantic-ranker-default-004',
] as const

for (const model of models)
  test.serial(`${model} orders texts, and those of objects; the best is the first`, async (t) => {
    const answer = await ask({ model, ...asked, max_chunks_per_doc: 3 })
    const body = await answer.json()
    t.is(answer.status, 200, JSON.stringify(body))
    t.like(body, {
      results: {
        0: { index: 1, relevance_score: 0.9, document: { text: 'title: Sun\ntext: It shines.' } },
        1: { index: 0, relevance_score: 0.1, document: { text: 'rain' } },
      },
    })
    const told = model.startsWith('@cohere/') ? 'max_tokens_per_doc=12288' : 'max_chunks_per_doc'
    t.is(answer.headers.get('x-service-dropped-params'), told)
  })

for (const model of [
  '@together/Salesforce/Llama-Rank-V1',
  '@silicon/BAAI/bge-reranker-v2-m3',
  '@fireworks/accounts/fireworks/models/qwen3-reranker-8b',
  '@novita/baai/bge-reranker-v2-m3',
])
  test.serial(`${model} orders texts, and takes bounds of pieces`, async (t) => {
    const answer = await ask({ model, ...asked, max_chunks_per_doc: 3 })
    t.like(await answer.json(), { results: [{ index: 1, relevance_score: 0.9 }, { index: 0 }] })
    t.is(answer.headers.get('x-service-dropped-params'), null)
  })

test.serial('search units and tokens are metered', async (t) => {
  const [first, second] = [bed.nextLog(), ask({ model: '@voyage/rerank-2.5', ...asked })]
  await second
  const { record } = await first
  t.is(record.usage?.totalTokens, 26)
  t.is(record.operation, 'rerank')
})

test.serial("a provider's error and a fault of the request come as OpenAI's; strict mode refuses what would be dropped", async (t) => {
  const refused = await ask({ model: '@cohere/rerank-v3.5', ...asked, documents: [] })
  t.is(refused.status, 400)
  t.like(await refused.json(), { error: { type: 'invalid_request_error' } })
  const picture = await ask({ model: '@cohere/rerank-v3.5', ...asked, documents: [{ image: 'x' }] })
  t.like(await picture.json(), { error: { param: 'documents[0]' } })
  const strict = await ask({ model: '@cohere/rerank-v3.5', ...asked, rest: 1 }, { 'x-service-strict-translation': 'true' })
  t.like(await strict.json(), { error: { param: 'rest' } })
})

test.serial('Jina takes pictures, and a host of which nothing is known gets the request as it is', async (t) => {
  const pictures = { query: 'a', documents: ['rain', { image: 'x' }], top_n: 2 }
  const answer = await ask({ model: '@jina/jina-reranker-m0', ...pictures, return_documents: true })
  t.like(await answer.json(), { results: { 0: { index: 1, document: { image: 'x' } } } })
  await ask({ model: '@gpt/any', ...pictures })
  t.deepEqual(cloud.requests.at(-1)?.json, { model: 'any', ...pictures })
  t.is(cloud.requests.at(-1)?.url, '/gpt/rerank')
})

test.serial('rerank: a host that is given with a version is asked by the version of the path', async (t) => {
  const answer = await ask({ ...asked, model: '@versioned/rerank-v3.5' })
  t.is(answer.status, 200, await answer.text())
})

interface Asking {
  readonly provider: string
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks a provider at its own host, with a key of the caller's: a request that is refused here is refused before any call. */
async function askAtItsHost({ provider, path, body = { model: 'any', ...asked }, headers = {} }: Asking) {
  const answer = await fetch(bed.origin + path, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'x-service-provider': provider,
      authorization: 'Bearer sk-upstream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const { error } = (await answer.json()) as { error: { code?: string; message: string } }
  return { status: answer.status, code: error.code, message: error.message }
}

const says = { contents: [{ parts: [{ text: 'a' }] }] }
const unable: readonly (readonly [asking: Asking, names: RegExp])[] = [
  ...['openai', 'groq', 'deepseek', 'mistral-ai', 'x-ai', 'anthropic', 'google', 'deepgram'].map(
    (provider) =>
      [
        { provider, path: '/v1/rerank' },
        new RegExp(`^${provider} does not serve /rerank.*These do: .*jina.*together-ai.*voyage.* and \\d+ more`),
      ] as const,
  ),
  [
    { provider: 'openai', path: '/v1/messages/batches', body: { requests: [] } },
    /^openai does not serve \/messages\/batches.*These do: anthropic/,
  ],
  [
    { provider: 'jina', path: '/v1/messages', body: { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'a' }] } },
    /^jina does not serve \/messages.*These do: openai/,
  ],
  [
    { provider: 'voyage', path: '/v1beta/models/m:generateContent', body: says },
    /^voyage does not serve \/chat\/completions.*These do: openai/,
  ],
  [{ provider: '@ears', path: '/v1beta/models/m:generateContent', body: says, headers: { authorization: '' } }, /^deepgram does not serve/],
]
for (const [asking, names] of unable)
  test.serial(`${asking.provider} cannot do ${asking.path}: a 400 names both, and lists who can`, async (t) => {
    const { status, code, message } = await askAtItsHost(asking)
    t.is(status, 400, message)
    if (asking.path.startsWith('/v1/rerank')) t.is(code, 'unsupported_operation')
    t.regex(message, names)
  })

const knownHosts = ['openai', 'groq', 'huggingface', 'qdrant']
for (const provider of knownHosts)
  test.serial(`a host of one's own may do what ${provider} cannot: the path goes on as it is`, async (t) => {
    const answer = await fetch(`${bed.origin}/v1/rerank`, {
      method: 'POST',
      headers: {
        'x-service-api-key': workspaceKey,
        'x-service-provider': provider,
        'x-service-custom-host': `${cloud.origin}/own`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'any', ...asked }),
    })
    t.is(answer.status, 404)
    t.is(cloud.requests.at(-1)?.url, '/own/rerank')
    t.deepEqual(cloud.requests.at(-1)?.json, { model: 'any', ...asked })
  })

test.serial('a host that the credential names may do more than the catalogue knows', async (t) => {
  const answer = await ask({ model: '@dedicated/any', ...asked })
  t.is(answer.status, 404)
  t.is(cloud.requests.at(-1)?.url, '/dedicated/rerank')
})
