import { ApiError } from '../../lib/errors.ts'

/** Why a manager did not give a secret. */
export type FaultReason =
  /** It cannot be reached, is late, or reports that it cannot answer: sealed, overloaded. */
  | 'away'
  /** It refuses the sign-in, or the secret for that identity. */
  | 'denied'
  /** It has no such secret, or no such version or field. */
  | 'missing'
  /** Its answer is none of such a manager. */
  | 'odd'

/** The reason of each error of this folder, for those who keep the last good value or show the state of a reference. */
const reasons = new WeakMap<ApiError, FaultReason>()

/** Returns `secret_unavailable`; `what` describes the manager's reaction, and quotes only codes of it. */
export function secretFault(reason: FaultReason, what: string, cause?: unknown): ApiError {
  const error = new ApiError('secret_unavailable', what, { cause })
  reasons.set(error, reason)
  return error
}

/** Returns why a secret could not be read; an error of sign-in at a token service counts as denied. */
export function reasonOf(error: unknown): FaultReason {
  if (!(error instanceof ApiError)) return 'odd'
  const known = reasons.get(error)
  if (known !== undefined) return known
  // A token service that cannot be reached has a cause, one that refuses has none.
  if (error.code === 'credential_failed') return error.cause === undefined ? 'denied' : 'away'
  return error.code === 'forbidden' || error.code === 'blocked_host' ? 'denied' : 'odd'
}
