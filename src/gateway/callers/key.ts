import type { AccessSettings } from '../../lib/access/access-settings.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { Maker } from '../../lib/access/rank.ts'
import type { Role } from '../../lib/access/roles.ts'
import type { AllowedHosts } from '../egress/allowed-hosts.ts'
import type { Limit } from '../limits/limit.ts'
import type { TokenClaims } from './tokens/token-claims.ts'

export type KeyType = 'organisation-service' | 'workspace-service' | 'workspace-user'

/** An API key, as far as the gateway needs it. Times are epoch milliseconds. */
export interface KeyView {
  readonly id: string
  readonly type: KeyType
  readonly name: string
  readonly organisationId: string
  /** Null for an organisation (admin) key. */
  readonly workspaceId: string | null
  readonly workspaceSlug: string | null
  readonly userId: string | null
  /** The role of the key's user in its workspace; null for a service key, and for a person who is no member any more. */
  readonly role: Role | null
  /** The person who made it, above whom it never ranks; absent: unknown, or it is their own. */
  readonly maker?: Maker | null
  /** The scopes that count: those of the key and, when it is a user's, of the user's role. */
  readonly scopes: ReadonlySet<string>
  /** The settings by which the organisation, or this workspace of it, allows access. */
  readonly settings: AccessSettings
  /** The hosts that its organisation lets requests name; null: all that the installation does. */
  readonly allowedHosts: AllowedHosts | null
  readonly expiresAt: number | null
  readonly status: 'active' | 'exhausted' | 'expired'
  /** Metadata that every request of this key carries, under the request's own. */
  readonly metadata: Readonly<Record<string, string>>
  /** Null, as for most keys: none. */
  readonly defaults: RequestDefaults | null
  /** Rate limits and budgets of the key and its workspace. Null, as for most keys: none. */
  readonly limits: readonly Limit[] | null
  /** Present when it is no API key but a JSON Web Token: its claims. It may claim more scopes than it holds. */
  readonly token?: TokenClaims
}

/** The defaults from which requests of a key start: its own, and those of its workspace and organisation. */
export interface RequestDefaults {
  /** Slug or id; null when there is none. */
  readonly config: string | null
  /** True when requests must stay with that config. */
  readonly configLocked: boolean
  /** Slugs or ids, the organisation's first; none comes twice. */
  readonly inputGuardrails: readonly string[]
  readonly outputGuardrails: readonly string[]
}

/** The scope of the stored things that a request sees: a workspace's, or, for an admin key, an organisation's. */
export interface ProviderScope {
  readonly organisationId: string
  readonly workspaceId: string | null
}

/** The port to the API keys. See `Snapshot` for the synchronous methods, and for errors. */
export interface KeySource {
  /**
   * The key with this secret. Null: there is none, it is archived, or the key is not in memory and `address`, which shows it, may ask for
   * no more. Without `address` the caller was let in before.
   */
  key(secret: string, address?: string): MaybePromise<KeyView | null>
  /** The key with this id, for work that goes on without its secret. Null: there is none, or it is archived. */
  keyById(id: string): MaybePromise<KeyView | null>
}
