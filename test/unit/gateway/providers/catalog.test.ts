import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { authorize } from '../../../../src/gateway/credentials/authorize.ts'
import { findProvider, providers } from '../../../../src/gateway/providers/catalog.ts'
import { baseUrlOf, joinPath, providerHeaders, spokenAt, withDefaults } from '../../../../src/gateway/providers/endpoint.ts'
import { applyQuirks, quirksTouch } from '../../../../src/gateway/providers/quirks.ts'
import { secretFields } from '../../../../src/gateway/providers/fields.ts'
import { operationParams } from '../../../../src/gateway/operations/operation-params.ts'
import { operations, type Operation, type OperationSpec } from '../../../../src/gateway/operations/operations.ts'
import { fillTemplate } from '../../../../src/gateway/providers/template.ts'
import type { Provider } from '../../../../src/gateway/providers/provider.ts'
import { fakeEgress, ok } from '../credentials/fake-egress.ts'

/** In the order of the reference table. */
const ids =
  `openai cohere anthropic azure-openai huggingface anyscale palm together-ai google vertex-ai perplexity-ai mistral-ai deepinfra ncompass
  stability-ai nomic ollama ai21 bedrock groq segmind jina fireworks-ai workers-ai reka-ai moonshot openrouter lingyi zhipu novita-ai monsterapi
  deepseek predibase triton voyage azure-ai github deepbricks siliconflow cerebras inference-net sambanova lemonfox-ai upstage lambda dashscope
  x-ai qdrant sagemaker nebius recraft-ai milvus replicate lepton kluster-ai nscale hyperbolic bytez featherless-ai krutrim 302ai cometapi
  matterai meshy nextbit tripo3d modal z-ai oracle iointelligence aibadgr ovhcloud deepgram elevenlabs`.split(/\s+/)

test('the catalogue holds exactly the 72 providers of the table, and two that speak and hear', (t) => {
  t.is(ids.length, 74)
  t.deepEqual(Object.keys(providers).toSorted(), ids.toSorted())
})

test('ids are looked up as written, and nothing that objects inherit is a provider', (t) => {
  for (const id of ids) t.truthy(findProvider(id))
  for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', '', 'OpenAI', 'openai ', 'cortex'])
    t.is(findProvider(id), null, id)
})

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A credential that satisfies every provider. */
const dummyFields: Record<string, string> = {
  azure_resource_name: 'res',
  azure_foundry_url: 'https://res.services.ai.azure.com/models/',
  predibase_tenant_id: 'tenant',
  workers_ai_account_id: 'account',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'secret',
  vertex_service_account_json: JSON.stringify({ client_email: 'a@b', private_key: privateKey }),
  oracle_region: 'us-chicago-1',
  oracle_tenancy: 'ocid1.tenancy',
  oracle_user: 'ocid1.user',
  oracle_fingerprint: '00:11',
  oracle_private_key: privateKey,
}
const params = Object.fromEntries([...operationParams].map((name) => [name, `${name}-1`]))
const everyProvider = ids.map((id): [string, Provider] => {
  const provider = findProvider(id)
  if (provider === null) throw new Error(id)
  return [id, provider]
})
const customHost = 'https://custom.example.com/base'

function operationUrl(provider: Provider, operation: Operation, extra: Record<string, string> = {}): string {
  const fields = { ...withDefaults(provider, { ...dummyFields, ...extra }), ...params, model: 'maker/model-1:a b' }
  const base = new URL(baseUrlOf(provider, fields) ?? customHost)
  const path = fillTemplate(spokenAt(provider, operation, fields)?.path ?? '', fields)
  return base.origin + joinPath(base.pathname.replace(/\/$/, ''), path)
}

function complete(
  t: { true(value: boolean, message?: string): void; is(a: unknown, b: unknown, message?: string): void },
  url: string,
): void {
  t.true(URL.canParse(url), url)
  t.is(new URL(url).href, url, 'is written as it is parsed')
  t.is(new URL(url).protocol, 'https:')
  t.true(!/[{}^]|undefined|null/.test(url), url)
}

for (const [id, provider] of everyProvider) {
  test(`${id}: every operation that it serves has a whole URL`, (t) => {
    const fields = withDefaults(provider, dummyFields)
    const base = baseUrlOf(provider, fields)
    if (base !== null) complete(t, `${base}/models`)
    const names = provider.speaks.map(({ operation }) => operation)
    for (const { operation, dialect } of provider.speaks) {
      t.is(dialect, operations[operation].dialect, 'until there are translators a provider serves what clients of the operation speak')
      complete(t, operationUrl(provider, operation))
    }
    t.is(new Set(names).size, names.length)
    for (const { speaks, offers = [] } of provider.variants ?? [])
      t.deepEqual(
        names.filter((name) => {
          const { task }: OperationSpec = operations[name]
          return !speaks.some(({ operation }) => operation === name) && !offers.some((offer) => offer.task === task)
        }),
        [],
        'another address has other paths, and no fewer operations',
      )
    t.true(names.length > 0 || provider.api !== 'openai', 'what serves nothing in the OpenAI shape does not speak it')
  })

  test(`${id}: the credential is taken`, async (t) => {
    const egress = fakeEgress(() => ok({ access_token: 'token', expires_in: 60 }))
    const { auth } = provider
    const sent = await authorize(
      {
        auth,
        credential: { key: 'key', fields: dummyFields },
        method: 'POST',
        url: { origin: 'https://a.example.com', path: '/x' },
        headers: [],
        body: null,
      },
      { egress, now: () => Date.UTC(2026, 0, 1) },
    )
    const expected = {
      none: /Bearer key/,
      bearer: /key/,
      header: /^[\w-]+,key$/,
      sigv4: /AWS4-HMAC-SHA256/,
      google: /Bearer token/,
      azure: /api-key,key/,
      oracle: /Signature version/,
    }
    t.regex(sent.headers.join(','), expected[auth.kind])
    t.is(sent.path, '/x', 'no credential stands in a URL')
  })

  test(`${id}: its fields are used, and only its fields`, (t) => {
    const known = Object.keys(provider.fields ?? {})
    const made = Object.keys(provider.madeFields ?? {})
    const variants = provider.variants ?? []
    const templates = [
      provider.baseUrl ?? '',
      ...[provider, ...variants].flatMap(({ speaks }) => speaks.map(({ path }) => path)),
      ...variants.map(({ baseUrl }) => baseUrl ?? ''),
    ]
    const used = templates.flatMap((template) => [...template.matchAll(/\{\+?([^}]+)\}/g)].flatMap(([, names = '']) => names.split('|')))
    for (const name of [...used, ...Object.keys(provider.fieldHeaders ?? {}), ...variants.map((variant) => variant.field)]) {
      t.true(
        known.includes(name) || made.includes(name) || name === 'model' || operationParams.has(name),
        `${name} is not among the fields`,
      )
    }
    const headers = providerHeaders(provider, Object.fromEntries(known.map((name) => [name, 'v'])))
    t.is(headers.set.length, 2 * Object.keys(provider.fieldHeaders ?? {}).length)
  })
}

const url = test.macro({
  exec(t, id: string, operation: Operation, expected: string, fields: Record<string, string> = {}) {
    const provider = findProvider(id)
    t.truthy(provider)
    if (provider !== null) t.is(operationUrl(provider, operation, fields), expected)
  },
  title: (name, id: string, operation: Operation) => `URL of ${id} ${operation}${name === undefined ? '' : ` ${name}`}`,
})

test(url, 'openai', 'chatComplete', 'https://api.openai.com/v1/chat/completions')
test(url, 'openai', 'cancelBatch', 'https://api.openai.com/v1/batches/batch_id-1/cancel')
test(url, 'anthropic', 'messages', 'https://api.anthropic.com/v1/messages')
test(url, 'deepseek', 'chatComplete', 'https://api.deepseek.com/v1/chat/completions')
test(url, 'bytez', 'chatComplete', 'https://api.bytez.com/models/v2/openai/v1/chat/completions')
test(url, 'reka-ai', 'chatComplete', 'https://api.reka.ai/v1/chat/completions')
test(url, 'triton', 'embed', 'https://custom.example.com/base/v1/embeddings')
test(url, 'triton', 'complete', 'https://custom.example.com/base/v1/completions')
test(url, 'lepton', 'createTranscription', 'https://api.lepton.ai/api/v1/audio/transcriptions')
test(url, 'huggingface', 'chatComplete', 'https://router.huggingface.co/v1/chat/completions')
test(url, 'huggingface', 'complete', 'https://router.huggingface.co/hf-inference/models/maker/model-1%3Aa%20b/v1/completions')
test('on a dedicated endpoint', url, 'huggingface', 'chatComplete', 'https://x.endpoints.huggingface.cloud/v1/chat/completions', {
  huggingface_base_url: 'https://x.endpoints.huggingface.cloud',
})
test(
  'on one that is given with its version',
  url,
  'huggingface',
  'chatComplete',
  'https://x.endpoints.huggingface.cloud/v1/chat/completions',
  {
    huggingface_base_url: 'https://x.endpoints.huggingface.cloud/v1/',
  },
)
test(
  url,
  'predibase',
  'chatComplete',
  'https://serving.app.predibase.com/tenant/deployments/v2/llms/maker%2Fmodel-1%3Aa%20b/v1/chat/completions',
)
test(url, 'ollama', 'embed', 'https://custom.example.com/base/v1/embeddings')
test(url, 'workers-ai', 'chatComplete', 'https://api.cloudflare.com/client/v4/accounts/account/ai/v1/chat/completions')
test(
  'by deployment',
  url,
  'azure-openai',
  'chatComplete',
  'https://res.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-06-01',
  {
    azure_deployment_name: 'gpt',
    azure_api_version: '2024-06-01',
  },
)
test(
  'by the deployment header',
  url,
  'azure-openai',
  'embed',
  'https://res.openai.azure.com/openai/deployments/id/embeddings?api-version=2024-10-21',
  {
    azure_deployment_id: 'id',
  },
)
test(
  'by model',
  url,
  'azure-openai',
  'complete',
  'https://res.openai.azure.com/openai/deployments/maker%2Fmodel-1%3Aa%20b/completions?api-version=2024-10-21',
)
test('on the v1 API', url, 'azure-openai', 'chatComplete', 'https://res.openai.azure.com/openai/v1/chat/completions', {
  azure_api_version: 'v1',
})
test(url, 'azure-openai', 'retrieveFileContent', 'https://res.openai.azure.com/openai/files/file_id-1/content?api-version=2024-10-21')
test(url, 'azure-openai', 'getModelResponse', 'https://res.openai.azure.com/openai/v1/responses/response_id-1')
test(url, 'azure-ai', 'chatComplete', 'https://res.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview')
test(url, 'azure-ai', 'messages', 'https://res.services.ai.azure.com/anthropic/v1/messages')
test(url, 'azure-ai', 'listBatches', 'https://res.services.ai.azure.com/openai/batches?api-version=2024-05-01-preview')

test('what has ended has something in its place', (t) => {
  const ended = everyProvider.flatMap(([id, { retired }]) => (retired === undefined ? [] : [[id, findProvider(retired)?.retired]]))
  t.deepEqual(ended, [['palm', undefined]])
  for (const [, { retired }] of everyProvider) if (retired !== undefined) t.truthy(findProvider(retired))
})

const vertexBase = (region: string) => baseUrlOf(providers['vertex-ai'], withDefaults(providers['vertex-ai'], { vertex_region: region }))

test('vertex-ai: global has a host of its own', (t) => {
  t.is(vertexBase('europe-west4'), 'https://europe-west4-aiplatform.googleapis.com')
  t.is(vertexBase('global'), 'https://aiplatform.googleapis.com')
  t.is(vertexBase(''), 'https://us-central1-aiplatform.googleapis.com')
})

test('every required field of the catalogue is one that a request can be told to send', (t) => {
  for (const [id, { fields = {} }] of everyProvider) for (const name of Object.keys(fields)) t.regex(name, /^[a-z0-9_]+$/, id)
  const all = new Set(everyProvider.flatMap(([, { fields = {} }]) => Object.keys(fields)))
  for (const name of secretFields) t.true(all.has(name), `${name} belongs to no provider`)
  for (const name of all)
    if (/secret|token|private|passphrase|json/.test(name)) t.true(secretFields.has(name), `${name} looks like a secret`)
})

for (const [id, { quirks, speaks }] of everyProvider)
  if (quirks !== undefined)
    test(`${id}: each of its quirks changes a prompt's completion`, (t) => {
      t.true(speaks.some(({ operation }) => operation === 'chatComplete'))
      const touched = [...Object.keys(quirks.rename ?? {}), ...(quirks.drop ?? [])].map((name) => ({ [name]: 1 }))
      const beyond = Object.entries(quirks.clamp ?? {}).flatMap(([name, [min, max]]) => [{ [name]: min - 1 }, { [name]: max + 1 }])
      t.true(touched.length + beyond.length > 0 || quirks.dropOf !== undefined)
      for (const body of [...touched, ...beyond]) {
        t.true(quirksTouch(body, quirks), JSON.stringify(body))
        t.notDeepEqual(applyQuirks(body, quirks), body)
      }
    })
