import { z } from 'zod'

/** The claims of an issuer about a person: those of their ID token, and of its user-info endpoint. */
export type Claims = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Claims => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the claim at a path: one of this whole name goes first, since names may have dots; else dots lead into objects. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path.split('.').reduce<unknown>((place, name) => (isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined), claims)
}

const email = z.email().max(320)

/** Returns the address that the issuer has verified, in lower case; null: none. `verified`: the path of the claim that confirms it. */
export function verifiedEmail(claims: Claims, verified: string): string | null {
  const said = claimAt(claims, verified)
  // Some issuers write booleans as texts or numbers.
  const isVerified = said === true || said === 1 || said === '1' || (typeof said === 'string' && said.toLowerCase() === 'true')
  const address = email.safeParse(claims['email'])
  return isVerified && address.success ? address.data.toLowerCase() : null
}

const maxGroups = 1000
const longestName = 255

/**
 * Returns the names in the claim with groups, each once; null: the issuer has left them out because they are too many (Entra), so that they are
 * unknown. Without the claim there are none.
 */
export function groupsIn(claims: Claims, path: string): readonly string[] | null {
  const value = claimAt(claims, path)
  if (value === undefined && isLeftOut(claims, path)) return null
  const names = (Array.isArray(value) ? value : [value]).flatMap((name: unknown) =>
    typeof name === 'string' && name !== '' && name.length <= longestName && !name.includes('\0') ? [name] : [],
  )
  return [...new Set(names)].slice(0, maxGroups)
}

/** Returns true if the issuer has groups that it does not list: Entra names a source in their place, or only that there are some. */
const isLeftOut = (claims: Claims, path: string): boolean =>
  (isObject(claims['_claim_names']) && Object.hasOwn(claims['_claim_names'], path)) ||
  claims['hasgroups'] === true ||
  claims['hasgroups'] === 'true'

/** Returns the names of a person, as far as they are usable. */
export function namesIn({ given_name, family_name }: Claims): { readonly firstName: string | null; readonly lastName: string | null } {
  return { firstName: nameIn(given_name), lastName: nameIn(family_name) }
}

const nameIn = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' && value.length <= longestName && !/\p{Cc}/u.test(value) ? value.trim() : null
