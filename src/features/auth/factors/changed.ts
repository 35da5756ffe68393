import type { EntityManager } from '@mikro-orm/postgresql'
import type { Call } from '../../../app/route.ts'
import { csrfTokenOf, revokeSessionsOf, rotateSession } from '../../sessions/index.ts'
import { User } from '../../users/user.entity.ts'
import { signedInHere } from '../signed-in-here.ts'
import { factorsOf, hasFactor } from './factors.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'

type FactorCall = Pick<Call<unknown, unknown, unknown>, 'em' | 'deps' | 'actor' | 'reply'>

/**
 * Ends all other sessions of a person whose factors have changed, and gives this one a new secret: sessions from a weaker sign-in, and copies of the
 * cookie, end.
 */
export async function renewSession({ em, deps, actor, reply }: FactorCall) {
  const { id } = signedInHere(actor)
  await revokeSessionsOf(em, actor.id, id)
  const { session, cookie } = await rotateSession(em, deps, id)
  reply.cookie(cookie)
  return { csrf_token: csrfTokenOf(deps, cookie), expires_at: session.expiresAt.toISOString() }
}

/** Returns the recovery codes of a person who has got a second factor; null: they have some already. */
export async function firstRecoveryCodes(em: EntityManager, deps: FactorCall['deps'], userId: string): Promise<string[] | null> {
  const factors = await factorsOf(em, userId)
  if (!hasFactor(factors) || factors.recoveryCodes > 0) return null
  return [...(await replaceRecoveryCodes(em, deps, await em.findOneOrFail(User, { id: userId })))]
}
