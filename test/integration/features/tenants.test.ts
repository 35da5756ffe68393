import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant
let target: Readonly<
  Record<
    'apiKey' | 'integration' | 'provider' | 'virtualKey' | 'workspace' | 'organisation' | 'collection' | 'label' | 'prompt' | 'partial',
    readonly string[]
  >
>

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
  const make = async (path: string, body: object) => {
    const answer = await control.call(acme.adminKey, 'POST', path, body)
    if (answer.status !== 200) throw new Error(answer.text)
    return answer.body
  }
  const key = await make('/api-keys/workspace/service', { name: 'k', scopes: ['completions.write'] })
  const integration = await make('/integrations', {
    name: 'Acme integration',
    ai_provider_id: 'openai',
    key: 'k',
    default_provider_slug: 'acme-provider',
  })
  await make('/virtual-keys', { name: 'Acme key', provider: 'openai', key: 'k' })
  const { body: provider } = await control.call(acme.adminKey, 'GET', '/providers/acme-provider')
  const { body: virtualKey } = await control.call(acme.adminKey, 'GET', '/virtual-keys/acme-key')
  const collection = await make('/collections', { name: 'Acme collection' })
  const label = await make('/labels', { name: 'acme-label' })
  const prompt = await make('/prompts', {
    name: 'Acme prompt',
    collection_id: 'acme-collection',
    string: 'x',
    parameters: {},
    virtual_key: 'acme-provider',
  })
  const partial = await make('/prompts/partials', { name: 'Acme partial', string: 'x' })
  target = {
    apiKey: [String(key['id'])],
    integration: [String(integration['id']), 'acme-integration'],
    provider: [String(provider['id']), 'acme-provider'],
    virtualKey: [String(virtualKey['id']), 'acme-key'],
    collection: [String(collection['id']), 'acme-collection'],
    label: [String(label['id'])],
    prompt: [String(prompt['id']), 'pp-acme-prompt'],
    partial: [String(partial['id']), 'pp-acme-partial'],
    workspace: [acme.workspaceId],
    organisation: [acme.organisationId, 'acme'],
  }
})
test.after.always(() => control.close())

/** Everything of the first tenant, as the tables hold it. */
const state = async () => {
  const tables = [
    'organisations',
    'workspaces',
    'api_keys',
    'integrations',
    'providers',
    'collections',
    'labels',
    'prompts',
    'prompt_versions',
    'prompt_partials',
    'audit_logs',
  ]
  const rows = []
  for (const table of tables)
    rows.push((await control.sql.query(`SELECT * FROM ${table} WHERE organisation_id = $1 ORDER BY id`, [acme.organisationId])).rows)
  return rows
}

/** Every route of all features is walked in test/e2e/security/tenants.test.ts. */
const onOne: readonly (readonly [keyof typeof target, string, string, object?])[] = [
  ['organisation', 'GET', '/organisations/:id'],
  ['workspace', 'GET', '/workspaces/:id'],
  ['workspace', 'GET', '/admin/workspaces/:id'],
  ['apiKey', 'GET', '/api-keys/:id'],
  ['apiKey', 'PUT', '/api-keys/:id', { name: 'stolen' }],
  ['apiKey', 'DELETE', '/api-keys/:id'],
  ['apiKey', 'POST', '/api-keys/:id/rotate', {}],
  ['integration', 'GET', '/integrations/:id'],
  ['integration', 'PUT', '/integrations/:id', { name: 'stolen', key: 'mine' }],
  ['integration', 'DELETE', '/integrations/:id'],
  ['provider', 'GET', '/providers/:id'],
  ['provider', 'PUT', '/providers/:id', { name: 'stolen' }],
  ['provider', 'DELETE', '/providers/:id'],
  ['virtualKey', 'GET', '/virtual-keys/:id'],
  ['virtualKey', 'PUT', '/virtual-keys/:id', { name: 'stolen', key: 'mine' }],
  ['virtualKey', 'DELETE', '/virtual-keys/:id'],
  ['collection', 'GET', '/collections/:id'],
  ['collection', 'PUT', '/collections/:id', { name: 'stolen' }],
  ['collection', 'DELETE', '/collections/:id'],
  ['label', 'GET', '/labels/:id'],
  ['label', 'PUT', '/labels/:id', { name: 'stolen' }],
  ['label', 'DELETE', '/labels/:id'],
  ['prompt', 'GET', '/prompts/:id'],
  ['prompt', 'PUT', '/prompts/:id', { name: 'stolen' }],
  ['prompt', 'DELETE', '/prompts/:id'],
  ['prompt', 'GET', '/prompts/:id/versions'],
  ['prompt', 'GET', '/prompts/:id/versions/1'],
  ['prompt', 'PUT', '/prompts/:id/versions/1', { label_id: null }],
  ['prompt', 'PUT', '/prompts/:id/makeDefault', { version: 1 }],
  ['partial', 'GET', '/prompts/partials/:id'],
  ['partial', 'PUT', '/prompts/partials/:id', { name: 'stolen' }],
  ['partial', 'DELETE', '/prompts/partials/:id'],
  ['partial', 'GET', '/prompts/partials/:id/versions'],
  ['partial', 'PUT', '/prompts/partials/:id/makeDefault', { version: 1 }],
]

test('what belongs to another tenant is not there, on any route, by id or by slug', async (t) => {
  const before = await state()
  for (const [noun, method, path, body] of onOne) {
    for (const reference of target[noun]) {
      for (const key of [rival.adminKey, rival.workspaceKey]) {
        const route = `${method} ${path.replace(':id', reference)}`
        const answer = await control.call(key, method, path.replace(':id', reference), body)
        t.true(answer.status === 404 || answer.status === 403, `${route}: ${answer.status} ${answer.text}`)
        if (key === rival.adminKey) t.is(answer.status, 404, route)
      }
    }
  }
  t.deepEqual(await state(), before)
})

test('another tenant’s ids in bodies and queries lead nowhere', async (t) => {
  const before = await state()
  const calls: readonly (readonly [string, string, object?])[] = [
    ['POST', '/api-keys/workspace/service', { name: 'x', scopes: ['completions.write'], workspace_id: acme.workspaceId }],
    ['POST', '/api-keys/organisation/service', { name: 'x', scopes: ['providers.read'], organisation_id: acme.organisationId }],
    ['POST', '/integrations', { name: 'x', ai_provider_id: 'openai', workspace_id: acme.workspaceId }],
    ['POST', '/providers', { name: 'x', integration_id: target.integration[0] }],
    ['POST', '/providers', { name: 'x', integration_id: 'acme-integration' }],
    ['POST', '/virtual-keys', { name: 'x', provider: 'openai', workspace_id: acme.workspaceId }],
    ['GET', `/api-keys?workspace_id=${acme.workspaceId}`],
    ['GET', `/integrations?workspace_id=${acme.workspaceId}`],
    ['GET', `/providers?workspace_id=${acme.workspaceId}`],
    ['GET', `/providers/acme-provider?workspace_id=${acme.workspaceId}`],
    ['GET', `/virtual-keys?workspace_id=${acme.workspaceId}`],
    ['POST', '/collections', { name: 'x', workspace_id: acme.workspaceId }],
    ['POST', '/collections', { name: 'x', parent_collection_id: 'acme-collection' }],
    ['GET', `/collections?workspace_id=${acme.workspaceId}`],
    ['POST', '/labels', { name: 'x', workspace_id: acme.workspaceId }],
    ['GET', `/labels?organisation_id=${acme.organisationId}`],
    ['GET', `/labels?workspace_id=${acme.workspaceId}`],
    ['POST', '/prompts', { name: 'x', collection_id: 'acme-collection', string: 'x', parameters: {}, virtual_key: 'acme-provider' }],
    ['GET', `/prompts?workspace_id=${acme.workspaceId}`],
    ['GET', '/prompts?collection_id=acme-collection'],
    ['POST', '/prompts/partials', { name: 'x', string: 'x', workspace_id: acme.workspaceId }],
    ['POST', '/prompts/partials', { name: 'x', string: 'x', collection_id: 'acme-collection' }],
    ['GET', `/prompts/partials?workspace_id=${acme.workspaceId}`],
  ]
  for (const [method, path, body] of calls) {
    const answer = await control.call(rival.adminKey, method, path, body)
    t.true(answer.status === 404 || answer.status === 403, `${method} ${path}: ${answer.status} ${answer.text}`)
  }
  t.deepEqual(await state(), before)
})

test('lists hold nothing of another tenant', async (t) => {
  for (const path of [
    '/organisations',
    '/workspaces',
    '/api-keys',
    '/integrations',
    '/providers',
    '/virtual-keys',
    '/collections',
    '/labels',
  ]) {
    const { status, text } = await control.call(rival.adminKey, 'GET', path)
    t.is(status, 200)
    for (const id of [acme.organisationId, acme.workspaceId, acme.sideId, ...Object.values(target).flat()])
      t.false(text.includes(`"${id}"`), `${path} ${id}`)
  }
})

test('two tenants may use the same slugs', async (t) => {
  const third = await control.createTenant('third')
  const { status, body } = await control.call(third.adminKey, 'POST', '/integrations', {
    name: 'x',
    ai_provider_id: 'openai',
    slug: 'acme-integration',
    default_provider_slug: 'acme-provider',
  })
  t.is(status, 200)
  t.like((await control.call(third.adminKey, 'GET', '/integrations/acme-integration')).body, {
    id: body['id'],
    organisation_id: third.organisationId,
  })
})
