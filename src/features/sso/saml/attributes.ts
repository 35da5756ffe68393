import type { Claims } from '../claims.ts'
import type { Assertion } from './assertion.ts'

/** The attributes in which providers write an address or a name, in the order in which they count. */
const usual = {
  email: [
    'email',
    'mail',
    'emailAddress',
    'urn:oid:0.9.2342.19200300.100.1.3',
    'urn:oid:1.2.840.113549.1.9.1',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  ],
  given_name: [
    'given_name',
    'givenName',
    'firstName',
    'first_name',
    'urn:oid:2.5.4.42',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
  ],
  family_name: [
    'family_name',
    'sn',
    'surname',
    'lastName',
    'last_name',
    'urn:oid:2.5.4.4',
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname',
  ],
} as const

/** Entra leaves groups out when they are more than 150, and then names their source. */
const leftOut = 'http://schemas.microsoft.com/claims/groups.link'

interface ClaimNames {
  /** The attribute with the address; null: the usual ones. */
  readonly email_claim: string | null
  readonly group_claim: string | null
}

type AssertionClaims = Pick<Assertion, 'attributes' | 'nameId' | 'nameIdFormat'>

/**
 * Returns attributes as claims, so that people are found in the same way as by OpenID Connect. The signer of an assertion vouches for its address: it
 * counts as verified, unless an attribute `email_verified` denies it.
 */
export function claimsIn(told: AssertionClaims, { email_claim, group_claim }: ClaimNames): Claims {
  const { attributes } = told
  const first = (names: readonly string[]) => names.flatMap((name) => attributes.get(name) ?? [])[0]
  const email = email_claim === null ? (first(usual.email) ?? addressIn(told)) : first([email_claim])
  const isLeftOut = group_claim !== null && !attributes.has(group_claim) && attributes.has(leftOut)
  return {
    email_verified: true,
    ...Object.fromEntries([...attributes].map(([name, values]) => [name, values.length === 1 ? values[0] : values])),
    email,
    given_name: first(usual.given_name),
    family_name: first(usual.family_name),
    _claim_names: isLeftOut ? { [group_claim]: 'left out' } : {},
  }
}

const notAnAddress: ReadonlySet<string> = new Set(['persistent', 'transient', 'entity', 'kerberos'])

const addressIn = ({ nameId, nameIdFormat }: AssertionClaims): string | undefined =>
  nameId !== null && !notAnAddress.has(formatOf(nameIdFormat)) ? nameId : undefined

/** Returns the last word of a format of NameID. */
export const formatOf = (format: string | null): string => format?.split(':').at(-1) ?? 'unspecified'
