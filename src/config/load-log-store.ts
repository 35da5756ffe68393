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
    failureThreshold: values.LOG_STORE_CONNECTION_FAILURE_THRESHOLD,
    sendsDigest: values.LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED,
    sse: orNull(values.SSE_ENCRYPTION_TYPE),
    kmsKey: orNull(values.KMS_KEY_ID),
    bucketKey: values.KMS_BUCKET_KEY_ENABLED,
    account: orEmpty(values.AZURE_STORAGE_ACCOUNT),
    container: orEmpty(values.AZURE_STORAGE_CONTAINER),
    accountKey: orNull(values.AZURE_STORAGE_KEY),
    azureMode: values.AZURE_AUTH_MODE,
    tenantId: orEmpty(values.AZURE_ENTRA_TENANT_ID),
    clientId: orEmpty(values.AZURE_ENTRA_CLIENT_ID),
    clientSecret: orNull(values.AZURE_ENTRA_CLIENT_SECRET),
    federatedTokenFile: orEmpty(values.AZURE_FEDERATED_TOKEN_FILE),
    googleMode: values.GCP_AUTH_MODE,
    federationAudience: orEmpty(values.GCP_WIF_AUDIENCE),
    serviceAccount: orNull(values.GCP_WIF_SERVICE_ACCOUNT_EMAIL),
  }
}

const orNull = <T>(value: T | undefined): T | null => value ?? null
const orEmpty = (value: string | undefined): string => value ?? ''

interface NeededSetting {
  readonly name: SettingName
  readonly because: string
}

/** Returns the settings that the chosen store needs and does not have. */
export function missingForLogStore(values: Values): readonly NeededSetting[] {
  const kind = values.LOG_STORE
  if (kind === 'none') return []
  const needed = [...named(needs[kind], `LOG_STORE is ${kind}`), ...modeNeeds(values, kind), ...keyNeeds(values, kind)]
  return needed.filter(({ name }) => values[name] === undefined)
}

const named = (names: readonly SettingName[] | undefined, because: string): readonly NeededSetting[] =>
  (names ?? []).map((name) => ({ name, because }))

/** Returns the settings that each way to sign in to a store of Azure or Google needs. */
function modeNeeds({ AZURE_AUTH_MODE: azureMode, GCP_AUTH_MODE: googleMode }: Values, kind: Kind): readonly NeededSetting[] {
  if (kind === 'azure') return named(azureNeeds[azureMode], `AZURE_AUTH_MODE is ${azureMode}`)
  return googleMode === 'default' ? named(googleNeeds[kind], `LOG_STORE is ${kind}, and GCP_AUTH_MODE is default`) : []
}

/** Returns the settings that keys and roles need of each other. */
function keyNeeds(values: Values, kind: Kind): readonly NeededSetting[] {
  if (kind === 'local' || kind === 'azure') return []
  if (values.LOG_STORE_ACCESS_KEY !== undefined) return named(['LOG_STORE_SECRET_KEY'], 'LOG_STORE_ACCESS_KEY is given')
  if (!signsInToAws.has(kind)) return []
  if (values.AWS_WEB_IDENTITY_TOKEN_FILE !== undefined) return named(['AWS_ROLE_ARN'], 'AWS_WEB_IDENTITY_TOKEN_FILE is given')
  return isWithoutIdentity(values, kind) ? named(['LOG_STORE_ACCESS_KEY'], 'AWS_WEB_IDENTITY_TOKEN_FILE is not given') : []
}

const signsInToAws: ReadonlySet<Kind> = new Set<Kind>(['s3', 's3_assume', 'gcs_assume'])

/** The variables by which a workload signs in to AWS, and, with the last two, to Google. Instances are not asked: each has an answer, right or not. */
const identities = ['AWS_ACCESS_KEY_ID', 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', 'AWS_CONTAINER_CREDENTIALS_FULL_URI'] as const
const googleIdentities = ['GCP_WIF_TOKEN_FILE', 'GCP_WIF_TOKEN_URL'] as const

function isWithoutIdentity(values: Values, kind: Kind): boolean {
  if (kind === 'gcs_assume' && values.GCP_AUTH_MODE === 'workload') return false
  const found = kind === 'gcs_assume' ? [...identities, ...googleIdentities] : identities
  return found.every((name) => values[name] === undefined)
}

const bucket = 'LOG_STORE_GENERATIONS_BUCKET'

/** The needed settings of each kind. A word that is no kind has been refused already. */
const needs: Readonly<Record<string, readonly SettingName[]>> = {
  local: ['LOG_STORE_LOCAL_PATH'],
  s3: [bucket],
  s3_assume: [bucket, 'LOG_STORE_AWS_ROLE_ARN'],
  s3_custom: [bucket, 'LOG_STORE_BASEPATH', 'LOG_STORE_ACCESS_KEY'],
  gcs: [bucket],
  gcs_assume: [bucket],
  azure: ['AZURE_STORAGE_ACCOUNT', 'AZURE_STORAGE_CONTAINER'],
}

/** Without the token that Google's metadata server gives. */
const googleNeeds: Readonly<Record<string, readonly SettingName[]>> = { gcs: ['LOG_STORE_ACCESS_KEY'], gcs_assume: ['GCP_WIF_AUDIENCE'] }

const azureNeeds: Readonly<Record<string, readonly SettingName[]>> = {
  default: ['AZURE_STORAGE_KEY'],
  entra: ['AZURE_ENTRA_TENANT_ID', 'AZURE_ENTRA_CLIENT_ID', 'AZURE_ENTRA_CLIENT_SECRET'],
  workload: ['AZURE_ENTRA_TENANT_ID', 'AZURE_ENTRA_CLIENT_ID', 'AZURE_FEDERATED_TOKEN_FILE'],
}
