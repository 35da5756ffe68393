import { promisify } from 'node:util'
import type { SAML } from '@node-saml/node-saml'
import { parseStrictXml, saml, toXml, withDescendants, XmlFault, type Provider, type XmlElement } from '../../identity-providers/index.ts'
import { readAssertion, toleranceMs, type Assertion } from './assertion.ts'
import { demandShape, demandSignatures } from './response-shape.ts'
import { SamlFault } from './saml-fault.ts'

interface VerifyOptions {
  readonly client: SAML
  readonly provider: Provider
  /** Reads encrypted assertions, PEM; null: there is none. */
  readonly key: string | null
  readonly nowMs: number
}

/**
 * Verifies a response (base64) and returns its assertion. The shape is checked before a signature is, `@node-saml/node-saml` checks the
 * signature, and everything that is believed is read from the bytes which that signature covers. Throws a SamlFault.
 */
export async function verifyResponse(text: string, verifying: VerifyOptions): Promise<Assertion> {
  const { provider, client, nowMs } = verifying
  const { issuer, clientId: entityId, redirectUri: acsUrl } = provider
  const shape = demandShape(parsed(decoded(text)), { issuer, acsUrl })
  const signed = shape.encrypted === null ? await signedAssertion(client, text) : await signedInside(shape.encrypted, text, verifying)
  const assertion = readAssertion(parsed(signed), { issuer, entityId, acsUrl, nowMs })
  if (shape.inResponseTo !== null && shape.inResponseTo !== assertion.inResponseTo)
    throw new SamlFault('InResponseTo of the response and of the assertion differ')
  return assertion
}

/** How far clocks may differ, for the library too. */
export const acceptedClockSkewMs = toleranceMs

function decoded(text: string): string {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text.replaceAll(/\s+/g, ''))) throw new SamlFault('it is not base64')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'base64'))
  } catch (cause) {
    throw new SamlFault('it is not UTF-8', { cause })
  }
}

function parsed(xml: string): XmlElement {
  try {
    return parseStrictXml(xml)
  } catch (cause) {
    if (cause instanceof XmlFault) throw new SamlFault(cause.message, { cause })
    throw cause
  }
}

/**
 * Returns the encrypted assertion. Until its signature is verified every fault has the same words: an attacker with the assertion of another person
 * could read it by changing it and looking at the fault (a padding oracle). The log has the cause.
 */
async function signedInside(encrypted: XmlElement, text: string, { client, key }: VerifyOptions): Promise<string> {
  if (key === null) throw new SamlFault('its assertion is encrypted, and Gatehouse has no key for this provider')
  try {
    demandClean(parsed(await decrypted(encrypted, key)))
    return await signedAssertion(client, text)
  } catch (cause) {
    throw new SamlFault('its encrypted assertion cannot be read, or is not signed as it has to be', { cause })
  }
}

async function decrypted(encrypted: XmlElement, key: string): Promise<string> {
  const { decrypt } = await import('./packages.ts')
  const options = { key, disallowDecryptionWithInsecureAlgorithm: true, warnInsecureAlgorithm: false }
  return promisify<string, Parameters<typeof decrypt>[1], string>(decrypt)(toXml(encrypted), options)
}

/** The library would take any algorithm inside. */
function demandClean(root: XmlElement): void {
  if (root.name !== 'Assertion' || root.namespace !== saml.assertion) throw new SamlFault('it is no assertion')
  if (withDescendants(root).filter(({ name }) => name === 'Assertion' || name === 'EncryptedAssertion').length > 1)
    throw new SamlFault('it has several assertions')
  demandSignatures(root)
}

async function signedAssertion(client: SAML, text: string): Promise<string> {
  const verified = await client.validatePostResponseAsync({ SAMLResponse: text }).catch((cause: unknown) => {
    throw new SamlFault(cause instanceof Error ? cause.message.slice(0, 300) : 'the signature', { cause })
  })
  const xml = verified.profile?.getAssertionXml?.()
  if (xml === undefined) throw new SamlFault('nothing in it is signed')
  return xml
}
