import { childrenOf, onlyChild, saml, textOf, withDescendants, type XmlElement } from '../../identity-providers/index.ts'
import { SamlFault } from './saml-fault.ts'

/** The outer part of a response. It is not trusted: it can only lead to a refusal. */
export interface ResponseShape {
  readonly inResponseTo: string | null
  /** The encrypted assertion; null: it is in the clear. */
  readonly encrypted: XmlElement | null
}

interface ExpectedResponse {
  readonly issuer: string
  readonly acsUrl: string
}

/**
 * Demands that a response is as the profile for browsers has it: one assertion, in its place, and signatures only where they are of use. So there is
 * no place left in which a second assertion could hide from the signature check (signature wrapping).
 */
export function demandShape(response: XmlElement, { issuer, acsUrl }: ExpectedResponse): ResponseShape {
  if (response.name !== 'Response' || response.namespace !== saml.protocol) throw new SamlFault('it is no SAML response')
  if (response.attributes.get('Version') !== '2.0') throw new SamlFault('its version is not 2.0')
  demandSuccess(response)
  const destination = response.attributes.get('Destination')
  if (destination !== undefined && destination !== acsUrl) throw new SamlFault('its Destination is another address')
  demandIssuer(childrenOf(response, saml.assertion, 'Issuer'), issuer)
  demandOneAssertion(response)
  demandSignatures(response)
  return {
    inResponseTo: response.attributes.get('InResponseTo') ?? null,
    encrypted: onlyChild(response, saml.assertion, 'EncryptedAssertion'),
  }
}

function demandSuccess(response: XmlElement): void {
  const status = onlyChild(response, saml.protocol, 'Status')
  const code = status === null ? null : onlyChild(status, saml.protocol, 'StatusCode')
  const value = code?.attributes.get('Value')
  if (value === 'urn:oasis:names:tc:SAML:2.0:status:Success') return
  const inner = code === null ? undefined : onlyChild(code, saml.protocol, 'StatusCode')?.attributes.get('Value')
  throw new SamlFault(`it says ${lastWord(inner ?? value)}`, { isRefusal: true })
}

const lastWord = (urn: string | undefined): string => /[A-Za-z]{1,64}$/.exec(urn ?? '')?.[0] ?? 'nothing of success'

function demandIssuer(issuers: readonly XmlElement[], issuer: string): void {
  if (issuers.length > 1 || issuers.some((element) => textOf(element) !== issuer)) throw new SamlFault('its Issuer is another provider')
}

const assertionNames: ReadonlySet<string> = new Set(['Assertion', 'EncryptedAssertion'])

function demandOneAssertion(response: XmlElement): void {
  const all = withDescendants(response)
  const assertions = all.filter(({ name }) => assertionNames.has(name))
  const [first] = assertions
  if (first === undefined) throw new SamlFault('it has no assertion')
  if (assertions.length > 1) throw new SamlFault('it has several assertions')
  if (first.namespace !== saml.assertion || !response.children.includes(first)) throw new SamlFault('its assertion is not in its place')
  if (all.filter(({ name }) => name === 'Response').length > 1) throw new SamlFault('it holds another response')
}

const idNames = ['ID', 'Id', 'id'] as const

/** Demands that each id in a response or an assertion belongs to one element, and that signatures are where they should be, in the right form. */
export function demandSignatures(root: XmlElement): void {
  const all = withDescendants(root)
  const ids = all.flatMap(({ attributes }) => idNames.flatMap((name) => attributes.get(name) ?? []))
  if (new Set(ids).size < ids.length) throw new SamlFault('an ID is of two elements')
  const signed = all.filter((element) => childrenOf(element, saml.signature, 'Signature').length > 0)
  for (const element of signed) {
    const [signature, ...more] = childrenOf(element, saml.signature, 'Signature')
    const isItsPlace = element === root || (element.name === 'Assertion' && root.children.includes(element))
    if (signature === undefined || more.length > 0 || !isItsPlace) throw new SamlFault('a signature is not in its place')
    demandSignature(signature, element.attributes.get('ID') ?? '')
  }
  if (all.filter(({ name }) => name === 'Signature').length > signed.length) throw new SamlFault('a signature is not in its place')
}

const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const more = 'http://www.w3.org/2001/04/xmldsig-more#'

/** The algorithms that are taken, by the element that names them: neither SHA-1 nor keyed hashes. */
const algorithms: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['CanonicalizationMethod', new Set([exclusive])],
  ['SignatureMethod', new Set([`${more}rsa-sha256`, `${more}rsa-sha512`])],
  ['DigestMethod', new Set(['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'])],
  ['Transform', new Set([enveloped, exclusive])],
])

function demandSignature(signature: XmlElement, id: string): void {
  const info = onlyChild(signature, saml.signature, 'SignedInfo')
  const reference = info === null ? null : onlyChild(info, saml.signature, 'Reference')
  if (reference === null) throw new SamlFault('a signature is of more or less than one element')
  if (id === '' || reference.attributes.get('URI') !== `#${id}`)
    throw new SamlFault('a signature is of another element than the one it is in')
  for (const element of withDescendants(signature)) demandAlgorithm(element)
}

function demandAlgorithm({ name, attributes, children }: XmlElement): void {
  if (name === 'Object' || name === 'Manifest') throw new SamlFault('a signature holds more than a signature')
  if (name === 'SignatureMethod' && children.length > 0) throw new SamlFault('a signature has parameters')
  const algorithm = attributes.get('Algorithm') ?? ''
  if (algorithms.get(name)?.has(algorithm) === false)
    throw new SamlFault(`a signature uses ${algorithm.slice(0, 100)}: only RSA with SHA-256 or SHA-512 is taken`)
}
