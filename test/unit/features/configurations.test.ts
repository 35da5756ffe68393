import test from 'ava'
import { parseConfigurations, splitSecrets } from '../../../src/features/integrations/configurations.ts'
import { toFields } from '../../../src/features/integrations/credential-fields.ts'
import { providers } from '../../../src/gateway/providers/catalog.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { fixedLevel } from '../../../src/release/level.ts'

type Given = Record<string, unknown>

const level = fixedLevel('1.12.0')
const account = { client_email: 'a@b.iam', private_key: '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----' }
const deployment = { azure_deployment_name: 'gpt', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o' }
const azure = { azure_auth_mode: 'default', azure_resource_name: 'res', azure_deployment_config: [deployment] }
const bedrock = { aws_auth_type: 'accessKey', aws_region: 'eu-west-1', aws_access_key_id: 'AKIA', aws_secret_access_key: 's' }
const oracle = { oracle_region: 'uk', oracle_tenancy: 't', oracle_user: 'u', oracle_fingerprint: 'f', oracle_private_key: 'pem\npem' }

const takes = test.macro({
  exec: (t, id: string, given: Given) => t.notThrows(() => parseConfigurations(given, { aiProviderId: id, hasKey: true, level })),
  title: (_, ...given) => `takes ${JSON.stringify(given)}`,
})

const refuses = test.macro({
  exec(t, id: string, given: Given, field: string, hasKey: boolean = true) {
    const error = t.throws(() => parseConfigurations(given, { aiProviderId: id, hasKey, level }), { instanceOf: ApiError })
    t.like(error, { code: 'AB01', param: `configurations.${field}` })
  },
  title: (_, ...given) => `refuses ${JSON.stringify(given)}`,
})

test(takes, 'openai', {})
test(takes, 'openai', { openai_organization: 'org-1', openai_project: 'p' })
test(takes, 'openai', { custom_host: 'https://proxy.example/v1', custom_headers: { 'x-team': 'a b' } })
test(takes, 'azure-openai', azure)
test(takes, 'azure-openai', {
  ...azure,
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: 't',
  azure_entra_client_id: 'c',
  azure_entra_client_secret: 's',
})
test(takes, 'azure-openai', { custom_host: 'https://apim.example/openai' })
test(takes, 'azure-ai', { azure_auth_mode: 'default', azure_foundry_url: 'https://x.services.ai.azure.com/models' })
test(takes, 'bedrock', bedrock)
test(takes, 'bedrock', { aws_auth_type: 'accessKey', aws_region: 'eu-west-1' })
test(takes, 'bedrock', { ...bedrock, aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::1:role/x', aws_external_id: 'e' })
test(takes, 'sagemaker', { ...bedrock, amzn_sagemaker_target_model: 'm', amzn_sagemaker_model_name: 'n' })
test(takes, 'vertex-ai', { vertex_auth_type: 'basic', vertex_region: 'us-central1', vertex_project_id: 'p' })
test(takes, 'vertex-ai', { vertex_auth_type: 'serviceAccount', vertex_region: 'global', vertex_service_account_json: account })
test(takes, 'vertex-ai', {
  vertex_auth_type: 'serviceAccount',
  vertex_region: 'global',
  vertex_service_account_json: JSON.stringify(account),
})
test(takes, 'workers-ai', { workers_ai_account_id: 'acc' })
test(takes, 'huggingface', { huggingface_base_url: 'https://x.endpoints.huggingface.cloud' })
test(takes, 'oracle', oracle)
test(takes, 'ollama', { custom_host: 'http://ollama.internal:11434' })
test(takes, 'predibase', { predibase_tenant_id: 't' })

test(refuses, 'openai', { openai_org: 'x' }, 'openai_org')
test(refuses, 'openai', { openai_organization: 7 }, 'openai_organization')
test(refuses, 'openai', { openai_organization: 'a\r\nx-evil: 1' }, 'openai_organization')
test(refuses, 'openai', { aws_region: 'eu-west-1' }, 'aws_region')
test(refuses, 'openai', { custom_host: 'not a url' }, 'custom_host')
test(refuses, 'openai', { custom_host: 'file:///etc/passwd' }, 'custom_host')
test(refuses, 'openai', { custom_host: 'https://user:pass@host/' }, 'custom_host')
test(refuses, 'openai', { custom_headers: { 'bad name': 'x' } }, 'custom_headers.bad name')
test(refuses, 'openai', { custom_headers: { host: 'x' } }, 'custom_headers.host')
test(refuses, 'openai', { custom_headers: { 'Transfer-Encoding': 'chunked' } }, 'custom_headers.Transfer-Encoding')
test(refuses, 'openai', { custom_headers: { 'x-a': 'a\r\nb: c' } }, 'custom_headers.x-a')
test(refuses, 'openai', { custom_headers: { 'x-a': 1 } }, 'custom_headers.x-a')
test(refuses, 'openai', JSON.parse('{"__proto__":{"a":1}}'), '__proto__')
test(refuses, 'azure-openai', {}, 'azure_auth_mode')
test(refuses, 'azure-openai', { ...azure, azure_auth_mode: 'magic' }, 'azure_auth_mode')
test(refuses, 'azure-openai', { ...azure, azure_auth_mode: 'entra' }, 'azure_entra_tenant_id')
test(refuses, 'azure-openai', { ...azure, azure_deployment_config: [] }, 'azure_deployment_config')
test(
  refuses,
  'azure-openai',
  { ...azure, azure_deployment_config: [{ ...deployment, azure_api_version: 'x'.repeat(31) }] },
  'azure_deployment_config[0].azure_api_version',
)
test(refuses, 'azure-openai', { ...azure, azure_resource_name: 'evil.com/#' }, 'azure_resource_name')
test(refuses, 'azure-openai', { ...azure, azure_resource_name: 'a@evil.com' }, 'azure_resource_name')
test(refuses, 'azure-ai', { azure_auth_mode: 'default' }, 'azure_foundry_url')
test(refuses, 'azure-ai', { azure_auth_mode: 'default', azure_foundry_url: 'gopher://x' }, 'azure_foundry_url')
test(refuses, 'bedrock', { aws_region: 'eu-west-1' }, 'aws_auth_type')
test(refuses, 'bedrock', { ...bedrock, aws_region: 'eu-west-1.evil.com/' }, 'aws_region')
test(refuses, 'bedrock', { aws_auth_type: 'accessKey', aws_region: 'eu-west-1' }, 'aws_access_key_id', false)
test(refuses, 'bedrock', { ...bedrock, aws_auth_type: 'assumedRole' }, 'aws_role_arn')
test(refuses, 'vertex-ai', { vertex_auth_type: 'serviceAccount', vertex_region: 'global' }, 'vertex_service_account_json')
test(
  refuses,
  'vertex-ai',
  { vertex_auth_type: 'basic', vertex_region: 'global', vertex_service_account_json: '{}' },
  'vertex_service_account_json.client_email',
)
test(
  refuses,
  'vertex-ai',
  { vertex_auth_type: 'basic', vertex_region: 'global', vertex_service_account_json: 'nonsense' },
  'vertex_service_account_json',
)
test(refuses, 'workers-ai', {}, 'workers_ai_account_id')
test(refuses, 'workers-ai', { workers_ai_account_id: '../..' }, 'workers_ai_account_id')
test(refuses, 'oracle', { ...oracle, oracle_user: undefined }, 'oracle_user')
test(refuses, 'ollama', {}, 'custom_host')
test(refuses, 'triton', { custom_host: 'https://host.example', triton_backend: 'python' }, 'triton_backend')

test('every provider of the catalogue takes a custom host', (t) => {
  for (const id of Object.keys(providers)) {
    t.notThrows(() => parseConfigurations({ custom_host: 'https://host.example/v1' }, { aiProviderId: id, hasKey: true, level }), id)
  }
})

test('an unknown provider is named as such', (t) => {
  const error = t.throws(() => parseConfigurations({}, { aiProviderId: 'constructor', hasKey: true, level }), { instanceOf: ApiError })
  t.like(error, { code: 'AB01', param: 'ai_provider_id' })
})

test('a fault does not quote the value', (t) => {
  const error = t.throws(() =>
    parseConfigurations({ ...oracle, oracle_private_key: 'CANARY\0' }, { aiProviderId: 'oracle', hasKey: false, level }),
  )
  t.false(error?.message.includes('CANARY'))
})

test('secret fields are parted from those that may be shown', (t) => {
  const given = {
    ...bedrock,
    ...oracle,
    custom_host: 'https://h',
    custom_headers: { 'x-a': 'b' },
    azure_entra_client_secret: 's',
    openai_project: undefined,
  }
  const { open, secret } = splitSecrets(given)
  t.deepEqual(Object.keys(secret).toSorted(), [
    'aws_secret_access_key',
    'azure_entra_client_secret',
    'custom_headers',
    'oracle_private_key',
  ])
  t.false('aws_secret_access_key' in open || 'openai_project' in open)
  t.is(open['custom_host'], 'https://h')
})

test('configurations become the flat fields of a credential', (t) => {
  const other = { azure_deployment_name: 'mini', azure_api_version: '2025-01-01', azure_model_slug: 'gpt-4o-mini', is_default: true }
  t.deepEqual(toFields({ ...bedrock, custom_host: 'https://h', custom_headers: { a: 'b' }, vertex_service_account_json: account }), {
    ...bedrock,
    vertex_service_account_json: JSON.stringify(account),
  })
  t.like(toFields(azure), { azure_deployment_name: 'gpt', azure_api_version: '2024-10-21' })
  t.like(toFields({ ...azure, azure_deployment_config: [deployment, other] }), {
    azure_deployment_name: 'mini',
    azure_api_version: '2025-01-01',
  })
})
