import type { EntityManager } from '@mikro-orm/postgresql'
import { User } from './user.entity.ts'
import { UserIdentity } from './user-identity.entity.ts'

/** The identity of a person at an issuer: the claims `iss` and `sub` of OpenID Connect, the entity id and the NameID of SAML. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/**
 * Returns the person of this organisation that has signed in by a subject of an issuer, a removed one too; null: none. An e-mail address never finds
 * a person here: a person who signs in for the first time is found by other means, and then linked. A subject that only tokens have shown finds no
 * person either: the address in a token is not proved as the one of a sign-in is.
 */
export async function findByIdentity(em: EntityManager, organisationId: string, { issuer, subject }: Identity): Promise<User | null> {
  const links = await em.find(UserIdentity, { organisationId, issuer, subject, byToken: false })
  const users = await em.find(User, { organisationId, id: { $in: links.map(({ userId }) => userId) } }, { orderBy: { createdAt: 'desc' } })
  return users.find(({ status }) => status === 'active') ?? users[0] ?? null
}

/**
 * Links a person to their identity at an issuer. Returns false, without a change, if the issuer knows the person by another subject, or another
 * present person by this one; subjects that only tokens have shown give way. The caller has to be sure that both are the same: an e-mail address
 * proves it only if the issuer has verified it and the organisation owns its domain.
 */
export async function linkIdentity(em: EntityManager, user: Pick<User, 'id' | 'organisationId'>, identity: Identity): Promise<boolean> {
  const { organisationId, id: userId } = user
  const lock = `gatehouse:identity:${organisationId}:${identity.issuer}`
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [lock])
  const own = await em.findOne(UserIdentity, { organisationId, userId, issuer: identity.issuer })
  if (own?.byToken === false) return own.subject === identity.subject
  const other = await findByIdentity(em, organisationId, identity)
  if (other !== null && other.status === 'active' && other.id !== userId) return false
  const shown = await em.find(UserIdentity, { organisationId, ...identity, byToken: true })
  em.remove(own === null ? shown : [own, ...shown])
  await em.flush()
  em.create(UserIdentity, { organisationId, userId, ...identity })
  await em.flush()
  return true
}
