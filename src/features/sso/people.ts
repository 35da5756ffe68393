import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { isAtLeast } from '../../lib/access/roles.ts'
import { ApiError } from '../../lib/errors.ts'
import { isOwned, type Provider } from '../identity-providers/index.ts'
import { acceptByAddress, findByIdentity, linkIdentity, lockAddress, rankedRole, type Identity } from '../users/index.ts'
import { User } from '../users/user.entity.ts'
import { namesIn, verifiedEmail, type Claims } from './claims.ts'

/** A person for whom a provider vouches. */
export interface VouchedPerson {
  readonly identity: Identity
  /** The provider's own session (`sid`); null: it has not named it. */
  readonly session: string | null
  /** The end that it sets for the session here, epoch milliseconds; null: it sets none. */
  readonly endsAt: number | null
  /** The ID token; undefined: there is none. */
  readonly token: string | undefined
  readonly claims: Claims
}

/**
 * Returns the person for whom a provider vouches, before they are let in: a present one by this subject or else by this address, or else a removed
 * one that had the subject; null: there is none.
 */
export async function presentPerson(em: EntityManager, provider: Provider, { identity, claims }: VouchedPerson): Promise<User | null> {
  const known = await findByIdentity(em, provider.organisationId, identity)
  if (known?.status === 'active') return known
  const email = verifiedEmail(claims, provider.email_verified_claim)
  const there = email === null || !isOwned(provider, email) ? null : await personAt(em, provider.organisationId, email)
  return there ?? known
}

interface ArrivingPerson extends VouchedPerson {
  readonly provider: Provider
  /** The id that a new person gets. */
  readonly newId: string
}

/**
 * Returns the person who signs in: the one that the issuer knows by this subject; at the first time the one who has the address, is invited to it, or
 * may come uninvited. The address counts only if the issuer has verified it and the organisation owns its domain. A removed person does not come back
 * by signing in. AB03 for all others.
 */
export async function personOf(em: EntityManager, deps: Deps, arriving: ArrivingPerson): Promise<User> {
  const { provider, identity, claims } = arriving
  const known = await findByIdentity(em, provider.organisationId, identity)
  if (known?.status === 'active') return notAbove(provider, known)
  const email = verifiedEmail(claims, provider.email_verified_claim)
  if (email === null)
    throw refused(`The identity provider does not confirm (claim ${provider.email_verified_claim}) that your e-mail address is verified.`)
  if (!isOwned(provider, email)) throw refused('Your e-mail address is of a domain that this organisation does not own.')
  await lockAddress(em, provider.organisationId, email)
  const user =
    (await personAt(em, provider.organisationId, email)) ?? (await newcomer(em, deps, { ...arriving, email, wasHere: known !== null }))
  if (user === null) throw refused('You have no account in this organisation. Ask one of its owners or admins for an invitation.')
  if (await linkIdentity(em, notAbove(provider, user), identity)) return user
  throw refused('The person with your e-mail address signs in here by another identity.')
}

/** Returns the person; throws AB03 for one that ranks above those who set the provider, since they control its claims. */
function notAbove({ rank }: Provider, user: User): User {
  if (isAtLeast(rank, rankedRole(user.role))) return user
  throw refused(
    'The identity provider was not set by an owner, and cannot sign in people who rank above those who set it. Sign in otherwise; an owner who is signed in may then set it again.',
  )
}

const refused = (message: string) => new ApiError('AB03', message)

const personAt = (em: EntityManager, organisationId: string, email: string): Promise<User | null> =>
  em.findOne(User, { organisationId, email, status: 'active' })

interface Newcomer extends ArrivingPerson {
  readonly email: string
  /** They were removed. */
  readonly wasHere: boolean
}

async function newcomer(
  em: EntityManager,
  { clock }: Deps,
  { provider, claims, newId: id, email, wasHere }: Newcomer,
): Promise<User | null> {
  const { organisationId } = provider
  const names = namesIn(claims)
  const invited = await acceptByAddress(em, { id, organisationId, email, names, nowMs: clock.now() })
  if (invited !== null || wasHere || !provider.auto_provision) return invited
  if ((await em.count(User, { organisationId, email })) > 0) return null
  const user = em.create(User, { id, organisationId, email, role: 'member', ...names })
  await em.flush()
  return user
}
