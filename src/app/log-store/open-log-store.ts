import type { LogStoreConfig } from '../../config/config.ts'
import {
  type Auth,
  authorize,
  type AuthDeps,
  sigv4,
  signBlobRequest,
  awsSubject,
  federatedToken,
  awsIdentity,
  managedToken,
  metadataToken,
  workloadSubject,
  type Workload,
  entraToken,
  type EntraProof,
  type AwsKeys,
  readToken,
} from '../../gateway/ports/credentials.ts'
import { googleObjects } from './google-objects.ts'
import { createLocalStore } from './local-store.ts'
import type { LogStore } from './log-store.ts'
import { createObjectStore, type ObjectPlace, type ObjectRequest } from './object-store.ts'

/** The services of authorization, with the identity that signs in where no key is stored. */
export interface StoreDeps extends AuthDeps {
  readonly workload: Workload
}

/** Opens the store that the settings name. Sends no request yet. */
export function openLogStore(config: LogStoreConfig, deps: StoreDeps): LogStore {
  if (config.kind === 'local') return createLocalStore(config.folder)
  return createObjectStore(places[config.kind](config, deps), { ...config, egress: deps.egress })
}

type MakePlace = (config: LogStoreConfig, deps: StoreDeps) => ObjectPlace

const s3: MakePlace = (config, deps) => ({
  name: `${config.kind} ${config.bucket}`,
  base: s3Base(config),
  putHeaders: encryptionHeaders(config),
  authorize: (request) => signS3(request, config, deps),
})

const azure: MakePlace = (config, deps) => ({
  name: `azure ${config.account}/${config.container}`,
  base: `${config.endpoint ?? `https://${config.account}.blob.core.windows.net`}/${config.container}`,
  putHeaders: ['x-ms-blob-type', 'BlockBlob'],
  authorize: async (request) => {
    const own = ['x-ms-date', new Date(deps.now()).toUTCString(), 'x-ms-version', '2021-12-02']
    if (config.azureMode !== 'default') return [...own, ...(await entraHeaders(config, deps))]
    const { method, url, body } = request
    const headers = [...request.headers, ...own]
    const account = { account: config.account, key: config.accountKey?.reveal() ?? '' }
    return [...own, 'authorization', signBlobRequest({ method, path: url.path, headers, length: body?.length ?? 0 }, account)]
  },
})

/** Google takes tokens at its JSON API, which demands a digest of a locked bucket's objects too. */
const googleByToken: MakePlace = (config, deps) => ({
  name: `${config.kind} ${config.bucket}`,
  base: config.endpoint ?? googleHost,
  api: googleObjects(config.bucket),
  putHeaders: [],
  authorize: async () => ['authorization', `Bearer ${await googleToken(config, deps)}`],
})

/** The token that Google gives the workload, else one for the identity that it has in another cloud. */
async function googleToken(config: LogStoreConfig, deps: StoreDeps): Promise<string> {
  if (config.googleMode === 'workload') return metadataToken(deps.workload, deps)
  const { federationAudience: audience, serviceAccount, region } = config
  const given = givenKeys(config)
  const subject = async () =>
    given === null ? workloadSubject({ audience, region }, deps.workload, deps) : awsSubject(given, { region, audience, now: deps.now() })
  return federatedToken({ audience, serviceAccount, subject }, deps)
}

const googleHost = 'https://storage.googleapis.com'

const places: Readonly<Record<Exclude<LogStoreConfig['kind'], 'local'>, MakePlace>> = {
  s3,
  s3_assume: s3,
  s3_custom: s3,
  // Google takes HMAC keys at its XML API alone, which is S3's.
  gcs: (config, deps) =>
    config.googleMode === 'workload' ? googleByToken(config, deps) : s3({ ...config, endpoint: config.endpoint ?? googleHost }, deps),
  gcs_assume: googleByToken,
  azure,
}

/** A bucket whose name has a dot is no part of a host name: no certificate would fit. */
function s3Base({ endpoint, bucket, region }: LogStoreConfig): string {
  if (endpoint !== null) return `${endpoint}/${bucket}`
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

const encryptionHeaders = ({ sse, kmsKey, bucketKey }: LogStoreConfig): readonly string[] => [
  ...(sse === null ? [] : ['x-amz-server-side-encryption', sse]),
  ...(sse === null || sse === 'AES256' || kmsKey === null ? [] : ['x-amz-server-side-encryption-aws-kms-key-id', kmsKey]),
  ...(sse === 'aws:kms' && bucketKey ? ['x-amz-server-side-encryption-bucket-key-enabled', 'true'] : []),
]

/** The keys of the settings; null: the workload signs in. */
const givenKeys = ({ accessKey, secretKey }: LogStoreConfig): AwsKeys | null =>
  accessKey === null ? null : { accessKeyId: accessKey.reveal(), secretAccessKey: secretKey?.reveal() ?? '', sessionToken: null }

async function signS3(request: ObjectRequest, config: LogStoreConfig, deps: StoreDeps): Promise<readonly string[]> {
  const keys = givenKeys(config) ?? (await awsIdentity(deps.workload, config.region, deps))
  const role = config.kind === 's3_assume' ? config.assumedRole : null
  return proofOf(request, sigv4('s3'), {
    aws_auth_type: role === null ? 'accessKey' : 'assumedRole',
    aws_access_key_id: keys.accessKeyId,
    aws_secret_access_key: keys.secretAccessKey,
    aws_region: config.region,
    ...(keys.sessionToken !== null && { aws_session_token: keys.sessionToken }),
    ...(role !== null && { aws_role_arn: role }),
    ...(config.externalId !== null && { aws_external_id: config.externalId }),
  })(deps)
}

async function entraHeaders(config: LogStoreConfig, deps: StoreDeps): Promise<readonly string[]> {
  const { tenantId: tenant, clientId, federatedTokenFile: file } = config
  if (config.azureMode === 'managed')
    return ['authorization', `Bearer ${await managedToken({ scope: azureScope, clientId: null }, deps.workload, deps)}`]
  const proof: EntraProof =
    config.azureMode === 'workload'
      ? { kind: 'assertion', file, read: () => readToken(file, 'Microsoft Entra') }
      : { kind: 'secret', secret: config.clientSecret?.reveal() ?? '' }
  const token = await entraToken({ tenant, clientId, scope: azureScope, proof }, deps)
  return ['authorization', `Bearer ${token}`]
}

const azureScope = 'https://storage.azure.com/.default'

/** The headers by which a credential of a provider would sign the request. */
const proofOf =
  (request: ObjectRequest, auth: Auth, fields: Readonly<Record<string, string>>) =>
  async (deps: AuthDeps): Promise<readonly string[]> =>
    (await authorize({ ...request, auth, credential: { key: null, fields } }, deps)).headers
