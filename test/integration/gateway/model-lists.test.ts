import Anthropic from '@anthropic-ai/sdk'
import test from 'ava'
import OpenAI from 'openai'
import { oracleCredential } from '../../support/dialects/oracle-credential.ts'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Lists of providers that describe their models in words of their own. */
let cloud: Emulator
let bed: GatewayBed

const compartment = 'ocid1.compartment.oc1..c&d'
const ofOracle = {
  items: [
    { id: 'ocid1.m..1', displayName: 'meta.llama-3.3-70b-instruct', lifecycleState: 'ACTIVE', timeCreated: '2026-01-02T03:04:05Z' },
    { id: 'ocid1.m..2', displayName: 'meta.llama-3.3-70b-instruct', lifecycleState: 'ACTIVE', timeCreated: '2026-01-02T03:04:05Z' },
    { id: 'ocid1.m..3', displayName: 'cohere.command-old', lifecycleState: 'DELETED' },
    { id: 'ocid1.m..4', displayName: 'cohere.embed-v4.0', capabilities: ['TEXT_EMBEDDINGS'], lifecycleState: 'ACTIVE' },
  ],
}
const ofReplicate = {
  next: 'https://api.replicate.com/v1/models?cursor=x',
  previous: null,
  results: [
    { owner: 'meta', name: 'meta-llama-3-70b-instruct', latest_version: { id: 'a', created_at: '2026-01-02T03:04:05Z' } },
    { owner: 'black-forest-labs', name: 'flux-schnell', latest_version: null },
  ],
}

/** The path at which each lists its models, its own answer, and the models of it. */
const rows = {
  oracle: {
    path: `/20231130/models?limit=1000&compartmentId=${encodeURIComponent(compartment)}`,
    answer: ofOracle,
    models: ['@oracle/cohere.embed-v4.0', '@oracle/meta.llama-3.3-70b-instruct'],
    authorization: /^Signature version="1"/,
  },
  replicate: {
    path: '/v1/models',
    answer: ofReplicate,
    models: ['@replicate/black-forest-labs/flux-schnell', '@replicate/meta/meta-llama-3-70b-instruct'],
    authorization: /^Bearer sk-upstream$/,
  },
} as const
type Id = keyof typeof rows
const ids = Object.keys(rows) as Id[]

test.beforeEach(async () => {
  cloud = await startEmulator()
  for (const { path, answer } of Object.values(rows))
    cloud.script({
      method: 'GET',
      behaviour: (received) => (received.url === path ? json(answer) : json({ message: received.url }, 404)),
      path,
    })
  bed = await startGateway({
    providers: {
      oracle: {
        provider: 'oracle',
        customHost: cloud.origin,
        credential: oracleCredential({ oracle_compartment_id: compartment }),
      },
      replicate: { provider: 'replicate', customHost: cloud.url, credential: { key: 'sk-upstream', fields: {} } },
    },
  })
})
test.afterEach.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})

test.serial('the list of all models has those of each, in the format of the caller', async (t) => {
  const openai = await new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 }).models.list()
  const models = ids.flatMap((id) => rows[id].models)
  t.deepEqual(
    openai.data.map(({ id }) => id),
    models,
  )
  t.deepEqual(
    openai.data.map(({ created }) => created > 0),
    [false, true, false, true],
  )
  const anthropic = await new Anthropic({ baseURL: bed.origin, apiKey: workspaceKey, maxRetries: 0 }).models.list()
  t.deepEqual(
    anthropic.data.map(({ id }) => id),
    models,
  )
  for (const id of ids) {
    const asked = cloud.requests.filter(({ url }) => url === rows[id].path)
    t.is(asked.length, 1)
    t.regex(asked[0]?.headers.authorization ?? '', rows[id].authorization)
  }
})

for (const id of ids)
  test.serial(`with a provider it is the provider's own: ${id}`, async (t) => {
    const answer = await fetch(`${bed.origin}/v1/models`, {
      headers: { 'x-service-api-key': workspaceKey, 'x-service-provider': `@${id}` },
    })
    t.is(answer.status, 200)
    t.deepEqual(await answer.json(), rows[id].answer)
    t.is(cloud.requests[0]?.url, rows[id].path)
    t.regex(cloud.requests[0]?.headers.authorization ?? '', rows[id].authorization)
  })
