import { hash } from 'node:crypto'
import type { Deps } from '../../../app/deps.ts'
import { ownOrigin } from '../../../app/own-origin.ts'
import type { SamlConfig } from '../../../config/config.ts'
import { createLru } from '../../../lib/collections/lru.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { Provider, OrganisationPlace } from '../provider-facts.ts'
import { readMetadata, type IdpMetadata } from './metadata.ts'
import { XmlFault } from './strict-xml.ts'

type UrlSource = Pick<Deps, 'config'>
type Slug = Pick<OrganisationPlace, 'slug'>

const pathOf = ({ slug }: Slug, end: 'login' | 'acs' | 'metadata'): string => `/auth/saml/${encodeURIComponent(slug)}/${end}`

/** Returns the path at which people of an organisation begin to sign in by SAML. */
export const samlLoginPathOf = (standing: Slug): string => pathOf(standing, 'login')

/** Returns the URL that takes assertions (the assertion consumer service). */
export const acsUrlOf = ({ config }: UrlSource, standing: Slug): string => `${ownOrigin(config)}${pathOf(standing, 'acs')}`

/** Returns the URL of the metadata that an organisation gives its provider. */
export const metadataUrlOf = ({ config }: UrlSource, standing: Slug): string => `${ownOrigin(config)}${pathOf(standing, 'metadata')}`

/** Returns the entity id of Gatehouse for an organisation that has chosen no other. */
export const entityIdOf = metadataUrlOf

/** The facts in metadata that was read lately, by its SHA-256: a sign-in does not read 200 KB of XML anew. */
const read = createLru<IdpMetadata>(200)

/** Reads the metadata of a provider. AB01 for unusable metadata. */
export function metadataIn(text: string, param: string): IdpMetadata {
  const digest = hash('sha256', text, 'base64')
  try {
    const metadata = read.get(digest) ?? readMetadata(text)
    read.set(digest, metadata)
    return metadata
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error
    throw new ApiError('AB01', `The metadata of the identity provider cannot be used: ${error.message}.`, { param, cause: error })
  }
}

/** Returns the provider that the settings of the installation name. */
export function ofSamlSettings(
  { config, level }: Pick<Deps, 'config' | 'level'>,
  standing: OrganisationPlace,
  settings: SamlConfig,
): Provider {
  const { entityId, ssoUrl } = metadataIn(settings.metadataXml, 'SAML_METADATA_XML')
  return {
    ...oidcOnly,
    type: 'saml',
    source: 'settings',
    rank: 'owner',
    organisationId: standing.id,
    allowedHosts: null,
    name: new URL(ssoUrl).host,
    enabled: true,
    issuer: entityId,
    clientId: settings.entityId ?? entityIdOf({ config }, standing),
    callback: 'organisation',
    redirectUri: acsUrlOf({ config }, standing),
    domains: settings.domains,
    ownedDomains: settings.domains,
    auto_provision: settings.autoProvision && level.atLeast('1.7.0'),
    group_claim: level.atLeast('1.6.0') ? settings.groupClaim : null,
    role_mappings: [],
    saml: {
      metadata_xml: settings.metadataXml,
      subject_claim: settings.subjectClaim,
      email_claim: settings.emailClaim,
      allow_idp_initiated: settings.idpInitiated,
      sign_requests: settings.spKey === null ? false : null,
      sp_certificate: settings.spCertificate,
    },
    version: 'settings',
    secret: async () => settings.spKey?.reveal() ?? null,
  }
}

/** The settings that only OpenID Connect has. The signer of an assertion vouches for its address: no claim has to repeat it. */
export const oidcOnly = {
  scopes: [],
  token_endpoint_auth_method: 'none',
  authorization_endpoint: null,
  token_endpoint: null,
  jwks_uri: null,
  userinfo_endpoint: null,
  end_session_endpoint: null,
  post_logout_redirect_uri: null,
  ca: null,
  email_verified_claim: 'email_verified',
} as const
