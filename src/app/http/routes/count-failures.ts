import { ApiError } from '../../../lib/errors.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { FrameServices } from '../frame.ts'

/** An attempt to show who calls. */
interface ShownCredential {
  readonly address: string
  /** The kind of the credential in the metrics; null: it is not counted there. */
  readonly kind: Parameters<Metrics['authFailure']>[0] | null
}

/** Runs a check of a caller's identity. A bad credential counts against the address. */
export async function countingFailures<Found>(running: FrameServices, shown: ShownCredential, check: () => Promise<Found>): Promise<Found> {
  try {
    return await check()
  } catch (error) {
    throw error instanceof ApiError && error.status === 401 ? countFailure(running, shown, error) : error
  }
}

/** Counts a credential that was not good, and returns the error to throw. */
export function countFailure({ failures, deps }: FrameServices, { address, kind }: ShownCredential, error: ApiError | null): unknown {
  const limited = failures.failed(address)
  if (kind !== null) deps.metrics.authFailure(limited === null ? kind : 'limited')
  return limited ?? error
}

/** Throws if the address has shown too many bad credentials. */
export function demandPatience({ failures }: FrameServices, address: string, message: string): void {
  if (failures.spent(address)) throw failures.failed(address) ?? new ApiError('AB06', message)
}
