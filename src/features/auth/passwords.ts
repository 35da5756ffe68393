import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { hashPassword } from '../../lib/password.ts'
import { refuseWeakPassword } from '../../lib/weak-password.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { revokeSessionsOf } from '../sessions/index.ts'
import type { User } from '../users/user.entity.ts'
import { OneTimeLink } from './one-time-link.entity.ts'
import { UserPassword } from './user-password.entity.ts'

interface NewPassword {
  readonly password: string
  /** The session that goes on; all others of the person end. Null: all end. */
  readonly keeps: string | null
}

/** Sets the password of a person, and ends the sessions and links by which the old one may still act. */
export async function setPassword(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  {
    user,
    password,
    keeps,
  }: NewPassword & { readonly user: Pick<User, 'id' | 'organisationId' | 'email'> & Partial<Pick<User, 'firstName' | 'lastName'>> },
): Promise<void> {
  const { id: userId, organisationId, email, firstName, lastName } = user
  if (password.toLowerCase().includes(email))
    throw new ApiError('AB01', 'A password must not hold the e-mail address.', { param: 'password' })
  const { name } = await em.findOneOrFail(Organisation, { id: organisationId })
  await refuseWeakPassword(password, { email, organisation: name, names: [firstName, lastName] })
  const passwordHash = await hashPassword(password, userId)
  const changedAt = new Date(clock.now())
  const known = await em.findOne(UserPassword, { userId })
  if (known === null) em.create(UserPassword, { organisationId, userId, passwordHash, changedAt })
  else em.assign(known, { passwordHash, changedAt })
  for (const link of await em.find(OneTimeLink, { userId })) em.remove(link)
  await revokeSessionsOf(em, userId, keeps)
}
