import { Secret } from '../lib/secret.ts'
import { choice, fault, formed, list, onOff, quoted, secret, text, type Kind } from './kinds.ts'
import { domainPattern, isDomain, mailDomain } from './mail-domain.ts'
import { certificates } from './pem.ts'
import { samlSettings } from './saml-settings.ts'
import { optional, setting } from './setting.ts'

/** A domain of e-mail addresses with the slug of the organisation that owns it. */
export interface OwnedDomain {
  readonly organisation: string
  readonly domain: string
}

const ownedDomain: Kind<OwnedDomain> = {
  name: '`slug=domain`',
  schema: formed(`[^=,]+=${domainPattern}`),
  parse: (input) => {
    const [organisation = '', domain = '', ...more] = input.split('=')
    if (organisation.trim() === '' || more.length > 0 || !isDomain(domain.trim()))
      fault(`${quoted(input)} is not the slug of an organisation, =, and a domain`)
    return { organisation: organisation.trim(), domain: domain.trim().toLowerCase() }
  },
}

const httpUrl: Kind<string> = {
  name: 'URL',
  schema: formed('https?://.+'),
  parse: (input) => {
    const url = URL.parse(input)
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.hash !== '')
      fault(`${quoted(input)} is not an http or https URL without a user and a fragment`)
    return input
  },
}

const scope: Kind<string> = {
  name: 'scope',
  parse: (input) =>
    /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(input)
      ? input
      : fault(`${quoted(input)} is no scope: a word of printable ASCII without " and \\`),
}

/** A private key as JSON: a JSON Web Key, or a set of which the first counts. */
const privateJwk: Kind<Secret> = {
  name: 'secret',
  parse: (input) => (isPrivateJwk(input) ? new Secret(input) : fault('is no private JSON Web Key, and no set with one')),
}

function isPrivateJwk(input: string): boolean {
  try {
    const json: unknown = JSON.parse(input)
    const keys: unknown = typeof json === 'object' && json !== null && 'keys' in json ? json.keys : [json]
    const key: unknown = Array.isArray(keys) ? keys[0] : null
    return typeof key === 'object' && key !== null && 'kty' in key && 'd' in key
  } catch {
    return false
  }
}

/** The settings of the identity provider of the first organisation. */
export const ssoSettings = {
  AUTH_SSO_TYPE: setting(choice(['oidc', 'saml'] as const), 'oidc', {
    desc: 'The protocol of the identity provider that these settings give the first organisation: `oidc` is OpenID Connect (`OIDC_*`), `saml` is SAML 2.0 (`SAML_*`). Providers that are set over the API may speak either.',
    example: 'oidc',
  }),
  OIDC_ISSUER: optional(httpUrl, {
    desc: 'The issuer by which people of the first organisation sign in, as its discovery document names it. The values of `PUT /v1/admin/organisation/sso` go first.',
    example: 'https://login.example.com',
  }),
  OIDC_CLIENT_ID: optional(text(320), { desc: 'The id of the client that stands for Gatehouse at the issuer.', example: 'gatehouse' }),
  OIDC_CLIENTID: optional(text(320), { desc: 'Another name of `OIDC_CLIENT_ID`.', example: 'gatehouse' }),
  OIDC_CLIENT_SECRET: optional(secret, { desc: 'The secret of the client.', example: 'the secret that the issuer gave', secret: true }),
  OIDC_CLIENT_JWKS: optional(privateJwk, {
    desc: 'The private key of the client as JSON, for `OIDC_TOKEN_ENDPOINT_AUTH_METHOD=private_key_jwt`: a JSON Web Key, or a set of which the first counts.',
    example: '{"kty":"EC","crv":"P-256","x":"...","y":"...","d":"...","kid":"2026-01"}',
    secret: true,
  }),
  OIDC_TOKEN_ENDPOINT_AUTH_METHOD: setting(
    choice(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const),
    'client_secret_basic',
    { desc: 'How Gatehouse shows the issuer that it is the client.', example: 'private_key_jwt' },
  ),
  OIDC_REDIRECT_URI: optional(httpUrl, {
    desc: 'The URL that the issuer sends people back to. Default: `PUBLIC_URL` and `/auth/oidc/callback`.',
    example: 'https://gateway.example.com/auth/oidc/callback',
  }),
  OIDC_AUTHORIZATION_ENDPOINT: optional(httpUrl, {
    desc: 'Where people sign in, of an issuer without discovery; with `OIDC_TOKEN_ENDPOINT` and `OIDC_JWKS_URI`.',
    example: 'https://login.example.com/authorize',
  }),
  OIDC_TOKEN_ENDPOINT: optional(httpUrl, {
    desc: 'Where codes are exchanged for tokens, of an issuer without discovery.',
    example: 'https://login.example.com/token',
  }),
  OIDC_JWKS_URI: optional(httpUrl, {
    desc: 'The keys with which ID tokens are signed, of an issuer without discovery.',
    example: 'https://login.example.com/keys',
  }),
  OIDC_USERINFO_ENDPOINT: optional(httpUrl, {
    desc: 'The endpoint for facts about a person beside those of the ID token. Default: that of the discovery document, else none.',
    example: 'https://login.example.com/userinfo',
  }),
  OIDC_END_SESSION_ENDPOINT: optional(httpUrl, {
    desc: 'The address at which a browser signs out at the issuer. Default: that of the discovery document, else none.',
    example: 'https://login.example.com/logout',
  }),
  OIDC_POST_LOGOUT_REDIRECT_URI: optional(httpUrl, {
    desc: 'The address to which the issuer sends a browser on that has signed out there. It must be registered there. Default: none.',
    example: 'https://gateway.example.com/console',
  }),
  OIDC_CA: optional(certificates, {
    desc: 'The authorities that sign the certificates of the issuer, in place of the usual ones. They count for calls to this issuer alone.',
    example: '/etc/gatehouse/issuer-ca.crt',
  }),
  OIDC_CUSTOM_SCOPES: setting(list(scope), '', {
    desc: 'The scopes that are asked for. Default: `openid,profile,email`; `openid` is always among them.',
    example: 'openid, profile, email, groups',
    since: '1.11.1',
  }),
  OIDC_DOMAINS: setting(list(mailDomain), '', {
    desc: 'The domains of e-mail addresses that the first organisation owns. An address finds a person, or makes one, only if it is of such a domain and the issuer has verified it.',
    example: 'example.com, example.org',
  }),
  OIDC_EMAIL_VERIFIED_CLAIM: setting(text(255), 'email_verified', {
    desc: 'The claim that states whether an address is verified.',
    example: 'xms_edov',
  }),
  OIDC_AUTO_PROVISION: setting(onOff, 'OFF', {
    desc: 'Whether people of `OIDC_DOMAINS` become members of the first organisation when they first sign in. `OFF`: only those who are invited or provisioned sign in.',
    example: 'ON',
    since: '1.7.0',
  }),
  OIDC_GROUP_CLAIM: optional(text(255), {
    desc: 'The claim with the groups of a person, whose names give roles as those of SCIM do; dots lead into objects, as in `realm_access.roles`.',
    example: 'groups',
    since: '1.6.0',
  }),
  ...samlSettings,
  ORGANISATION_DOMAINS: setting(list(ownedDomain), '', {
    desc: 'The domains of e-mail addresses that organisations own. With several organisations a domain that an organisation has set for its identity provider counts only if it is here; the only organisation needs none.',
    example: 'research=example.org, sales=example.com',
    since: '1.3.2',
  }),
}
