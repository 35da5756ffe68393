import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { Session } from '../sessions/index.ts'
import { signedInHere } from './signed-in-here.ts'

/** A person without a password to show once more must have signed in so short a time ago. */
const freshMs = 5 * 60_000

/** Throws AB03 unless the session of the caller began just now: a stranger at an open browser must not set a password for its person. */
export async function demandFreshSession({
  em,
  deps: { clock },
  actor,
}: {
  em: EntityManager
  deps: Pick<Deps, 'clock'>
  actor: Actor
}): Promise<void> {
  const session = await em.findOne(Session, { id: signedInHere(actor).id })
  if (session !== null && clock.now() - session.createdAt.getTime() <= freshMs) return
  throw new ApiError('AB03', 'Sign in again first: a first password is set within 5 minutes of a sign-in, or by a link.', {
    param: 'password',
  })
}
