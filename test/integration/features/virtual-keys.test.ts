import test from 'ava'
import { inTenant } from '../../../src/app/database/orm.ts'
import { Integration } from '../../../src/features/integrations/integration.entity.ts'
import { loadCredential } from '../../../src/features/integrations/index.ts'
import { ProviderEntity } from '../../../src/features/providers/provider.entity.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

type Body = Readonly<Record<string, unknown>>

async function made(body: Body, key = acme.adminKey): Promise<string> {
  const answer = await control.call(key, 'POST', '/virtual-keys', { name: 'vk', provider: 'openai', key: 'sk-1', ...body })
  if (answer.status !== 200) throw new Error(answer.text)
  return (answer.body['data'] as { slug: string }).slug
}

const read = async (slug: string) => (await control.call(acme.adminKey, 'GET', `/virtual-keys/${slug}`)).body

/** The credential that the gateway would use. */
const opened = (slug: string) =>
  inTenant(control.started.deps.orm, acme.organisationId, async (em) => {
    const { integrationId } = await em.findOneOrFail(ProviderEntity, { slug, status: 'active' })
    return loadCredential(await em.findOneOrFail(Integration, { id: integrationId }), control.started.deps.vault)
  })

const future = '2099-01-01T00:00:00.000Z'

test('a virtual key is made, read and opened', async (t) => {
  const answer = await control.call(acme.adminKey, 'POST', '/virtual-keys', {
    name: 'My OpenAI',
    provider: 'openai',
    key: 'sk-1234567890abcdefghijklmn',
    note: 'n',
    usage_limits: { credit_limit: 3 },
    rate_limits: { type: 'tokens', unit: 'rph', value: 4 },
    expires_at: future,
  })
  t.is(answer.status, 200)
  t.deepEqual(answer.body, { success: true, data: { slug: 'my-openai' } })
  t.like(await read('my-openai'), {
    slug: 'my-openai',
    name: 'My OpenAI',
    provider: 'openai',
    workspace_id: acme.workspaceId,
    masked_key: 'sk-********klmn',
    note: 'n',
    status: 'active',
    usage_limits: { credit_limit: 3 },
    rate_limits: [{ type: 'tokens', unit: 'rph', value: 4 }],
    expires_at: future,
    model_config: {},
    secret_mappings: [],
    object: 'virtual-key',
  })
  t.is((await opened('my-openai')).credential.key, 'sk-1234567890abcdefghijklmn')
})

test('old provider names, Azure fields and a custom host', async (t) => {
  t.like(await read(await made({ name: 'old', provider: 'open-ai' })), { provider: 'openai' })
  t.like(await read(await made({ name: 'hf', provider: 'hugging-face' })), { provider: 'huggingface' })
  const single = await made({ name: 'az1', provider: 'azure-openai', resourceName: 'res', deploymentName: 'dep', apiVersion: '2024-10-21' })
  t.like((await opened(single)).credential.fields, {
    azure_auth_mode: 'default',
    azure_resource_name: 'res',
    azure_deployment_name: 'dep',
    azure_api_version: '2024-10-21',
  })
  const several = await made({
    name: 'az2',
    provider: 'azure-openai',
    resourceName: 'res',
    deploymentConfig: [
      { deploymentName: 'one', apiVersion: 'v1' },
      { deploymentName: 'two', apiVersion: 'v2', alias: 'gpt', is_default: true },
    ],
  })
  t.like((await opened(several)).credential.fields, { azure_deployment_name: 'two', azure_api_version: 'v2' })
  const hosted = await made({ name: 'host', configurations: { custom_host: 'http://127.0.0.1:9001/v1', custom_headers: { 'x-a': 'b' } } })
  t.like(await opened(hosted), { customHost: 'http://127.0.0.1:9001/v1', customHeaders: { 'x-a': 'b' } })
  t.deepEqual((await read(hosted))['model_config'], { custom_host: 'http://127.0.0.1:9001/v1' })
})

const refuses = test.macro({
  async exec(t, body: Body, param: string, status: number = 400) {
    const answer = await control.call(acme.adminKey, 'POST', '/virtual-keys', { name: 'bad', provider: 'openai', key: 'k', ...body })
    t.is(answer.status, status, answer.text)
    t.regex((answer.body['error'] as { param: string }).param, new RegExp(`^${param}`))
  },
  title: (_, body) => `refuses ${JSON.stringify(body)}`,
})

test(refuses, { name: '' }, 'name')
test(refuses, { provider: 'nobody' }, 'provider')
test(refuses, { key: 7 }, 'key')
test(refuses, { provider: 'azure-openai' }, 'configurations')
test(
  refuses,
  { provider: 'azure-openai', resourceName: 'evil.com/#', deploymentName: 'd', apiVersion: 'v' },
  'configurations.azure_resource_name',
)
test(refuses, { deploymentConfig: [] }, 'deploymentConfig')
test(refuses, { configurations: { custom_host: 'http://169.254.169.254' } }, 'configurations.custom_host')
test(refuses, { workspace_id: 'nowhere' }, 'workspace_id', 404)
test(refuses, { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at')
test(refuses, { usage_limits: { credit_limit: 'x' } }, 'usage_limits')
test(refuses, { unknown: 1 }, 'unknown')

test('a change touches what it names; the key changes, and never travels', async (t) => {
  const slug = await made({ name: 'Changing', note: 'n', configurations: { custom_host: 'http://127.0.0.1:9001/v1' } })
  const path = `/virtual-keys/${slug}`
  t.is((await control.call(acme.adminKey, 'PUT', path, { name: 'Changed' })).text, '{}')
  t.like(await read(slug), { name: 'Changed', note: 'n' })
  await control.call(acme.adminKey, 'PUT', path, { key: 'sk-2', note: null })
  t.is((await opened(slug)).credential.key, 'sk-2')
  t.like(await read(slug), { note: null })
  const moved = await control.call(acme.adminKey, 'PUT', path, { configurations: { custom_host: 'http://127.0.0.1:9002' } })
  t.is(moved.status, 400)
  t.like(moved.body, { error: { code: 'AB01', param: 'key' } })
  t.like(await opened(slug), { customHost: 'http://127.0.0.1:9001/v1', credential: { key: 'sk-2' } })
  const withKey = await control.call(acme.adminKey, 'PUT', path, { key: 'sk-3', configurations: { custom_host: 'http://127.0.0.1:9002' } })
  t.is(withKey.status, 200)
})

test('providers and virtual keys share their slugs but not their paths', async (t) => {
  const { body } = await control.call(acme.adminKey, 'POST', '/integrations', { name: 'Shared slug', ai_provider_id: 'openai' })
  t.regex(await made({ name: 'Shared slug' }), /^shared-slug-[a-z0-9]{6}$/)
  t.is((await control.call(acme.adminKey, 'GET', '/virtual-keys/shared-slug')).status, 404)
  const slug = await made({ name: 'Only a key' })
  t.is((await control.call(acme.adminKey, 'GET', `/providers/${slug}`)).status, 404)
  t.is((await control.call(acme.adminKey, 'GET', `/integrations/${slug}`)).status, 404)
  t.is((await control.call(acme.adminKey, 'POST', '/providers', { name: 'x', integration_id: slug })).status, 404)
  t.truthy(body['id'])
})

test('lists and confinement', async (t) => {
  const tenant = await control.createTenant('lists')
  await made({ name: 'one' }, tenant.adminKey)
  await made({ name: 'two' }, tenant.workspaceKey)
  await made({ name: 'side' }, tenant.sideKey)
  const list = async (key: string, query: string) => {
    const { body } = await control.call(key, 'GET', `/virtual-keys?${query}`)
    return [(body['data'] as { slug: string }[]).map(({ slug }) => slug), body['total'], body['has_more']]
  }
  t.deepEqual(await list(tenant.adminKey, ''), [['two', 'one'], 2, false])
  t.deepEqual(await list(tenant.adminKey, 'page_size=1'), [['two'], 2, true])
  t.deepEqual(await list(tenant.adminKey, 'workspace_id=side'), [['side'], 1, false])
  t.deepEqual(await list(tenant.sideKey, ''), [['side'], 1, false])
  t.is((await control.call(tenant.workspaceKey, 'GET', '/virtual-keys/side')).status, 404)
  t.is((await control.call(tenant.workspaceKey, 'GET', '/virtual-keys/side?workspace_id=side')).status, 403)
  t.is(
    (await control.call(tenant.workspaceKey, 'POST', '/virtual-keys', { name: 'x', provider: 'openai', workspace_id: 'side' })).status,
    403,
  )
})

test('a deleted virtual key takes the key behind it along', async (t) => {
  const slug = await made({ name: 'Gone' })
  t.is((await control.call(acme.adminKey, 'DELETE', `/virtual-keys/${slug}`)).text, '{}')
  for (const method of ['GET', 'DELETE']) t.is((await control.call(acme.adminKey, method, `/virtual-keys/${slug}`)).status, 404)
  const { rows } = await control.sql.query<{ status: string; credential: unknown }>(
    `SELECT i.status, i.credential FROM integrations i JOIN providers p ON p.integration_id = i.id WHERE p.slug = $1`,
    [slug],
  )
  t.deepEqual(rows, [{ status: 'archived', credential: null }])
  t.is(await made({ name: 'Gone' }), slug)
})
