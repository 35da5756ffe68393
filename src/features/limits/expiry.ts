import { ApiError } from '../../lib/errors.ts'

type Status = 'active' | 'exhausted' | 'expired' | 'archived'

/** With an offset a time of four digits may lie behind it, where no ISO date with four digits is. */
const lastMoment = new Date('9999-12-31T23:59:59.999Z')

/** The moment a caller asks for: undefined and null stay what they are, the past is refused. */
export function toExpiry(given: string | null | undefined, nowMs: number, param = 'expires_at'): Date | null | undefined {
  if (given === undefined || given === null) return given
  const expiry = new Date(given)
  if (expiry > lastMoment) throw new ApiError('AB01', `${param} is beyond the year 9999.`, { param })
  if (expiry.getTime() > nowMs) return expiry
  throw new ApiError('AB01', `${param} is in the past.`, { param })
}

/** The status as of now: what has run out is expired, also before a background process says so. */
export function statusAt(row: { readonly status: Status; readonly expiresAt?: Date | null | undefined }, nowMs: number): Status {
  return row.status === 'active' && row.expiresAt && row.expiresAt.getTime() <= nowMs ? 'expired' : row.status
}

/** The status after a change of the expiry or a reset of the usage; undefined when it stays. */
export function revived(
  status: Status,
  { expiresAt, resetUsage }: { readonly expiresAt: Date | null | undefined; readonly resetUsage: boolean | undefined },
): 'active' | undefined {
  if (status === 'expired' && expiresAt !== undefined) return 'active'
  return status === 'exhausted' && resetUsage === true ? 'active' : undefined
}
