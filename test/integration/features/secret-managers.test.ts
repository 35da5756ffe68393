import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type MetadataServices, startMetadataServices } from '../../support/metadata-services.ts'
import { movedClock } from '../../support/moved-clock.ts'
import {
  awsKeys,
  azureApplication,
  type FakeAws,
  type FakeAzure,
  type FakeVault,
  type Mood,
  startFakeAws,
  startFakeAzure,
  startFakeVault,
} from '../../support/secret-managers.ts'
import { type Answer, type Control, startControl, type Tenant } from './setup.ts'

/** Each secret manager by each way of signing in, from the API through the gateway to the provider. */
let control: Control
let acme: Tenant
let emulator: Emulator
let metadata: MetadataServices
let aws: FakeAws
let azure: FakeAzure
let vault: FakeVault
let folder: string

type Fields = Readonly<Record<string, unknown>>

const podToken = 'token-of-the-pod'

test.before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-managers-'))
  await writeFile(path.join(folder, 'token'), podToken)
  ;[emulator, metadata, aws, vault] = await Promise.all([startEmulator(), startMetadataServices(), startFakeAws(), startFakeVault()])
  azure = await startFakeAzure(
    (form) => form.get('client_secret') === azureApplication.secret || form.get('client_assertion') === podToken,
    (token) => token.startsWith('azure-system-https://vault.azure.net-'),
  )
  aws.know(metadata.awsKeys)
  vault.jwts.add(podToken)
  control = await startControl(
    { clock },
    {
      // The clock is moved on, so that long times cost no waiting; the time of an answer is real, and has room for a machine under load.
      SECRET_CACHE_TTL: '20s',
      SECRET_MAX_STALE: '20s',
      SECRET_MANAGER_TIMEOUT: '4s',
      CLOUD_IDENTITY_HOSTS: '127.0.0.1',
      CLOUD_IDENTITY_ORGANISATIONS: 'all',
      KUBERNETES_TOKEN_FILE: path.join(folder, 'token'),
      AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url,
      AWS_ENDPOINT_URL_STS: aws.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
      AZURE_AUTHORITY_HOST: azure.url,
      AZURE_POD_IDENTITY_AUTHORITY_HOST: metadata.url,
      AZURE_TENANT_ID: azureApplication.tenant,
      AZURE_CLIENT_ID: azureApplication.client,
      AZURE_FEDERATED_TOKEN_FILE: path.join(folder, 'token'),
    },
  )
  acme = await control.createTenant('acme')
})
test.after.always(async () => {
  await control?.close()
  await Promise.all([emulator?.stop(), metadata?.stop(), aws?.stop(), azure?.stop(), vault?.stop()])
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})
test.beforeEach(() => {
  for (const manager of Object.values(managers)) manager.fake().mood = 'well'
  metadata.mood = 'well'
})

/** The steps of tests with each manager. `path` is that of a secret of this name. */
const managers = {
  aws_sm: {
    fake: () => aws,
    path: (name: string) => name,
    put: (name: string, value: string | null) => aws.put(name, value === null ? null : { text: value }),
  },
  azure_kv: {
    fake: () => azure,
    path: (name: string) => name,
    put: (name: string, value: string | null) => azure.put(name, ...(value === null ? [] : [value])),
  },
  hashicorp_vault: {
    fake: () => vault,
    path: (name: string) => `secret/${name}`,
    put: (name: string, value: string | null) => vault.put(`secret/${name}`, value === null ? null : { value }),
  },
} as const

type Kind = keyof typeof managers

const call = (method: string, at: string, body?: unknown, key = acme.adminKey) => control.call(key, method, at, body)

async function made(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
}

const { clock, later, inTime } = movedClock(4000)

let count = 0

interface Signing {
  readonly kind: Kind
  readonly auth: () => Fields
}

/** A secret, its reference, and a provider that uses it. */
async function used({ kind, auth }: Signing, more: Fields = {}): Promise<string> {
  count += 1
  const slug = `managed-${count}`
  managers[kind].put(slug, `sk-${slug}-first`)
  const reference = { name: slug, slug, manager_type: kind, auth_config: auth(), secret_path: managers[kind].path(slug), ...more }
  await made(call('POST', '/secret-references', reference))
  const secret_mappings = [{ target_field: 'key', secret_reference_id: slug }]
  const configurations = { custom_host: emulator.url }
  await made(call('POST', '/integrations', { name: slug, slug, ai_provider_id: 'openai', configurations, secret_mappings }))
  return slug
}

async function chatted(slug: string): Promise<{ status: number; text: string; sent: string | undefined }> {
  const before = emulator.requests.at(-1)
  const answer = await fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': acme.workspaceKey, 'x-service-provider': `@${slug}` },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await answer.text()
  const last = emulator.requests.at(-1)
  return { status: answer.status, text, sent: last === before ? undefined : last?.headers.authorization }
}

const accessKey = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: awsKeys.id,
  aws_secret_access_key: awsKeys.secret,
  aws_region: 'eu-west-1',
}
const role = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::222222222222:role/secrets', aws_region: 'eu-west-1' }
const application = {
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: azureApplication.tenant,
  azure_entra_client_id: azureApplication.client,
  azure_entra_client_secret: azureApplication.secret,
}
const approle = () => ({ vault_auth_type: 'approle', vault_role_id: vault.role.roleId, vault_secret_id: vault.role.secretId })

const signIns: Readonly<Record<string, Signing>> = {
  'AWS, with a key': { kind: 'aws_sm', auth: () => accessKey },
  'AWS, with a key and a role': {
    kind: 'aws_sm',
    auth: () => ({ ...role, aws_external_id: 'x', aws_access_key_id: awsKeys.id, aws_secret_access_key: awsKeys.secret }),
  },
  'AWS, with a role taken on by the own identity': { kind: 'aws_sm', auth: () => role },
  'AWS, with the own identity': { kind: 'aws_sm', auth: () => ({ aws_auth_type: 'serviceRole', aws_region: 'eu-central-1' }) },
  'Azure, with an application': { kind: 'azure_kv', auth: () => ({ ...application, azure_vault_url: azure.url }) },
  'Azure, with the identity of the machine': { kind: 'azure_kv', auth: () => ({ azure_auth_mode: 'managed', azure_vault_url: azure.url }) },
  'Azure, with the identity of the workload': {
    kind: 'azure_kv',
    auth: () => ({ azure_auth_mode: 'workload', azure_vault_url: azure.url }),
  },
  'Azure, with the identity that is there': { kind: 'azure_kv', auth: () => ({ azure_auth_mode: 'default', azure_vault_url: azure.url }) },
  'Vault, with a token': {
    kind: 'hashicorp_vault',
    auth: () => ({ vault_auth_type: 'token', vault_addr: vault.url, vault_token: vault.rootToken }),
  },
  'Vault, with AppRole': { kind: 'hashicorp_vault', auth: () => ({ ...approle(), vault_addr: vault.url }) },
  'Vault, with the service account': {
    kind: 'hashicorp_vault',
    auth: () => ({ vault_auth_type: 'kubernetes', vault_addr: vault.url, vault_role: 'gateway' }),
  },
  'Vault, with a JWT of its own': {
    kind: 'hashicorp_vault',
    auth: () => ({ vault_auth_type: 'jwt', vault_addr: vault.url, vault_role: 'gateway', vault_jwt: podToken }),
  },
  'Vault, with the JWT of the service account': {
    kind: 'hashicorp_vault',
    auth: () => ({ vault_auth_type: 'jwt', vault_addr: vault.url, vault_role: 'gateway' }),
  },
}

const wasSent = (value: string): boolean => emulator.requests.some(({ headers }) => headers.authorization === `Bearer ${value}`)

for (const [title, signIn] of Object.entries(signIns))
  test.serial(`${title}: the secret is read, and the one that replaces it`, async (t) => {
    const slug = await used(signIn)
    const { status, text } = await chatted(slug)
    t.is(status, 200, text)
    t.true(wasSent(`sk-${slug}-first`))
    managers[signIn.kind].put(slug, `sk-${slug}-second`)
    const isNew = async () => (await chatted(slug)).status === 200 && wasSent(`sk-${slug}-second`)
    await inTime(isNew, 'the new value')
  })

const wrong: Readonly<Record<string, Signing>> = {
  'AWS: a secret key': { kind: 'aws_sm', auth: () => ({ ...accessKey, aws_secret_access_key: 'canary-of-a-wrong-key' }) },
  'Azure: a client secret': {
    kind: 'azure_kv',
    auth: () => ({ ...application, azure_entra_client_secret: 'canary-of-a-wrong-secret', azure_vault_url: azure.url }),
  },
  'Vault: a token': {
    kind: 'hashicorp_vault',
    auth: () => ({ vault_auth_type: 'token', vault_addr: vault.url, vault_token: 'canary-of-a-wrong-token' }),
  },
  'Vault: a secret id': {
    kind: 'hashicorp_vault',
    auth: () => ({ ...approle(), vault_secret_id: 'canary-of-a-wrong-id', vault_addr: vault.url }),
  },
  'Vault: a JWT': {
    kind: 'hashicorp_vault',
    auth: () => ({ vault_auth_type: 'jwt', vault_addr: vault.url, vault_role: 'gateway', vault_jwt: 'canary-of-a-wrong-jwt' }),
  },
}

for (const [title, signIn] of Object.entries(wrong))
  test.serial(`a wrong credential, ${title}: requests get 503, the reference says denied, and nobody is shown it`, async (t) => {
    const slug = await used(signIn)
    const { status, text } = await chatted(slug)
    t.is(status, 503, text)
    t.like(JSON.parse(text), { error: { code: 'secret_unavailable' } })
    t.false(wasSent(`sk-${slug}-first`))
    const shown = async () => (await call('GET', `/secret-references/${slug}`)).body['last_error'] as Fields | null
    await eventually(async () => (await shown()) !== null, 5000, 'the note of the failure')
    t.like(await shown(), { reason: 'denied', serves_last_good: false })
    const tried = await call('POST', `/secret-references/${slug}/test`)
    t.is(tried.body['passed'], false)
    t.notRegex(text + JSON.stringify(await shown()) + tried.text, /canary/)
  })

const plain: Readonly<Record<Kind, Signing>> = {
  aws_sm: { kind: 'aws_sm', auth: () => accessKey },
  azure_kv: { kind: 'azure_kv', auth: () => ({ ...application, azure_vault_url: azure.url }) },
  hashicorp_vault: { kind: 'hashicorp_vault', auth: () => ({ ...approle(), vault_addr: vault.url }) },
}

for (const signIn of Object.values(plain)) {
  const { fake, put } = managers[signIn.kind]

  for (const [mood, reason] of [
    ['hang', 'away'],
    ['throttled', 'away'],
    ['denied', 'denied'],
  ] satisfies readonly (readonly [Mood, string])[])
    test.serial(`${signIn.kind} is ${mood}: the last good value serves, then requests get 503, then it is back`, async (t) => {
      const slug = await used(signIn)
      t.is((await chatted(slug)).status, 200)
      fake().mood = mood
      for (let passedMs = 0; passedMs < 24_000; passedMs += 4000) {
        const { status, sent } = await chatted(slug)
        t.is(status, 200)
        t.is(sent, `Bearer sk-${slug}-first`)
        later(4000)
      }
      await inTime(async () => (await chatted(slug)).status === 503, 'the end of the last good value')
      // It is noted beside the requests, and none waits for that.
      const noted = async () => (await call('GET', `/secret-references/${slug}`)).body['last_error'] as Fields | null
      await eventually(async () => (await noted()) !== null, 5000, 'the note of the failure')
      t.like(await noted(), { reason })
      t.notRegex(JSON.stringify(await noted()), /canary/)
      fake().mood = 'well'
      await inTime(async () => (await chatted(slug)).status === 200, 'the manager that is back')
    })

  test.serial(`${signIn.kind}: a secret that is gone is used no longer, and the reference says missing`, async (t) => {
    const slug = await used(signIn)
    t.is((await chatted(slug)).status, 200)
    put(slug, null)
    await inTime(async () => (await chatted(slug)).status === 503, 'the end of the value')
    const shown = async () => (await call('GET', `/secret-references/${slug}`)).body['last_error'] as Fields | null
    await eventually(async () => (await shown())?.['reason'] === 'missing', 5000, 'the note')
    t.is((await shown())?.['serves_last_good'], false)
  })

  test.serial(`${signIn.kind}: a field of a JSON document is taken, and a field that it has not is told by name`, async (t) => {
    const slug = await used(signIn, { secret_key: 'api_key' })
    if (signIn.kind === 'hashicorp_vault') vault.put(`secret/${slug}`, { api_key: 'sk-of-a-field' })
    else put(slug, JSON.stringify({ api_key: 'sk-of-a-field', other: 'canary' }))
    t.is((await chatted(slug)).sent, 'Bearer sk-of-a-field')
    await made(call('PUT', `/secret-references/${slug}`, { secret_key: 'nowhere' }))
    await control.refresh()
    const { status, text } = await chatted(slug)
    t.is(status, 503)
    t.true(text.includes('nowhere'))
    t.false(text.includes('canary'))
  })
}

/** The outcome of each step of reading the field `v` of a version of a secret. */
async function stepsOf(kind: Kind, name: string, secret_version: string | null): Promise<string> {
  const reference = { manager_type: kind, auth_config: plain[kind].auth(), secret_path: name, secret_version, secret_key: 'v' }
  const { body } = await call('POST', '/secret-references/test', reference)
  return (body['steps'] as Fields[]).map(({ status }) => status).join(' ')
}

test.serial('versions: a stage and an id at AWS, an id at Azure; bytes are read as text', async (t) => {
  aws.put('versions', { text: '{"other":1}', previous: '{"v":"before"}', version: 'id-1' })
  t.is(await stepsOf('aws_sm', 'versions', null), 'passed passed failed')
  t.is(await stepsOf('aws_sm', 'versions', 'AWSPREVIOUS'), 'passed passed passed')
  t.is(await stepsOf('aws_sm', 'versions', 'id-1'), 'passed passed failed')
  t.is(await stepsOf('aws_sm', 'versions', 'id-2'), 'passed failed skipped')
  aws.put('bytes', { binary: Buffer.from('{"v":"bytes"}') })
  t.is(await stepsOf('aws_sm', 'bytes', null), 'passed passed passed')
  azure.put('versions', '{"v":"first"}', '{"other":1}')
  t.is(await stepsOf('azure_kv', 'versions', null), 'passed passed failed')
  t.is(await stepsOf('azure_kv', 'versions', 'v1'), 'passed passed passed')
  t.is(await stepsOf('azure_kv', 'versions', 'v3'), 'passed failed skipped')
})

test.serial('several fields of one credential come from secrets of different managers', async (t) => {
  const [id, secret] = [await used(plain.hashicorp_vault), await used(plain.azure_kv)]
  vault.put(`secret/${id}`, { value: awsKeys.id })
  azure.put(secret, awsKeys.secret)
  const secret_mappings = [
    { target_field: 'configurations.aws_access_key_id', secret_reference_id: id },
    { target_field: 'configurations.aws_secret_access_key', secret_reference_id: secret },
  ]
  const configurations = { aws_auth_type: 'accessKey', aws_region: 'us-east-1', custom_host: aws.url }
  await made(call('POST', '/integrations', { name: 'mixed', slug: 'mixed', ai_provider_id: 'bedrock', configurations, secret_mappings }))
  const answer = await fetch(`${control.origin}/v1/model/amazon.nova-micro-v1:0/converse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': acme.workspaceKey, 'x-service-provider': '@mixed' },
    body: '{}',
  })
  t.is(answer.status, 200, await answer.text())
})

test.serial('an organisation reads neither references nor values of another one', async (t) => {
  const slug = await used(plain.hashicorp_vault)
  const other = await control.createTenant('other')
  const { body } = await call('GET', `/secret-references/${slug}`)
  for (const reference of [slug, String(body['id'])]) {
    for (const [method, at, sent] of [
      ['GET', `/secret-references/${reference}`, undefined],
      ['PUT', `/secret-references/${reference}`, { name: 'taken' }],
      ['DELETE', `/secret-references/${reference}`, undefined],
      ['POST', `/secret-references/${reference}/test`, {}],
    ] as const)
      t.is((await call(method, at, sent, other.adminKey)).status, 404, `${method} ${at}`)
    const secret_mappings = [{ target_field: 'key', secret_reference_id: reference }]
    const stolen = await call('POST', '/integrations', { name: 'x', ai_provider_id: 'openai', secret_mappings }, other.adminKey)
    t.is(stolen.status, 404)
  }
  t.is((await call('GET', '/secret-references', undefined, other.adminKey)).body['total'], 0)
})
