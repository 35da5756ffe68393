import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/** The `azure_*` fields of the reference product: each is taken where it takes it, and of several deployments the one that is asked for answers. */
let control: Control
let acme: Tenant
let emulator: Emulator

test.before(async () => {
  emulator = await startEmulator()
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

/** Headers of requests and fields of configs alike: reference 2.2. */
const details = `resource_name deployment_id api_version model_name ad_token auth_mode managed_client_id workload_client_id entra_client_id
  entra_client_secret entra_tenant_id entra_scope foundry_url endpoint_name deployment_name deployment_type region extra_params`
  .split(/\s+/)
  .map((name) => `azure_${name}`)

const values: Readonly<Record<string, string>> = {
  azure_auth_mode: 'default',
  azure_foundry_url: 'https://ours.services.ai.azure.com/models',
}

const store = (field: string) => {
  const config = { provider: 'azure-openai', api_key: 'k', [field]: values[field] ?? 'x' }
  return control.call(acme.workspaceKey, 'POST', '/configs', { name: field, config })
}

test('each detail of a request may stand in a config, and nothing that only looks like one', async (t) => {
  for (const field of details) t.is((await store(field)).status, 200, field)
  const refused = await store('azure_no_such_field')
  t.is(refused.status, 400)
  t.true(refused.text.includes('azure_no_such_field'), refused.text)
})

const entra = { azure_entra_tenant_id: 'tenant', azure_entra_client_id: 'client', azure_entra_client_secret: 'nobody-may-see-this' }
const managed = { azure_managed_client_id: 'client' }
const deployments = [
  { azure_deployment_name: 'prod-large', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o', alias: 'smart', is_default: true },
  { azure_deployment_name: 'prod-small', azure_api_version: '2025-01-01-preview', azure_model_slug: 'gpt-4o-mini' },
  { azure_deployment_name: 'prod-v1', azure_api_version: 'v1', azure_model_slug: 'gpt-5', alias: 'newest' },
  { azure_deployment_name: 'ears', azure_api_version: '2024-06-01', azure_model_slug: 'whisper-1' },
]

/** Reference A, `AzureOpenAIConfiguration` and `AzureAIConfiguration`. */
const accounts: Readonly<Record<string, object>> = {
  'azure-openai': { azure_resource_name: 'ours', azure_deployment_config: deployments },
  'azure-ai': { azure_foundry_url: values['azure_foundry_url'], azure_api_version: '2024-05-01-preview', azure_deployment_name: 'd' },
}

for (const [ai_provider_id, account] of Object.entries(accounts))
  for (const [azure_auth_mode, fields] of Object.entries({ default: {}, entra, managed }))
    test(`an integration of ${ai_provider_id} with ${azure_auth_mode} keeps each of its fields`, async (t) => {
      const configurations = { azure_auth_mode, ...account, ...fields }
      const name = `${ai_provider_id}-${azure_auth_mode}`
      const made = await control.call(acme.adminKey, 'POST', '/integrations', {
        name,
        slug: name,
        ai_provider_id,
        key: 'k',
        configurations,
      })
      t.is(made.status, 200, made.text)
      const { body, text } = await control.call(acme.adminKey, 'GET', `/integrations/${name}`)
      const { azure_entra_client_secret: _told, ...shown } = { azure_entra_client_secret: '', ...configurations }
      t.like(body['configurations'], shown)
      t.false(text.includes(entra.azure_entra_client_secret))
    })

const asked: readonly (readonly [model: string, path: string, sent: string])[] = [
  ['smart', '/openai/deployments/prod-large/chat/completions?api-version=2024-10-21', 'prod-large'],
  ['gpt-4o', '/openai/deployments/prod-large/chat/completions?api-version=2024-10-21', 'prod-large'],
  ['gpt-4o-mini', '/openai/deployments/prod-small/chat/completions?api-version=2025-01-01-preview', 'prod-small'],
  ['prod-small', '/openai/deployments/prod-small/chat/completions?api-version=2025-01-01-preview', 'prod-small'],
  ['newest', '/openai/chat/completions', 'prod-v1'],
  // The default one serves models that no deployment stands for.
  ['another', '/openai/deployments/prod-large/chat/completions?api-version=2024-10-21', 'another'],
]

test('of several deployments the one with the alias, the model or the name that a request asks for answers', async (t) => {
  const configurations = { azure_auth_mode: 'default', ...accounts['azure-openai'], custom_host: `${emulator.origin}/openai` }
  const account = { name: 'az', slug: 'az', ai_provider_id: 'azure-openai', key: 'k', configurations }
  const made = await control.call(acme.adminKey, 'POST', '/integrations', account)
  t.is(made.status, 200, made.text)
  const headers = { 'x-service-api-key': acme.workspaceKey }
  for (const [model, path, sent] of asked)
    for (const [named, provider] of [
      [model, { 'x-service-provider': '@az' }],
      [`@az/${model}`, {}],
    ] as const) {
      const answer = await fetch(`${control.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', ...provider },
        body: JSON.stringify({ model: named, messages: [{ role: 'user', content: 'hello' }] }),
      })
      t.is(answer.status, 200, await answer.text())
      t.deepEqual([emulator.requests.at(-1)?.url, emulator.requests.at(-1)?.json['model']], [path, sent], named)
    }
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new Blob(['RIFF']), 'speech.wav')
  const heard = await fetch(`${control.origin}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { ...headers, 'x-service-provider': '@az' },
    body: form,
  })
  t.is(heard.status, 200, await heard.text())
  t.is(emulator.requests.at(-1)?.url, '/openai/deployments/ears/audio/transcriptions?api-version=2024-06-01')
})

test('an alias has the price of the model of its deployment, also under a hard budget and where the answer names no model', async (t) => {
  const painter = await startEmulator()
  t.teardown(() => painter.stop())
  painter.script({ behaviour: () => ({ body: JSON.stringify({ created: 1, data: [{ url: 'https://picture.example/1.png' }] }) }) })
  const pictures = {
    azure_deployment_name: 'prod-pictures',
    azure_api_version: '2024-10-21',
    azure_model_slug: 'dall-e-3',
    alias: 'painter',
  }
  const configurations = {
    azure_auth_mode: 'default',
    azure_resource_name: 'ours',
    azure_deployment_config: [pictures],
    custom_host: `${painter.origin}/openai`,
  }
  const account = { name: 'art', slug: 'art', ai_provider_id: 'azure-openai', key: 'k', configurations }
  t.is((await control.call(acme.adminKey, 'POST', '/integrations', account)).status, 200)
  const { body: key } = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', {
    name: 'painters',
    workspace_id: acme.workspaceId,
    scopes: ['completions.write'],
    usage_limits: { credit_limit: 1 },
  })
  const paint = () =>
    fetch(`${control.origin}/v1/images/generations`, {
      method: 'POST',
      headers: { 'x-service-api-key': String(key['key']), 'content-type': 'application/json', 'x-service-provider': '@art' },
      body: JSON.stringify({ model: 'painter', prompt: 'a gate', size: '1792x1024', quality: 'hd' }),
    })
  // Twelve cents a picture: eight fit into a dollar.
  for (let painted = 0; painted < 8; painted += 1) {
    const answer = await paint()
    t.is(answer.status, 200, await answer.text())
  }
  const refused = await paint()
  t.is(refused.status, 412)
  t.regex(await refused.text(), /The \$0\.04 that are left of \$1/)
  t.is(painter.requests.length, 8)
})
