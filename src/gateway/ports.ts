/**
 * The three ports between the planes. The data plane knows the control plane only through these types:
 * Snapshot (in), Ledger (both ways), Journal (out).
 */
import type { AccessSettings } from '../lib/access-settings.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Role } from '../lib/roles.ts'
import type { TokenSettings } from '../lib/token-settings.ts'
import type { TokenClaims } from './callers/tokens/token-claims.ts'
import type { AllowedHosts } from './egress/allowed-hosts.ts'
import type { Guardrail } from './checks/guardrail.ts'
import type { ActiveConfig } from './config/compile.ts'
import type { HookResults } from './checks/hook-results.ts'
import type { Prompt } from './prompts/prompt.ts'
import type { Credential } from './providers/provider.ts'

export type KeyType = 'organisation-service' | 'workspace-service' | 'workspace-user'

/** What the gateway knows of an API key. Times are epoch milliseconds. */
export interface KeyView {
  readonly id: string
  readonly type: KeyType
  readonly name: string
  readonly organisationId: string
  /** Null for an organisation (admin) key. */
  readonly workspaceId: string | null
  readonly workspaceSlug: string | null
  readonly userId: string | null
  /** What the user of the key is in its workspace; null for a service key, and for somebody who is not there any more. */
  readonly role: Role | null
  /** The scopes that count: those of the key and, when it is a user's, of the user's role. */
  readonly scopes: ReadonlySet<string>
  /** What the organisation, or this workspace of it, allows. */
  readonly settings: AccessSettings
  /** The hosts that its organisation lets requests name; null: all that the installation does. */
  readonly allowedHosts: AllowedHosts | null
  readonly expiresAt: number | null
  readonly status: 'active' | 'exhausted' | 'expired'
  /** Metadata that every request of this key carries, under what the request itself sends. */
  readonly metadata: Readonly<Record<string, string>>
  /** Null, as for most keys: nothing. */
  readonly defaults: RequestDefaults | null
  /** Present when it is no API key but a JSON Web Token: what the token says. It may claim more scopes than it holds. */
  readonly token?: TokenClaims
}

/** What the gateway knows of an organisation's issuer of tokens. */
export interface TokenIssuer {
  readonly organisationId: string
  /** Null: the organisation takes no tokens. */
  readonly settings: TokenSettings | null
  /** Another one after each change of the settings. */
  readonly version: string
}

/** Where the holder of a token acts, and who it is there. */
export interface TokenHolder {
  readonly organisationId: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly settings: AccessSettings
  readonly allowedHosts: AllowedHosts | null
  readonly metadata: Readonly<Record<string, string>>
  readonly defaults: RequestDefaults | null
  /** The user of the organisation with this e-mail address; null when it has none. `role` is null for one who is not in the workspace. */
  readonly person: { readonly userId: string; readonly role: Role | null; readonly removed: boolean } | null
}

/** What requests of a key start from, by its own defaults and by those of its workspace and organisation. */
export interface RequestDefaults {
  /** Slug or id; null when there is none. */
  readonly config: string | null
  /** Whether requests must stay with that config. */
  readonly configLocked: boolean
  /** Slugs or ids, the organisation's first; none comes twice. */
  readonly inputGuardrails: readonly string[]
  readonly outputGuardrails: readonly string[]
}

/** What the gateway knows of a stored config. */
export interface ConfigView {
  readonly id: string
  readonly slug: string
  readonly active: ActiveConfig
}

/** What the gateway knows of a stored provider (`@slug`) or virtual key, with its credential in the clear. */
export interface ProviderView {
  readonly id: string
  readonly slug: string
  readonly organisationId: string
  readonly workspaceId: string
  readonly integrationId: string
  /** A row of `providers/catalog.ts`. */
  readonly provider: string
  readonly credential: Credential
  /** The host stored with the credential; a request cannot send the credential anywhere else. */
  readonly customHost: string | null
  readonly customHeaders: Readonly<Record<string, string>>
  readonly status: 'active' | 'exhausted' | 'expired'
  readonly expiresAt: number | null
  /** Whether the workspace may use the integration behind it. */
  readonly allowed: boolean
  /** Null: every model may be used, at the integration's own host. */
  readonly models: ModelRules | null
}

/** Which models of an integration may be used, and where they are when not at its own host. */
export interface ModelRules {
  /** True: all but those disabled by name. False: those enabled by name. */
  readonly allowAll: boolean
  readonly named: ReadonlyMap<string, { readonly enabled: boolean; readonly customHost: string | null }>
}

/** A stored provider of a workspace, as the list of models needs it. */
export interface ListedProvider {
  readonly slug: string
  /** The models that are enabled by name, custom ones among them. */
  readonly models: readonly string[]
}

/**
 * Immutable views of the control plane, in memory. A hit is synchronous; a miss is one database read, shared by all who wait.
 * Throws (or rejects with) ApiError `dependency_unavailable` when the database is away and nothing fresh enough is held,
 * `sealed` when the encryption key is missing or wrong.
 */
export interface Snapshot {
  /**
   * The key with this secret; null when there is none, or it is archived, or when nobody knows it and the address that shows it may not
   * ask for more (absent: somebody asks who was let in).
   */
  key(secret: string, address?: string): MaybePromise<KeyView | null>
  /** The provider or virtual key with this slug, as the given workspace (or, for an admin key, organisation) sees it. */
  provider(scope: ProviderScope, slug: string): MaybePromise<ProviderView | null>
  /** The providers and virtual keys of a workspace, by slug; none for an admin key. */
  providers(scope: ProviderScope): MaybePromise<readonly ListedProvider[]>
  /** The config with this slug or id, as the given workspace sees it. */
  config(scope: ProviderScope, reference: string): MaybePromise<ConfigView | null>
  /** The version of a prompt that `id`, `id@latest`, `id@12` or `id@label` names; null when there is none. */
  prompt(scope: ProviderScope, reference: string): MaybePromise<Prompt | null>
  /** The guardrail with this slug or id: the workspace's, or its organisation's. */
  guardrail(scope: ProviderScope, reference: string): MaybePromise<Guardrail | null>
}

/** The part of the Snapshot that callers with a token need. Found and refused as the rest of it. */
export interface TokenDoor {
  /** The issuer of the organisation with this id; null when there is no such organisation, or as with unknown keys. */
  tokenIssuer(organisationId: string, address?: string): MaybePromise<TokenIssuer | null>
  /** For tokens that were verified: the workspace with this slug or id, and its user with this e-mail address; null without such a workspace. */
  tokenHolder(
    organisationId: string,
    wanted: { readonly workspace: string; readonly email: string | null },
  ): MaybePromise<TokenHolder | null>
}

export interface ProviderScope {
  readonly organisationId: string
  readonly workspaceId: string | null
}

/** Rate limits and budgets. A reservation is taken before the provider is called and settled, once, with what was used. */
export interface Ledger {
  reserve(exchange: {
    readonly requestId: string
    readonly key: KeyView
    readonly provider: ProviderView | null
  }): MaybePromise<Reservation>
}

export interface Reservation {
  settle(usage: Usage | null): void
}

/** Tokens as the provider counted them. Null: the provider did not say. */
export interface Usage {
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly totalTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly reasoningTokens: number | null
}

export type Outcome =
  /** The whole answer reached the client. */
  | 'complete'
  /** The provider broke off, lied about the length or went silent. */
  | 'incomplete'
  /** The client left first. */
  | 'client_closed'
  /** The gateway refused or could not reach the provider. */
  | 'error'

/** One exchange, as it is logged for good. Durations are milliseconds, times epoch milliseconds. */
export interface ExchangeRecord {
  /** UUID v7; also the request id. */
  readonly id: string
  readonly organisationId: string
  readonly workspaceId: string | null
  readonly createdAt: number
  readonly apiKeyId: string
  readonly userId: string | null
  readonly clientAddress: string
  readonly method: string
  /** Path and query as the client sent them, after `/v1`. */
  readonly path: string
  readonly operation: string
  readonly provider: string | null
  readonly providerSlug: string | null
  readonly model: string | null
  readonly status: number
  readonly outcome: Outcome
  readonly errorCode: string | null
  readonly stream: boolean
  readonly durationMs: number
  /** Until the provider's headers; null when it was not reached. */
  readonly upstreamMs: number | null
  /** Until the first body byte went to the client. */
  readonly firstByteMs: number | null
  readonly usage: Usage | null
  /** Where `usage` came from: the provider's own figures, or none (then the exchange is unmetered). */
  readonly usageSource: 'provider' | 'none'
  readonly retryCount: number
  readonly cacheStatus: string
  readonly lastUsedOption: string | null
  readonly traceId: string
  readonly spanId: string | null
  readonly parentSpanId: string | null
  readonly spanName: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly requestBytes: number
  readonly responseBytes: number
  readonly upstreamUrl: string | null
  /** The prompt that the request named; null when it named none. */
  readonly prompt: LoggedPrompt | null
  /** What guardrails found; null when none ran that anybody waited for. */
  readonly hooks: HookResults | null
  /** Headers with credentials removed. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseHeaders: Readonly<Record<string, string>>
}

/** A prompt, and the version of it that served. */
export interface LoggedPrompt {
  readonly id: string
  readonly versionId: string
  readonly slug: string
}

/** The bodies of an exchange, as bytes; null when not kept (`x-service-debug: false`), cut at the journal's limit. */
export interface ExchangeBodies {
  readonly request: Uint8Array | null
  readonly response: Uint8Array | null
  readonly requestTruncated: boolean
  readonly responseTruncated: boolean
}

/**
 * One record per exchange, appended before the last byte goes to the client. Synchronous: when it returns, the record survives
 * a kill -9 of this process; what the disk refuses is held in memory. Never throws: what there is no room for is counted in
 * `gateway_log_spool_dropped_total`.
 */
export interface Journal {
  append(record: ExchangeRecord, bodies: ExchangeBodies): void
  /** The most bytes of one body that are kept. */
  readonly maxBodyBytes: number
}
