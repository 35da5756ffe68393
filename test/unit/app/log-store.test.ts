import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { LogStoreError } from '../../../src/app/log-store/log-store.ts'
import { openLogStore } from '../../../src/app/log-store/open-log-store.ts'
import { workloadOf } from '../../../src/app/secret-managers/workload-of.ts'
import { loadConfig } from '../../../src/config/index.ts'
import type { SmallRequest } from '../../../src/gateway/egress/egress.ts'
import { type MetadataServices, startMetadataServices } from '../../support/metadata-services.ts'
import { answered, type FakeEgress, fakeEgress, ok } from '../gateway/credentials/fake-egress.ts'

/** How each kind of store signs in where no long-lived key is stored; the token services are played, step by step. */
const now = Date.UTC(2026, 10, 23, 6, 0, 0)
const later = new Date(now + 3_600_000).toISOString()

let folder: string
let tokenFile: string
let metadata: MetadataServices
test.before(async () => {
  metadata = await startMetadataServices()
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-token-'))
  tokenFile = join(folder, 'token')
  await writeFile(tokenFile, 'workload.token\n')
})
test.after.always(async () => {
  await metadata?.stop()
  await rm(folder, { recursive: true, force: true })
})

const stsKeys = `<Credentials><AccessKeyId>ASIATEMP</AccessKeyId><SecretAccessKey>temporary</SecretAccessKey><SessionToken>session</SessionToken><Expiration>${later}</Expiration></Credentials>`

/** Answers token services, and takes every object. */
const services = (): FakeEgress =>
  fakeEgress(({ url }) => {
    if (url.startsWith('https://sts.eu-west-1.amazonaws.com/')) return ok(stsKeys)
    if (url === 'https://sts.googleapis.com/v1/token') return ok({ access_token: 'federated', expires_in: 3600 })
    if (url.includes(':generateAccessToken')) return ok({ accessToken: 'impersonated', expireTime: later })
    if (url.startsWith('https://login.microsoftonline.com/')) return ok({ access_token: 'entra', expires_in: 3600 })
    return answered(200, '')
  })

async function putWith(settings: Readonly<Record<string, string>>): Promise<readonly SmallRequest[]> {
  const config = loadConfig({ DB_HOST: 'localhost', ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), ...settings })
  if (config.logStore === null) throw new Error('no log store')
  const egress = services()
  const store = openLogStore(config.logStore, { egress, now: () => now, workload: workloadOf(config.identity, new Set()) })
  await store.put('90/o/log.json', Buffer.from('{}'))
  await store.put('90/o/log.json', Buffer.from('{}'))
  return egress.asked
}

const urls = (asked: readonly SmallRequest[]) => asked.map(({ url }) => url)
const aws = () => ({ LOG_STORE_GENERATIONS_BUCKET: 'logs', LOG_STORE_REGION: 'eu-west-1' })
const workload = () => ({ AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod', AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile })
const bucket = 'https://logs.s3.eu-west-1.amazonaws.com/90/o/log.json'

test('s3 with the token of the workload: one call to STS, then objects with temporary keys', async (t) => {
  const asked = await putWith({ LOG_STORE: 's3', ...aws(), ...workload() })
  t.deepEqual(urls(asked), ['https://sts.eu-west-1.amazonaws.com/', bucket, bucket])
  const form = new URLSearchParams(asked[0]?.body)
  t.is(form.get('Action'), 'AssumeRoleWithWebIdentity')
  t.is(form.get('WebIdentityToken'), 'workload.token')
  t.is(form.get('RoleArn'), 'arn:aws:iam::1:role/pod')
  t.is(asked[1]?.headers['x-amz-security-token'], 'session')
  t.regex(asked[1]?.headers['authorization'] ?? '', /Credential=ASIATEMP\/20261123\/eu-west-1\/s3\/aws4_request/)
})

for (const [value, digest] of Object.entries({ ON: 'mZFLkyvTelC5g8XnyQrpOw==', OFF: undefined }))
  test(`LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED=${value}: objects are sent ${digest === undefined ? 'without' : 'with'} their digest`, async (t) => {
    const asked = await putWith({ LOG_STORE: 's3', ...aws(), ...workload(), LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: value })
    t.is(asked[1]?.headers['content-md5'], digest)
    const federated = await putWith({
      LOG_STORE: 'gcs',
      LOG_STORE_GENERATIONS_BUCKET: 'logs',
      GCP_AUTH_MODE: 'workload',
      GCE_METADATA_HOST: metadata.url,
      LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: value,
    })
    t.is(Buffer.from(federated.at(-1)?.bytes ?? '').includes('md5Hash'), digest !== undefined)
  })

test('s3_assume takes on a role, with an external id', async (t) => {
  const asked = await putWith({
    LOG_STORE: 's3_assume',
    ...aws(),
    LOG_STORE_ACCESS_KEY: 'AKIA',
    LOG_STORE_SECRET_KEY: 'secret',
    LOG_STORE_AWS_ROLE_ARN: 'arn:aws:iam::2:role/logs',
    LOG_STORE_AWS_EXTERNAL_ID: 'ours',
    SSE_ENCRYPTION_TYPE: 'aws:kms:dsse',
    KMS_KEY_ID: 'key-1',
  })
  t.deepEqual(urls(asked), ['https://sts.eu-west-1.amazonaws.com/', bucket, bucket])
  const form = new URLSearchParams(asked[0]?.body)
  t.deepEqual([form.get('Action'), form.get('RoleArn'), form.get('ExternalId')], ['AssumeRole', 'arn:aws:iam::2:role/logs', 'ours'])
  t.is(asked[1]?.headers['x-amz-server-side-encryption'], 'aws:kms:dsse')
  t.is(asked[1]?.headers['x-amz-server-side-encryption-aws-kms-key-id'], 'key-1')
  t.regex(asked[1]?.headers['authorization'] ?? '', /SignedHeaders=[^,]*x-amz-server-side-encryption;/)
})

test('gcs signs with an HMAC key; gcs_assume comes from another cloud without a key', async (t) => {
  const hmac = await putWith({
    LOG_STORE: 'gcs',
    LOG_STORE_GENERATIONS_BUCKET: 'logs',
    LOG_STORE_ACCESS_KEY: 'GOOG1',
    LOG_STORE_SECRET_KEY: 'secret',
  })
  t.is(hmac[0]?.url, 'https://storage.googleapis.com/logs/90/o/log.json')
  t.regex(hmac[0]?.headers['authorization'] ?? '', /Credential=GOOG1\/20261123\/auto\/s3\/aws4_request/)

  const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/aws'
  const federated = await putWith({
    LOG_STORE: 'gcs_assume',
    ...aws(),
    ...workload(),
    GCP_WIF_AUDIENCE: audience,
    GCP_WIF_SERVICE_ACCOUNT_EMAIL: 'logs@project.iam.gserviceaccount.com',
  })
  t.deepEqual(urls(federated), [
    'https://sts.eu-west-1.amazonaws.com/',
    'https://sts.googleapis.com/v1/token',
    'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/logs%40project.iam.gserviceaccount.com:generateAccessToken',
    'https://storage.googleapis.com/upload/storage/v1/b/logs/o?uploadType=multipart',
    'https://storage.googleapis.com/upload/storage/v1/b/logs/o?uploadType=multipart',
  ])
  const exchange = new URLSearchParams(federated[1]?.body)
  t.is(exchange.get('audience'), audience)
  t.is(exchange.get('subject_token_type'), 'urn:ietf:params:aws:token-type:aws4_request')
  const proof = JSON.parse(decodeURIComponent(exchange.get('subject_token') ?? '')) as {
    readonly url: string
    readonly headers: readonly { readonly key: string; readonly value: string }[]
  }
  t.is(proof.url, 'https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15')
  t.deepEqual(
    proof.headers.map(({ key }) => key),
    ['host', 'x-amz-date', 'x-goog-cloud-target-resource', 'x-amz-security-token', 'authorization'],
  )
  t.is(federated[2]?.headers['authorization'], 'Bearer federated')
  t.is(federated[3]?.headers['authorization'], 'Bearer impersonated')
  const [, boundary = ''] = /^multipart\/related; boundary=(\S+)$/.exec(federated[3]?.headers['content-type'] ?? '') ?? []
  const parts = Buffer.from(federated[3]?.bytes ?? [])
    .toString()
    .split(`--${boundary}`)
    .map((part) => part.split('\r\n\r\n')[1]?.trim())
  t.deepEqual(parts, [
    undefined,
    '{"name":"90/o/log.json","contentType":"application/json","md5Hash":"mZFLkyvTelC5g8XnyQrpOw=="}',
    '{}',
    undefined,
  ])
})

test('azure as an Entra application: by its secret, or by the token of the workload', async (t) => {
  const entra = {
    LOG_STORE: 'azure',
    AZURE_STORAGE_ACCOUNT: 'account',
    AZURE_STORAGE_CONTAINER: 'logs',
    AZURE_ENTRA_TENANT_ID: 'tenant',
    AZURE_ENTRA_CLIENT_ID: 'client',
  }
  const proofs = [
    { AZURE_AUTH_MODE: 'entra', AZURE_ENTRA_CLIENT_SECRET: 'secret' },
    { AZURE_AUTH_MODE: 'workload', AZURE_FEDERATED_TOKEN_FILE: tokenFile },
  ]
  for (const proof of proofs) {
    const asked = await putWith({ ...entra, ...proof })
    const blob = 'https://account.blob.core.windows.net/logs/90/o/log.json'
    t.deepEqual(urls(asked), ['https://login.microsoftonline.com/tenant/oauth2/v2.0/token', blob, blob])
    const form = new URLSearchParams(asked[0]?.body)
    t.is(form.get('scope'), 'https://storage.azure.com/.default')
    t.is(form.get('client_secret') ?? form.get('client_assertion'), proof.AZURE_AUTH_MODE === 'entra' ? 'secret' : 'workload.token')
    t.is(asked[1]?.headers['authorization'], 'Bearer entra')
    t.is(asked[1]?.headers['x-ms-blob-type'], 'BlockBlob')
  }
})

test.serial('the identity that the platform gives the workload signs in, and is asked for once', async (t) => {
  const inMetadata = async (settings: Readonly<Record<string, string>>) => {
    const before = metadata.asked.length
    const asked = await putWith(settings)
    return { asked, questions: metadata.asked.slice(before) }
  }
  const google = '/computeMetadata/v1/instance/service-accounts/default/token'
  for (const kind of ['gcs', 'gcs_assume']) {
    const { asked, questions } = await inMetadata({
      LOG_STORE: kind,
      LOG_STORE_GENERATIONS_BUCKET: 'logs',
      GCP_AUTH_MODE: 'workload',
      GCE_METADATA_HOST: metadata.url,
    })
    t.deepEqual(questions, [`GET ${google}`])
    t.deepEqual(
      urls(asked),
      Array.from({ length: 2 }, () => 'https://storage.googleapis.com/upload/storage/v1/b/logs/o?uploadType=multipart'),
    )
    t.regex(asked[1]?.headers['authorization'] ?? '', /^Bearer google-\d+$/)
  }
  const azure = await inMetadata({
    LOG_STORE: 'azure',
    AZURE_STORAGE_ACCOUNT: 'account',
    AZURE_STORAGE_CONTAINER: 'logs',
    AZURE_AUTH_MODE: 'managed',
    AZURE_MANAGED_CLIENT_ID: 'ours',
    AZURE_POD_IDENTITY_AUTHORITY_HOST: metadata.url,
  })
  t.deepEqual(azure.questions, [
    'GET /metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fstorage.azure.com&client_id=ours',
  ])
  t.regex(azure.asked[1]?.headers['authorization'] ?? '', /^Bearer azure-ours-https:\/\/storage\.azure\.com-\d+$/)
  t.is(azure.asked[1]?.headers['x-ms-blob-type'], 'BlockBlob')
  const podToken = join(folder, 'pod-token')
  await writeFile(podToken, `${metadata.containerToken}\n`)
  const pod = await inMetadata({
    LOG_STORE: 's3',
    ...aws(),
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.url}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: podToken,
  })
  t.deepEqual(pod.questions, ['GET /v1/credentials'])
  t.regex(pod.asked[1]?.headers['authorization'] ?? '', new RegExp(`Credential=${metadata.awsKeys.id}/`))
  t.is(pod.asked[1]?.headers['x-amz-security-token'], metadata.awsKeys.session)
})

test('gcs_assume comes from any issuer by the token of a file', async (t) => {
  const asked = await putWith({
    LOG_STORE: 'gcs_assume',
    LOG_STORE_GENERATIONS_BUCKET: 'logs',
    GCP_WIF_AUDIENCE: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/ours',
    GCP_WIF_TOKEN_FILE: tokenFile,
  })
  t.deepEqual(urls(asked).slice(0, 2), [
    'https://sts.googleapis.com/v1/token',
    'https://storage.googleapis.com/upload/storage/v1/b/logs/o?uploadType=multipart',
  ])
  const exchange = new URLSearchParams(asked[0]?.body)
  t.is(exchange.get('subject_token_type'), 'urn:ietf:params:oauth:token-type:jwt')
  t.is(exchange.get('subject_token'), 'workload.token')
  t.is(asked[1]?.headers['authorization'], 'Bearer federated')
})

for (const [mood, reason] of [
  ['denied', /Google's metadata server answered 403/],
  ['odd', /Google's metadata server is not what answers at its address/],
] as const)
  test.serial(`a metadata server that is ${mood} is a fault of the store, told without its words`, async (t) => {
    metadata.mood = mood
    t.teardown(() => (metadata.mood = 'well'))
    const settings = { LOG_STORE: 'gcs', LOG_STORE_GENERATIONS_BUCKET: 'logs', GCP_AUTH_MODE: 'workload', GCE_METADATA_HOST: metadata.url }
    const error = await t.throwsAsync(putWith(settings), { instanceOf: LogStoreError })
    t.regex(error.message, reason)
    t.notRegex(error.message, /canary/)
  })

const missing: readonly (readonly [settings: Readonly<Record<string, string>>, named: RegExp])[] = [
  [{ LOG_STORE: 's3' }, /LOG_STORE_GENERATIONS_BUCKET is missing although LOG_STORE is s3/],
  [
    { LOG_STORE: 's3', LOG_STORE_GENERATIONS_BUCKET: 'b' },
    /LOG_STORE_ACCESS_KEY is missing although AWS_WEB_IDENTITY_TOKEN_FILE is not given/,
  ],
  [{ LOG_STORE: 's3', LOG_STORE_GENERATIONS_BUCKET: 'b', LOG_STORE_ACCESS_KEY: 'a' }, /LOG_STORE_SECRET_KEY is missing/],
  [{ LOG_STORE: 's3', LOG_STORE_GENERATIONS_BUCKET: 'b', AWS_WEB_IDENTITY_TOKEN_FILE: '/t' }, /AWS_ROLE_ARN is missing/],
  [{ LOG_STORE: 'local' }, /LOG_STORE_LOCAL_PATH is missing/],
  [{ LOG_STORE: 'gcs_assume', LOG_STORE_GENERATIONS_BUCKET: 'b' }, /GCP_WIF_AUDIENCE is missing/],
  [
    { LOG_STORE: 'gcs_assume', LOG_STORE_GENERATIONS_BUCKET: 'b', GCP_WIF_AUDIENCE: '//iam.googleapis.com/p' },
    /LOG_STORE_ACCESS_KEY is missing although AWS_WEB_IDENTITY_TOKEN_FILE is not given/,
  ],
  [
    { LOG_STORE: 'gcs', LOG_STORE_GENERATIONS_BUCKET: 'b' },
    /LOG_STORE_ACCESS_KEY is missing although LOG_STORE is gcs, and GCP_AUTH_MODE is default/,
  ],
  [{ LOG_STORE: 'gcs', GCP_AUTH_MODE: 'workload' }, /LOG_STORE_GENERATIONS_BUCKET is missing although LOG_STORE is gcs/],
  [
    { LOG_STORE: 'azure', AZURE_STORAGE_ACCOUNT: 'a', AZURE_STORAGE_CONTAINER: 'c' },
    /AZURE_STORAGE_KEY is missing although AZURE_AUTH_MODE is default/,
  ],
  [
    { LOG_STORE: 'azure', AZURE_STORAGE_ACCOUNT: 'a', AZURE_STORAGE_CONTAINER: 'c', AZURE_AUTH_MODE: 'workload' },
    /AZURE_FEDERATED_TOKEN_FILE is missing although AZURE_AUTH_MODE is workload/,
  ],
  [{ LOG_STORE: 'ftp' }, /LOG_STORE .*none, local, s3/],
]
for (const [settings, named] of missing)
  test(`settings of a log store that do not suffice: ${JSON.stringify(settings)}`, (t) => {
    const error = t.throws(() => loadConfig({ DB_HOST: 'localhost', ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), ...settings }))
    t.regex(error?.message ?? '', named)
  })
