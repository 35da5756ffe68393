import path from 'node:path'
import { customCleanEnv, type CleanedEnv } from 'envalid'
import type { Secret } from '../lib/secret.ts'
import type { Config, DatabaseConfig, MailConfig, SemanticConfig } from './config.ts'
import { gather, type Environment } from './environment.ts'
import { deepFreeze, frozenSet } from './freeze.ts'
import { identityOf, missingForIdentity } from './load-identity.ts'
import { logStoreOf, missingForLogStore } from './load-log-store.ts'
import { missingForOidc, oidcOf } from './load-oidc.ts'
import { proxiesOf } from './load-proxies.ts'
import { missingForSaml, samlOf } from './load-saml.ts'
import { storedOf } from './load-stored.ts'
import { spanExportOf } from './load-tracing.ts'
import { belongTogether, certificates, privateKey } from './pem.ts'
import { ConfigError, type Problem } from './problems.ts'
import { announcedNames, settingNames, settings, type SettingName } from './settings.ts'
import { toldSettings } from './told-settings.ts'
import { version } from './version.ts'

type Values = CleanedEnv<typeof settings>

/** Reads the environment into one frozen record; throws a ConfigError that names everything wrong at once. */
export function loadConfig(env: Environment): Config {
  const given = gather(env)
  const problems = [...given.problems]
  // Without envalid's usual middleware, which throws when a value is read that failed.
  const values = customCleanEnv(given.values, settings, (cleaned) => cleaned, {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries(errors)) if (error && isSettingName(name)) problems.push(problem(name, error.message))
    },
  })
  problems.push(...conflicts(values, new Set(problems.map(({ name }) => name.replace(/_FILE$/, '')))))
  if (problems.length > 0) throw new ConfigError(problems)
  const assembled = assemble(values)
  const passwordFile = env['DB_PASS_FILE']
  return deepFreeze({
    ...assembled,
    ...(passwordFile && values.DB_HOST !== undefined && { database: { ...assembled.database, passwordFile: path.resolve(passwordFile) } }),
    given: settingNames.filter((name) => given.values[name] !== undefined),
    told: toldSettings(given.values),
    unread: announcedNames.filter((name) => env[name]?.trim()),
    inKubernetes: Boolean(env['KUBERNETES_SERVICE_HOST']),
  })
}

const isSettingName = (name: string): name is SettingName => Object.hasOwn(settings, name)
const problem = (name: SettingName, fault: string): Problem => ({ name, fault, example: settings[name].example })

/** Returns the conflicts between settings that are each valid. */
function conflicts(values: Values, wrong: ReadonlySet<string>): readonly Problem[] {
  const { DB_SSL_CERT: cert, DB_SSL_KEY: key, INIT_ADMIN_API_KEY: admin, INIT_WORKSPACE_API_KEY: workspace } = values
  const checks: readonly Conflict[] = [
    { of: ['DB_SSL_KEY', 'DB_SSL_CERT'], is: cert !== undefined && !key, fault: 'is missing although DB_SSL_CERT is given' },
    { of: ['DB_SSL_CERT', 'DB_SSL_KEY'], is: key !== undefined && !cert, fault: 'is missing although DB_SSL_KEY is given' },
    { of: ['DB_SSL_KEY', 'DB_SSL_CERT'], is: !!cert && !!key && !belongTogether(cert, key), fault: 'is not the key of DB_SSL_CERT' },
    {
      of: ['INIT_WORKSPACE_API_KEY', 'INIT_ADMIN_API_KEY'],
      is: admin !== undefined && admin.reveal() === workspace?.reveal(),
      fault: 'is the same as INIT_ADMIN_API_KEY',
    },
    {
      of: ['TERMINATION_GRACE', 'DRAIN_DELAY'],
      is: values.TERMINATION_GRACE <= (values.DRAIN_DELAY ?? 0),
      fault: 'is not longer than DRAIN_DELAY, so no request could finish',
    },
    ...tlsConflicts(values),
    {
      of: ['SAML_SP_KEY', 'SAML_SP_CERT'],
      is: keyIsAnother(values.SAML_SP_CERT, values.SAML_SP_KEY),
      fault: 'is not the key of SAML_SP_CERT',
    },
    {
      of: ['METRICS_TOKEN', 'METRICS_ACCESS'],
      is: values.METRICS_ACCESS === 'token' && values.METRICS_TOKEN === undefined,
      fault: 'is missing although METRICS_ACCESS is token',
    },
    {
      of: ['MANAGEMENT_PORT', 'PORT'],
      is: values.MANAGEMENT_PORT !== undefined && values.MANAGEMENT_PORT !== 0 && values.MANAGEMENT_PORT === values.PORT,
      fault: 'is the same as PORT',
    },
    { of: ['ROLES'], is: values.ROLES?.length === 0, fault: 'names no role' },
    ...[...missingForOidc(values), ...missingForSaml(values), ...missingForLogStore(values), ...missingForIdentity(values)].map(
      ({ name, because }): Conflict => ({
        of: [name],
        is: true,
        fault: `is missing although ${because}`,
      }),
    ),
  ]
  return checks
    .filter((check) => check.is && !check.of.some((name) => wrong.has(name)))
    .map(({ of: [name], fault }) => problem(name, fault))
}

const tlsConflicts = ({ TLS_CERT: cert, TLS_KEY: key, TLS_CA: ca }: Values): readonly Conflict[] => [
  { of: ['TLS_KEY', 'TLS_CERT'], is: cert !== undefined && key === undefined, fault: 'is missing although TLS_CERT is given' },
  { of: ['TLS_CERT', 'TLS_KEY'], is: key !== undefined && cert === undefined, fault: 'is missing although TLS_KEY is given' },
  {
    of: ['TLS_CERT', 'TLS_CA'],
    is: ca !== undefined && cert === undefined && key === undefined,
    fault: 'is missing although TLS_CA is given',
  },
  { of: ['TLS_KEY', 'TLS_CERT'], is: keyIsAnother(cert, key), fault: 'is not the key of TLS_CERT' },
]

const keyIsAnother = (cert: string | undefined, key: Secret | undefined): boolean =>
  cert !== undefined && key !== undefined && !belongTogether(certificates.parse(cert), privateKey.parse(key.reveal()))

interface Conflict {
  /** The settings that take part; the first is the one to blame. */
  readonly of: readonly [SettingName, ...SettingName[]]
  readonly is: boolean
  readonly fault: string
}

const shownRetention = (values: Values) => ({
  logs: values.LOG_RETENTION_DISPLAY ?? values.LOG_RETENTION_DAYS,
  metrics: values.METRICS_RETENTION_DISPLAY ?? values.METRICS_RETENTION_DAYS,
})

function assemble(values: Values): Omit<Config, 'given' | 'told' | 'unread' | 'inKubernetes'> {
  const embedded = values.DB_HOST === undefined
  return {
    host: values.HOST,
    port: values.PORT,
    ...edgeOf(values),
    dataDir: path.resolve(values.DATA_DIR),
    database: embedded ? embeddedDatabase(values) : givenDatabase(values, values.DB_HOST),
    encryptionKey: values.ENCRYPTION_KEY ?? null,
    encryptionKeyPrevious: values.ENCRYPTION_KEY_PREVIOUS ?? null,
    ...accessOf(values),
    proxies: proxiesOf(values),
    headerAliases: values.HEADER_ALIASES,
    dedicatedValidation: values.DEDICATED_VALIDATION,
    corsOrigins: values.CORS_ORIGINS,
    init: initOf(values),
    authMode: values.AUTH_MODE,
    oidc: oidcOf(values),
    saml: samlOf(values),
    organisationDomains: values.ORGANISATION_DOMAINS,
    sessions: { idleMs: values.SESSION_IDLE_TIMEOUT, lifetimeMs: values.SESSION_LIFETIME },
    mail: values.SMTP_HOST === undefined ? null : mailServer(values, values.SMTP_HOST),
    roles: frozenSet(values.ROLES),
    workers: values.WORKERS,
    logLevel: values.LOG_LEVEL,
    logFile: values.LOG_FILE ?? null,
    logSealing: values.LOG_SEALING === 'on',
    logSearchIndex: values.LOG_SEARCH_INDEX === 'on',
    ...timesOf(values),
    ...boundsOf(values),
    ...storedOf(values),
    semantic: semanticOf(values),
    prices: pricesOf(values),
    logStore: logStoreOf(values),
    identity: identityOf(values),
    secretTimes: { ttlMs: values.SECRET_CACHE_TTL, maxStaleMs: values.SECRET_MAX_STALE, timeoutMs: values.SECRET_MANAGER_TIMEOUT },
    spanExport: spanExportOf(values),
    scim: scimOf(values),
    drainDelayMs: values.DRAIN_DELAY ?? (embedded ? 0 : 5_000),
    publicUrl: values.PUBLIC_URL ?? null,
    trustedProxies: values.TRUSTED_PROXIES,
    logRetentionDays: values.LOG_RETENTION_DAYS,
    metricsRetentionDays: values.METRICS_RETENTION_DAYS,
    shownRetentionDays: shownRetention(values),
    responseRetentionDays: values.RESPONSE_RETENTION_DAYS,
    limitsWhenUnavailable: values.LIMITS_WHEN_UNAVAILABLE ?? null,
    limitsSettleWaitMs: values.LIMITS_SETTLE_WAIT,
    flags: flagsOf(values),
    version: version(),
    releaseLevel: values.RELEASE_LEVEL ?? null,
    deployment: deploymentOf(values),
  }
}

const timesOf = (values: Values) => ({
  requestTimeoutMs: values.REQUEST_TIMEOUT,
  connectTimeoutMs: values.CONNECT_TIMEOUT,
  streamIdleTimeoutMs: values.STREAM_IDLE_TIMEOUT,
  streamOpensAfterMs: values.STREAM_OPENS_AFTER,
  cacheMaxStaleMs: values.CACHE_MAX_STALE,
  answerMemoryBytes: values.RESPONSE_CACHE_MEMORY_IN_MB,
  maxAnswerBytes: values.RESPONSE_CACHE_MAX_ANSWER_IN_KB,
  storedAnswerBytes: values.RESPONSE_CACHE_STORED_IN_MB,
  vectorMemoryBytes: values.SEMANTIC_CACHE_MEMORY_IN_MB,
  terminationGraceMs: values.TERMINATION_GRACE,
})

const semanticOf = (values: Values): SemanticConfig | null =>
  values.SEMANTIC_CACHE_EMBEDDING_PROVIDER === undefined
    ? null
    : {
        provider: values.SEMANTIC_CACHE_EMBEDDING_PROVIDER,
        model: values.SEMANTIC_CACHE_EMBEDDING_MODEL,
        dimensions: values.SEMANTIC_CACHE_EMBEDDING_DIMENSIONS ?? null,
        timeoutMs: values.SEMANTIC_CACHE_EMBEDDING_TIMEOUT,
        threshold: values.SEMANTIC_CACHE_SIMILARITY_THRESHOLD,
        maxTemperature: values.SEMANTIC_CACHE_MAX_TEMPERATURE,
      }

const pricesOf = (values: Values): Config['prices'] => ({
  proxyUrl: values.MODEL_CONFIGS_PROXY_FETCH_ENABLED ? (values.MODEL_CONFIGS_PROXY_URL ?? null) : null,
  logStorePath: values.MODEL_CONFIGS_PRICING_LOG_STORE_PATH ?? null,
  localPath: values.MODEL_CONFIGS_PRICING_LOCAL_PATH ?? null,
  abilitiesLogStorePath: values.MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH ?? null,
  abilitiesLocalPath: values.MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH ?? null,
})

const boundsOf = (values: Values) => ({
  maxAttempts: values.MAX_ATTEMPTS_PER_REQUEST,
  mirrorConcurrency: values.MIRROR_CONCURRENCY,
  maxSockets: values.MAX_WEBSOCKETS,
  socketIdleMs: values.WEBSOCKET_IDLE_TIMEOUT,
  socketMaxMs: values.WEBSOCKET_MAX_TIME,
  socketPingMs: values.WEBSOCKET_PING_INTERVAL,
  mcpRequestBytes: values.MCP_MAX_REQUEST_IN_MB,
  mcpResultBytes: values.MCP_MAX_RESULT_IN_MB,
  mcpIdleMs: values.MCP_REQUEST_TIMEOUT,
  mcpTotalMs: values.MCP_MAX_TIME,
  mcpSessions: values.MAX_MCP_SESSIONS,
  mcpSessionIdleMs: values.MCP_SESSION_IDLE_TIMEOUT,
  mcpSubscriptions: values.MCP_SUBSCRIPTIONS,
  maxJsonBytes: values.MAX_JSON_PAYLOAD_SIZE_IN_MB,
  maxUploadBytes: values.MAX_UPLOAD_SIZE_IN_MB,
  maxLogBodyBytes: values.MAX_LOG_BODY_SIZE_IN_KB,
  maxSpoolBytes: values.LOG_SPOOL_MAX_MB,
})

const deploymentOf = (values: Values): Config['deployment'] => ({
  chart: values.DEPLOYMENT_CHART ?? null,
  image: values.DEPLOYMENT_IMAGE ?? null,
  reason: values.DEPLOYMENT_REASON ?? null,
  chartCheck: values.CHART_CHECK,
})

const accessOf = (values: Values): Pick<Config, 'trustedCustomHosts' | 'allowedCustomHosts' | 'failedCredentialsPerMinute'> => ({
  trustedCustomHosts: values.TRUSTED_CUSTOM_HOSTS,
  allowedCustomHosts: values.ALLOWED_CUSTOM_HOSTS ?? null,
  failedCredentialsPerMinute: values.FAILED_CREDENTIALS_PER_MINUTE,
})

const edgeOf = (values: Values): Pick<Config, 'tls' | 'managementPort' | 'metricsAccess' | 'metricsToken' | 'docsAccess'> => ({
  tls: tlsOf(values),
  managementPort: values.MANAGEMENT_PORT ?? null,
  metricsAccess: values.METRICS_ACCESS,
  metricsToken: values.METRICS_TOKEN ?? null,
  docsAccess: values.DOCS_ACCESS,
})

const tlsOf = ({ TLS_CERT: cert, TLS_KEY: key, TLS_CA: ca }: Values): Config['tls'] =>
  cert === undefined || key === undefined ? null : { cert, key, ca: ca ?? null }

const flagsOf = (values: Values): Config['flags'] => ({
  GUARDRAILS_ENABLED: values.GUARDRAILS_ENABLED,
  API_ACCESS_ENABLED: values.API_ACCESS_ENABLED,
  DATA_EXPORTS_ENABLED: values.DATA_EXPORTS_ENABLED,
  USAGE_LIMITS_ENABLED: values.USAGE_LIMITS_ENABLED,
  AUDIT_LOGS_ENABLED: values.AUDIT_LOGS_ENABLED,
  SCIM_ENABLED: values.SCIM_ENABLED,
  POLICY_ENABLED: values.POLICY_ENABLED,
})

const scimOf = (values: Values): Config['scim'] => ({
  membershipByUsers: values.SCIM_MEMBERSHIP_USER_MODE,
  names: {
    prefix: values.SCIM_GROUP_PREFIX,
    organisationPrefix: values.SCIM_ORGANISATION_PREFIX,
    separator: values.SCIM_GROUP_SEPARATOR,
  },
  ownerGroups: values.SCIM_OWNER_GROUPS,
})

const initOf = (values: Values): Config['init'] => ({
  organisationName: values.INIT_ORG_NAME,
  workspaceName: values.INIT_WORKSPACE_NAME,
  adminApiKey: values.INIT_ADMIN_API_KEY ?? null,
  workspaceApiKey: values.INIT_WORKSPACE_API_KEY ?? null,
  ownerEmail: values.INIT_OWNER_EMAIL ?? null,
  ownerPassword: values.INIT_OWNER_PASSWORD ?? null,
})

const mailServer = (values: Values, host: string): MailConfig => ({
  host,
  port: values.SMTP_PORT,
  tls: values.SMTP_TLS,
  user: values.SMTP_USER ?? null,
  password: values.SMTP_PASSWORD ?? null,
  from: values.SMTP_FROM ?? null,
  templatesPath: values.EMAIL_TEMPLATES_PATH ?? null,
  brand: {
    company_name: values.EMAIL_COMPANY_NAME,
    logo_url: values.EMAIL_LOGO_URL ?? '',
    support_email: values.EMAIL_SUPPORT_EMAIL ?? '',
    docs_url: values.EMAIL_DOCS_URL ?? '',
  },
})

/** A caller waits no longer than this for an answer of 503 when all connections are in use. */
const databaseTimeoutMs = 2000

const givenDatabase = (values: Values, host: string): DatabaseConfig => ({
  embedded: false,
  host,
  port: values.DB_PORT,
  user: values.DB_USER,
  password: values.DB_PASS ?? null,
  name: values.DB_NAME,
  poolSize: values.DB_POOL_SIZE,
  connectTimeoutMs: databaseTimeoutMs,
  ssl: { mode: values.DB_SSL, ca: values.DB_SSL_CA ?? null, cert: values.DB_SSL_CERT ?? null, key: values.DB_SSL_KEY ?? null },
})

/** A placeholder until the embedded PostgreSQL has started and its port and password exist. */
const embeddedDatabase = (values: Values): DatabaseConfig => ({
  embedded: true,
  host: '127.0.0.1',
  port: 0,
  user: 'gatehouse',
  password: null,
  name: 'gatehouse',
  poolSize: values.DB_POOL_SIZE,
  connectTimeoutMs: databaseTimeoutMs,
  ssl: { mode: 'DISABLED', ca: null, cert: null, key: null },
})
