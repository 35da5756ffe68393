import type { Maker } from '../maker.ts'

const path = '/admin/organisation/sso'

/** A provider that nobody reaches: what is stored of it has to stay readable. */
const provider = {
  type: 'oidc',
  name: 'Okta',
  issuer: 'https://login.invalid/oidc',
  client_id: 'gatehouse',
  client_secret: 'rehearsed-client-secret',
  domains: ['example.com'],
  authorization_endpoint: 'https://login.invalid/oidc/auth',
  token_endpoint: 'https://login.invalid/oidc/token',
  jwks_uri: 'https://login.invalid/oidc/keys',
}

/** An identity provider, first on, then off, so that nobody is sent there. */
export const sso: Maker = async ({ admin }) => {
  await admin.put(path, provider)
  const { client_secret: _kept, ...again } = provider
  await admin.put(path, { ...again, enabled: false })
  await admin.get(path)
  await admin.post(`${path}/test`, {})
  await admin.refused(400, 'PUT', path)
}

/** People of its domains become members. */
export const ssoAutoProvisioning: Maker = async ({ admin }) => {
  await admin.put(path, { ...provider, enabled: false, auto_provision: true, group_claim: 'groups' })
  await admin.get(path)
}

/** Other scopes are asked for. */
export const oidcCustomScopes: Maker = async ({ admin }) => {
  await admin.put(path, { ...provider, enabled: false, auto_provision: true, group_claim: 'groups', scopes: ['openid', 'email', 'groups'] })
  await admin.get(path)
}
