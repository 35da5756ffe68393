import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

let count = 0
/** A secret of its own for each field; all hold the same marker. */
const canary = () => `CANARY-${(count += 1)}-7f3a9c2e51`
const marker = /CANARY/

const pem = () => `-----BEGIN PRIVATE KEY-----\n${canary()}\n-----END PRIVATE KEY-----`

const planted: readonly (readonly [string, object])[] = [
  ['openai', { custom_headers: { 'x-internal': canary(), authorization: canary() } }],
  [
    'bedrock',
    {
      aws_auth_type: 'accessKey',
      aws_region: 'eu-west-1',
      aws_access_key_id: 'AKIA1',
      aws_secret_access_key: canary(),
      aws_session_token: canary(),
    },
  ],
  [
    'azure-openai',
    {
      azure_auth_mode: 'entra',
      azure_resource_name: 'res',
      azure_deployment_config: [{ azure_deployment_name: 'd', azure_api_version: 'v', azure_model_slug: 'm' }],
      azure_entra_tenant_id: 't',
      azure_entra_client_id: 'c',
      azure_entra_client_secret: canary(),
      azure_ad_token: canary(),
    },
  ],
  [
    'vertex-ai',
    {
      vertex_auth_type: 'serviceAccount',
      vertex_region: 'global',
      vertex_service_account_json: { client_email: 'a@b', private_key: pem() },
    },
  ],
  [
    'oracle',
    {
      oracle_region: 'uk',
      oracle_tenancy: 't',
      oracle_user: 'u',
      oracle_fingerprint: 'f',
      oracle_private_key: pem(),
      oracle_key_passphrase: canary(),
    },
  ],
]

test('planted secrets are in no answer and in no table', async (t) => {
  const answers: string[] = []
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await control.call(acme.adminKey, method, path, body)
    answers.push(answer.text)
    return answer
  }
  for (const [provider, configurations] of planted) {
    const body = { name: provider, ai_provider_id: provider, key: canary(), configurations }
    t.is((await call('POST', '/integrations', body)).status, 200, provider)
    t.is((await call('PUT', `/integrations/${provider}`, { key: canary(), configurations })).status, 200, provider)
    t.is((await call('GET', `/integrations/${provider}`)).status, 200)
    await call('GET', `/providers/${provider}`)
    const virtualKey = { name: `vk ${provider}`, provider, key: canary(), configurations }
    t.is((await call('POST', '/virtual-keys', virtualKey)).status, 200, provider)
    t.is((await call('PUT', `/virtual-keys/vk-${provider}`, { key: canary(), configurations })).status, 200, provider)
    t.is((await call('GET', `/virtual-keys/vk-${provider}`)).status, 200)
    // Refusals must not quote the refused text.
    t.is((await call('POST', '/integrations', { ...body, configurations: { ...configurations, unknown: canary() } })).status, 400)
    t.is((await call('POST', '/integrations', { ...body, key: { nested: canary() } })).status, 400)
    t.is((await call('POST', '/virtual-keys', { ...virtualKey, key: `${canary()}\u0000` })).status, 400)
  }
  for (const path of ['/integrations', '/providers', '/virtual-keys', '/api-keys']) await call('GET', path)
  for (const text of answers) t.notRegex(text, marker)
  const tables = await control.dump()
  t.regex(tables, /vk-openai/, 'the dump holds what was stored')
  t.notRegex(tables, marker)
})

test('an API key is shown once and stored nowhere', async (t) => {
  const created = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', { name: 'k', scopes: ['providers.list'] })
  const { id, key } = created.body as { id: string; key: string }
  const rotated = await control.call(acme.adminKey, 'POST', `/api-keys/${id}/rotate`, {})
  const secrets = [key, String(rotated.body['key'])]
  t.not(secrets[0], secrets[1])
  const shown = [
    (await control.call(acme.adminKey, 'GET', `/api-keys/${id}`)).text,
    (await control.call(acme.adminKey, 'GET', '/api-keys')).text,
    await control.dump(),
  ]
  for (const secret of secrets) {
    t.regex(secret, /^gh-[0-9A-Za-z]{49}$/)
    for (const text of shown) t.false(text.includes(secret))
  }
})

test('a sealed credential moved to another row does not open', async (t) => {
  const make = async (name: string) =>
    String(
      (
        await control.call(acme.adminKey, 'POST', '/integrations', {
          name,
          ai_provider_id: 'openai',
          configurations: { custom_headers: { a: 'b' } },
        })
      ).body['id'],
    )
  const [from, to] = [await make('From'), await make('To')]
  t.is((await control.call(acme.adminKey, 'GET', `/integrations/${to}`)).status, 200)
  await control.sql.query(
    'UPDATE integrations SET secret_configurations = (SELECT secret_configurations FROM integrations WHERE id = $1) WHERE id = $2',
    [from, to],
  )
  t.true((await control.call(acme.adminKey, 'GET', `/integrations/${to}`)).status >= 500)
})

test('every write leaves one audit row, reads and refused writes none', async (t) => {
  const tenant = await control.createTenant('audited')
  const rows = async () =>
    (
      await control.sql.query<{ action: string; resource_type: string; resource_id: string | null }>(
        'SELECT action, resource_type, resource_id FROM audit_logs WHERE organisation_id = $1 ORDER BY at, id',
        [tenant.organisationId],
      )
    ).rows
  const writes: readonly (readonly [string, string, object?])[] = [
    ['POST', '/integrations', { name: 'a', ai_provider_id: 'openai' }],
    ['PUT', '/integrations/a', { name: 'b' }],
    ['POST', '/providers', { name: 'p', integration_id: 'a' }],
    ['PUT', '/providers/p', { note: 'n' }],
    ['DELETE', '/providers/p'],
    ['POST', '/virtual-keys', { name: 'v', provider: 'openai' }],
    ['PUT', '/virtual-keys/v', { note: 'n' }],
    ['DELETE', '/virtual-keys/v'],
    ['DELETE', '/integrations/a'],
    ['POST', '/api-keys/organisation/service', { name: 'k', scopes: ['providers.read'] }],
  ]
  for (const [method, path, body] of writes)
    t.is((await control.call(tenant.adminKey, method, path, body)).status, 200, `${method} ${path}`)
  await control.call(tenant.adminKey, 'GET', '/integrations')
  await control.call(tenant.adminKey, 'POST', '/providers', { name: 'p', integration_id: 'nowhere' })
  const written = await rows()
  t.deepEqual(
    written.map(({ resource_type }) => resource_type),
    [
      'integration',
      'integration',
      'provider',
      'provider',
      'provider',
      'virtual-key',
      'virtual-key',
      'virtual-key',
      'integration',
      'api-key',
    ],
  )
  t.true(written.every(({ resource_id }) => resource_id !== null))
})
