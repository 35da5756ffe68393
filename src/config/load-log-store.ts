import type { CleanedEnv } from 'envalid'
import type { LogStoreConfig } from './config.ts'
import type { settings, SettingName } from './settings.ts'

type Values = CleanedEnv<typeof settings>
type Kind = LogStoreConfig['kind']

/** Returns the store of logs that the settings name; null: bodies stay in the database. */
export function logStoreOf(values: Values): LogStoreConfig | null {
  const kind = values.LOG_STORE
  if (kind === 'none') return null
  return {
    kind,
    bucket: orEmpty(values.LOG_STORE_GENERATIONS_BUCKET),
    region: values.LOG_STORE_REGION ?? (kind === 'gcs' ? 'auto' : 'us-east-1'),
    accessKey: orNull(values.LOG_STORE_ACCESS_KEY),
    secretKey: orNull(values.LOG_STORE_SECRET_KEY),
    endpoint: orNull(values.LOG_STORE_BASEPATH),
    assumedRole: orNull(values.LOG_STORE_AWS_ROLE_ARN),
    externalId: orNull(values.LOG_STORE_AWS_EXTERNAL_ID),
    folder: orEmpty(values.LOG_STORE_LOCAL_PATH),
    pathFormat: values.LOG_STORE_FILE_PATH_FORMAT,
    timeoutMs: values.LOG_STORE_CONNECTION_TIMEOUT_MS,
    longestBackoffMs: values.LOG_STORE_CONNECTION_BACKOFF_MS,
    sse: orNull(values.SSE_ENCRYPTION_TYPE),
    kmsKey: orNull(values.KMS_KEY_ID),
    bucketKey: values.KMS_BUCKET_KEY_ENABLED,
    workloadRole: orNull(values.AWS_ROLE_ARN),
    webIdentityFile: orNull(values.AWS_WEB_IDENTITY_TOKEN_FILE),
    account: orEmpty(values.AZURE_STORAGE_ACCOUNT),
    container: orEmpty(values.AZURE_STORAGE_CONTAINER),
    accountKey: orNull(values.AZURE_STORAGE_KEY),
    azureMode: values.AZURE_AUTH_MODE,
    tenantId: orEmpty(values.AZURE_ENTRA_TENANT_ID),
    clientId: orEmpty(values.AZURE_ENTRA_CLIENT_ID),
    clientSecret: orNull(values.AZURE_ENTRA_CLIENT_SECRET),
    federatedTokenFile: orEmpty(values.AZURE_FEDERATED_TOKEN_FILE),
    federationAudience: orEmpty(values.GCP_WIF_AUDIENCE),
    serviceAccount: orNull(values.GCP_WIF_SERVICE_ACCOUNT_EMAIL),
  }
}

const orNull = <T>(value: T | undefined): T | null => value ?? null
const orEmpty = (value: string | undefined): string => value ?? ''

/** Returns the settings that the chosen store needs and does not have. */
export function missingForLogStore(values: Values): readonly { readonly name: SettingName; readonly because: string }[] {
  const kind = values.LOG_STORE
  if (kind === 'none') return []
  const mode = values.AZURE_AUTH_MODE
  const needed = [
    ...(needs[kind] ?? []).map((name) => ({ name, because: `LOG_STORE is ${kind}` })),
    ...(kind === 'azure' ? (azureNeeds[mode] ?? []).map((name) => ({ name, because: `AZURE_AUTH_MODE is ${mode}` })) : []),
    ...(signsInToAws.has(kind) && values.AWS_WEB_IDENTITY_TOKEN_FILE === undefined
      ? [{ name: 'LOG_STORE_ACCESS_KEY' as const, because: 'AWS_WEB_IDENTITY_TOKEN_FILE is not given' }]
      : []),
    ...(values.LOG_STORE_ACCESS_KEY === undefined || kind === 'local' || kind === 'azure'
      ? []
      : [{ name: 'LOG_STORE_SECRET_KEY' as const, because: 'LOG_STORE_ACCESS_KEY is given' }]),
    ...(signsInToAws.has(kind) && values.LOG_STORE_ACCESS_KEY === undefined
      ? [{ name: 'AWS_ROLE_ARN' as const, because: 'AWS_WEB_IDENTITY_TOKEN_FILE is given' }]
      : []),
  ]
  return needed.filter(({ name }) => values[name] === undefined)
}

const signsInToAws: ReadonlySet<Kind> = new Set<Kind>(['s3', 's3_assume', 'gcs_assume'])
const bucket = 'LOG_STORE_GENERATIONS_BUCKET'

/** By kinds. A word that is no kind has been refused already. */
const needs: Readonly<Record<string, readonly SettingName[]>> = {
  local: ['LOG_STORE_LOCAL_PATH'],
  s3: [bucket],
  s3_assume: [bucket, 'LOG_STORE_AWS_ROLE_ARN'],
  s3_custom: [bucket, 'LOG_STORE_BASEPATH', 'LOG_STORE_ACCESS_KEY'],
  gcs: [bucket, 'LOG_STORE_ACCESS_KEY'],
  gcs_assume: [bucket, 'GCP_WIF_AUDIENCE'],
  azure: ['AZURE_STORAGE_ACCOUNT', 'AZURE_STORAGE_CONTAINER'],
}

const azureNeeds: Readonly<Record<string, readonly SettingName[]>> = {
  default: ['AZURE_STORAGE_KEY'],
  entra: ['AZURE_ENTRA_TENANT_ID', 'AZURE_ENTRA_CLIENT_ID', 'AZURE_ENTRA_CLIENT_SECRET'],
  workload: ['AZURE_ENTRA_TENANT_ID', 'AZURE_ENTRA_CLIENT_ID', 'AZURE_FEDERATED_TOKEN_FILE'],
}
