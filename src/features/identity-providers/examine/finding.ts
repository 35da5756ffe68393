/** All possible findings of an examination of sign-in. Their meanings are in `src/cli/doctor/sso-findings.ts`. */
export type SsoFindingId =
  | 'sso-missing'
  | 'sso-off'
  | 'sso-redirect-uri'
  | 'sso-shared-callback'
  | 'sso-unreachable'
  | 'sso-discovery'
  | 'sso-issuer-differs'
  | 'sso-endpoints'
  | 'sso-keys'
  | 'sso-client-method'
  | 'sso-client-refused'
  | 'sso-redirect-refused'
  | 'sso-pkce'
  | 'sso-scopes'
  | 'sso-clock'
  | 'sso-no-domain'
  | 'sso-domain-not-owned'
  | 'sso-mapping-gone'
  | 'sso-mapping-idle'
  | 'sso-saml-metadata'
  | 'sso-saml-certificate'
  | 'sso-saml-key'

/** A fault of an identity provider that keeps people from signing in, or from the access that they should get. */
export interface SsoFinding {
  readonly id: SsoFindingId
  /** `error`: sign-in is impossible, or it is not safe. */
  readonly severity: 'error' | 'warning'
  /** The facts. */
  readonly seen: string
}

export const wrong = (id: SsoFindingId, seen: string): SsoFinding => ({ id, severity: 'error', seen })
export const careful = (id: SsoFindingId, seen: string): SsoFinding => ({ id, severity: 'warning', seen })
