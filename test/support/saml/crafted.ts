import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { inflateRawSync } from 'node:zlib'
import { SignedXml } from 'xml-crypto'
import { encrypt, type EncryptOptions } from 'xml-encryption'
import { makeKeyPair, type KeyPair } from '../../../src/features/identity-providers/saml/key-pair.ts'

/** A provider of SAML of which every byte can be chosen. */
export interface CraftedIdp {
  readonly entityId: string
  readonly keys: KeyPair
  /** Its metadata, with these certificates in place of its own. */
  metadata(certificates?: readonly string[], attributes?: string): string
}

export async function makeIdp(entityId: string): Promise<CraftedIdp> {
  const keys = await makeKeyPair(Date.now())
  return {
    entityId,
    keys,
    metadata: (certificates = [keys.certificate], attributes = '') => `<?xml version="1.0"?>
<!-- made by a provider that likes to talk -->
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${entityId}">
  <md:IDPSSODescriptor ${attributes} protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    ${certificates.map((pem) => `<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${bare(pem)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`).join('\n')}
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${entityId}/post"/>
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${entityId}/sso?tenant=1"/>
  </md:IDPSSODescriptor>
</md:EntityDescriptor>`,
  }
}

const bare = (pem: string): string => pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')

/** The contents of a response; every absent part is as it should be. */
export interface Crafting {
  readonly idp: CraftedIdp
  readonly acsUrl: string
  readonly entityId: string
  /** Null: it answers no request. */
  readonly inResponseTo: string | null
  readonly responseInResponseTo?: string
  readonly issuer?: string
  readonly audience?: string
  readonly recipient?: string
  readonly destination?: string
  readonly nameId?: string
  readonly nameIdFormat?: string
  readonly attributes?: Readonly<Record<string, readonly string[]>>
  /** Seconds from now. */
  readonly notBefore?: number
  readonly notOnOrAfter?: number
  readonly sessionUntil?: number
  readonly assertionId?: string
  readonly status?: string
  readonly sign?: 'assertion' | 'response' | 'both' | 'none'
  readonly signature?: string
  readonly digest?: string
  readonly key?: string
  /** The certificate of the reader. */
  readonly encryptFor?: string
  readonly encryption?: Partial<EncryptOptions>
  /** Changes the assertion before it is signed. */
  readonly before?: (assertion: string) => string
  /** Changes the whole response after it was signed. */
  readonly after?: (response: string) => string
}

const assertionNs = 'urn:oasis:names:tc:SAML:2.0:assertion'
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const instant = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const newId = () => `_${randomBytes(16).toString('hex')}`

/** Returns a response in base64. */
export async function craft(crafting: Crafting): Promise<string> {
  return Buffer.from(await craftXml(crafting)).toString('base64')
}

export async function craftXml(crafting: Crafting): Promise<string> {
  const { sign = 'assertion', after = (xml: string) => xml, before = (xml: string) => xml } = crafting
  const plain = before(assertionOf(crafting))
  const signed = sign === 'assertion' || sign === 'both' ? signXml(plain, 'Assertion', crafting) : plain
  const response = responseOf(crafting, crafting.encryptFor === undefined ? signed : await encryptFor(signed, crafting))
  return after(sign === 'response' || sign === 'both' ? signXml(response, 'Response', crafting) : response)
}

export function assertionOf(crafting: Crafting): string {
  const { idp, acsUrl, entityId, inResponseTo, attributes = {} } = crafting
  const { issuer = idp.entityId, audience = entityId, recipient = acsUrl, nameId = 'ada-1', notBefore = -5, notOnOrAfter = 120 } = crafting
  const { nameIdFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent', assertionId = newId(), sessionUntil } = crafting
  const statements = Object.entries(attributes).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${escaped(value)}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
  )
  return (
    `<saml:Assertion xmlns:saml="${assertionNs}" ID="${assertionId}" Version="2.0" IssueInstant="${instant(0)}"><saml:Issuer>${issuer}</saml:Issuer>` +
    `<saml:Subject><saml:NameID Format="${nameIdFormat}">${escaped(nameId)}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData Recipient="${recipient}" NotOnOrAfter="${instant(notOnOrAfter)}"${inResponseTo === null ? '' : ` InResponseTo="${inResponseTo}"`}/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${instant(notBefore)}" NotOnOrAfter="${instant(notOnOrAfter)}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${instant(0)}" SessionIndex="s-1"${sessionUntil === undefined ? '' : ` SessionNotOnOrAfter="${instant(sessionUntil)}"`}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    (statements.length === 0 ? '' : `<saml:AttributeStatement>${statements.join('')}</saml:AttributeStatement>`) +
    '</saml:Assertion>'
  )
}

function responseOf(crafting: Crafting, assertion: string): string {
  const { idp, acsUrl, inResponseTo, issuer = idp.entityId, destination = acsUrl } = crafting
  const { responseInResponseTo = inResponseTo, status = 'urn:oasis:names:tc:SAML:2.0:status:Success' } = crafting
  return (
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="${assertionNs}" ID="${newId()}" Version="2.0" IssueInstant="${instant(0)}" Destination="${destination}"${responseInResponseTo === null ? '' : ` InResponseTo="${responseInResponseTo}"`}>` +
    `<saml:Issuer>${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status>${assertion}</samlp:Response>`
  )
}

/** Returns XML in which an element is signed, as the real algorithms of the field do it. */
export function signXml(xml: string, name: 'Assertion' | 'Response', { idp, key, signature, digest }: Crafting): string {
  const path = `//*[local-name(.)='${name}']`
  const signed = new SignedXml({
    privateKey: key ?? idp.keys.privateKey,
    signatureAlgorithm: signature ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  })
  if (signature?.includes('hmac') === true) signed.enableHMAC()
  signed.addReference({
    xpath: path,
    digestAlgorithm: digest ?? 'http://www.w3.org/2001/04/xmlenc#sha256',
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
  })
  signed.computeSignature(xml, { prefix: 'ds', location: { reference: `${path}/*[local-name(.)='Issuer']`, action: 'after' } })
  return signed.getSignedXml()
}

async function encryptFor(assertion: string, { encryptFor: certificate = '', encryption = {} }: Crafting): Promise<string> {
  const { createPublicKey } = await import('node:crypto')
  const options: EncryptOptions = {
    rsa_pub: String(createPublicKey(certificate).export({ format: 'pem', type: 'spki' })),
    pem: certificate,
    encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
    disallowEncryptionWithInsecureAlgorithm: false,
    warnInsecureAlgorithm: false,
    ...encryption,
  }
  const encrypted = await promisify<string, EncryptOptions, string>(encrypt)(assertion, options)
  return `<saml:EncryptedAssertion>${encrypted}</saml:EncryptedAssertion>`
}

/** Returns the AuthnRequest in a URL. */
export function requestIn(url: URL): { readonly xml: string; readonly id: string } {
  const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
  return { xml, id: / ID="([^"]+)"/.exec(xml)?.[1] ?? '' }
}
