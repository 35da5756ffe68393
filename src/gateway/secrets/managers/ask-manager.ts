import { ApiError } from '../../../lib/errors.ts'
import type { AuthDeps } from '../../credentials/auth-request.ts'
import type { SmallRequest, SmallResponse } from '../../egress/egress.ts'
import { secretFault, type FaultReason } from '../fault.ts'

/** The means of asking a manager. `timeoutMs`: of one of its exchanges. */
export interface ManagerDeps extends AuthDeps {
  readonly timeoutMs: number
}

/** Sends a request to a secret manager. Rejects with `secret_unavailable`, or `blocked_host` from the guard. */
export async function askManager(
  manager: string,
  request: Omit<SmallRequest, 'timeoutMs'>,
  { egress, timeoutMs }: ManagerDeps,
): Promise<SmallResponse> {
  try {
    return await egress.exchange({ ...request, timeoutMs })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'blocked_host') throw error
    const late = error instanceof ApiError && error.code === 'upstream_timeout'
    throw secretFault('away', `${manager} ${late ? `did not answer within ${timeoutMs / 1000} s` : 'could not be reached'}.`, error)
  }
}

/** Returns the fault of an answer that is no secret. `code` is the manager's own word for it. */
export function refusedBy(manager: string, status: number, code: string | null): ApiError {
  const [reason, meaning] = meaningOf(status)
  return secretFault(reason, `${manager} answered ${status}${code === null ? '' : ` (${code})`}: ${meaning}.`)
}

function meaningOf(status: number): readonly [FaultReason, string] {
  if (status === 401 || status === 403) return ['denied', 'the sign-in is not accepted, or may not read this secret']
  if (status === 404) return ['missing', 'there is no such secret or version']
  if (status === 429 || status >= 500) return ['away', 'it cannot answer now']
  return ['odd', 'it does not take the request']
}
