import { createPublicKey, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { getSamlResponse, type SamlpOptions, type SamlpUser } from 'samlp'
import { makeKeyPair } from '../../../src/features/identity-providers/saml/key-pair.ts'
import { samlify } from './samlify.ts'

const { Constants, IdentityProvider, ServiceProvider } = samlify

/** A provider's claims about the person who signs in. */
export interface SamlPerson {
  readonly nameId: string
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

/** A provider of SAML made of a library of others, which reads our requests and our metadata by itself. */
export interface RealIdp {
  readonly entityId: string
  readonly metadata: string
  /** Reads the request in the URL, checks its signature if there has to be one, and answers it. */
  answer(url: URL, ownMetadata: string, person: SamlPerson): Promise<string>
}

// The schemas of SAML are not at hand; the product checks the important parts.
samlify.setSchemaValidator({ validate: async () => 'not asked' })

/** The library `samlify` as a provider. */
export async function samlifyIdp(
  entityId: string,
  { signedRequests, encrypts }: { readonly signedRequests: boolean; readonly encrypts: boolean },
): Promise<RealIdp> {
  const { privateKey, certificate } = await makeKeyPair(Date.now())
  const idp = IdentityProvider({
    entityID: entityId,
    privateKey,
    signingCert: certificate,
    wantAuthnRequestsSigned: signedRequests,
    isAssertionEncrypted: encrypts,
    requestSignatureAlgorithm: Constants.algorithms.signature.RSA_SHA256,
    dataEncryptionAlgorithm: Constants.algorithms.encryption.data.AES_256,
    keyEncryptionAlgorithm: Constants.algorithms.encryption.key.RSA_OAEP_MGF1P,
    nameIDFormat: ['urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'],
    singleSignOnService: [{ Binding: Constants.namespace.binding.redirect, Location: `${entityId}/sso` }],
  })
  return {
    entityId,
    metadata: idp.getMetadata(),
    async answer(url, ownMetadata, { nameId, attributes }) {
      const sp = ServiceProvider({ metadata: ownMetadata })
      const [, octetString = ''] = /\?(.*)&Signature=/.exec(url.href) ?? []
      const request = await idp.parseLoginRequest(sp, 'redirect', { query: Object.fromEntries(url.searchParams), octetString })
      const { id: inResponseTo, assertionConsumerServiceUrl } = (request.extract as { request: Record<string, string> }).request
      const acs = sp.entityMeta.getAssertionConsumerService('post')
      if (assertionConsumerServiceUrl !== acs) throw new Error(`the request names ${assertionConsumerServiceUrl}, the metadata ${acs}`)
      const now = Date.now()
      const until = new Date(now + 300_000).toISOString()
      const values: Readonly<Record<string, string>> = {
        ID: newId(),
        AssertionID: newId(),
        Destination: acs,
        Audience: sp.entityMeta.getEntityID(),
        SubjectRecipient: acs,
        Issuer: entityId,
        IssueInstant: new Date(now).toISOString(),
        StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success',
        ConditionsNotBefore: new Date(now).toISOString(),
        ConditionsNotOnOrAfter: until,
        SubjectConfirmationDataNotOnOrAfter: until,
        NameIDFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
        NameID: nameId,
        InResponseTo: inResponseTo ?? '',
        AuthnStatement: `<saml:AuthnStatement AuthnInstant="${new Date(now).toISOString()}" SessionIndex="${newId()}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
        AttributeStatement: statementOf(attributes),
      }
      const { context } = await idp.createLoginResponse(sp, request, 'post', {}, (template: string) => ({
        id: values['ID'] ?? '',
        context: template.replaceAll(/\{(\w+)\}/g, (_, tag: string) => values[tag] ?? ''),
      }))
      return context
    },
  }
}

/** The library `samlp` as a provider: assertions with the names of claims that AD FS and Entra have. */
export async function samlpIdp(entityId: string, options: Partial<SamlpOptions> = {}): Promise<RealIdp> {
  const { privateKey, certificate } = await makeKeyPair(Date.now())
  // Its missing parts: metadata, and reading requests.
  const reader = IdentityProvider({
    entityID: entityId,
    signingCert: certificate,
    singleSignOnService: [{ Binding: Constants.namespace.binding.redirect, Location: `${entityId}/sso` }],
  })
  return {
    entityId,
    metadata: reader.getMetadata(),
    async answer(url, ownMetadata, { nameId, attributes }) {
      const sp = ServiceProvider({ metadata: ownMetadata })
      const request = await reader.parseLoginRequest(sp, 'redirect', { query: Object.fromEntries(url.searchParams) })
      const { id: inResponseTo = '' } = (request.extract as { request: Record<string, string> }).request
      const acs = sp.entityMeta.getAssertionConsumerService('post')
      const given = {
        issuer: entityId,
        cert: certificate,
        key: privateKey,
        audience: sp.entityMeta.getEntityID(),
        recipient: acs,
        destination: acs,
        inResponseTo,
        signatureAlgorithm: 'rsa-sha256',
        digestAlgorithm: 'sha256',
        lifetimeInSeconds: 300,
        ...(options.encryptionAlgorithm !== undefined && encryptionFor(sp.entityMeta.getX509Certificate('encryption'))),
        ...options,
      } as const
      const xml = await promisify<SamlpOptions, SamlpUser, string>(getSamlResponse)(given, {
        id: nameId,
        displayName: nameId,
        name: { givenName: attributes['givenName']?.[0] ?? '', familyName: attributes['sn']?.[0] ?? '' },
        emails: (attributes['email'] ?? []).map((value) => ({ value })),
      })
      return Buffer.from(xml).toString('base64')
    },
  }
}

function encryptionFor(base64: string) {
  const encryptionCert = `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/\s/g, '')}\n-----END CERTIFICATE-----\n`
  return { encryptionCert, encryptionPublicKey: String(createPublicKey(encryptionCert).export({ format: 'pem', type: 'spki' })) }
}

const newId = () => `_${randomBytes(16).toString('hex')}`

const statementOf = (attributes: SamlPerson['attributes']): string =>
  `<saml:AttributeStatement>${Object.entries(attributes)
    .map(
      ([name, values]) =>
        `<saml:Attribute Name="${name}" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic">${values
          .map(
            (value) =>
              `<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">${value}</saml:AttributeValue>`,
          )
          .join('')}</saml:Attribute>`,
    )
    .join('')}</saml:AttributeStatement>`
