import test from 'ava'
import { organisationScopes } from '../../../src/lib/access/scopes.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant
let rival: Tenant

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

type Body = Readonly<Record<string, unknown>>

const admin = (method: string, path: string, body?: unknown) => control.call(acme.adminKey, method, path, body)

async function ok(answer: Promise<Answer>): Promise<Body> {
  const { status, text, body } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}

/** An integration of the organisation that is served by the emulator. */
const made = (slug: string, more: Body = {}) =>
  ok(
    admin('POST', '/integrations', {
      name: slug,
      slug,
      ai_provider_id: 'openai',
      key: `sk-${slug}-0123456789`,
      configurations: { custom_host: emulator.url },
      create_default_provider: false,
      ...more,
    }),
  )
const grant = (slug: string, body: Body) => admin('PUT', `/integrations/${slug}/workspaces`, body)
const granted = async (slug: string, key = acme.adminKey) => {
  const { workspaces } = await ok(control.call(key, 'GET', `/integrations/${slug}/workspaces`))
  return (workspaces as { slug: string; enabled: boolean }[]).map((row) => `${row.slug} ${row.enabled}`)
}
const providersIn = async (workspace: string) =>
  ((await ok(admin('GET', `/providers?workspace_id=${workspace}`)))['data'] as { slug: string }[]).map(({ slug }) => slug)

const call = (path: string, init: { key?: string; provider: string; body?: unknown; method?: string }) =>
  fetch(`${control.origin}/v1${path}`, {
    method: init.method ?? 'POST',
    headers: {
      'x-service-api-key': init.key ?? acme.sideKey,
      'x-service-provider': `@${init.provider}`,
      ...(!(init.body instanceof FormData) && { 'content-type': 'application/json' }),
    },
    ...(init.body !== undefined && { body: init.body instanceof FormData ? init.body : JSON.stringify(init.body) }),
  })
const chat = (provider: string, model = 'm', key = acme.sideKey) =>
  call('/chat/completions', { key, provider, body: { model, messages: [{ role: 'user', content: 'x' }] } })
const says = async (asked: Promise<Response>, message: RegExp) => {
  const answer = await asked
  return answer.status === 403 && message.test(await answer.text())
}
const lacksAccess = (asked: Promise<Response>) => says(asked, /no access to the integration/)
const isDisabled = (asked: Promise<Response>) => says(asked, /The model \\"bad\\" is disabled for the provider @models/)
const becomes = (status: number, ask: () => Promise<Response>, what: string) =>
  eventually(async () => (await ask()).status === status, 2000, what)

test.serial('a workspace has access when it is granted, for as long as it is, and every process knows', async (t) => {
  await made('acct', { key: undefined })
  t.deepEqual(await granted('acct'), [])
  await ok(grant('acct', { workspaces: [{ id: 'side', enabled: true }] }))
  t.deepEqual(await granted('acct'), ['side true'])
  t.deepEqual(await providersIn('side'), ['acct'])
  await becomes(200, () => chat('acct'), 'access')
  await ok(grant('acct', { workspaces: [{ id: acme.sideId, enabled: false }] }))
  await eventually(() => lacksAccess(chat('acct')), 2000, 'the end of the access')
  await ok(grant('acct', { workspaces: [{ id: 'side', enabled: true }] }))
  await becomes(200, () => chat('acct'), 'access again')
  t.deepEqual(await providersIn('side'), ['acct'], 'no second provider')
  await ok(grant('acct', { workspaces: [], override_existing_workspace_access: true }))
  t.deepEqual(await granted('acct'), [])
  await becomes(403, () => chat('acct'), 'the end of all access')
})

test.serial('global access serves every workspace but those that are kept out', async (t) => {
  await made('shared')
  await ok(grant('shared', { global_workspace_access: { enabled: true }, workspaces: [{ id: 'main', enabled: false }] }))
  t.like(await ok(admin('GET', '/integrations/shared')), { workspace_count: 1, global_workspace_access_settings: { enabled: true } })
  t.true((await providersIn('side')).includes('shared'))
  t.false((await providersIn('main')).includes('shared'))
  await becomes(200, () => chat('shared'), 'global access')
  const kept = await control.call(acme.workspaceKey, 'POST', '/providers', { name: 'x', integration_id: 'shared' })
  t.is(kept.status, 404, 'not even seen')
  const forced = await admin('POST', '/providers', { name: 'x', integration_id: 'shared', workspace_id: 'main' })
  t.is(forced.status, 403)
  t.regex(forced.text, /integration_id.*AB03/)
  await ok(grant('shared', { global_workspace_access: null }))
  await becomes(403, () => chat('shared'), 'the end of global access')
  t.deepEqual(await granted('shared'), ['main false'])
})

test('grants carry limits, and say by name what is wrong', async (t) => {
  await made('limits')
  const limits = { usage_limits: [{ type: 'tokens', credit_limit: 5 }], rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }] }
  await ok(grant('limits', { workspaces: [{ id: 'side', enabled: true, ...limits, default_provider_slug: 'limits-of-side' }] }))
  await ok(grant('limits', { workspaces: [{ id: 'side', enabled: true, reset_usage: true }], create_default_provider: false }))
  const { workspaces } = await ok(admin('GET', '/integrations/limits/workspaces'))
  t.like((workspaces as Body[])[0], { id: acme.sideId, slug: 'side', enabled: true, rate_limits: limits.rate_limits })
  t.like(((workspaces as { usage_limits: Body[] }[])[0]?.usage_limits ?? [])[0], { type: 'tokens', credit_limit: 5 })
  t.true((await providersIn('side')).includes('limits-of-side'))
  await ok(grant('limits', { workspaces: [{ id: 'side', enabled: true, usage_limits: null }] }))
  const wrong: readonly (readonly [body: Body, status: number, param: RegExp])[] = [
    [{ workspaces: [{ id: 'nowhere', enabled: true }] }, 404, /"workspaces\[0\]\.id"/],
    [{ workspaces: [{ id: rival.sideId, enabled: true }] }, 404, /"workspaces\[0\]\.id"/],
    [
      {
        workspaces: [
          { id: 'side', enabled: true },
          { id: acme.sideId, enabled: false },
        ],
      },
      400,
      /"workspaces\[1\]\.id"/,
    ],
    [{ workspaces: [{ id: 'side' }] }, 400, /enabled/],
    [{ workspaces: [{ id: 'side', enabled: true, usage_limits: [{ credit_limit: 1 }, { credit_limit: 2 }] }] }, 400, /usage_limits/],
    [{ workspaces: [{ id: 'side', enabled: true, rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }] }, 400, /rate_limits/],
    [{ global_workspace_access: {} }, 400, /global_workspace_access/],
    [{ default_provider_slug: 'a b' }, 400, /default_provider_slug/],
    [{ other: 1 }, 400, /other/],
  ]
  for (const [body, status, param] of wrong) {
    const answer = await grant('limits', body)
    t.is(answer.status, status, `${JSON.stringify(body)} ${answer.text}`)
    t.regex(answer.text, param)
  }
})

test('who gives access', async (t) => {
  await made('guarded')
  t.is((await control.call(acme.sideKey, 'GET', '/integrations/guarded')).status, 404)
  t.is((await control.call(acme.sideKey, 'PUT', '/integrations/guarded/workspaces', { workspaces: [] })).status, 404)
  await ok(
    grant('guarded', {
      workspaces: [
        { id: 'side', enabled: true },
        { id: 'main', enabled: true },
      ],
    }),
  )
  t.deepEqual(await granted('guarded', acme.sideKey), ['side true'], 'a workspace sees its own')
  t.is((await control.call(acme.sideKey, 'PUT', '/integrations/guarded/workspaces', { workspaces: [] })).status, 403)
  t.is((await control.call(acme.sideKey, 'PUT', '/integrations/guarded/models', { models: [] })).status, 403)
  t.is((await control.call(rival.adminKey, 'GET', '/integrations/guarded/workspaces')).status, 404)
  const own = await ok(
    control.call(acme.sideKey, 'POST', '/integrations', { name: 'own', slug: 'own', ai_provider_id: 'openai', key: 'k' }),
  )
  t.is(own['slug'], 'own')
  t.deepEqual(await granted('own'), ['side true'])
  t.regex((await grant('own', { workspaces: [] })).text, /one workspace.*AB01/)
  const scopes = organisationScopes.filter((scope) => scope !== 'organisation_integrations.update')
  const reader = await control.createKey(acme, { scopes })
  await made('unshared')
  const answer = await control.call(reader, 'POST', '/providers', { name: 'x', integration_id: 'unshared', workspace_id: 'side' })
  t.is(answer.status, 403, answer.text)
  await ok(admin('POST', '/providers', { name: 'x', integration_id: 'unshared', workspace_id: 'side' }))
  t.deepEqual(await granted('unshared'), ['side true'], 'whoever may give access gives it by using it')
})

const models = (slug: string, body: Body) => admin('PUT', `/integrations/${slug}/models`, body)
const form = (model: string) => {
  const fields = new FormData()
  fields.set('file', new Blob(['name="model"\r\n\r\nallowed']), 'a.wav')
  fields.set('model', model)
  return fields
}

test.serial('a disabled model is refused wherever it is named', async (t) => {
  await made('models', { create_default_provider: false })
  await ok(grant('models', { workspaces: [{ id: 'side', enabled: true }] }))
  await becomes(200, () => chat('models', 'bad'), 'access')
  await ok(models('models', { models: [{ slug: 'bad', enabled: false }] }))
  await eventually(() => isDisabled(chat('models', 'bad')), 2000, 'the end of the model')
  t.is((await chat('models', 'good')).status, 200)
  t.true(await isDisabled(fetchModel('@models/bad')))
  t.true(await isDisabled(call('/some/models/bad:generateContent', { provider: 'models', body: {} })))
  t.true(await isDisabled(call('/model/b%61d/invoke', { provider: 'models', body: {} })))
  t.true(await isDisabled(call('/audio/transcriptions', { provider: 'models', body: form('bad') })))
  t.is((await call('/audio/transcriptions', { provider: 'models', body: form('good') })).status, 200)
  const twice = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': acme.sideKey, 'x-service-provider': '@models', 'content-type': 'application/json' },
    body: '{"model":"bad","messages":[],"model":"good"}',
  })
  t.is(twice.status, 403)
  const sent = async (path: string, type: string, body: string) =>
    fetch(`${control.origin}/v1${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': acme.sideKey, 'x-service-provider': '@models', 'content-type': type },
      body,
    })
  for (const key of ['Model', 'MODEL', 'model_id', 'modelId', 'model_name', 'modelName'])
    t.true(await isDisabled(sent('/some/echo', 'application/json', `{"${key}":"bad"}`)), key)
  t.true(await isDisabled(sent('/some/echo?model=bad', 'application/json', '{}')))
  t.true(await isDisabled(sent('/some/echo?x=1&model_id=b%61d', 'audio/wav', 'RIFF')))
  t.true(await isDisabled(sent('/some/echo', 'application/x-www-form-urlencoded', 'a=b&model=b%61d')))
  t.true(await isDisabled(sent('/tunedModels/bad:generateContent', 'application/json', '{}')))
  t.true(await isDisabled(sent('/messages/batches', 'application/json', '{"requests":[{"custom_id":"a","params":{"model":"bad"}}]}')))
  for (const type of ['text/plain', 'application/octet-stream', 'audio/wav', 'application/x-ndjson'])
    t.is((await sent('/some/echo', type, ' {"model":"bad"}')).status, 415, type)
  t.is((await sent('/some/echo', 'audio/wav', 'RIFF')).status, 200)
  for (const [path, body] of unseenModels) {
    const answer = await sent(path, 'application/json', JSON.stringify(body))
    t.is(answer.status, 403, path)
    t.regex(await answer.text(), /The models of @models are restricted, and \w+ leads to/, path)
  }
  for (const body of addedModels) {
    const told = JSON.stringify({ model: 'good', messages: [], ...body })
    t.true(await isDisabled(sent('/chat/completions', 'application/json', told)), told)
  }
  for (const body of [
    '{"requests":[{"params":{"model":"bad","model":"good"}}]}',
    '{"requests":[{"params":{"model":"bad"}}],"requests":[]}',
  ]) {
    const answer = await sent('/messages/batches', 'application/json', body)
    t.is(answer.status, 400, body)
    t.regex(await answer.text(), /stands twice/)
  }
  for (const body of [
    { model: 'good', assistant_id: 'asst_1' },
    { model: 'good', prompt: { id: 'pmpt_1' } },
    { model: 'good', previous_response_id: 'resp_1' },
    { prompt: 'a text', version: 'v2' },
    { model: 'good', plugins: [{ id: 'web' }] },
    { model: 'good', tools: [{ functionDeclarations: [{ name: 'a', parameters: { example: { model: 'bad' } } }] }] },
    { model: 'good', provider_options: { openai: { top_k: 1, metadata: { model: 'bad' } } } },
  ])
    t.is((await sent('/some/echo', 'application/json', JSON.stringify(body))).status, 200, JSON.stringify(body))
  await ok(admin('DELETE', '/integrations/models/models?slugs=bad'))
  await becomes(200, () => chat('models', 'bad'), 'the model again')
  t.is((await sent('/batches', 'application/json', JSON.stringify(unseenModels[0][1]))).status, 200)
})

const unseenModels = [
  ['/batches', { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' }],
  ['/some/batches', { Input_File_Id: 'file-1', model: 'good' }],
  ['/batch/jobs', { inputFiles: ['file-1'] }],
  ['/threads/runs', { assistant_id: 'asst_1' }],
  ['/threads/thread_1/runs', { assistantId: 'asst_1' }],
  ['/agents/completions', { agent_id: 'ag_1', model: 'good' }],
  ['/some/responses', { prompt: { id: 'pmpt_1' } }],
  ['/some/responses', { previous_response_id: 'resp_1' }],
  ['/predictions', { version: `owner/name:${'a'.repeat(64)}` }],
  ...[
    { preset: 'dear' },
    { agent_reference: { name: 'a', type: 'agent_reference' } },
    { plugins: [{ id: 'fusion' }] },
    { provider_options: { openai: { preset: 'dear' } } },
    { provider_options: { openai: { agent_id: 'ag_1' } } },
    { extra_body: { preset: 'dear' } },
  ].map((fields) => ['/chat/completions', { model: 'good', messages: [], ...fields }] as const),
] as const

const drawing = [{ type: 'image_generation', model: 'bad' }]
/** Fields by which a request for an enabled model has another one answer, draw or advise. */
const addedModels: readonly object[] = [
  { fallbacks: ['bad'] },
  { provider_options: { anthropic: { fallbacks: [{ model: 'bad' }] } } },
  { provider_options: { anthropic: { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'bad' }] } } },
  { provider_options: { openai: { tools: drawing } } },
  { provider_options: { openai: { Model: 'bad' } } },
  { provider_options: { openai: { extra_body: { models: ['bad'] } } } },
  { provider_options: { bedrock: { additionalModelRequestFields: { tools: drawing } } } },
  { input: [{ type: 'additional_tools', tools: drawing }] },
  { tools: [{ type: 'namespace', name: 'a', tools: drawing }] },
  { tools: [{ type: 'openrouter:advisor', parameters: { model: 'bad' } }] },
  { plugins: [{ id: 'fusion', analysis_models: ['bad'] }] },
  { providerOptions: { gateway: { models: ['bad'] } } },
  { extra_body: { models: ['bad'] } },
  { parameters: { model: 'bad' } },
  { compound_custom: { models: { answering_model: 'bad' } } },
]

const session = (value: object, model?: string) => {
  const fields = new FormData()
  fields.set('sdp', 'v=0')
  if (model !== undefined) fields.set('model', model)
  fields.set('session', JSON.stringify(value))
  return fields
}
const transcribed = (model: string) => ({ audio: { input: { transcription: { model } } } })

/** Requests that show the name of an enabled model where no provider reads it, and run another one. */
const decoys: readonly (readonly [path: string, body: unknown])[] = [
  ['/chat/completions?model=theirs', { messages: [] }],
  ['/responses?model=theirs', { prompt: { id: 'pmpt_1' }, input: 'x' }],
  ['/responses?model=theirs', { previous_response_id: 'resp_1', input: 'x' }],
  ['/responses', { previous_response_id: 'resp_1', input: 'x', tools: [{ type: 'image_generation', model: 'theirs' }] }],
  ['/threads/runs?model=theirs', { assistant_id: 'asst_1', thread: {} }],
  ['/threads/t1/runs', { assistant_id: 'asst_1', Model: 'theirs' }],
  ['/images/edits?model=theirs', session({})],
  ['/realtime/client_secrets?model=theirs', { session: { type: 'realtime', model: 'bad' } }],
  ['/realtime/client_secrets', { session: { model: 'theirs', ...transcribed('bad') } }],
  ['/realtime/sessions', { model: 'theirs', input_audio_transcription: { model: 'bad' } }],
  ['/realtime/calls?model=theirs', session({ type: 'realtime' })],
  ['/realtime/calls', session({ instructions: 'x'.repeat(2000), model: 'bad' }, 'theirs')],
  ['/evals/e/runs', { model: 'theirs', data_source: { type: 'completions', model: 'bad' } }],
  ['/evals/e/runs', { data_source: { model: 'theirs', source: { type: 'responses', model: 'bad' } } }],
  ['/fine_tuning/alpha/graders/run', { model: 'theirs', grader: { type: 'score_model', model: 'bad' } }],
  ['/fine_tuning/alpha/graders/run', { model: 'theirs', grader: { type: 'multi', graders: { a: { model: 'bad' } } } }],
  ['/some/echo', { model: 'theirs', method: { reinforcement: { grader: { graders: [{ model: 'bad' }] } } } }],
]

/** Requests whose enabled model the provider reads, or whose contents have the same keys. */
const seen: readonly (readonly [path: string, body: unknown])[] = [
  ['/realtime?model=theirs', {}],
  ['/realtime/client_secrets', { session: { type: 'realtime', model: 'theirs' } }],
  ['/evals/e/runs', { data_source: { type: 'completions', model: 'theirs', source: { content: [{ item: { model: 'bad' } }] } } }],
  ['/fine_tuning/alpha/graders/run', { grader: { type: 'score_model', model: 'theirs', input: [{ model: 'bad' }] } }],
  ['/some/echo', { model: 'theirs', metadata: { model: 'bad' } }],
  ['/some/echo', { model: 'theirs', messages: [{ content: [{ type: 'tool_use', input: { model: 'bad' } }] }] }],
  ['/chat/completions', { model: 'theirs', messages: [], extra: { model: 'bad' } }],
]

const fetchModel = (model: string) =>
  fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': acme.sideKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] }),
  })

test.serial('without allow_all_models only the enabled ones serve, and one of them may have a host of its own', async (t) => {
  const other = await startEmulator()
  t.teardown(() => other.stop())
  await made('listed', { key: undefined })
  await ok(grant('listed', { workspaces: [{ id: 'side', enabled: true }] }))
  const update = [
    { slug: 'ours', enabled: true, is_custom: true, base_model_slug: 'gpt-4o', configurations: { custom_host: other.url } },
    { slug: 'theirs', enabled: true },
  ]
  await ok(models('listed', { allow_all_models: false, models: update }))
  await becomes(200, () => chat('listed', 'theirs'), 'the enabled model')
  t.is((await chat('listed', 'unheard-of')).status, 403)
  t.is((await call('/chat/completions', { provider: 'listed', body: { messages: [] } })).status, 403, 'no model, no service')
  t.is((await call('/files', { provider: 'listed', method: 'GET' })).status, 200)
  for (const [path, body] of decoys)
    t.is(
      (await call(path, { provider: 'listed', body })).status,
      403,
      `${path} ${body instanceof FormData ? 'form' : JSON.stringify(body)}`,
    )
  for (const [path, body] of seen)
    t.not(
      (await call(path, { provider: 'listed', body })).status,
      403,
      `${path} ${body instanceof FormData ? 'form' : JSON.stringify(body)}`,
    )
  const before = [emulator.requests.length, other.requests.length]
  t.is((await chat('listed', 'ours')).status, 200)
  t.deepEqual([emulator.requests.length, other.requests.length], [before[0], (before[1] ?? 0) + 1])
})

test('models have prices, bases and bounds', async (t) => {
  await made('priced')
  const prices = { type: 'static', pay_as_you_go: { request_token: { price: 2.5 }, response_token: { price: 10 } } }
  await ok(
    models('priced', {
      models: [{ slug: 'ft:gpt/1', enabled: true, is_custom: true, is_finetune: true, base_model_slug: 'gpt-4o', pricing_config: prices }],
    }),
  )
  await ok(
    models('priced', {
      models: [
        { slug: 'ft:gpt/1', enabled: false, name: 'Ours' },
        { slug: 'a', enabled: true },
      ],
    }),
  )
  t.like(await ok(admin('GET', '/integrations/priced/models')), { object: 'list', total: 2, has_more: false, allow_all_models: true })
  const page = await ok(admin('GET', '/integrations/priced/models?page_size=1&current_page=1'))
  t.deepEqual(page['models'], [
    {
      slug: 'ft:gpt/1',
      name: 'Ours',
      enabled: false,
      is_custom: true,
      is_finetune: true,
      base_model_slug: 'gpt-4o',
      configurations: {},
      pricing_config: prices,
    },
  ])
  const wrong: readonly (readonly [models: unknown, status: number, param: RegExp])[] = [
    [[{ slug: 'x' }], 400, /models\[?\.?0\]?\.enabled/],
    [[{ slug: '', enabled: true }], 400, /slug/],
    [
      [
        { slug: 'x', enabled: true },
        { slug: 'x', enabled: false },
      ],
      400,
      /models/,
    ],
    [[{ slug: 'x', enabled: true, pricing_config: { type: 'static', pay_as_you_go: { request_token: { price: -1 } } } }], 400, /price/],
    [
      [{ slug: 'x', enabled: true, configurations: { custom_host: 'http://169.254.169.254/' } }],
      400,
      /models\[0\]\.configurations\.custom_host/,
    ],
    [[{ slug: 'x', enabled: true, configurations: { custom_host: 'https://elsewhere.example' } }], 400, /credential only goes to the host/],
    ['all', 400, /models/],
  ]
  for (const [given, status, param] of wrong) {
    const answer = await models('priced', { models: given })
    t.is(answer.status, status, `${JSON.stringify(given)} ${answer.text}`)
    t.regex(answer.text, param)
  }
  const unknown = await admin('DELETE', '/integrations/priced/models?slugs=a,b')
  t.deepEqual([unknown.status, /"slugs"/.test(unknown.text)], [404, true])
  await ok(admin('DELETE', '/integrations/priced/models?slugs=a'))
  t.is((await ok(admin('GET', '/integrations/priced/models')))['total'], 1)
})

test('tags are kept, changed, cleared, and lists are filtered by them', async (t) => {
  const tags = { env: 'prod', team: 'search' }
  await made('tagged', { tags })
  await ok(admin('POST', '/providers', { name: 'tagged', slug: 'tagged-p', integration_id: 'tagged', tags }))
  t.like(await ok(admin('GET', '/integrations/tagged')), { tags })
  const found = async (path: string, filter: string) =>
    ((await ok(admin('GET', `${path}?tags=${encodeURIComponent(filter)}`)))['data'] as { slug: string }[]).map(({ slug }) => slug)
  for (const [path, slug] of [
    ['/integrations', 'tagged'],
    ['/providers', 'tagged-p'],
  ] as const) {
    t.deepEqual(await found(path, 'env:prod'), [slug])
    t.deepEqual(await found(path, '{"env":"prod","team":"search"}'), [slug])
    t.deepEqual(await found(path, 'env:prod,team:other'), [])
    await ok(admin('PUT', `${path}/${slug}`, { name: 'renamed' }))
    t.deepEqual(await found(path, 'env:prod'), [slug])
    await ok(admin('PUT', `${path}/${slug}`, { tags: { env: 'test' } }))
    t.deepEqual([await found(path, 'env:prod'), await found(path, 'team:search'), await found(path, 'env:test')], [[], [], [slug]])
    await ok(admin('PUT', `${path}/${slug}`, { tags: null }))
    t.deepEqual(await found(path, 'env:test'), [])
    for (const wrong of ['x', '{', '{"a":1}']) t.is((await admin('GET', `${path}?tags=${encodeURIComponent(wrong)}`)).status, 400, wrong)
    t.is((await admin('PUT', `${path}/${slug}`, { tags: { a: 1 } })).status, 400)
  }
})

test('what others name is not deleted, and the answer lists them', async (t) => {
  await made('used', { create_default_provider: true })
  await ok(
    admin('POST', '/configs', { name: 'c', slug: 'pc-uses', config: { strategy: { mode: 'fallback' }, targets: [{ provider: '@used' }] } }),
  )
  await ok(admin('POST', '/configs', { name: 'c', slug: 'pc-model', config: { override_params: { model: '@used/gpt-4o' } } }))
  const collection = (await ok(admin('POST', '/collections', { name: 'c' })))['id']
  const prompt = await ok(
    admin('POST', '/prompts', { name: 'uses', collection_id: collection, string: 'x', parameters: {}, virtual_key: '@used' }),
  )
  for (const path of ['/providers/used', '/integrations/used']) {
    const answer = await admin('DELETE', path)
    t.is(answer.status, 409, answer.text)
    for (const name of ['AB07', 'pc-uses', 'pc-model', 'pp-uses']) t.true(answer.text.includes(name), answer.text)
  }
  await ok(admin('PUT', '/configs/pc-uses', { config: { provider: '@other' } }))
  await ok(admin('DELETE', '/configs/pc-model'))
  await ok(admin('DELETE', `/prompts/${String(prompt['id'])}`))
  await ok(admin('DELETE', '/integrations/used'))
  t.is((await admin('GET', '/providers/used')).status, 404)
})
