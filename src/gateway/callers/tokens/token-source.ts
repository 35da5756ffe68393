import type { AccessSettings } from '../../../lib/access/access-settings.ts'
import type { MaybePromise } from '../../../lib/maybe-promise.ts'
import type { Role } from '../../../lib/access/roles.ts'
import type { TokenSettings } from '../../../lib/access/token-settings.ts'
import type { AllowedHosts } from '../../egress/allowed-hosts.ts'
import type { RequestDefaults } from '../key.ts'

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

/** The port to what callers with a token need. It finds and refuses as the rest of the Snapshot does. */
export interface TokenSource {
  /** The issuer of the organisation with this id; null when there is no such organisation, or as with unknown keys. */
  tokenIssuer(organisationId: string, address?: string): MaybePromise<TokenIssuer | null>
  /** For tokens that were verified: the workspace with this slug or id, and its user with this e-mail address; null without such a workspace. */
  tokenHolder(
    organisationId: string,
    wanted: { readonly workspace: string; readonly email: string | null },
  ): MaybePromise<TokenHolder | null>
}
