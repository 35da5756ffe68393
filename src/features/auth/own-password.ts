import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { isPassword } from '../../lib/password.ts'
import { lockPeople } from '../sessions/index.ts'
import { demandLocal } from './local.ts'
import { demandPace } from './pace.ts'
import { UserPassword } from './user-password.entity.ts'

/** Counts an attempt of a person to confirm their identity, before the transaction of their request. */
export async function countOwnAttempt({ actor }: { readonly actor: Actor }, deps: Deps): Promise<void> {
  demandLocal(deps)
  await demandPace(deps, [['device', `own ${actor.id}`]])
}

/** Throws AB03 unless a signed-in person shows their password, AB01 if they have none. The person stays locked for the rest of the transaction. */
export async function demandOwnPassword(em: EntityManager, userId: string, password: string): Promise<void> {
  await lockPeople(em, [userId])
  const known = await em.findOne(UserPassword, { userId })
  if (known === null)
    throw new ApiError('AB01', 'You have no password, which a second factor stands beside. Set one first: POST /auth/password.', {
      param: 'current_password',
    })
  if (!(await isPassword(password, known.passwordHash, userId)))
    throw new ApiError('AB03', 'This is not your current password.', { param: 'current_password' })
}
