import type { CleanedEnv } from 'envalid'
import type { OidcConfig } from './config.ts'
import type { SettingName, settings } from './settings.ts'

type Values = CleanedEnv<typeof settings>

const clientIdOf = (values: Values): string | undefined => values.OIDC_CLIENT_ID ?? values.OIDC_CLIENTID

/** Returns the identity provider that the settings name; null: they name none. */
export function oidcOf(values: Values): OidcConfig | null {
  const clientId = clientIdOf(values)
  if (values.AUTH_SSO_TYPE !== 'oidc' || values.OIDC_ISSUER === undefined || clientId === undefined) return null
  return {
    issuer: values.OIDC_ISSUER,
    clientId,
    clientSecret: values.OIDC_CLIENT_SECRET ?? null,
    clientJwks: values.OIDC_CLIENT_JWKS ?? null,
    authMethod: values.OIDC_TOKEN_ENDPOINT_AUTH_METHOD,
    redirectUri: values.OIDC_REDIRECT_URI ?? null,
    postLogoutRedirectUri: values.OIDC_POST_LOGOUT_REDIRECT_URI ?? null,
    endpoints: endpointsOf(values),
    scopes: values.OIDC_CUSTOM_SCOPES,
    domains: values.OIDC_DOMAINS,
    emailVerifiedClaim: values.OIDC_EMAIL_VERIFIED_CLAIM,
    autoProvision: values.OIDC_AUTO_PROVISION,
    groupClaim: values.OIDC_GROUP_CLAIM ?? null,
    ca: values.OIDC_CA ?? null,
  }
}

const endpointsOf = (values: Values): OidcConfig['endpoints'] => ({
  authorization_endpoint: values.OIDC_AUTHORIZATION_ENDPOINT ?? null,
  token_endpoint: values.OIDC_TOKEN_ENDPOINT ?? null,
  jwks_uri: values.OIDC_JWKS_URI ?? null,
  userinfo_endpoint: values.OIDC_USERINFO_ENDPOINT ?? null,
  end_session_endpoint: values.OIDC_END_SESSION_ENDPOINT ?? null,
})

/** The endpoints that are given all or not at all. */
const together = ['OIDC_AUTHORIZATION_ENDPOINT', 'OIDC_TOKEN_ENDPOINT', 'OIDC_JWKS_URI'] as const

/** Returns the settings that an identity provider lacks. */
export function missingForOidc(values: Values): readonly { readonly name: SettingName; readonly because: string }[] {
  if (values.AUTH_SSO_TYPE !== 'oidc' || values.OIDC_ISSUER === undefined) return []
  const method = values.OIDC_TOKEN_ENDPOINT_AUTH_METHOD
  const given = together.find((name) => values[name] !== undefined)
  return [
    ...(given === undefined
      ? []
      : together.filter((name) => values[name] === undefined).map((name) => ({ name, because: `${given} is given` }))),
    ...(clientIdOf(values) === undefined ? [{ name: 'OIDC_CLIENT_ID', because: 'OIDC_ISSUER is given' } as const] : []),
    ...(method.startsWith('client_secret') && values.OIDC_CLIENT_SECRET === undefined
      ? [{ name: 'OIDC_CLIENT_SECRET', because: `OIDC_TOKEN_ENDPOINT_AUTH_METHOD is ${method}` } as const]
      : []),
    ...(method === 'private_key_jwt' && values.OIDC_CLIENT_JWKS === undefined
      ? [{ name: 'OIDC_CLIENT_JWKS', because: 'OIDC_TOKEN_ENDPOINT_AUTH_METHOD is private_key_jwt' } as const]
      : []),
  ]
}
