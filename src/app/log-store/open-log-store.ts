import type { LogStoreConfig } from '../../config/config.ts'
import { authorize } from '../../gateway/credentials/authorize.ts'
import type { AuthDeps } from '../../gateway/credentials/auth-request.ts'
import { signBlobRequest } from '../../gateway/credentials/azure-storage.ts'
import { awsSubject, federatedToken } from '../../gateway/credentials/google-federation.ts'
import { entraToken, type EntraProof } from '../../gateway/credentials/entra.ts'
import type { AwsKeys } from '../../gateway/credentials/sigv4.ts'
import { assumeRoleByToken, readToken } from '../../gateway/credentials/web-identity.ts'
import { type Auth, sigv4 } from '../../gateway/providers/provider.ts'
import { googleObjects } from './google-objects.ts'
import { createLocalStore } from './local-store.ts'
import type { LogStore } from './log-store.ts'
import { createObjectStore, type ObjectPlace, type ObjectRequest } from './object-store.ts'

/** Opens the store that the settings name. Nothing is asked of it yet. */
export function openLogStore(config: LogStoreConfig, deps: AuthDeps): LogStore {
  if (config.kind === 'local') return createLocalStore(config.folder)
  return createObjectStore(places[config.kind](config, deps), { egress: deps.egress, timeoutMs: config.timeoutMs })
}

type MakePlace = (config: LogStoreConfig, deps: AuthDeps) => ObjectPlace

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

const googleByFederation: MakePlace = (config, deps) => ({
  name: `gcs_assume ${config.bucket}`,
  base: config.endpoint ?? googleHost,
  api: googleObjects(config.bucket),
  putHeaders: [],
  async authorize() {
    const { federationAudience: audience, serviceAccount, region } = config
    const subject = async () => awsSubject(await awsKeysOf(config, deps), { region, audience, now: deps.now() })
    return ['authorization', `Bearer ${await federatedToken({ audience, serviceAccount, subject }, deps)}`]
  },
})

const googleHost = 'https://storage.googleapis.com'

const places: Readonly<Record<Exclude<LogStoreConfig['kind'], 'local'>, MakePlace>> = {
  s3,
  s3_assume: s3,
  s3_custom: s3,
  // Google takes HMAC keys at its XML API alone, which is S3's.
  gcs: (config, deps) => s3({ ...config, endpoint: config.endpoint ?? googleHost }, deps),
  gcs_assume: googleByFederation,
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

/** The given keys, else those of the workload's own role. */
async function awsKeysOf(config: LogStoreConfig, deps: AuthDeps): Promise<AwsKeys> {
  const { accessKey, secretKey, region, workloadRole, webIdentityFile } = config
  if (accessKey !== null || webIdentityFile === null)
    return { accessKeyId: accessKey?.reveal() ?? '', secretAccessKey: secretKey?.reveal() ?? '', sessionToken: null }
  return assumeRoleByToken({ region, roleArn: workloadRole ?? '', tokenFile: webIdentityFile }, deps)
}

async function signS3(request: ObjectRequest, config: LogStoreConfig, deps: AuthDeps): Promise<readonly string[]> {
  const keys = await awsKeysOf(config, deps)
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

async function entraHeaders(config: LogStoreConfig, deps: AuthDeps): Promise<readonly string[]> {
  const { tenantId: tenant, clientId, federatedTokenFile: file } = config
  const proof: EntraProof =
    config.azureMode === 'workload'
      ? { kind: 'assertion', file, read: () => readToken(file, 'Microsoft Entra') }
      : { kind: 'secret', secret: config.clientSecret?.reveal() ?? '' }
  const token = await entraToken({ tenant, clientId, scope: 'https://storage.azure.com/.default', proof }, deps)
  return ['authorization', `Bearer ${token}`]
}

/** The headers by which a credential of a provider would sign the request. */
const proofOf =
  (request: ObjectRequest, auth: Auth, fields: Readonly<Record<string, string>>) =>
  async (deps: AuthDeps): Promise<readonly string[]> =>
    (await authorize({ ...request, auth, credential: { key: null, fields } }, deps)).headers
