import type { AccessSettings } from '../../../lib/access/access-settings.ts'
import type { MaybePromise } from '../../../lib/maybe-promise.ts'
import type { Role } from '../../../lib/access/roles.ts'
import type { TokenSettings } from '../../../lib/access/token-settings.ts'
import type { AllowedHosts } from '../../egress/allowed-hosts.ts'
import type { KeyView, RequestDefaults } from '../key.ts'

/** An organisation's issuer of tokens, as far as the gateway needs it. */
export interface TokenIssuer {
  readonly organisationId: string
  /** Null: the organisation takes no tokens. */
  readonly settings: TokenSettings | null
  /** The hosts that the organisation allows; null: all. */
  readonly allowedHosts: AllowedHosts | null
  /** Another one after each change of the settings. */
  readonly version: string
}

/** The holder of a token: where it acts, and its identity there. */
export interface TokenHolder {
  readonly organisationId: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly settings: AccessSettings
  readonly allowedHosts: AllowedHosts | null
  readonly metadata: Readonly<Record<string, string>>
  readonly defaults: RequestDefaults | null
  /** Those of the workspace. */
  readonly limits: KeyView['limits']
  /**
   * The user of the organisation whom the token means; null when it has none. `role` is null for one who is not in the workspace. `isAbove`: they
   * rank above the caller who set the issuer.
   */
  readonly person: { readonly userId: string; readonly role: Role | null; readonly removed: boolean; readonly isAbove: boolean } | null
  /** Why the token is refused although it is good: it may be another person's; null: it is not. */
  readonly conflict: string | null
}

/** The claims of a token about where it acts, and for whom. */
export interface WantedHolder {
  /** Slug or id. */
  readonly workspace: string
  readonly email: string | null
  /** The holder's identity at the issuer; null where people are found by their e-mail address alone. */
  readonly identity: { readonly issuer: string; readonly subject: string } | null
}

/** The port to the data that callers with a token need. It finds and refuses as the rest of the Snapshot does. */
export interface TokenSource {
  /** The issuer of the organisation with this id; null when there is no such organisation, or as with unknown keys. */
  tokenIssuer(organisationId: string, address?: string): MaybePromise<TokenIssuer | null>
  /** For tokens that were verified: the workspace and the user that a token means; null without such a workspace. */
  tokenHolder(organisationId: string, wanted: WantedHolder): MaybePromise<TokenHolder | null>
}
