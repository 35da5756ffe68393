import type { ApiError } from '../../lib/errors.ts'
import type { Attempt } from '../attempts/attempt.ts'
import { ConnectTimeoutError } from '../egress/connect.ts'
import { lostAtOnceMs } from '../egress/exchange.ts'
import { isLost } from '../egress/failures.ts'
import type { RequestProgress } from '../limits/ledger.ts'

/** The ends of a wait for an answer that do not show the state of the provider's work. */
const given: ReadonlySet<string> = new Set(['upstream_timeout', 'client_closed', 'draining'])

/** Returns true if a provider has a request and may work on it, although its answer did not come: it was too late, or the connection broke under it. */
export function mayGoOn({ reachedAt }: Pick<Attempt, 'reachedAt'>, error: ApiError | null): boolean {
  if (reachedAt === null || error === null || error.cause instanceof ConnectTimeoutError) return false
  return given.has(error.code) || (error.code === 'upstream_bad_response' && error.cause !== undefined) || isLostLate(reachedAt, error)
}

/** Returns true for a connection that was lost without an answer, later than a provider refuses a request that it does not read. */
const isLostLate = (reachedAt: number, { code, cause }: ApiError): boolean =>
  code === 'upstream_unreachable' && cause instanceof Error && isLost(cause) && performance.now() - reachedAt > lostAtOnceMs

/** Returns how far an attempt got. A failed one keeps no reservation, unless its cost is unknown, a guess or a lower bound. */
export function reachedBy({ sentAt, charge }: Pick<Attempt, 'sentAt' | 'charge'>, hasFailed: boolean): RequestProgress {
  if (sentAt === null) return 'unsent'
  return hasFailed && !isOpen(charge) ? 'failed' : 'answered'
}

const isOpen = (charge: Attempt['charge']): boolean =>
  charge?.isGuess === true || charge?.cost.state === 'unpriced' || charge?.cost.state === 'partly_priced'
