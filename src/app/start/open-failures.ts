import { type FailedCredentials, limitFailedCredentials } from '../../gateway/ports/callers.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { networkOf } from '../http/listener/client-address.ts'

/** The shortest pause between two log lines, however often strangers fail. */
const quietMs = 10_000

/** Limits the credentials that are not good, by address. */
export function openFailures({ config, log, metrics }: Deps): FailedCredentials {
  let toldAt = -Infinity
  const failures = limitFailedCredentials({
    perMinute: Math.ceil(config.failedCredentialsPerMinute / config.workers),
    networkOf,
    now: () => performance.now(),
    onSpent(address) {
      if (performance.now() - toldAt < quietMs) return
      toldAt = performance.now()
      log.warn({ client_ip: address }, 'an address shows many credentials that are not good; unknown ones from it are answered 429')
    },
  })
  metrics.measure('gateway_failed_credential_addresses', () => failures.size())
  return failures
}

/** An office signs in from one address, and each sign-in is a few requests. */
const openCallsForEachFailure = 10

/** Limits the requests that need no credential, such as those of a sign-in. */
export const openCallsOf = ({ config }: Deps): FailedCredentials =>
  limitFailedCredentials({
    perMinute: Math.ceil((config.failedCredentialsPerMinute * openCallsForEachFailure) / config.workers),
    networkOf,
    now: () => performance.now(),
    refusal: (retryAfter) =>
      new ApiError('AB06', 'Too many requests without a credential come from your address. Wait a moment.', { retryAfter }),
  })
