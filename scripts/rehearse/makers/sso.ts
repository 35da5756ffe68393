import { makeKeyPair } from '../../../src/features/identity-providers/saml/key-pair.ts'
import type { Maker } from '../maker.ts'

const path = '/admin/organisation/sso'

/** An unreachable provider: its stored row has to stay readable. */
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

/** An identity provider, first on, then off, so that no person is sent there. */
export const sso: Maker = async ({ admin }) => {
  await admin.put(path, provider)
  const { client_secret: _kept, ...again } = provider
  await admin.put(path, { ...again, enabled: false })
  await admin.get(path)
  await admin.post(`${path}/test`, {})
  const begun = await admin.post(`${path}/test-sign-ins`, {})
  await admin.get(`${path}/test-sign-ins/${begun.id}`)
  await admin.refused(400, 'PUT', path)
}

/** A provider of SAML takes its place: the key of Gatehouse for it is sealed, and stays when it is set again. */
export const multiOrganisationSso: Maker = async ({ admin }) => {
  const { certificate, privateKey } = await makeKeyPair(Date.now())
  const saml = { type: 'saml', enabled: false, name: 'AD FS', domains: ['example.com'], metadata_xml: metadataWith(certificate) }
  await admin.put(path, { ...saml, email_claim: 'mail', sp_private_key: privateKey, sp_certificate: certificate })
  await admin.put(path, { ...saml, subject_claim: 'objectidentifier', sign_requests: true })
  await admin.get(path)
  await admin.post(`${path}/test`, {})
}

const metadataWith = (certificate: string): string => `
  <md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="https://login.invalid/saml">
    <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
      <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://login.invalid/saml/sso"/>
    </md:IDPSSODescriptor>
  </md:EntityDescriptor>`

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
