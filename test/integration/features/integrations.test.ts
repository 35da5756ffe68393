import test from 'ava'
import { loadCredential } from '../../../src/features/integrations/index.ts'
import { Integration } from '../../../src/features/integrations/integration.entity.ts'
import { inTenant } from '../../../src/app/database/orm.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

type Body = Readonly<Record<string, unknown>>

async function made(body: Body, key = acme.adminKey): Promise<{ id: string; slug: string }> {
  const answer = await control.call(key, 'POST', '/integrations', { name: 'Some name', ai_provider_id: 'openai', ...body })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body as { id: string; slug: string }
}

const read = async (slug: string, key = acme.adminKey) => (await control.call(key, 'GET', `/integrations/${slug}`)).body
const slugsOf = (body: Body) => (body['data'] as { slug: string }[]).map(({ slug }) => slug)

/** The credential that the gateway would use. */
const opened = (id: string) =>
  inTenant(control.started.deps.orm, acme.organisationId, async (em) =>
    loadCredential(await em.findOneOrFail(Integration, { id }), control.started.deps.vault),
  )

test('an integration brings a default provider in the default workspace', async (t) => {
  const { id, slug } = await made({ name: 'OpenAI Production', key: 'sk-1234567890abcdefghijklmn', description: 'd' })
  t.is(slug, 'openai-production')
  t.like(await read(slug), {
    id,
    slug,
    name: 'OpenAI Production',
    ai_provider_id: 'openai',
    organisation_id: acme.organisationId,
    workspace_id: null,
    status: 'active',
    description: 'd',
    masked_key: 'sk-********klmn',
    configurations: {},
    secret_fields: [],
    allow_all_models: true,
    workspace_count: 1,
    object: 'integration',
  })
  const { body } = await control.call(acme.adminKey, 'GET', '/providers/openai-production')
  t.like(body, { integration_id: id, workspace_id: acme.workspaceId, name: 'OpenAI Production' })
})

test('the default provider can have another slug, or not be', async (t) => {
  const named = await made({ name: 'Named', default_provider_slug: 'my-default' })
  t.like((await control.call(acme.adminKey, 'GET', '/providers/my-default')).body, { integration_id: named.id })
  await made({ name: 'Without', create_default_provider: false })
  t.is((await control.call(acme.adminKey, 'GET', '/providers/without')).status, 404)
  const answer = await control.call(acme.adminKey, 'POST', '/integrations', {
    name: 'Third',
    ai_provider_id: 'openai',
    default_provider_slug: 'my-default',
  })
  t.is(answer.status, 409)
  t.like(answer.body, { error: { code: 'AB07', param: 'default_provider_slug' } })
  t.is((await control.call(acme.adminKey, 'GET', '/integrations/third')).status, 404, 'nothing of it is left')
})

test('slugs: chosen ones collide, made ones get a suffix, deleted ones are free again', async (t) => {
  const first = await made({ name: 'Same name' })
  const second = await made({ name: 'Same name' })
  t.is(first.slug, 'same-name')
  t.regex(second.slug, /^same-name-[a-z0-9]{6}$/)
  const answer = await control.call(acme.adminKey, 'POST', '/integrations', { name: 'x', ai_provider_id: 'openai', slug: 'same-name' })
  t.is(answer.status, 409)
  t.like(answer.body, { error: { code: 'AB07', param: 'slug' } })
  await control.call(acme.adminKey, 'DELETE', '/integrations/same-name')
  t.is((await made({ name: 'x', slug: 'same-name' })).slug, 'same-name')
})

test('the provider that comes along has the slug of the integration, and a suffix where another has it', async (t) => {
  await made({ name: 'Some account', slug: 'the-account' })
  t.is((await control.call(acme.adminKey, 'GET', '/providers/the-account')).status, 200)
  t.is((await control.call(acme.adminKey, 'GET', '/providers/some-account')).status, 404)
  await made({ name: 'x', slug: 'another', default_provider_slug: 'wanted-too' })
  await made({ name: 'x', slug: 'wanted-too' })
  const { data } = (await control.call(acme.adminKey, 'GET', '/providers?page_size=100')).body as { data: { slug: string }[] }
  t.is(data.filter(({ slug }) => /^wanted-too-[a-z0-9]{6}$/.test(slug)).length, 1)
})

test('one name given by many at once makes as many slugs', async (t) => {
  const rows = await Promise.all(Array.from({ length: 8 }, () => made({ name: 'Crowd' })))
  const slugs = new Set(rows.map(({ slug }) => slug))
  t.is(slugs.size, 8)
  t.true(slugs.has('crowd'))
})

test("a workspace's integration stays in its workspace", async (t) => {
  const byAdmin = await made({ name: 'Of side', workspace_id: 'side' })
  const byItself = await made({ name: 'Of side too' }, acme.sideKey)
  for (const { slug } of [byAdmin, byItself]) {
    t.like(await read(slug), { workspace_id: acme.sideId })
    t.like((await control.call(acme.sideKey, 'GET', `/providers/${slug}`)).body, { workspace_id: acme.sideId })
    t.is((await control.call(acme.workspaceKey, 'GET', `/integrations/${slug}`)).status, 404)
  }
  t.is(
    (await control.call(acme.workspaceKey, 'POST', '/integrations', { name: 'x', ai_provider_id: 'openai', workspace_id: 'side' })).status,
    403,
  )
})

test('a workspace key sees what is shared with its workspace, and changes none of it', async (t) => {
  const hidden = await made({ name: 'Hidden', create_default_provider: false })
  const shared = await made({ name: 'Shared' })
  t.is((await control.call(acme.workspaceKey, 'GET', `/integrations/${hidden.slug}`)).status, 404)
  t.is((await control.call(acme.workspaceKey, 'GET', `/integrations/${shared.slug}`)).status, 200)
  t.is((await control.call(acme.sideKey, 'GET', `/integrations/${shared.slug}`)).status, 404)
  t.is((await control.call(acme.workspaceKey, 'PUT', `/integrations/${shared.slug}`, { key: 'mine-now' })).status, 403)
  t.is((await control.call(acme.workspaceKey, 'DELETE', `/integrations/${shared.slug}`)).status, 403)
  const take = { name: 'take', integration_id: hidden.id }
  t.is((await control.call(acme.workspaceKey, 'POST', '/providers', take)).status, 404)
  t.is((await control.call(acme.adminKey, 'POST', '/providers', { ...take, workspace_id: 'side' })).status, 200)
  t.is((await control.call(acme.sideKey, 'GET', `/integrations/${hidden.slug}`)).status, 200)
})

test('each level needs its own scope', async (t) => {
  const organisationOnly = await control.createKey(acme, { scopes: ['organisation_integrations.create'] })
  const workspaceOnly = await control.createKey(acme, { scopes: ['workspace_integrations.create'] })
  const create = (key: string, workspace?: string) =>
    control.call(key, 'POST', '/integrations', { name: 'level', ai_provider_id: 'openai', ...(workspace && { workspace_id: workspace }) })
  t.is((await create(organisationOnly)).status, 200)
  t.is((await create(organisationOnly, 'side')).status, 403)
  t.is((await create(workspaceOnly)).status, 403)
  t.is((await create(workspaceOnly, 'side')).status, 200)
})

test('an organisation key reads and lists the levels that its scopes name', async (t) => {
  const tenant = await control.createTenant('levels-read')
  await made({ name: 'org' }, tenant.adminKey)
  await made({ name: 'side', workspace_id: 'side' }, tenant.adminKey)
  const readers = { organisation: 'org', workspace: 'side' } as const
  for (const [level, visible] of Object.entries(readers)) {
    const key = await control.createKey(tenant, { scopes: [`${level}_integrations.list`, `${level}_integrations.read`] })
    const other = visible === 'org' ? 'side' : 'org'
    t.deepEqual(slugsOf((await control.call(key, 'GET', '/integrations')).body), [visible])
    t.is((await control.call(key, 'GET', `/integrations?type=${visible === 'org' ? 'workspace' : 'organisation'}`)).status, 403)
    t.is((await control.call(key, 'GET', `/integrations/${visible}`)).status, 200)
    t.is((await control.call(key, 'GET', `/integrations/${other}`)).status, 403)
  }
})

test('lists by level and workspace, without virtual keys', async (t) => {
  const tenant = await control.createTenant('levels')
  const add = (name: string, workspace?: string) =>
    made({ name, create_default_provider: false, ...(workspace !== undefined && { workspace_id: workspace }) }, tenant.adminKey)
  await add('org')
  await add('main', 'main')
  await add('side', 'side')
  await control.call(tenant.adminKey, 'POST', '/virtual-keys', { name: 'vk', provider: 'openai', key: 'k' })
  const list = async (query: string, key = tenant.adminKey) => {
    const { body } = await control.call(key, 'GET', `/integrations?${query}`)
    return [slugsOf(body), body['total'], body['has_more']]
  }
  t.deepEqual(await list(''), [['side', 'main', 'org'], 3, false])
  t.deepEqual(await list('type=organisation'), [['org'], 1, false])
  t.deepEqual(await list('type=workspace'), [['side', 'main'], 2, false])
  t.deepEqual(await list('workspace_id=side'), [['side', 'org'], 2, false])
  t.deepEqual(await list('workspace_id=side&type=workspace'), [['side'], 1, false])
  t.deepEqual(await list('page_size=1&current_page=1'), [['main'], 3, true])
  t.deepEqual(await list('page_size=0'), [[], 3, true])
  t.deepEqual(await list('', tenant.sideKey), [['side'], 1, false])
  t.is((await control.call(tenant.adminKey, 'GET', '/integrations?type=mine')).status, 400)
  t.is((await control.call(tenant.adminKey, 'GET', '/integrations?page_size=1001')).status, 400)
})

const refuses = test.macro({
  async exec(t, body: Body, param: string, code = 'AB01') {
    const answer = await control.call(acme.adminKey, 'POST', '/integrations', { name: 'bad', ai_provider_id: 'openai', key: 'k', ...body })
    t.true(answer.status >= 400 && answer.status < 500, answer.text)
    t.like(answer.body, { error: { code, param } })
  },
  title: (_, body) => `refuses ${JSON.stringify(body)}`,
})

test(refuses, { name: '' }, 'name')
test(refuses, { name: 'x'.repeat(256) }, 'name')
test(refuses, { slug: 'a b' }, 'slug')
test(refuses, { slug: 'x'.repeat(256) }, 'slug')
test(refuses, { default_provider_slug: 'a/b' }, 'default_provider_slug')
test(refuses, { ai_provider_id: 'no-such' }, 'ai_provider_id')
test(refuses, { ai_provider_id: 'toString' }, 'ai_provider_id')
test(refuses, { key: '' }, 'key')
test(refuses, { key: 'a\u0000b' }, 'key')
test(refuses, { workspace_id: 'nowhere' }, 'workspace_id', 'AB08')
test(refuses, { configurations: [] }, 'configurations')
test(refuses, { configurations: { aws_region: 'eu-west-1' } }, 'configurations.aws_region')
test(refuses, { ai_provider_id: 'azure-openai' }, 'configurations.azure_auth_mode')
test(refuses, { configurations: { custom_host: 'http://169.254.169.254/latest' } }, 'configurations.custom_host', 'blocked_host')
test(refuses, { configurations: { custom_host: 'http://[::1]:8080' } }, 'configurations.custom_host', 'blocked_host')
test(refuses, { configurations: { custom_host: 'http://10.0.0.1' } }, 'configurations.custom_host', 'blocked_host')
test(
  refuses,
  { ai_provider_id: 'azure-ai', configurations: { azure_auth_mode: 'default', azure_foundry_url: 'http://10.0.0.1' } },
  'configurations.azure_foundry_url',
  'blocked_host',
)
test(
  refuses,
  { ai_provider_id: 'huggingface', configurations: { huggingface_base_url: 'http://10.0.0.1' } },
  'configurations.huggingface_base_url',
  'blocked_host',
)
test(
  refuses,
  {
    ai_provider_id: 'vertex-ai',
    configurations: {
      vertex_auth_type: 'serviceAccount',
      vertex_region: 'global',
      vertex_service_account_json: { client_email: 'a', private_key: 'b', token_uri: 'http://169.254.169.254/token' },
    },
  },
  'configurations.vertex_service_account_json.token_uri',
  'blocked_host',
)
test(refuses, { secret_mappings: [{ target_field: 'key' }] }, 'secret_mappings[0].secret_reference_id')
test(refuses, { pricing_adjustments: { multiplier: { request_token: -1 } } }, 'pricing_adjustments.multiplier.request_token')
test(refuses, { unknown: 1 }, 'unknown')

test('a configuration that is null is as absent', async (t) => {
  const account = { aws_auth_type: 'assumedRole', aws_region: 'eu-west-1', aws_role_arn: 'arn:aws:iam::1:role/r' }
  const base = { aws_access_key_id: 'AKIA1', aws_secret_access_key: 's1', aws_external_id: null }
  const { slug } = await made({ name: 'Role', ai_provider_id: 'bedrock', configurations: { ...account, ...base } })
  t.deepEqual((await read(slug))['configurations'], { ...account, aws_access_key_id: 'AKIA1' })
})

test('a change touches what it names, field by field also in the configurations; null clears', async (t) => {
  const { id, slug } = await made({
    name: 'Bedrock',
    ai_provider_id: 'bedrock',
    description: 'd',
    pricing_adjustments: { multiplier: { default: 1.5 } },
    configurations: { aws_auth_type: 'accessKey', aws_region: 'eu-west-1', aws_access_key_id: 'AKIA1', aws_secret_access_key: 's1' },
  })
  t.like(await read(slug), { secret_fields: ['aws_secret_access_key'], masked_key: null })
  t.is((await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, { name: 'New' })).text, '{}')
  t.like(await read(slug), { name: 'New', slug, description: 'd', pricing_adjustments: { multiplier: { default: 1.5 } } })
  const changed = await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, { configurations: { aws_access_key_id: 'AKIA2' } })
  t.is(changed.status, 200)
  t.deepEqual((await opened(id)).credential.fields, {
    aws_auth_type: 'accessKey',
    aws_region: 'eu-west-1',
    aws_access_key_id: 'AKIA2',
    aws_secret_access_key: 's1',
  })
  const cleared = await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, { configurations: { aws_secret_access_key: null } })
  t.like(cleared.body, { error: { code: 'AB01', param: 'configurations.aws_secret_access_key' } })
  await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, { description: null, pricing_adjustments: null })
  t.like(await read(slug), { description: null, pricing_adjustments: null })
})

test('the key changes and clears', async (t) => {
  const { id, slug } = await made({ name: 'Keyed', key: ' sk-one\n' })
  t.is((await opened(id)).credential.key, 'sk-one')
  await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, { key: 'sk-two' })
  t.is((await opened(id)).credential.key, 'sk-two')
  await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, { key: null })
  t.is((await opened(id)).credential.key, null)
  t.like(await read(slug), { masked_key: null })
})

const here = 'http://127.0.0.1:9001/v1'
const there = 'http://127.0.0.1:9002/v1'

const moves = test.macro({
  async exec(t, stored: Body, change: Body, keptField: string | null) {
    const { id, slug } = await made({ name: 'Moving', ...stored })
    const before = await opened(id)
    const answer = await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, change)
    if (keptField === null) {
      t.is(answer.status, 200, answer.text)
    } else {
      t.is(answer.status, 400, answer.text)
      t.like(answer.body, { error: { code: 'AB01', param: keptField } })
      t.deepEqual(await opened(id), before)
    }
  },
  title: (_, ...given) => `moving a credential: ${JSON.stringify(given)}`,
})

const atHere = { key: 'k', configurations: { custom_host: here } }
test(moves, atHere, { configurations: { custom_host: there } }, 'key')
test(moves, atHere, { configurations: { custom_host: null } }, 'key')
test(moves, atHere, { configurations: null }, 'key')
test(moves, { key: 'k' }, { configurations: { custom_host: here } }, 'key')
test(moves, atHere, { configurations: { custom_host: 'https://127.0.0.1:9001/v1' } }, 'key')
test(moves, atHere, { key: 'k2', configurations: { custom_host: there } }, null)
test(moves, atHere, { key: null, configurations: { custom_host: there } }, null)
test(moves, atHere, { configurations: { custom_host: 'http://127.0.0.1:9001/v2' } }, null)
test(moves, { configurations: { custom_host: here } }, { configurations: { custom_host: there } }, null)
test(
  moves,
  { configurations: { custom_host: here, custom_headers: { 'x-secret': 's' } } },
  { configurations: { custom_host: there } },
  'configurations.custom_headers',
)
test(
  moves,
  { configurations: { custom_host: here, custom_headers: { 'x-secret': 's' } } },
  { configurations: { custom_host: there, custom_headers: { 'x-secret': 's2' } } },
  null,
)
const azure = {
  azure_auth_mode: 'default',
  azure_resource_name: 'ours',
  azure_deployment_config: [{ azure_deployment_name: 'd', azure_api_version: '2024-10-21', azure_model_slug: 'm' }],
}
test(
  moves,
  { ai_provider_id: 'azure-openai', key: 'k', configurations: azure },
  { configurations: { azure_resource_name: 'theirs' } },
  'key',
)

test('a credential opens with its host and headers', async (t) => {
  const { id } = await made({
    name: 'Open',
    key: 'k',
    configurations: { custom_host: here, custom_headers: { 'X-Team': 'a' }, openai_project: 'p' },
  })
  t.deepEqual(await opened(id), {
    credential: { key: 'k', fields: { openai_project: 'p' } },
    secrets: null,
    customHost: here,
    customHeaders: { 'X-Team': 'a' },
  })
})

test('deleting takes the default provider along, and nothing that others made', async (t) => {
  const { id, slug } = await made({ name: 'Doomed', key: 'k' })
  const more = await control.call(acme.adminKey, 'POST', '/providers', { name: 'Depends', integration_id: slug, workspace_id: 'side' })
  t.is(more.status, 200)
  const refused = await control.call(acme.adminKey, 'DELETE', `/integrations/${slug}`)
  t.is(refused.status, 409)
  t.like(refused.body, { error: { code: 'AB07' } })
  t.true(refused.text.includes('@depends'))
  t.is((await control.call(acme.adminKey, 'DELETE', '/providers/depends?workspace_id=side')).status, 200)
  t.is((await control.call(acme.adminKey, 'DELETE', `/integrations/${slug}`)).text, '{}')
  for (const path of [`/integrations/${slug}`, `/integrations/${id}`, '/providers/doomed'])
    t.is((await control.call(acme.adminKey, 'GET', path)).status, 404)
  t.is((await control.call(acme.adminKey, 'PUT', `/integrations/${slug}`, { name: 'x' })).status, 404)
  t.is((await control.call(acme.adminKey, 'DELETE', `/integrations/${slug}`)).status, 404)
  const { rows } = await control.sql.query('SELECT status, credential FROM integrations WHERE id = $1', [id])
  t.deepEqual(rows, [{ status: 'archived', credential: null }])
})
