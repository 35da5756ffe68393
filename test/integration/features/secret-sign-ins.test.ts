import test from 'ava'
import { type Control, startControl, type Tenant } from './setup.ts'

/** The stored sign-in at a secret manager: its fields are well-formed, and its secrets are nowhere else. */
let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control?.close())

const call = (path: string, body: unknown) => control.call(acme.adminKey, 'POST', path, body)

const assumed = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/x', aws_region: 'eu-west-1' }
const entra = {
  azure_auth_mode: 'entra',
  azure_vault_url: 'https://v.vault.azure.net',
  azure_entra_tenant_id: 't',
  azure_entra_client_id: 'c',
  azure_entra_client_secret: 's',
}
const approle = { vault_auth_type: 'approle', vault_addr: 'https://vault.example.com', vault_role_id: 'r', vault_secret_id: 's' }

const malformedFields = [
  ['aws_sm', { ...assumed, aws_role_arn: 'bad' }, 'aws_role_arn'],
  ['aws_sm', { ...assumed, aws_role_arn: 'arn:aws:iam::123456789012:user/x' }, 'aws_role_arn'],
  ['aws_sm', { ...assumed, aws_external_id: 'a b' }, 'aws_external_id'],
  ['aws_sm', { ...assumed, aws_region: 'EU West' }, 'aws_region'],
  ['aws_sm', { ...assumed, aws_access_key_id: 'not an id', aws_secret_access_key: 's' }, 'aws_access_key_id'],
  ['azure_kv', { ...entra, azure_entra_tenant_id: 'our tenant' }, 'azure_entra_tenant_id'],
  ['azure_kv', { ...entra, azure_entra_tenant_id: 'https://login.example.com/t' }, 'azure_entra_tenant_id'],
  ['azure_kv', { ...entra, azure_entra_client_id: 'our/client' }, 'azure_entra_client_id'],
  ['azure_kv', { ...entra, azure_vault_url: 'v.vault.azure.net' }, 'azure_vault_url'],
  ['hashicorp_vault', { ...approle, vault_addr: 'vault' }, 'vault_addr'],
  ['hashicorp_vault', { ...approle, vault_namespace: 'our team' }, 'vault_namespace'],
  ['hashicorp_vault', { ...approle, vault_auth_mount: 'a?b' }, 'vault_auth_mount'],
] as const

for (const [manager_type, auth_config, field] of malformedFields)
  test.serial(`malformed and refused by name, ${field}: ${String(Reflect.get(auth_config, field))}`, async (t) => {
    const { status, body } = await call('/secret-references', { name: 'malformed', manager_type, auth_config, secret_path: 'x' })
    t.is(status, 400, JSON.stringify(body))
    t.is((body as { error: { param: string } }).error.param, `auth_config.${field}`)
  })

test.serial('canaries: no kind of sign-in leaves its secrets in the trail or elsewhere in the database', async (t) => {
  const secret = '5ec2e700-0000-4000-8000-00000000cafe'
  for (const [manager_type, auth_config] of [
    ['aws_sm', { ...assumed, aws_access_key_id: 'AKID', aws_secret_access_key: secret }],
    ['azure_kv', { ...entra, azure_entra_client_secret: secret }],
    ['hashicorp_vault', { ...approle, vault_secret_id: secret }],
    ['hashicorp_vault', { vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: secret }],
    ['hashicorp_vault', { vault_auth_type: 'jwt', vault_addr: 'https://vault.example.com', vault_role: 'r', vault_jwt: secret }],
  ] as const) {
    const stored = await call('/secret-references', { name: 'canary', manager_type, auth_config, secret_path: 'x' })
    t.is(stored.status, 200, stored.text)
    const tried = await call('/secret-references/test', { manager_type, auth_config, secret_path: 'x' })
    t.is(tried.status, 200, tried.text)
  }
  t.false((await control.dump()).includes(secret))
})
