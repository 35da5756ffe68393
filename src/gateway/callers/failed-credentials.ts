import { ApiError } from '../../lib/errors.ts'

/** How often an address may show bad credentials. A known good credential is never counted, and never refused. */
export interface FailedCredentials {
  /** Returns whether the address has used up its allowed failures. */
  spent(address: string): boolean
  /** Counts a bad credential; returns the refusal when the address had used up its allowed failures, else null. */
  failed(address: string): ApiError | null
  /** How many addresses are remembered. */
  size(): number
}

export interface FailedCredentialsOptions {
  /** 0: no limit. */
  readonly perMinute: number
  /** Returns the network of an address, which counts as one. */
  readonly networkOf: (address: string) => string
  /** A monotonic clock, milliseconds. */
  readonly now: () => number
  /** Makes the refusal, with the seconds after which the address may try again. */
  readonly refusal?: (retryAfter: number) => ApiError
  /** Called with an address (for IPv6 its network) when it has used up its allowed failures. */
  readonly onSpent?: (address: string) => void
}

/** The failures of an address lately: the value falls by the rate and rises by one with each failure. */
interface Level {
  readonly value: number
  readonly at: number
}

/** The address that failed longest ago is forgotten beyond this. */
const maxAddresses = 50_000
const minuteMs = 60_000

const unlimited: FailedCredentials = { spent: () => false, failed: () => null, size: () => 0 }

/** Counts failures by address, in memory that is bounded. */
export function limitFailedCredentials({
  perMinute,
  networkOf,
  now,
  onSpent,
  refusal = tooMany,
}: FailedCredentialsOptions): FailedCredentials {
  if (perMinute === 0) return unlimited
  const levels = new Map<string, Level>()
  const perMs = perMinute / minuteMs
  const levelOf = (key: string) => {
    const held = levels.get(key)
    return held === undefined ? 0 : Math.max(0, held.value - (now() - held.at) * perMs)
  }
  return {
    spent: (address) => levels.size > 0 && levelOf(networkOf(address)) > perMinute - 1,
    failed(address) {
      const key = networkOf(address)
      const level = levelOf(key)
      const spent = level > perMinute - 1
      const value = spent ? level : level + 1
      if (!spent && value > perMinute - 1) onSpent?.(key)
      levels.delete(key)
      levels.set(key, { value, at: now() })
      forgetOldest(levels)
      return spent ? refusal(Math.max(1, Math.ceil((value - perMinute + 1) / perMs / 1000))) : null
    },
    size: () => levels.size,
  }
}

const tooMany = (retryAfter: number) =>
  new ApiError('rate_limited', 'Too many credentials from your address were not good: no other unknown one is looked at for a moment.', {
    param: 'x-service-api-key',
    retryAfter,
  })

function forgetOldest(levels: Map<string, Level>): void {
  if (levels.size <= maxAddresses) return
  const [oldest] = levels.keys()
  if (oldest !== undefined) levels.delete(oldest)
}
