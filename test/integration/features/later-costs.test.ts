// Videos and batches of many vendors, and responses in the background, are charged when they are made: once, to the budgets of the requests that began them.
import test from 'ava'
import { settleBatches } from '../../../src/features/costs/batches.jobs.ts'
import { batchJobs, type Job, type Told, unreadableBatches } from '../../support/later-batches.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { doctor } from './doctor.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

const withinMs = 15_000
let control: Control
let acme: Tenant
let emulator: Emulator

/** The provider's answers: to the request that begins a job, and to later reads. */
let begun: Fields = {}
let told: Told = { body: {} }

const azure = {
  azure_auth_mode: 'default',
  azure_resource_name: 'ours',
  azure_deployment_config: [
    { azure_deployment_name: 'chats', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o', is_default: true },
    { azure_deployment_name: 'films', azure_api_version: '2024-10-21', azure_model_slug: 'sora-2' },
  ],
}
const vertex = { vertex_auth_type: 'basic', vertex_region: 'us-central1', vertex_project_id: 'p' }
const sellers: Readonly<Record<string, object>> = {
  openai: {},
  'x-ai': {},
  'together-ai': {},
  openrouter: {},
  google: {},
  'azure-openai': azure,
  'vertex-ai': vertex,
}

async function made(key: string, path: string, body: object): Promise<Fields> {
  const response = await control.call(key, 'POST', path, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

const isReading = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === 'GET' || url.includes(':fetchPredictOperation')

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({
    behaviour: (received) => {
      if (!isReading(received)) return { status: 200, body: JSON.stringify(begun) }
      const { status = 200, body, at = received.url, pages = {} } = told
      const page = pages[received.url]
      if (page !== undefined) return { status: 200, body: page }
      return at === received.url ? { status, body: JSON.stringify(body) } : { status: 404, body: '{"error":{"message":"not here"}}' }
    },
  })
  for (const [provider, more] of Object.entries(sellers)) {
    const configurations = { ...more, custom_host: emulator.url }
    await made(acme.workspaceKey, '/integrations', { name: provider, slug: provider, ai_provider_id: provider, key: 'k', configurations })
    await made(acme.workspaceKey, '/providers', { name: provider, slug: `at-${provider}`, integration_id: provider })
  }
})
// The same ids are noted again and again: rows of a failed test would be taken for the next one's.
test.afterEach.always(() => control.sql.query('DELETE FROM provider_batches'))
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

async function keyWith(on_unpriced: 'allow' | 'deny', credit_limit = 100): Promise<{ readonly id: string; readonly key: string }> {
  const { id, key } = await made(acme.adminKey, '/api-keys/workspace/service', {
    name: 'spender',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { type: 'cost', credit_limit, on_unpriced },
  })
  return { id: String(id), key: String(key) }
}

const ask = (key: string, provider: string, { path, body }: Pick<Job, 'path' | 'body'>) =>
  send(`${control.origin}/v1${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'x-service-provider': `@at-${provider}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Looks at all jobs that wait, whenever they were to be looked at. */
async function look(): Promise<void> {
  await control.sql.query(`UPDATE provider_batches SET next_look_at = 'epoch'`)
  await settleBatches.run(control.started.deps)
}

interface Noted {
  readonly batch_id: string
  readonly state: string
  readonly fault: string | null
}

const rowOf = async (logId: string): Promise<Noted | undefined> =>
  (await control.sql.query<Noted>('SELECT batch_id, state, fault FROM provider_batches WHERE id = $1', [logId])).rows[0]

const costOf = async (logId: string) =>
  (await control.call(acme.workspaceKey, 'GET', `/logs/${logId}/cost`)).body as Fields & { readonly adjustments: readonly Fields[] }

const grok = {
  provider: 'x-ai',
  path: '/videos/generations',
  begins: { request_id: 'req-1' },
  runs: { status: 202, body: { status: 'pending' } },
}
const filmed = (duration: number, more: Fields = {}) => ({
  status: 'done',
  video: { url: 'https://v', duration },
  model: 'grok-imagine-video',
  ...more,
})
const veo = (model: string) => ({
  provider: 'google',
  path: `/proxy/v1beta/models/${model}:predictLongRunning`,
  begins: { name: `models/${model}/operations/op1` },
  runs: { body: { name: `models/${model}/operations/op1` } },
})
const samples = (count: number) => ({
  name: 'models/veo/operations/op1',
  done: true,
  response: { generateVideoResponse: { generatedSamples: Array.from({ length: count }, () => ({ video: { uri: 'https://v' } })) } },
})
const vertexPath = '/projects/p/locations/us-central1/publishers/google/models/veo-3.1-fast-generate-001'
const operation = `${vertexPath.slice(1)}/operations/op1`
const response = (status: string, more: Fields = {}) => ({
  id: 'resp_1',
  object: 'response',
  model: 'gpt-5-2025-08-07',
  background: true,
  status,
  output: [],
  ...more,
})
const background = {
  provider: 'openai',
  path: '/responses',
  body: { model: 'gpt-5', input: 'hello world', background: true },
  begins: response('queued', { usage: null }),
  runs: { body: response('in_progress', { usage: null }) },
  noted: 'resp_1',
}
const used = { input_tokens: 1000, input_tokens_details: { cached_tokens: 400 }, output_tokens: 100, total_tokens: 1100 }

/** The rates stand beside the amounts, which are worked out by hand. */
const jobs: Readonly<Record<string, Job>> = {
  // 8 x $0.07 in 720p, and a picture $0.002
  'a video of Grok, by its size and length, with the picture that it began with': {
    ...grok,
    body: { model: 'grok-imagine-video', prompt: 'a cat', resolution: '720p', duration: 8, image: { url: 'https://a' } },
    ends: filmed(8),
    amount: 562_000_000_000n,
    noted: '/videos/req-1?model=grok-imagine-video&size=720p&images=1',
  },
  // 5.5 x $0.05
  'a video of Grok in the size that it makes where nobody asks for one': {
    ...grok,
    body: { model: 'grok-imagine-video', prompt: 'a cat' },
    ends: filmed(5.5),
    amount: 275_000_000_000n,
    noted: '/videos/req-1?model=grok-imagine-video&size=480p&images=0',
  },
  // 1,234,567,890 ticks of 10^-10 dollars
  'an edited video of Grok, by the cost that it names': {
    ...grok,
    path: '/videos/edits',
    body: { model: 'grok-imagine-video', prompt: 'a hat', video: { url: 'https://v' } },
    ends: filmed(8, { usage: { cost_in_usd_ticks: 1_234_567_890 } }),
    amount: 123_456_789_000n,
    noted: '/videos/req-1?model=grok-imagine-video&images=0',
  },
  'a video of Grok that failed': {
    ...grok,
    body: { model: 'grok-imagine-video', prompt: 'a cat' },
    ends: { status: 'failed', error: { message: 'no' } },
    amount: null,
    noted: '/videos/req-1?model=grok-imagine-video&size=480p&images=0',
  },
  'a video of Together, by the cost that it names': {
    provider: 'together-ai',
    path: '/proxy/v2/videos',
    body: { model: 'ByteDance/Seedance-1.0-lite', prompt: 'a cat' },
    begins: { id: '0199-1', status: 'in_progress' },
    runs: { body: { id: '0199-1', status: 'in_progress' } },
    ends: {
      id: '0199-1',
      status: 'completed',
      model: 'ByteDance/Seedance-1.0-lite',
      seconds: '5',
      size: '1280x720',
      outputs: { cost: 0.15, video_url: 'https://v' },
    },
    amount: 150_000_000_000n,
    noted: '/v2/videos/0199-1',
  },
  // 5 x $0.028
  'a video of Together that names no cost, by its length': {
    provider: 'together-ai',
    path: '/proxy/v2/videos',
    body: { model: 'ByteDance/Seedance-1.0-lite', prompt: 'a cat' },
    begins: { id: '0199-2', status: 'in_progress' },
    runs: { body: { id: '0199-2', status: 'in_progress' } },
    ends: { id: '0199-2', status: 'completed', model: 'ByteDance/Seedance-1.0-lite', seconds: '5', size: '1280x720' },
    amount: 140_000_000_000n,
    noted: '/v2/videos/0199-2',
  },
  'a video of OpenRouter, by the cost that it names': {
    provider: 'openrouter',
    path: '/videos',
    body: { model: 'google/veo-3.1', prompt: 'a cat' },
    begins: { id: 'job-1', polling_url: '/api/v1/videos/job-1', status: 'pending' },
    runs: { body: { id: 'job-1', status: 'in_progress' } },
    ends: { id: 'job-1', status: 'completed', usage: { cost: 0.5, is_byok: false } },
    amount: 500_000_000_000n,
    noted: '/videos/job-1?model=google%2Fveo-3.1',
  },
  // 4 x $0.10: the deployment serves sora-2
  'a video at Azure, by the model of its deployment': {
    provider: 'azure-openai',
    path: '/proxy/v1/videos',
    body: { model: 'films', prompt: 'a cat', seconds: '4' },
    begins: { id: 'video_az', status: 'queued', model: 'films' },
    runs: { body: { id: 'video_az', status: 'in_progress', model: 'films' } },
    ends: { id: 'video_az', status: 'completed', model: 'films', seconds: '4', size: '1280x720' },
    amount: 400_000_000_000n,
    noted: '/v1/videos/video_az',
  },
  // 2 x 6 x $0.60 in 4k
  'two videos of Veo, by what was asked for': {
    ...veo('veo-3.1-generate-001'),
    body: { instances: [{ prompt: 'a cat' }], parameters: { durationSeconds: 6, resolution: '4k', sampleCount: 3 } },
    ends: samples(2),
    amount: 7_200_000_000_000n,
    noted: '/v1beta/models/veo-3.1-generate-001/operations/op1?model=veo-3.1-generate-001&seconds=6&size=4k',
  },
  // 8 x $0.10, the default size
  'a video of Veo that was asked for with nothing but words': {
    ...veo('veo-3.1-fast-generate-001'),
    body: { instances: [{ prompt: 'a cat' }] },
    ends: samples(1),
    amount: 800_000_000_000n,
    noted: '/v1beta/models/veo-3.1-fast-generate-001/operations/op1?model=veo-3.1-fast-generate-001&seconds=8&size=720p',
  },
  'a video of Veo that was held back': {
    ...veo('veo-3.0-generate-001'),
    body: { instances: [{ prompt: 'a cat' }] },
    ends: { ...samples(0), response: { generateVideoResponse: { raiMediaFilteredCount: 1 } } },
    amount: null,
    noted: '/v1beta/models/veo-3.0-generate-001/operations/op1?model=veo-3.0-generate-001&seconds=8&size=720p',
  },
  // 4 x $0.12 in 1080p
  'a video of Veo at Vertex AI, which is asked for by POST': {
    provider: 'vertex-ai',
    path: `${vertexPath}:predictLongRunning`,
    body: { instances: [{ prompt: 'a cat' }], parameters: { durationSeconds: 4, resolution: '1080p' } },
    begins: { name: operation },
    runs: { body: { name: operation } },
    ends: { name: operation, done: true, response: { videos: [{ bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' }] } },
    amount: 480_000_000_000n,
    noted: `${vertexPath}:fetchPredictOperation?model=veo-3.1-fast-generate-001&seconds=4&size=1080p&operation=${encodeURIComponent(operation)}`,
    asks: /"operationName":"projects\/p/,
  },
  ...batchJobs,
  // 600 x 1,250,000 + 400 x 125,000 + 100 x 10,000,000, and a search $0.01
  'a response in the background, with the search that it made': {
    ...background,
    ends: response('completed', {
      output: [{ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } }],
      usage: used,
      service_tier: 'default',
    }),
    amount: 11_800_000_000n,
  },
  // 600 x 625,000 + 400 x 62,500 + 100 x 5,000,000
  'a response in the background that was cancelled after it had said something, at the rates at which it was served': {
    ...background,
    ends: response('cancelled', { usage: used, service_tier: 'flex' }),
    amount: 900_000_000n,
  },
  // 1,000 x 1,250,000 + 100 x 10,000,000, and an image of gpt-image-1 for $0.167
  'a response in the background with five megabytes of pictures': {
    ...background,
    ends: response('completed', {
      output: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'A'.repeat(5 * 1024 * 1024) }],
      usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
      service_tier: 'default',
    }),
    amount: 169_250_000_000n,
  },
  'a response in the background that failed before it said anything': {
    ...background,
    ends: response('failed', { usage: null }),
    amount: null,
  },
}

for (const [name, { provider, path, body, begins, runs, ends, pages, amount, noted, asks }] of Object.entries(jobs))
  test.serial(`charged when it is made, once: ${name}`, async (t) => {
    begun = begins
    told = runs
    if (path !== '/responses') {
      const before = emulator.requests.length
      const refused = await ask((await keyWith('deny')).key, provider, { path, body })
      t.is(refused.status, 412, refused.text)
      t.like(JSON.parse(refused.text), { error: { reason: 'unpriced_job' } })
      t.is(emulator.requests.length, before, 'the provider was not asked')
    }
    const { id: keyId, key } = await keyWith('allow')
    const { status, text, headers } = await ask(key, provider, { path, body })
    t.is(status, 200, text)
    const logId = String(headers['x-service-request-id'])
    await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the job to be noted')
    t.is((await rowOf(logId))?.batch_id, noted)
    await look()
    t.like(await rowOf(logId), { state: 'open', fault: null })
    t.like(await costOf(logId), { state: 'unpriced', cost_pico_usd: null, total_pico_usd: null, adjustments: [] }, 'it is being made')
    told = { ...runs, status: 200, body: ends, ...(pages !== undefined && { pages }) }
    await look()
    await look()
    t.like(await rowOf(logId), { state: 'settled', fault: null })
    if (asks !== undefined) t.regex(JSON.stringify(emulator.requests.at(-1)?.json), asks)
    const state = amount === null ? 'not_charged' : 'priced'
    t.like(await costOf(logId), { total_pico_usd: String(amount ?? 0n), adjustments: [{ state, delta_pico_usd: String(amount ?? 0n) }] })
    const spent = async () =>
      ((await control.call(acme.adminKey, 'GET', `/api-keys/${keyId}`)).body['usage_limits'] as Fields)['current_usage']
    await eventually(async () => (await spent()) === Number(amount ?? 0n) / 1e12, withinMs, 'its budget to follow')
    t.deepEqual((await doctor(control)).differences, [])
  })

const remove = (key: string, provider: string, path: string) =>
  send(`${control.origin}/v1${path}`, { method: 'DELETE', headers: { 'x-service-api-key': key, 'x-service-provider': `@at-${provider}` } })

const deleted = () => emulator.requests.filter(({ method }) => method === 'DELETE').length

/** Jobs with what their callers delete: the job, or the file of its answers. */
const deletions: Readonly<Record<string, readonly [job: Job, path: string]>> = {
  'a response in the background': [
    { ...background, ends: response('completed', { usage: used, service_tier: 'default' }), amount: 1n },
    '/responses/resp_1',
  ],
  'a video': [jobOf('a video of OpenRouter, by the cost that it names'), '/videos/job-1'],
  'a video at a path of its provider': [jobOf('a video of Together, by the cost that it names'), '/proxy/v2/videos/0199-1'],
  'a file by an escaped path': [jobOf('a batch of Together, by the rates that its models have for batches'), '/%66iles//file-out'],
  'the file of the answers of a batch': [jobOf('a batch of Together, by the rates that its models have for batches'), '/files/file-out'],
}

function jobOf(name: string): Job {
  const job = jobs[name]
  if (job === undefined) throw new Error(name)
  return job
}

for (const [name, [job, path]] of Object.entries(deletions))
  test.serial(`the cost is read before a deletion: ${name}`, async (t) => {
    const { provider, pages = {} } = job
    begun = job.begins
    told = job.runs
    const { key } = await keyWith('allow')
    const { headers } = await ask(key, provider, job)
    const logId = String(headers['x-service-request-id'])
    await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the job to be noted')
    const before = deleted()
    const early = await remove(key, provider, path)
    // The file of a batch that runs is none of its answers.
    t.is(early.status, path.includes('file-out') ? 200 : 409, early.text)
    if (early.status === 409) t.true(early.text.includes('cost_pending') && deleted() === before, early.text)
    told = { status: 500, body: { error: { message: 'a fault' } } }
    t.is((await remove(key, provider, path)).status, 409)
    told = { body: job.ends, pages }
    const late = await remove(key, provider, path)
    t.is(late.status, 200, late.text)
    t.like(await costOf(logId), { adjustments: [{ state: 'priced' }] })
    t.like(await rowOf(logId), { state: 'settled' })
    t.is((await remove(key, provider, path)).status, 200, 'what is settled does not hold a deletion')
  })

test.serial('a deletion waits for no job of others, and for none that its provider has forgotten', async (t) => {
  begun = background.begins
  told = background.runs
  const { key } = await keyWith('allow')
  const { headers } = await ask(key, 'openai', background)
  await eventually(async () => (await rowOf(String(headers['x-service-request-id']))) !== undefined, withinMs, 'the job to be noted')
  t.is((await remove(key, 'openai', '/responses/resp_2')).status, 200)
  told = { status: 404, body: { error: { message: 'no such response' } } }
  t.is((await remove(key, 'openai', '/responses/resp_1')).status, 200)
})

const named = 'veo-3.1-generate-001'
/** Requests of Google's own client, which names the provider or another model than its config: [path, headers]. */
const ofGoogle: Readonly<Record<string, readonly [path: string, headers: Readonly<Record<string, string>>]>> = {
  'a slug in its path': [`/v1beta/models/@at-google/${named}:predictLongRunning`, {}],
  'the model of its config': [
    '/v1beta/models/veo-3.1-fast-generate-001:predictLongRunning',
    { 'x-service-config': JSON.stringify({ provider: '@at-google', override_params: { model: named } }) },
  ],
}

for (const [name, [path, headers]] of Object.entries(ofGoogle))
  test.serial(`a video of Veo is charged by the model that was asked: ${name}`, async (t) => {
    begun = { name: `models/${named}/operations/op1` }
    told = { body: samples(1) }
    const { key } = await keyWith('allow')
    const answer = await send(`${control.origin}${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': key, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ instances: [{ prompt: 'a cat' }], parameters: { durationSeconds: 4, resolution: '4k' } }),
    })
    t.is(answer.status, 200, answer.text)
    const logId = String(answer.headers['x-service-request-id'])
    await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the job to be noted')
    await look()
    // 4 x $0.60 in 4k
    t.like(await costOf(logId), { total_pico_usd: '2400000000000', adjustments: [{ state: 'priced' }] })
    t.regex(emulator.requests.at(-1)?.url ?? '', /\/v1beta\/models\/veo-3\.1-generate-001\/operations\/op1(?:\?|$)/)
  })

for (const [name, { provider, path, body, begins, told: says, fault }] of Object.entries(unreadableBatches))
  test.serial(`unpriced, and never free: ${name}`, async (t) => {
    begun = begins
    told = says
    const { status, text, headers } = await ask((await keyWith('allow')).key, provider, { path, body })
    t.is(status, 200, text)
    const logId = String(headers['x-service-request-id'])
    await eventually(async () => (await rowOf(logId)) !== undefined, withinMs, 'the job to be noted')
    await look()
    const row = await rowOf(logId)
    t.is(row?.state, 'open')
    t.regex(row?.fault ?? '', fault)
    t.like(await costOf(logId), { state: 'unpriced', cost_pico_usd: null, total_pico_usd: null, adjustments: [] })
  })

/** Jobs of makers of videos too, with answers that look like a video's: [provider, path, answer, later answer]. */
const otherJobs: readonly (readonly [provider: string, path: string, begins: Fields, ends: Fields])[] = [
  [
    'google',
    '/proxy/v1beta/models/gemini-2.5-flash:batchGenerateContent',
    { name: 'batches/abc', metadata: { state: 'BATCH_STATE_PENDING' } },
    { name: 'batches/abc', done: true, response: { inlinedResponses: {} } },
  ],
  [
    'google',
    '/proxy/v1beta/models/gemini-embedding-001:asyncBatchEmbedContent',
    { name: 'batches/def' },
    { name: 'batches/def', done: true, response: {} },
  ],
  [
    'google',
    '/proxy/v1beta/tunedModels',
    { name: 'tunedModels/ours/operations/op1' },
    { name: 'tunedModels/ours/operations/op1', done: true, response: {} },
  ],
  [
    'vertex-ai',
    '/projects/p/locations/us-central1/batchPredictionJobs',
    { name: 'projects/p/locations/us-central1/batchPredictionJobs/1' },
    { name: 'projects/p/locations/us-central1/batchPredictionJobs/1', done: true },
  ],
  [
    'vertex-ai',
    '/projects/p/locations/us-central1/tuningJobs',
    { name: 'projects/p/locations/us-central1/tuningJobs/1' },
    { name: 'projects/p/locations/us-central1/tuningJobs/1', done: true },
  ],
  ['together-ai', '/proxy/v1/fine-tunes', { id: 'ft-1', status: 'pending' }, { id: 'ft-1', status: 'completed' }],
]

for (const [provider, path, begins, ends] of otherJobs)
  test.serial(`a job that makes no video is never told as one: ${path} of ${provider}`, async (t) => {
    begun = begins
    told = { body: ends }
    const { status, text, headers } = await ask((await keyWith('allow')).key, provider, { path, body: { model: 'a-model' } })
    t.is(status, 200, text)
    const logId = String(headers['x-service-request-id'])
    await eventually(async () => (await control.call(acme.workspaceKey, 'GET', `/logs/${logId}/cost`)).status === 200, withinMs)
    const before = emulator.requests.length
    await look()
    t.is(emulator.requests.length, before, 'nobody asks for it')
    t.is(await rowOf(logId), undefined)
    t.like(await costOf(logId), { state: 'unpriced', cost_pico_usd: null, total_pico_usd: null, adjustments: [] })
  })

test.serial('an edited video of which nobody tells the size waits, and is never priced as the smallest', async (t) => {
  begun = { request_id: 'req-9' }
  told = { body: filmed(8) }
  const asked = { path: '/videos/edits', body: { model: 'grok-imagine-video', prompt: 'a hat', video: { url: 'https://v' } } }
  const { headers } = await ask((await keyWith('allow')).key, 'x-ai', asked)
  const logId = String(headers['x-service-request-id'])
  await eventually(async () => (await rowOf(logId)) !== undefined, withinMs)
  await look()
  t.like(await rowOf(logId), { state: 'open', fault: 'The provider does not state the length of the video, or its size.' })
  t.like(await costOf(logId), { state: 'unpriced', adjustments: [] })
})

test.serial('a response in the background holds in its budget what it may cost, until it has ended', async (t) => {
  begun = background.begins
  told = background.runs
  // 128,000 tokens of an answer at $10 a million fit into two dollars once.
  const { key } = await keyWith('deny', 2)
  const asked = { path: '/responses', body: { ...background.body, max_output_tokens: 128_000 } }
  t.is((await ask(key, 'openai', asked)).status, 200)
  t.is((await ask(key, 'openai', asked)).status, 412, 'what the first one may cost is held')
  told = { body: response('completed', { usage: used, service_tier: 'default' }) }
  await eventually(async () => (await control.sql.query(`SELECT FROM provider_batches WHERE batch_id = 'resp_1'`)).rowCount === 1, withinMs)
  await look()
  await eventually(async () => (await ask(key, 'openai', asked)).status === 200, withinMs, 'the rest to be free again')
  t.pass()
})

test.serial(
  'a caller who leaves a response in the background before it is answered gets nothing of its budget back: the provider goes on',
  async (t) => {
    begun = background.begins
    // 128,000 tokens of an answer at $10 a million fit into two dollars once.
    const { id, key } = await keyWith('deny', 2)
    const asked = { path: '/responses', body: { ...background.body, max_output_tokens: 128_000 } }
    const stop = emulator.script({ method: 'POST', path: '/responses', behaviour: { hang: 'before-headers' } })
    const [arrived, left] = [emulator.next('/responses'), emulator.onClose('/responses')]
    const leaving = new AbortController()
    const call = fetch(`${control.origin}/v1/responses`, {
      method: 'POST',
      headers: { 'x-service-api-key': key, 'x-service-provider': '@at-openai', 'content-type': 'application/json' },
      body: JSON.stringify(asked.body),
      signal: leaving.signal,
    })
    await arrived
    leaving.abort()
    await t.throwsAsync(call)
    await left
    stop()
    const logged = async () => (await control.sql.query<{ id: string }>('SELECT id FROM logs WHERE api_key_id = $1', [id])).rows
    await eventually(async () => (await logged()).length === 1, withinMs, 'its log')
    t.like(await costOf((await logged())[0]?.id ?? ''), { state: 'unpriced', cost_pico_usd: null })
    t.is((await ask(key, 'openai', asked)).status, 412, 'what it may cost is held')
    const spent = async () =>
      Number(((await control.call(acme.adminKey, 'GET', `/api-keys/${id}`)).body['usage_limits'] as Fields)['current_usage'])
    await eventually(
      async () => (await spent()) >= 1.28,
      withinMs,
      'the budget to have 128,000 x 10,000,000 pico-US-dollars and the prompt',
    )
    t.true((await spent()) < 1.29)
  },
)
