import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { ProviderType } from './identity-provider.entity.ts'
import {
  domainOf,
  isOwned,
  loginPathOf,
  onlyOrganisation,
  organisationOfDomain,
  servingProvider,
  standingOf,
  type OrganisationPlace,
} from './provider.ts'

/** The identity provider of a sign-in. */
export interface SignInProvider {
  readonly type: ProviderType
  /** As people know it, such as `Okta`. */
  readonly name: string
  /** The path that a browser goes to. */
  readonly login_path: string
}

/** Hints by which a person who wants to sign in names their organisation. */
export interface OrganisationHints {
  /** The slug of an organisation. */
  readonly organisation?: string | undefined
  /** The address in lower case; only its domain decides, so that the existence of accounts is not revealed. */
  readonly email?: string | undefined
}

/** Finds the provider of the named organisation; that of the only one, also without a name. */
export async function findProvider(deps: Deps, wanting: OrganisationHints): Promise<SignInProvider | null> {
  const standing = await wanted(deps, wanting)
  if (standing === null) return null
  const provider = await inTenant(deps.orm, standing.id, (em) => servingProvider(em, deps, standing))
  if (provider === null) return null
  if (wanting.organisation === undefined && wanting.email !== undefined && !isOwned(provider, wanting.email)) return null
  return { type: provider.type, name: provider.name, login_path: loginPathOf(standing, provider.type) }
}

async function wanted(deps: Deps, { organisation, email }: OrganisationHints): Promise<OrganisationPlace | null> {
  if (organisation !== undefined) return standingOf(deps, { slug: organisation })
  return email === undefined ? onlyOrganisation(deps) : organisationOfDomain(deps, domainOf(email))
}
