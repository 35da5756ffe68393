import test, { type ExecutionContext } from 'ava'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

type Body = Readonly<Record<string, unknown>>

/** Calls that must go well, as the organisation's admin; resolves with the answer's fields. */
async function ask(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await control.call(acme.adminKey, method, path, body)
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

const at = (body: Body, path: string): unknown => path.split('.').reduce<unknown>((value, name) => Reflect.get(Object(value), name), body)

/** One resource as the provider manages it: made, read, changed, read by its id as an import does, deleted, gone. */
interface Resource {
  readonly collection: string
  /** How the items are named in paths: a field of the creation's answer. */
  readonly key: 'id' | 'slug'
  readonly create: () => Promise<Body> | Body
  readonly update: Body
  /** The expected values of each read, by their path in the answer; `made` after the creation, `changed` after the update. */
  readonly made: Body
  readonly changed: Body
  readonly inData?: boolean
  readonly onDelete?: Body
  readonly single?: string
}

const workspaceId = () => acme.workspaceId

const resources: Readonly<Record<string, Resource>> = {
  config: {
    collection: '/configs',
    key: 'slug',
    create: () => ({ name: 'tf', workspace_id: workspaceId(), config: { retry: { attempts: 1 } }, isDefault: 0 }),
    update: { name: 'tf two', config: { provider: 'openai' } },
    made: { name: 'tf', 'config.retry.attempts': 1, is_default: 0 },
    changed: { name: 'tf two', 'config.provider': 'openai' },
    inData: true,
  },
  integration: {
    collection: '/integrations',
    key: 'slug',
    create: () => ({ name: 'tf', ai_provider_id: 'openai', description: 'first', key: 'sk-test-fake-key-12345' }),
    update: { name: 'tf two', description: 'second' },
    made: { type: 'organisation', status: 'active', description: 'first' },
    changed: { type: 'organisation', name: 'tf two', description: 'second' },
  },
  'integration of a workspace': {
    collection: '/integrations',
    key: 'slug',
    create: () => ({ name: 'tf ws', ai_provider_id: 'openai', workspace_id: workspaceId(), key: 'sk-test-fake-key-12345' }),
    update: { name: 'tf ws two' },
    made: { type: 'workspace', name: 'tf ws' },
    changed: { type: 'workspace', name: 'tf ws two' },
  },
  collection: {
    collection: '/collections',
    key: 'id',
    create: () => ({ name: 'tf', workspace_id: workspaceId() }),
    update: { name: 'tf two' },
    made: { name: 'tf', is_default: 0 },
    changed: { name: 'tf two', is_default: 0 },
  },
  workspace: {
    collection: '/admin/workspaces',
    key: 'id',
    create: () => ({ name: 'tf', description: 'd', icon: '🚀', usage_limits: [{ credit_limit: 5 }], rate_limits: [] }),
    update: { name: 'tf two', icon: '' },
    made: { name: 'tf', icon: '🚀', 'usage_limits.0.credit_limit': 5, 'usage_limits.0.type': undefined },
    changed: { name: 'tf two', icon: null, description: 'd' },
    onDelete: { name: 'tf two' },
  },
  'rate-limits policy': {
    collection: '/policies/rate-limits',
    key: 'id',
    create: () => ({
      workspace_id: workspaceId(),
      conditions: [{ key: 'workspace_id', value: workspaceId() }],
      group_by: [{ key: 'api_key' }],
      type: 'requests',
      unit: 'rpm',
      value: 100,
    }),
    update: { name: 'tf', value: 200 },
    made: { value: 100, status: 'active' },
    changed: { name: 'tf', value: 200 },
  },
  guardrail: {
    collection: '/guardrails',
    key: 'slug',
    create: () => ({
      name: 'tf',
      workspace_id: workspaceId(),
      checks: [{ id: 'default.wordCount', parameters: { minWords: 1, maxWords: 5 } }],
      actions: { onFail: 'block', message: 'no' },
    }),
    update: { name: 'tf two' },
    made: { name: 'tf', 'checks.0.id': 'default.wordCount' },
    changed: { name: 'tf two' },
  },
  'API key': {
    collection: '/api-keys',
    key: 'id',
    single: '/organisation/service',
    create: () => ({ name: 'tf', scopes: ['logs.list'], usage_limits: { credit_limit: 10 } }),
    update: { name: 'tf two', usage_limits: { credit_limit: 20, alert_threshold: 15 } },
    made: { name: 'tf', 'usage_limits.credit_limit': 10, 'usage_limits.type': undefined },
    changed: { name: 'tf two', 'usage_limits.alert_threshold': 15, 'usage_limits.type': undefined },
  },
}

function shows(t: ExecutionContext, body: Body, wanted: Body): void {
  for (const [path, value] of Object.entries(wanted)) t.deepEqual(at(body, path), value, `${path} of ${JSON.stringify(body)}`)
}

for (const [name, resource] of Object.entries(resources)) {
  test(`a ${name} is made, read, changed, imported and deleted`, async (t) => {
    const { collection, key, update, made, changed, onDelete, inData = false } = resource
    const created = await ask('POST', `${collection}${resource.single ?? ''}`, await resource.create())
    const path = `${collection}/${String(created[key])}`
    const read = async () => {
      const body = await ask('GET', path)
      return inData ? (body['data'] as Body) : body
    }
    const first = await read()
    t.is(first[key], created[key])
    shows(t, first, made)
    await ask('PUT', path, update)
    const second = await read()
    shows(t, second, changed)
    t.deepEqual(Object.keys(second), Object.keys(first))
    await ask('DELETE', path, onDelete)
    t.is((await control.call(acme.adminKey, 'GET', path)).status, 404)
  })
}

test('a config that was made is named at the top of the answer and in its data', async (t) => {
  const { id, slug, version_id, object, data } = await ask('POST', '/configs', {
    name: 'tops',
    workspace_id: workspaceId(),
    config: { provider: 'openai' },
  })
  t.deepEqual(data, { id, slug, version_id, object })
  t.is(typeof id, 'string')
})

const day = 24 * 60 * 60 * 1000

test('a rotation policy with a period has a date, which a rotation moves on', async (t) => {
  const policy = async (id: string) => at(await ask('GET', `/api-keys/${id}`), 'rotation_policy.next_rotation_at')
  const rotation_policy = { rotation_period: 'weekly', key_transition_period_ms: 1_800_000 }
  const { id } = await ask('POST', '/api-keys/organisation/service', { name: 'r', scopes: ['logs.list'], rotation_policy })
  const first = Date.parse(String(await policy(String(id))))
  t.true(Math.abs(first - Date.now() - 7 * day) < 60_000)
  await ask('PUT', `/api-keys/${String(id)}`, { rotation_policy })
  t.is(Date.parse(String(await policy(String(id)))), first, 'the same period keeps its date')
  await ask('PUT', `/api-keys/${String(id)}`, { rotation_policy: { rotation_period: 'monthly' } })
  const monthly = Date.parse(String(await policy(String(id))))
  t.true(monthly > Date.now() + 27 * day && monthly < Date.now() + 32 * day)
  await ask('PUT', `/api-keys/${String(id)}`, {
    rotation_policy: { rotation_period: 'weekly', next_rotation_at: '2999-01-01T00:00:00Z' },
  })
  t.is(await policy(String(id)), '2999-01-01T00:00:00Z')
  await ask('POST', `/api-keys/${String(id)}/rotate`, {})
  t.true(Date.parse(String(await policy(String(id)))) < Date.now() + 8 * day)
})

test('flags of prompts and collections are 0 and 1, versions of partials are numbers', async (t) => {
  await ask('POST', '/integrations', { name: 'tf-openai', slug: 'tf-openai', ai_provider_id: 'openai', key: 'sk-0123456789' })
  const { data } = (await ask('GET', `/collections?workspace_id=${workspaceId()}`)) as { data: { id: string; is_default: unknown }[] }
  t.is(data[0]?.is_default, 1)
  const prompt = { name: 'tf', collection_id: data[0]?.id, string: 'hello', parameters: {}, virtual_key: 'tf-openai' }
  const { slug } = await ask('POST', '/prompts', prompt)
  t.is((await ask('GET', `/prompts/${String(slug)}`))['is_raw_template'], 0)
  const raw = await ask('POST', '/prompts', { ...prompt, string: '[{"role":"user","content":"x"}]', is_raw_template: 1 })
  t.is((await ask('GET', `/prompts/${String(raw['slug'])}`))['is_raw_template'], 1)
  const versions = (await ask('GET', `/prompts/${String(slug)}/versions`)) as { data: { prompt_template: Body }[] }
  t.is(versions.data[0]?.prompt_template['is_raw_template'], 0)
  const partial = await ask('POST', '/prompts/partials', { name: 'tf', string: 'part', workspace_id: workspaceId() })
  const partials = (await ask('GET', `/prompts/partials/${String(partial['slug'])}/versions`)) as { data: { version: unknown }[] }
  t.is(partials.data[0]?.version, 1)
})

const refusal = (answer: Answer) => [answer.status, at(answer.body, 'error.param')]

test('models of an integration are forgotten by a body too', async (t) => {
  const { slug } = await ask('POST', '/integrations', { name: 'models', ai_provider_id: 'openai', key: 'sk-0123456789' })
  const path = `/integrations/${String(slug)}/models`
  const models = ['a', 'b', 'c'].map((name) => ({ slug: name, enabled: true, is_custom: true, base_model_slug: 'gpt-4o' }))
  await ask('PUT', path, { models })
  await ask('DELETE', path, { models: ['a'] })
  await ask('DELETE', `${path}?slugs=b`)
  const left = (await ask('GET', path)) as { models: { slug: string }[] }
  t.deepEqual(
    left.models.map((model) => model.slug),
    ['c'],
  )
  t.deepEqual(refusal(await control.call(acme.adminKey, 'DELETE', path)), [400, 'models'])
  t.deepEqual(refusal(await control.call(acme.adminKey, 'DELETE', path, { models: ['a'] })), [404, 'models'])
})

const azure = {
  azure_resource_name: 'res',
  azure_deployment_config: [{ azure_deployment_name: 'd', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o' }],
}

/** Ways to sign in to clouds, and an account without a key. */
const signIns = [
  ['azure-openai', { ...azure, azure_auth_mode: 'workload', azure_workload_client_id: 'client' }],
  ['azure-openai', { ...azure, azure_auth_mode: 'entraFederated', azure_entra_tenant_id: 't', azure_entra_client_id: 'c' }],
  ['azure-ai', { azure_auth_mode: 'workload', azure_foundry_url: 'https://x.services.ai.azure.com' }],
  ['vertex-ai', { vertex_auth_type: 'workload', vertex_region: 'us-central1', vertex_project_id: 'p' }],
  ['openai', { is_key_required: false, custom_host: 'https://models.example.com/v1' }],
] as const

test('identities of clouds, and accounts without a key, are stored', async (t) => {
  for (const [ai_provider_id, configurations] of signIns) {
    const { slug } = await ask('POST', '/integrations', { name: `signs in ${ai_provider_id}`, ai_provider_id, configurations })
    const stored = (await ask('GET', `/integrations/${String(slug)}`))['configurations'] as Body
    t.like(stored, Object.fromEntries(Object.entries(configurations).filter(([name]) => name !== 'azure_deployment_config')))
    await ask('PUT', `/integrations/${String(slug)}`, { configurations })
  }
})
