import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { placeOfClient, type Place } from './clients.ts'
import { scimError } from './scim-error.ts'

type Needs = Pick<Deps, 'config'>

/**
 * Throws `invalidValue` for an address that no person of the organisation may have: one of a domain that another organisation owns, or outside the domains
 * that its own organisation has stated. One that has stated none takes any.
 */
export async function demandOwnedAddress(em: EntityManager, deps: Needs, { client, email }: ClientAddress): Promise<void> {
  const [place, domain] = [placeOfClient(client), domainOf(email)]
  const listed = deps.config.organisationDomains
  const owners = listed.filter((owned) => owned.domain === domain).map(({ organisation }) => organisation)
  if (owners.includes(place.slug)) return
  const stored = await storedDomains(em, client.organisationId)
  const stated = stored ?? settingsDomains(deps, place)
  if (owners.length === 0 || place.isOnly) {
    if (stated.length === 0 && !listed.some(({ organisation }) => organisation === place.slug)) return
    if (stated.includes(domain) && (place.isOnly || stored === null)) return
  }
  throw scimError(
    'invalidValue',
    `The organisation does not own the domain ${domain}: it is neither among the domains of its identity provider nor in ORGANISATION_DOMAINS.`,
    'emails',
  )
}

interface ClientAddress {
  readonly client: Actor
  readonly email: string
}

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase()

/** The domains of the identity provider of an organisation, also of one that is turned off; null: it has stored none. */
async function storedDomains(em: EntityManager, organisationId: string): Promise<readonly string[] | null> {
  const [row] = await em.execute<{ domains: readonly string[] | null }[]>(
    `SELECT settings -> 'domains' AS domains FROM identity_providers WHERE organisation_id = ?`,
    [organisationId],
  )
  return row === undefined ? null : (row.domains ?? [])
}

const settingsDomains = ({ config: { saml, oidc } }: Needs, { isFirst }: Place): readonly string[] =>
  isFirst ? ((saml ?? oidc)?.domains ?? []) : []
