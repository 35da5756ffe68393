import type { Deps } from '../../app/deps.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import type { SamlSettings } from './identity-provider.entity.ts'
import { loginPathOf, redirectUriOf, usualCallback, type Provider, type OrganisationPlace } from './provider.ts'
import { certificateFacts } from './saml/metadata.ts'
import { acsUrlOf, entityIdOf, metadataIn, metadataUrlOf } from './saml/saml-provider.ts'

interface ViewContext {
  readonly deps: Deps
  readonly standing: OrganisationPlace
}

/** Returns a caller's view of a provider; null: the organisation has none. */
export const presentProvider = (provider: Provider | null, { deps, standing }: ViewContext) => ({
  object: 'identity-provider' as const,
  ...(provider === null ? nothing : described(provider)),
  saml: {
    ...(provider?.saml === undefined ? noSaml : describedSaml(provider.saml)),
    entity_id: provider?.saml === undefined ? entityIdOf(deps, standing) : provider.clientId,
    acs_url: acsUrlOf(deps, standing),
    metadata_url: metadataUrlOf(deps, standing),
  },
  callback: provider?.type === 'oidc' ? provider.callback : usualCallback(standing),
  redirect_uri: provider?.redirectUri ?? redirectUriOf(deps, standing, usualCallback(standing)),
  login_url: `${ownOrigin(deps.config)}${loginPathOf(standing, provider?.type ?? 'oidc')}`,
})

const described = (provider: Provider) => ({
  type: provider.type,
  source: provider.source,
  enabled: provider.enabled,
  name: provider.name,
  issuer: provider.issuer,
  client_id: provider.clientId,
  token_endpoint_auth_method: provider.type === 'oidc' ? provider.token_endpoint_auth_method : null,
  scopes: [...provider.scopes],
  authorization_endpoint: provider.authorization_endpoint,
  token_endpoint: provider.token_endpoint,
  jwks_uri: provider.jwks_uri,
  userinfo_endpoint: provider.userinfo_endpoint,
  end_session_endpoint: provider.end_session_endpoint,
  post_logout_redirect_uri: provider.post_logout_redirect_uri,
  ca: provider.ca,
  domains: [...provider.domains],
  owned_domains: [...provider.ownedDomains],
  email_verified_claim: provider.email_verified_claim,
  auto_provision: provider.auto_provision,
  group_claim: provider.group_claim,
  role_mappings: [...provider.role_mappings],
})

const nothing = {
  type: null,
  source: null,
  enabled: false,
  name: null,
  issuer: null,
  client_id: null,
  token_endpoint_auth_method: null,
  scopes: [],
  authorization_endpoint: null,
  token_endpoint: null,
  jwks_uri: null,
  userinfo_endpoint: null,
  end_session_endpoint: null,
  post_logout_redirect_uri: null,
  ca: null,
  domains: [],
  owned_domains: [],
  email_verified_claim: 'email_verified',
  auto_provision: false,
  group_claim: null,
  role_mappings: [],
}

function describedSaml({ metadata_xml, ...settings }: SamlSettings) {
  const { ssoUrl, certificates } = metadataIn(metadata_xml, 'metadata_xml')
  return { ...settings, metadata_xml, sso_url: ssoUrl, certificates: certificates.map(certificateFacts) }
}

const noSaml = {
  sso_url: null,
  certificates: [],
  metadata_xml: null,
  subject_claim: null,
  email_claim: null,
  allow_idp_initiated: false,
  sign_requests: null,
  sp_certificate: null,
}
