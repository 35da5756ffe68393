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
    t.is(answer.headers.get('x-service-dropped-params'), 'max_chunks_per_doc')
  })

for (const model of ['@together/Salesforce/Llama-Rank-V1', '@silicon/BAAI/bge-reranker-v2-m3'])
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

test.serial('Jina takes pictures, and others of which nothing is known get the request as it is', async (t) => {
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
