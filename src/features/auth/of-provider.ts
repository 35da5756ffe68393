import type { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { UserIdentity } from '../users/user-identity.entity.ts'

/** Returns true for a person who has signed in by an identity provider: it decides whether they come in, and a password would outlive that. */
export const isOfProvider = async (em: EntityManager, userId: string): Promise<boolean> => (await em.count(UserIdentity, { userId })) > 0

/** Throws AB03 for a person of an identity provider who has no password here, and asks for the first one. */
export async function demandNoProvider(em: EntityManager, userId: string): Promise<void> {
  if (!(await isOfProvider(em, userId))) return
  throw new ApiError(
    'AB03',
    'You sign in by your identity provider, and have no password here. Owners get a link to set one from an operator: gatehouse owner link.',
    { param: 'password' },
  )
}
