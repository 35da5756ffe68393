import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { Place } from '../../app/secrets/vault.ts'
import type { Role, WorkspaceRole } from '../../lib/access/roles.ts'

/** How a client proves its identity to the token endpoint. */
export const authMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const
export type AuthMethod = (typeof authMethods)[number]

/** The settings of providers of every type that no column holds. */
export interface CommonSettings {
  /** The domains in lower case. */
  readonly domains: readonly string[]
  readonly auto_provision: boolean
  readonly group_claim: string | null
  readonly role_mappings: readonly RoleMapping[]
}

/**
 * The path to which an OpenID provider sends people back. `shared`: that of all organisations, which is for the first one. `organisation`: the
 * organisation's own, so that a code for one organisation never arrives in a sign-in of another one (RFC 9700, section 4.4.2.2).
 */
export const callbacks = ['shared', 'organisation'] as const
export type Callback = (typeof callbacks)[number]

/** The settings of a provider that no column holds. */
export interface ProviderSettings extends CommonSettings {
  /** Absent: `shared`, since it was set before organisations had callbacks of their own, or by SAML. */
  readonly callback?: Callback
  /** In place of the usual ones; empty: the usual ones. */
  readonly scopes: readonly string[]
  readonly token_endpoint_auth_method: AuthMethod
  /** With `token_endpoint` and `jwks_uri`: the provider has no discovery. */
  readonly authorization_endpoint: string | null
  readonly token_endpoint: string | null
  readonly jwks_uri: string | null
  readonly userinfo_endpoint: string | null
  /** The page where a browser signs out; absent: as null. */
  readonly end_session_endpoint?: string | null
  /** The page to which the provider sends a browser that has signed out there; absent: as null, none. */
  readonly post_logout_redirect_uri?: string | null
  readonly email_verified_claim: string
  /** The authorities that sign the certificates of the provider, PEM, in place of the usual ones; null or absent: the usual ones. */
  readonly ca?: string | null
  /** Absent: the provider speaks OpenID Connect. */
  readonly saml?: SamlSettings | undefined
}

/** The further settings of a provider of SAML 2.0. */
export interface SamlSettings {
  /** The metadata of the provider. */
  readonly metadata_xml: string
  /** The attribute that identifies a person; null: NameID. */
  readonly subject_claim: string | null
  /** The attribute with the address; null: the usual ones. */
  readonly email_claim: string | null
  readonly allow_idp_initiated: boolean
  /** Null: as the metadata asks. */
  readonly sign_requests: boolean | null
  /** The certificate of Gatehouse's own key, PEM; null: it has none. */
  readonly sp_certificate: string | null
}

export type ProviderType = 'oidc' | 'saml'

/** A group in a claim that gives a role in a workspace, under any name. */
export interface RoleMapping {
  readonly group: string
  readonly workspace_id: string
  readonly role: WorkspaceRole
}

/** The identity provider by which people of an organisation sign in. */
export const IdentityProvider = defineEntity({
  name: 'IdentityProvider',
  tableName: 'identity_providers',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    type: p.text().$type<ProviderType>(),
    name: p.string().length(255),
    enabled: p.boolean(),
    issuer: p.string().length(320),
    /** Our id at the provider; for SAML the entity id, or empty: the usual one. */
    clientId: p.string().length(320),
    /** Sealed: the secret, or the private key as a JSON Web Key (SAML: as PEM); null: none. */
    clientSecret: p.blob().nullable(),
    settings: p.json<ProviderSettings>(),
    /** The rank of the caller who set its claims about people; null: of an admin of the organisation. */
    rank: p.text().$type<Role>().nullable(),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type IdentityProvider = InferEntity<typeof IdentityProvider>

/** The place where the secret of a provider is sealed. */
export const secretPlace = ({ id: rowId, organisationId }: Pick<IdentityProvider, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'identity_providers',
  column: 'client_secret',
  rowId,
})
