import type { SsoFindingId } from '../../features/identity-providers/index.ts'
import type { Advice } from '../troubleshooting/advice.ts'

/** The findings of `gatehouse doctor sso`. */
export const ssoAdvice: Readonly<Record<SsoFindingId, Advice>> = {
  'sso-missing': {
    means: 'An organisation has no identity provider, and people sign in here in no other way.',
    fix: 'Set one with `PUT /v1/admin/organisation/sso`, or set `AUTH_MODE=LOCAL`. See [single sign-on](sso.md).',
  },
  'sso-off': {
    means: 'The identity provider of an organisation is turned off, so that people cannot sign in by it.',
    fix: 'Set `"enabled": true` with `PUT /v1/admin/organisation/sso` when it is ready.',
  },
  'sso-redirect-uri': {
    means: 'The address to which people are sent back is not one at which their browsers keep a session safely.',
    fix: 'Set `PUBLIC_URL` to the `https` address by which people reach Gatehouse, leave `OIDC_REDIRECT_URI` out, and register `PUBLIC_URL` and `/auth/oidc/callback` at the provider.',
  },
  'sso-shared-callback': {
    means:
      'An organisation that is not the first one still uses the callback of all. An administrator of another organisation could then sign in with a code of its people.',
    fix: 'Register `PUBLIC_URL` and `/auth/oidc/ORGANISATION/callback` at the provider, set `"callback": "organisation"` with `PUT /v1/admin/organisation/sso`, test a sign-in, and take the old redirect URI out at the provider.',
  },
  'sso-unreachable': {
    means: 'Gatehouse cannot reach the identity provider.',
    fix: 'If the address is refused, put the host into `TRUSTED_CUSTOM_HOSTS` (and into `ALLOWED_CUSTOM_HOSTS` if that is set). If it is not reached, look at name resolution and network policies. If its certificate comes from an unknown authority, set that as `ca` (`OIDC_CA`), or in `NODE_EXTRA_CA_CERTS` for all calls.',
  },
  'sso-discovery': {
    means: 'The identity provider does not describe itself at `/.well-known/openid-configuration` below the issuer.',
    fix: 'Compare `issuer` with the issuer that the provider shows. A provider without discovery needs `authorization_endpoint`, `token_endpoint` and `jwks_uri`.',
  },
  'sso-issuer-differs': {
    means: 'The discovery document names another issuer, so that no ID token of the provider is believed.',
    fix: 'Set `issuer` to the issuer in the document, letter by letter. Issuers for all tenants, such as `common` at Entra, are refused: use the one of your tenant.',
  },
  'sso-endpoints': {
    means: 'The identity provider lacks an endpoint that a sign-in needs, or has it without TLS.',
    fix: 'Look at the discovery document of the provider, or set the endpoints by hand.',
  },
  'sso-keys': {
    means: 'The keys by which ID tokens are verified cannot be read.',
    fix: 'Open `jwks_uri` from where Gatehouse runs. It may be on another host than the issuer, which must be reachable and trusted too.',
  },
  'sso-client-method': {
    means: 'The identity provider does not take the way in which Gatehouse shows who it is.',
    fix: 'Set `token_endpoint_auth_method` (`OIDC_TOKEN_ENDPOINT_AUTH_METHOD`) to one that the provider takes.',
  },
  'sso-client-refused': {
    means: 'The token endpoint does not accept Gatehouse as a client.',
    fix: 'Compare `client_id`, `client_secret` or the key, and `token_endpoint_auth_method` with the registration. A secret may have expired.',
  },
  'sso-redirect-refused': {
    means: 'The identity provider does not begin a sign-in: it has no such client, or does not allow the redirect URI.',
    fix: 'Register the redirect URI at the provider exactly as `GET /v1/admin/organisation/sso` shows it.',
  },
  'sso-pkce': {
    means: 'The identity provider does not declare PKCE with S256, which Gatehouse always sends.',
    fix: 'Turn PKCE on for the client at the provider, if it has such a switch.',
  },
  'sso-scopes': {
    means: 'The identity provider does not offer a scope that is asked for.',
    fix: 'Correct `scopes` (`OIDC_CUSTOM_SCOPES`), or add the scope at the provider.',
  },
  'sso-clock': {
    means: 'The clocks of Gatehouse and of the identity provider differ. ID tokens are then too old or of the future.',
    fix: 'Synchronise the clock of the machine (NTP).',
  },
  'sso-no-domain': {
    means: 'The organisation owns no mail domain. Only people who signed in before come in: no address finds or adds a person.',
    fix: 'Set `domains` (`OIDC_DOMAINS`). With several organisations, list the domains in `ORGANISATION_DOMAINS` too.',
  },
  'sso-domain-not-owned': {
    means: 'A domain of the organisation does not count, since no operator has assigned it to the organisation.',
    fix: 'Add it to `ORGANISATION_DOMAINS`, as `slug=domain`.',
  },
  'sso-mapping-gone': {
    means: 'A role mapping names a workspace that is gone, so that the group gives no role.',
    fix: 'Take the mapping out, or name another workspace, with `PUT /v1/admin/organisation/sso`.',
  },
  'sso-mapping-idle': {
    means: 'There are role mappings, and no claim from which groups are read.',
    fix: 'Set `group_claim` to the claim with the groups, such as `groups`.',
  },
  'sso-saml-metadata': {
    means: 'The metadata of the SAML provider cannot be used.',
    fix: 'Download the metadata of the provider again, and set it as `metadata_xml` (`SAML_METADATA_XML`).',
  },
  'sso-saml-certificate': {
    means: 'The certificates by which the SAML provider signs have ended, or end soon. Then people cannot sign in by it.',
    fix: 'Set the metadata with the new certificate before the provider changes its key; both serve meanwhile.',
  },
  'sso-saml-key': {
    means: 'Gatehouse lacks the key by which requests to the SAML provider are signed, or its certificate does not fit or ends soon.',
    fix: 'Set a key and its certificate anew, and give the provider the metadata of Gatehouse again.',
  },
}
