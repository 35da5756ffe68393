import type { PlatformIdentity } from '../lib/platform-identity.ts'
import type { StoredBounds } from '../lib/stored-kinds.ts'
import type { Secret } from '../lib/secret.ts'
import type { DbSslMode, LogStoreKind, MailTls, Role, SseType } from './choices.ts'
import type { SettingName } from './settings.ts'
import type { OwnedDomain } from './sso-settings.ts'
import type { PublicSetting } from './told-settings.ts'

export type FeatureFlag =
  | 'GUARDRAILS_ENABLED'
  | 'API_ACCESS_ENABLED'
  | 'DATA_EXPORTS_ENABLED'
  | 'USAGE_LIMITS_ENABLED'
  | 'AUDIT_LOGS_ENABLED'
  | 'SCIM_ENABLED'
  | 'POLICY_ENABLED'

/** How the semantic cache compares requests. */
export interface SemanticConfig {
  readonly provider: string
  readonly model: string
  readonly dimensions: number | null
  readonly timeoutMs: number
  readonly threshold: number
  readonly maxTemperature: number
}

export interface DatabaseConfig {
  /** True when no DB_HOST is given: a PostgreSQL of our own, in `dataDir`. */
  readonly embedded: boolean
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: Secret | null
  /** Absent: the password stands in no file, which a rotation would replace. */
  readonly passwordFile?: string
  readonly name: string
  readonly poolSize: number
  /** The longest wait for a connection, be it a new one or a place in the pool, in milliseconds. */
  readonly connectTimeoutMs: number
  readonly ssl: { readonly mode: DbSslMode; readonly ca: string | null; readonly cert: string | null; readonly key: Secret | null }
}

/** The certificate of the port: PEM texts or paths, as they were given. */
export interface TlsConfig {
  readonly cert: string
  readonly key: Secret
  /** The authorities of client certificates, which are then demanded. */
  readonly ca: string | null
}

/** How mails are sent. */
export interface MailConfig {
  readonly host: string
  readonly port: number
  readonly tls: MailTls
  readonly user: string | null
  readonly password: Secret | null
  /** Null: `no-reply` at the mail server, under the name in mails. */
  readonly from: string | null
  /** A folder whose files replace our templates, each by its name. */
  readonly templatesPath: string | null
  /** The values for every template. */
  readonly brand: Readonly<Record<'company_name' | 'logo_url' | 'support_email' | 'docs_url', string>>
}

/** The places that prices and abilities of models come from, beside the catalogue that Gatehouse brings; null: not from there. */
export interface PricesConfig {
  readonly proxyUrl: string | null
  readonly logStorePath: string | null
  readonly localPath: string | null
  /** Abilities of models; the service has them too. */
  readonly abilitiesLogStorePath: string | null
  readonly abilitiesLocalPath: string | null
}

/** The store of bodies of logs. Fields that its kind does not need are empty or null. */
export interface LogStoreConfig {
  readonly kind: Exclude<LogStoreKind, 'none'>
  readonly bucket: string
  readonly region: string
  readonly accessKey: Secret | null
  readonly secretKey: Secret | null
  /** In place of the public address. */
  readonly endpoint: string | null
  readonly assumedRole: string | null
  readonly externalId: string | null
  readonly folder: string
  readonly pathFormat: 'v1' | 'v2'
  readonly timeoutMs: number
  readonly longestBackoffMs: number
  /** From so many failures in a row on, each wait is the longest. */
  readonly failureThreshold: number
  /** True: objects are sent with a digest of them. */
  readonly sendsDigest: boolean
  readonly sse: SseType | null
  readonly kmsKey: string | null
  readonly bucketKey: boolean
  /** The account of Azure Storage. */
  readonly account: string
  readonly container: string
  readonly accountKey: Secret | null
  readonly azureMode: 'default' | 'entra' | 'workload' | 'managed'
  readonly tenantId: string
  readonly clientId: string
  readonly clientSecret: Secret | null
  readonly federatedTokenFile: string
  /** `workload`: Google's metadata server gives the token. */
  readonly googleMode: 'default' | 'workload'
  /** The audience of a workload identity pool at Google. */
  readonly federationAudience: string
  readonly serviceAccount: string | null
}

/** The identity of this process, and the hosts beside its cloud's to which a proof of it may be sent. */
export interface IdentityConfig extends PlatformIdentity {
  /** The organisations that may use it for their stored references: `all`, or ids and `first`. */
  readonly offeredTo: 'all' | readonly string[]
  readonly trustedHosts: readonly string[]
}

/** The receiver of a trace of every request. */
export interface SpanExportConfig {
  /** Traces go to `/v1/traces` below it. */
  readonly baseUrl: string | null
  /** The whole address; goes before the other. */
  readonly tracesUrl: string | null
  /** `name=value`, separated by commas. */
  readonly otlpHeaders: Secret | null
  readonly protocol: 'http/json'
  readonly otlpTimeoutMs: number
  readonly serviceName: string
}

/** The effective settings, parsed once from the environment, frozen. Durations are milliseconds, sizes bytes. */
/** An issuer of OpenID Connect, as the settings have it. */
export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret | null
  /** A private key as JSON. */
  readonly clientJwks: Secret | null
  readonly authMethod: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none'
  /** Null: it follows from `publicUrl`. */
  readonly redirectUri: string | null
  /** Null: nowhere. */
  readonly postLogoutRedirectUri: string | null
  /** The endpoints that the operator gives; null: those of the discovery document. */
  readonly endpoints: {
    readonly authorization_endpoint: string | null
    readonly token_endpoint: string | null
    readonly jwks_uri: string | null
    readonly userinfo_endpoint: string | null
    readonly end_session_endpoint: string | null
  }
  /** Empty: the usual ones. */
  readonly scopes: readonly string[]
  readonly domains: readonly string[]
  readonly emailVerifiedClaim: string
  readonly autoProvision: boolean
  readonly groupClaim: string | null
  /** The authorities that sign the certificates of the issuer, PEM; null: the usual ones. */
  readonly ca: string | null
}

/** A provider of SAML 2.0, as the settings have it. */
export interface SamlConfig {
  readonly metadataXml: string
  /** The entity ID of Gatehouse; null: the URL of its metadata. */
  readonly entityId: string | null
  /** PEM; null: requests are not signed, and answers cannot be encrypted for us. */
  readonly spKey: Secret | null
  readonly spCertificate: string | null
  readonly domains: readonly string[]
  readonly subjectClaim: string | null
  readonly emailClaim: string | null
  readonly groupClaim: string | null
  readonly autoProvision: boolean
  readonly idpInitiated: boolean
}

export interface Config {
  readonly prices: PricesConfig
  /** Null: bodies of logs stay in the database. */
  readonly logStore: LogStoreConfig | null
  readonly identity: IdentityConfig
  /** How long secrets of external managers are fresh, how long they serve while the manager is away, and how long requests wait for them. */
  readonly secretTimes: { readonly ttlMs: number; readonly maxStaleMs: number; readonly timeoutMs: number }
  /** Null: spans of requests are not exported. */
  readonly spanExport: SpanExportConfig | null
  readonly scim: {
    /** Users say which groups they are in. */
    readonly membershipByUsers: boolean
    /** How the names of groups are made that give roles. */
    readonly names: { readonly prefix: string; readonly organisationPrefix: string; readonly separator: string }
    /** Groups may make owners of the organisation. */
    readonly ownerGroups: boolean
  }
  readonly host: string
  readonly port: number
  /** Null: the port speaks plain HTTP. */
  readonly tls: TlsConfig | null
  /** For probes and metrics; null: they are on `port`. */
  readonly managementPort: number | null
  readonly metricsAccess: 'public' | 'token' | 'off'
  readonly metricsToken: Secret | null
  readonly docsAccess: 'public' | 'key' | 'off'
  /** Absolute path. Holds the embedded database, the generated encryption key and the journal's segments. */
  readonly dataDir: string
  readonly database: DatabaseConfig
  /** 32 bytes, base64; null: not given (the embedded mode then makes one in `dataDir`). */
  readonly encryptionKey: Secret | null
  /** A comma list of the keys before it. */
  readonly encryptionKeyPrevious: Secret | null
  /** Hosts, `*.suffix`es, addresses and CIDRs that the egress guard lets through although they are private. */
  readonly trustedCustomHosts: readonly string[]
  /** The hosts that data may name, `stored` among them for all that is stored; null: all. */
  readonly allowedCustomHosts: readonly string[] | null
  /** The forward proxies; null: every host is connected to directly. */
  readonly proxies: {
    readonly https: Secret | null
    readonly http: Secret | null
    /** `*`, hosts, suffixes, addresses and CIDRs that need no proxy. */
    readonly direct: readonly string[]
    readonly names: 'checked' | 'pinned' | 'unchecked'
  } | null
  /** The limit of one address, over all workers; 0: no limit. */
  readonly failedCredentialsPerMinute: number
  /** Extra header prefixes: `portkey` makes `x-portkey-*` mean `x-service-*`. */
  readonly headerAliases: readonly string[]
  /** How much the dedicated endpoints demand of their callers. */
  readonly dedicatedValidation: 'strict' | 'lenient'
  /** The origins of web pages that may call models; `*`: all. */
  readonly corsOrigins: readonly string[]
  readonly init: {
    readonly organisationName: string
    readonly workspaceName: string
    readonly adminApiKey: Secret | null
    readonly workspaceApiKey: Secret | null
    /** The address of the first owner; null: none is made. */
    readonly ownerEmail: string | null
    readonly ownerPassword: Secret | null
  }
  /** `SSO`: people sign in by identity providers alone. */
  readonly authMode: 'LOCAL' | 'SSO'
  /** The identity provider that the settings name, for the first organisation; null: none. */
  readonly oidc: OidcConfig | null
  /** Null where `oidc` is not: the first organisation has one provider. */
  readonly saml: SamlConfig | null
  /** The mail domains that organisations own, by slug. */
  readonly organisationDomains: readonly OwnedDomain[]
  /** How long people stay signed in. */
  readonly sessions: {
    /** Without a request. */
    readonly idleMs: number
    /** The longest life, in use or not. */
    readonly lifetimeMs: number
  }
  /** Null: no mail is sent. */
  readonly mail: MailConfig | null
  readonly roles: ReadonlySet<Role>
  readonly workers: number
  /** Null: standard output. */
  readonly logFile: string | null
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  /** Until the provider's response headers, and for a whole answer that is not a stream. */
  readonly requestTimeoutMs: number
  readonly connectTimeoutMs: number
  /** Longest silence between two body chunks of an answer. */
  readonly streamIdleTimeoutMs: number
  readonly streamOpensAfterMs: number
  readonly maxJsonBytes: number
  readonly maxUploadBytes: number
  /** The most attempts of one request at all its targets. */
  readonly maxAttempts: number
  /** The most copies for mirrors that each process has under way at a time. */
  readonly mirrorConcurrency: number
  /** The most WebSockets that each process has open at a time. */
  readonly maxSockets: number
  readonly socketIdleMs: number
  readonly socketMaxMs: number
  readonly socketPingMs: number
  /** The largest request to a server of MCP, and the largest result of one. */
  readonly mcpRequestBytes: number
  readonly mcpResultBytes: number
  /** The longest silence of a server of MCP in a call, and the longest call. */
  readonly mcpIdleMs: number
  readonly mcpTotalMs: number
  /** The most sessions of legacy MCP that each process keeps. */
  readonly mcpSessions: number
  readonly mcpSessionIdleMs: number
  /** The most streams of MCP of one caller in each process. */
  readonly mcpSubscriptions: number
  /** True if confidential parts of logs are sealed, on disk and in the database. */
  readonly logSealing: boolean
  /** True if the words of logs are kept, as keyed hashes. */
  readonly logSearchIndex: boolean
  /** Most bytes of one body that a log keeps. */
  readonly maxLogBodyBytes: number
  /** Most bytes of journal segments that wait on disk for the database; beyond it drops are counted. */
  readonly maxSpoolBytes: number
  /** How long a cached view may serve while the database is away. */
  readonly cacheMaxStaleMs: number
  /** The bytes of cached answers in each process. */
  readonly answerMemoryBytes: number
  readonly maxAnswerBytes: number
  /** The bytes of cached answers of one organisation in the database. */
  readonly storedAnswerBytes: number
  /** The most bytes of kept responses, and of spans, of one organisation. */
  readonly storedResponseBytes: number
  readonly storedSpanBytes: number
  /** The most bytes of files of one organisation, and of one workspace. */
  readonly storedFileBytes: { readonly organisation: number; readonly workspace: number }
  /** The most lines of batches that this process runs at a time. */
  readonly batchLinesAtOnce: number
  /** How many things of each kind an organisation may store. */
  readonly storedItems: StoredBounds
  /** Null: answers are given again to equal requests only. */
  readonly semantic: SemanticConfig | null
  /** The bytes of embeddings in each process. */
  readonly vectorMemoryBytes: number
  readonly drainDelayMs: number
  readonly terminationGraceMs: number
  readonly publicUrl: string | null
  readonly trustedProxies: readonly string[]
  readonly logRetentionDays: number
  readonly metricsRetentionDays: number
  /** The days that organisations see; the time of deletion follows from the two above. */
  readonly shownRetentionDays: { readonly logs: number; readonly metrics: number }
  /** 0: no response is kept. */
  readonly responseRetentionDays: number
  /** Null: while limits cannot be counted, usage limits deny and rate limits allow. */
  readonly limitsWhenUnavailable: 'deny' | 'allow' | null
  readonly limitsSettleWaitMs: number
  /** As they were given: ask `isOn`, since below their release they have no effect. */
  readonly flags: Readonly<Record<FeatureFlag, boolean>>
  /** The settings that were given, in the order of the documents. */
  readonly given: readonly SettingName[]
  /** The settings that the API shows. */
  readonly told: readonly PublicSetting[]
  /** Given names of settings that a release announces and no code reads yet. */
  readonly unread: readonly string[]
  /** The release this build is, e.g. `1.12.0`. */
  readonly version: string
  /** The highest level wanted; null: no bound. */
  readonly releaseLevel: string | null
  /** The deployment of this process, as far as it is known. */
  readonly deployment: {
    /** Version of the chart, e.g. `1.6.0` of `app-1.6.0`. */
    readonly chart: string | null
    readonly image: string | null
    /** The reason why it departs from the guards. */
    readonly reason: string | null
    readonly chartCheck: 'enforce' | 'warn'
  }
  readonly inKubernetes: boolean
}
