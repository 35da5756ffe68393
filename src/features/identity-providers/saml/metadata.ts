import { X509Certificate } from 'node:crypto'
import { childrenOf, onlyChild, parseUnsignedXml, textOf, withDescendants, XmlFault, type XmlElement } from './strict-xml.ts'

/** The namespaces and bindings of SAML 2.0. */
export const saml = {
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
} as const

/** The facts in the metadata of an identity provider. */
export interface IdpMetadata {
  readonly entityId: string
  /** The URL to which browsers are sent, with a request in its query. */
  readonly ssoUrl: string
  /** PEM; several while the provider changes its key. */
  readonly certificates: readonly string[]
  readonly wantsSignedRequests: boolean
}

const longestEntityId = 320

/** Reads the metadata of one identity provider. Throws an XmlFault with the fault. */
export function readMetadata(text: string): IdpMetadata {
  // Some providers write comments and a stylesheet into their metadata, which is not signed here.
  const root = parseUnsignedXml(text)
  const entities = withDescendants(root).filter(
    (element) => isMetadata(element, 'EntityDescriptor') && childrenOf(element, saml.metadata, 'IDPSSODescriptor').length > 0,
  )
  const [entity, ...others] = entities
  if (entity === undefined) throw new XmlFault('it holds no IDPSSODescriptor: this is no metadata of an identity provider')
  if (others.length > 0) throw new XmlFault('it holds several identity providers: give that of one')
  const role = onlyChild(entity, saml.metadata, 'IDPSSODescriptor')
  if (role === null) throw new XmlFault('it holds several roles of an identity provider')
  const entityId = entity.attributes.get('entityID')?.trim() ?? ''
  if (entityId === '' || entityId.length > longestEntityId) throw new XmlFault(`its entityID is missing, or longer than ${longestEntityId}`)
  return {
    entityId,
    ssoUrl: ssoUrlOf(role),
    certificates: certificatesOf(role),
    wantsSignedRequests: ['true', '1'].includes(role.attributes.get('WantAuthnRequestsSigned') ?? ''),
  }
}

const isMetadata = ({ name, namespace }: XmlElement, wanted: string): boolean => name === wanted && namespace === saml.metadata

function ssoUrlOf(role: XmlElement): string {
  const services = childrenOf(role, saml.metadata, 'SingleSignOnService')
  const location = services.find(({ attributes }) => attributes.get('Binding') === saml.redirect)?.attributes.get('Location')
  if (location === undefined) throw new XmlFault('it names no SingleSignOnService with the binding HTTP-Redirect')
  const url = URL.parse(location)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new XmlFault('its SingleSignOnService is no http or https URL')
  return url.href
}

const mostCertificates = 20

function certificatesOf(role: XmlElement): readonly string[] {
  const signing = childrenOf(role, saml.metadata, 'KeyDescriptor').filter(({ attributes }) => attributes.get('use') !== 'encryption')
  const texts = signing
    .flatMap(withDescendants)
    .flatMap((element) => (element.name === 'X509Certificate' && element.namespace === saml.signature ? (textOf(element) ?? '') : []))
    .map((text) => text.replaceAll(/\s+/g, ''))
  // Counted before they are read, which takes long.
  const different = new Set(texts)
  if (different.size === 0) throw new XmlFault('it holds no certificate to check signatures with')
  if (different.size > mostCertificates) throw new XmlFault(`it holds more than ${mostCertificates} certificates`)
  return [...new Set([...different].map(toPem))]
}

function toPem(base64: string): string {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).toString()
  } catch {
    throw new XmlFault('it holds a certificate that cannot be read')
  }
}

/** Returns the facts of a certificate that people compare. */
export function certificateFacts(pem: string) {
  const { fingerprint256, validFromDate, validToDate } = new X509Certificate(pem)
  return { sha256: fingerprint256, valid_from: validFromDate.toISOString(), valid_until: validToDate.toISOString() }
}
