import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { ProviderScope } from '../callers/key.ts'
import type { Limit } from '../limits/limit.ts'
import type { IntegrationPrices } from '../prices/terms.ts'
import type { Credential } from '../providers/provider.ts'
import type { MappedSecret } from '../secrets/secret-reference.ts'

/** A stored provider (`@slug`) or virtual key, with its credential in the clear. */
export interface ProviderView {
  readonly id: string
  readonly slug: string
  readonly organisationId: string
  readonly workspaceId: string
  readonly integrationId: string
  /** A row of `providers/catalog.ts`. */
  readonly provider: string
  readonly credential: Credential
  /** Fields of the credential whose values are in external secret managers; null, as for most: none. */
  readonly secrets: readonly MappedSecret[] | null
  /** The host stored with the credential; a request cannot send the credential anywhere else. */
  readonly customHost: string | null
  readonly customHeaders: Readonly<Record<string, string>>
  readonly status: 'active' | 'exhausted' | 'expired'
  readonly expiresAt: number | null
  /** True when the workspace may use the integration behind it. */
  readonly allowed: boolean
  /** Null: every model may be used, at the integration's own host. */
  readonly models: ModelRules | null
  /** The prices of the integration's own; null: those of the price lists. */
  readonly prices: IntegrationPrices | null
  /** Rate limits and budgets of the provider, and of its workspace with the integration. Null, as for most: none. */
  readonly limits: readonly Limit[] | null
}

/** The models of an integration that may be used, and where they are when not at its own host. */
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

/** The port to the stored providers. */
export interface ProviderSource {
  /** The provider or virtual key with this slug, as the given workspace (or, for an admin key, organisation) sees it. */
  provider(scope: ProviderScope, slug: string): MaybePromise<ProviderView | null>
  /** The providers and virtual keys of a workspace, by slug; none for an admin key. */
  providers(scope: ProviderScope): MaybePromise<readonly ListedProvider[]>
}
