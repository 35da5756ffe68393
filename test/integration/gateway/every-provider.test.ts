import test, { type ExecutionContext } from 'ava'
import { type Operation, operations, type OperationSpec } from '../../../src/gateway/operations/operations.ts'
import { findProvider, providers } from '../../../src/gateway/providers/catalog.ts'
import { speakersOf } from '../../../src/gateway/providers/serving.ts'
import type { ProviderView } from '../../../src/gateway/ports.ts'
import { oracleCredential } from '../../support/dialects/oracle-credential.ts'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/**
 * Every operation at every row of the catalogue. At a custom host it reaches those that serve it; for the others, those whose paths are surely not
 * OpenAI's are a 400 that names both and lists the providers that can, and all else is passed through, byte for byte, since such a host may have
 * more. At a provider's own host an operation that it does not serve is a 400.
 */
let cloud: Emulator
let bed: GatewayBed

const fields: Readonly<Record<string, string>> = {
  aws_access_key_id: 'a',
  aws_secret_access_key: 'b',
  azure_resource_name: 'resource',
  azure_deployment_name: 'deployment',
  predibase_tenant_id: 'tenant',
  vertex_project_id: 'project',
  workers_ai_account_id: 'account',
}

test.before(async () => {
  cloud = await startEmulator()
  const views = Object.keys(providers).map((provider): [string, Partial<ProviderView>] => {
    const credential =
      provider === 'oracle' ? oracleCredential() : { key: provider === 'bedrock' || provider === 'sagemaker' ? null : 'k', fields }
    return [provider, { provider, customHost: cloud.origin, credential }]
  })
  const hosted = views.map(([provider, view]) => [`${provider}-itself`, { ...view, customHost: null }])
  bed = await startGateway({ providers: Object.fromEntries([...views, ...hosted]) })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})

/** Models that providers recognise by their form alone. */
const models: Readonly<Record<string, Readonly<Partial<Record<Operation | 'all', string>>>>> = {
  'vertex-ai': { all: 'gemini-2.5-flash', embed: 'text-embedding-005' },
  bedrock: { all: 'amazon.nova-canvas-v1:0' },
  replicate: { all: 'owner/model' },
  'stability-ai': { all: 'sd3' },
  google: { all: 'gemini-2.5-flash' },
}

const bodies: Readonly<Partial<Record<Operation, object>>> = {
  complete: { prompt: 'a' },
  embed: { input: ['a'] },
  messages: { max_tokens: 5, messages: [{ role: 'user', content: 'a' }] },
  countTokens: { messages: [{ role: 'user', content: 'a' }] },
  createMessageBatch: { requests: [{ custom_id: 'a', params: { model: 'a-model', max_tokens: 5, messages: [] } }] },
  createModelResponse: { input: 'a' },
  compactResponse: { input: 'a' },
  imageGenerate: { prompt: 'a' },
  moderate: { input: 'a' },
  createSpeech: { input: 'a', voice: 'alloy' },
  createBatch: { input_file_id: 'f', endpoint: '/v1/chat/completions', completion_window: '24h' },
  createFinetune: { training_file: 'f', suffix: 's', method: { type: 'supervised' } },
}
const forms: Readonly<Partial<Record<Operation, Readonly<Record<string, string>>>>> = {
  imageEdit: { image: 'a.png', prompt: 'a' },
  imageVary: { image: 'a.png' },
  // Cohere demands a language.
  createTranscription: { file: 'a.mp3', language: 'en' },
  createTranslation: { file: 'a.mp3' },
  uploadFile: { file: 'a.jsonl', purpose: 'batch' },
}

function bodyOf(operation: Operation, model: string): string | FormData | null {
  if (operations[operation].method !== 'POST') return null
  const form = forms[operation]
  if (form === undefined) return JSON.stringify({ model, messages: [{ role: 'user', content: 'a' }], ...bodies[operation] })
  const data = new FormData()
  data.set('model', model)
  for (const [name, value] of Object.entries(form))
    if (value.includes('.')) data.set(name, new Blob(['x']), value)
    else data.set(name, value)
  return data
}

async function ask(provider: string, operation: Operation, slug = provider) {
  const { method, path } = operations[operation]
  const model = models[provider]?.[operation] ?? models[provider]?.all ?? 'a-model'
  const body = bodyOf(operation, model)
  const answer = await fetch(bed.origin + '/v1' + path.replaceAll(/\{\w+\}/g, 'x_1'), {
    method,
    headers: {
      'x-service-api-key': workspaceKey,
      'x-service-provider': `@${slug}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
  })
  return { status: answer.status, body: await answer.text() }
}

/** Prompts are stored here, counts are estimated for every provider, and WebSockets have tests of their own. */
const anywhere: ReadonlySet<Operation> = new Set([
  'promptComplete',
  'countTokens',
  'countResponseTokens',
  'connectResponses',
  'connectRealtime',
])
const asked = (Object.keys(operations) as Operation[]).filter((operation) => !anywhere.has(operation))

/** Providers that a later release brought are not in the list, since an earlier level does not have them. */
const servesLater = (provider: string, operation: Operation): boolean => {
  const { task }: OperationSpec = operations[operation]
  return provider === 'oracle' && ['conversation', 'completion', 'embedding'].includes(task ?? 'none')
}

for (const operation of asked)
  test.serial(`${operation}: each provider is asked, refused by name, or passed through`, async (t) => {
    cloud.reset()
    // Every provider refuses in these words, so that no test waits for an answer of its own.
    cloud.script({ behaviour: json({ message: 'reached', error: { message: 'reached' } }, 418) })
    const able = new Set(speakersOf(operation))
    t.true(able.size > 0)
    for (const provider of Object.keys(providers)) {
      const before = cloud.requests.length
      const { status, body } = await ask(provider, operation)
      const isAsked = cloud.requests.length > before
      if (able.has(provider) || servesLater(provider, operation)) {
        t.true(isAsked, `${provider}: ${status} ${body}`)
        continue
      }
      if (isAsked) {
        const { api, offers, openHosts } = findProvider(provider) ?? {}
        t.true(
          api === 'openai' || (api === 'other' && (offers === undefined || openHosts === true)) || mayHaveIts(provider, operation),
          provider,
        )
        t.is(cloud.requests.at(-1)?.url.split('?', 1)[0], operations[operation].path.replaceAll(/\{\w+\}/g, 'x_1'), provider)
        continue
      }
      t.not(findProvider(provider)?.openHosts, true, provider)
      namesBoth(t, { provider, operation, able, status, body })
    }
  })

interface Refusal {
  readonly provider: string
  readonly operation: Operation
  readonly able: ReadonlySet<string>
  readonly status: number
  readonly body: string
}

function namesBoth(t: ExecutionContext, { provider, operation, able, status, body }: Refusal): void {
  t.is(status, 400, `${provider}: ${body}`)
  const { error } = JSON.parse(body) as { error: { code?: string; message: string } }
  t.true(error.message.includes(`${provider} does not serve ${operations[operation].path}`), body)
  t.true(error.message.includes(`These do: ${[...able].slice(0, 12).join(', ')}`), body)
}

/** Rows without a host, or with one that a credential names, have unknown paths. */
const ownHosts = Object.keys(providers).filter((provider) => {
  const { baseUrl, retired } = findProvider(provider) ?? {}
  return baseUrl?.startsWith('{') === false && retired === undefined
})

/** Paths of files and batches may be the provider's own, unless it speaks as OpenAI does. */
const mayHaveIts = (provider: string, operation: Operation): boolean =>
  operations[operation].dialect === 'openai-platform' && ['anthropic', 'other'].includes(findProvider(provider)?.api ?? 'other')

for (const operation of asked)
  test.serial(`${operation}: at its own host each provider that does not serve it is a 400`, async (t) => {
    const able = new Set(speakersOf(operation))
    const unable = ownHosts.filter((id) => !able.has(id) && !servesLater(id, operation) && !mayHaveIts(id, operation))
    for (const provider of unable) namesBoth(t, { provider, operation, able, ...(await ask(provider, operation, `${provider}-itself`)) })
    t.true(ownHosts.length > 60)
  })

test.serial('what a provider that speaks as OpenAI does cannot do tells of custom hosts, which get every path', async (t) => {
  const { body } = await ask('deepseek', 'embed', 'deepseek-itself')
  t.regex(body, /A custom host gets every path as it is\./)
  const { body: ofGoogle } = await ask('google', 'moderate', 'google-itself')
  t.notRegex(ofGoogle, /custom host/)
})

/** The requests to a provider at a path below `/v1`: docs.bytez.com/http-reference; docs.reka.ai, chat and speech/overview. */
const keys = [
  ['bytez', '/chat/completions', { authorization: 'Bearer k' }],
  ['bytez', '/models/v2/openai/v1/embeddings?a=b', { authorization: 'Bearer k' }],
  ['bytez', '/models/v2/openai-community/gpt2', { authorization: 'Key k' }],
  ['reka-ai', '/chat/completions', { authorization: 'Bearer k' }],
  ['reka-ai', '/v1/transcription_or_translation', { 'x-api-key': 'k' }],
] as const

for (const [provider, path, expected] of keys)
  test.serial(`${provider}: the key goes to ${path} as its documents say`, async (t) => {
    cloud.reset()
    cloud.script({ behaviour: json({}) })
    const headers = { 'x-service-api-key': workspaceKey, 'x-service-provider': `@${provider}`, 'content-type': 'application/json' }
    await fetch(`${bed.origin}/v1${path}`, { method: 'POST', headers, body: '{"model":"m","messages":[]}' })
    const { authorization, 'x-api-key': plain } = cloud.requests[0]?.headers ?? {}
    t.deepEqual({ ...(authorization !== undefined && { authorization }), ...(plain !== undefined && { 'x-api-key': plain }) }, expected)
  })
