import type { Actor, ActorSession } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'

/** Returns the session of the caller. AB05 for a caller without one. */
export function signedInHere({ session }: Actor): ActorSession {
  if (session === undefined) throw new ApiError('AB05', 'There is no session here. Sign in first.')
  return session
}
