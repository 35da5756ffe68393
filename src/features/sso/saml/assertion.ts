import { childrenOf, onlyChild, saml, textOf, type XmlElement } from '../../identity-providers/index.ts'
import { SamlFault } from './saml-fault.ts'

/** The statement of a provider about a person, signed, and meant for us. */
export interface Assertion {
  readonly id: string
  /** The id of the request that it answers; null: there was none. */
  readonly inResponseTo: string | null
  readonly nameId: string | null
  readonly nameIdFormat: string | null
  readonly sessionIndex: string | null
  /** The end of the session at the provider, epoch milliseconds; null: it sets none. */
  readonly endsAt: number | null
  /** Until when the assertion could be shown again, epoch milliseconds. */
  readonly until: number
  readonly attributes: ReadonlyMap<string, readonly string[]>
}

/** The audience that an assertion has to have, and its time. */
export interface Audience {
  readonly issuer: string
  readonly entityId: string
  readonly acsUrl: string
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/** Clocks may differ by so much. */
export const toleranceMs = 60_000

/** Reads an assertion, of bytes that a signature covers. Throws a SamlFault for one that is not for us, or not now. */
export function readAssertion(root: XmlElement, audience: Audience): Assertion {
  if (root.name !== 'Assertion' || root.namespace !== saml.assertion || root.attributes.get('Version') !== '2.0')
    throw new SamlFault('it is no assertion of SAML 2.0')
  const id = root.attributes.get('ID') ?? ''
  if (id === '') throw new SamlFault('the assertion has no ID')
  if (textOf(onlyChild(root, saml.assertion, 'Issuer')) !== audience.issuer) throw new SamlFault('the assertion is of another provider')
  demandConditions(root, audience)
  const subject = onlyChild(root, saml.assertion, 'Subject')
  if (subject === null) throw new SamlFault('the assertion has no Subject')
  const nameId = onlyChild(subject, saml.assertion, 'NameID')
  return {
    id,
    nameId: textOf(nameId),
    nameIdFormat: nameId?.attributes.get('Format') ?? null,
    ...confirmationOf(subject, audience),
    ...sessionOf(root, audience),
    attributes: attributesOf(root),
  }
}

function demandConditions(root: XmlElement, { entityId, nowMs }: Audience): void {
  const conditions = onlyChild(root, saml.assertion, 'Conditions')
  if (conditions === null) throw new SamlFault('the assertion has no Conditions')
  demandTime(conditions, nowMs)
  const restrictions = childrenOf(conditions, saml.assertion, 'AudienceRestriction')
  const isOurs = (restriction: XmlElement) => childrenOf(restriction, saml.assertion, 'Audience').some((one) => textOf(one) === entityId)
  if (restrictions.length === 0 || !restrictions.every(isOurs)) throw new SamlFault(`the audience is not ${entityId}`)
}

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

/** Returns the confirmation that lets the bearer in here and now. */
function confirmationOf(subject: XmlElement, { acsUrl, nowMs }: Audience): Pick<Assertion, 'inResponseTo' | 'until'> {
  const faults: SamlFault[] = []
  for (const confirmation of childrenOf(subject, saml.assertion, 'SubjectConfirmation')) {
    const data = onlyChild(confirmation, saml.assertion, 'SubjectConfirmationData')
    if (confirmation.attributes.get('Method') !== bearer || data === null) continue
    try {
      if (data.attributes.get('Recipient') !== acsUrl) throw new SamlFault(`the Recipient is not ${acsUrl}`)
      const until = instantOf(data, 'NotOnOrAfter')
      if (until === null) throw new SamlFault('the SubjectConfirmationData has no NotOnOrAfter')
      demandTime(data, nowMs)
      return { inResponseTo: data.attributes.get('InResponseTo') ?? null, until: until + toleranceMs }
    } catch (error) {
      if (!(error instanceof SamlFault)) throw error
      faults.push(error)
    }
  }
  throw faults[0] ?? new SamlFault('the assertion has no SubjectConfirmation for a bearer')
}

function sessionOf(root: XmlElement, { nowMs }: Audience): Pick<Assertion, 'sessionIndex' | 'endsAt'> {
  const [statement] = childrenOf(root, saml.assertion, 'AuthnStatement')
  if (statement === undefined) throw new SamlFault('the assertion does not state that a person signed in (AuthnStatement)')
  const endsAt = instantOf(statement, 'SessionNotOnOrAfter')
  if (endsAt !== null && endsAt <= nowMs) throw new SamlFault('the session at the provider has ended')
  return { sessionIndex: statement.attributes.get('SessionIndex') ?? null, endsAt }
}

function demandTime(element: XmlElement, nowMs: number): void {
  const begin = instantOf(element, 'NotBefore')
  const end = instantOf(element, 'NotOnOrAfter')
  if (begin !== null && nowMs + toleranceMs < begin) throw new SamlFault('it is not valid yet')
  if (end !== null && nowMs - toleranceMs >= end) throw new SamlFault('it has expired')
}

function instantOf({ attributes }: XmlElement, name: string): number | null {
  const text = attributes.get(name)
  if (text === undefined) return null
  const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(instant)) throw new SamlFault(`${name} is no time in UTC`)
  return instant
}

/** Returns the texts of each attribute; values with a structure of their own are left out. */
function attributesOf(root: XmlElement): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const attributes = childrenOf(root, saml.assertion, 'AttributeStatement').flatMap((one) => childrenOf(one, saml.assertion, 'Attribute'))
  for (const attribute of attributes) {
    const name = attribute.attributes.get('Name') ?? ''
    const values = childrenOf(attribute, saml.assertion, 'AttributeValue').flatMap((value) => textOf(value) ?? [])
    if (name !== '') found.set(name, [...(found.get(name) ?? []), ...values])
  }
  return found
}
