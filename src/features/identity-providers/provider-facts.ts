import type { Role } from '../../lib/access/roles.ts'
import type { Callback, CommonSettings, IdentityProvider, ProviderSettings, ProviderType } from './identity-provider.entity.ts'

/** The identity provider of an organisation. */
export interface Provider extends Omit<ProviderSettings, 'callback' | 'ca' | 'end_session_endpoint' | 'post_logout_redirect_uri'> {
  readonly post_logout_redirect_uri: string | null
  readonly end_session_endpoint: string | null
  /** PEM; null: the usual authorities sign its certificates. */
  readonly ca: string | null
  readonly type: ProviderType
  readonly source: 'settings' | 'api'
  readonly organisationId: string
  /** `settings.allowed_custom_hosts` of the organisation, as it is stored; null for the operator's own settings. */
  readonly allowedHosts: unknown
  readonly name: string
  readonly enabled: boolean
  readonly issuer: string
  /** For SAML: the entity id of Gatehouse. */
  readonly clientId: string
  readonly callback: Callback
  /** For SAML: the URL that takes assertions. */
  readonly redirectUri: string
  /** The `domains` that the organisation owns. */
  readonly ownedDomains: readonly string[]
  /** A person who ranks higher cannot sign in by it. */
  readonly rank: Role
  /** Another value after each change: data made from an older one is thrown away. */
  readonly version: string
  /** The secret, or the private key as JSON; null: there is none. */
  readonly secret: () => Promise<string | null>
}

/** The place of an organisation in the installation. */
export interface OrganisationPlace {
  readonly id: string
  readonly slug: string
  /** The settings of the installation are its own. */
  readonly isFirst: boolean
  readonly isOnly: boolean
  /** The field `allowed_custom_hosts` of its settings, as it is stored. */
  readonly allowedHosts: unknown
}

/** The values of a provider that follow from its type. `secret`: null clears it, undefined keeps the stored one. */
export interface TypedValues extends Pick<IdentityProvider, 'type' | 'name' | 'issuer' | 'clientId'> {
  readonly settings: Omit<ProviderSettings, keyof CommonSettings>
  readonly secret: string | null | undefined
}
