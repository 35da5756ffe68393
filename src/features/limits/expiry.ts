import { z } from 'zod'
import { ApiError } from '../../lib/errors.ts'

type Status = 'active' | 'exhausted' | 'expired' | 'archived'

/** With an offset a time of four digits may lie behind it, where no ISO date with four digits is. */
const lastMoment = new Date('9999-12-31T23:59:59.999Z')

/** The moment that a caller sets: undefined and null stay unchanged, the past is refused. */
export function toExpiry(given: string | null | undefined, nowMs: number, param = 'expires_at'): Date | null | undefined {
  if (given === undefined || given === null) return given
  const expiry = new Date(given)
  if (expiry > lastMoment) throw new ApiError('AB01', `${param} is beyond the year 9999.`, { param })
  if (expiry.getTime() > nowMs) return expiry
  throw new ApiError('AB01', `${param} is in the past.`, { param })
}

/** The status as of now: an expired row counts as expired, even before the background process marks it. */
export function statusAt(row: { readonly status: Status; readonly expiresAt?: Date | null | undefined }, nowMs: number): Status {
  return row.status === 'active' && row.expiresAt && row.expiresAt.getTime() <= nowMs ? 'expired' : row.status
}

const liveStatuses = ['active', 'exhausted', 'expired'] as const
type LiveStatus = (typeof liveStatuses)[number]

/** The query field that narrows a list by status. */
export const statusesField = z
  .string()
  .transform((text) => text.split(',').map((status) => status.trim()))
  .pipe(z.array(z.enum(liveStatuses)).min(1))
  .optional()
  .meta({ description: 'Comma-separated: active, exhausted, expired; all of them when absent.' })

/** Returns the condition on rows that have one of these statuses now, as `statusAt` returns it; any but archived when none is named. */
export function havingStatus(wanted: readonly LiveStatus[] = liveStatuses, nowMs: number) {
  const now = new Date(nowMs)
  const meanings = {
    active: { status: 'active' as const, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] },
    exhausted: { status: 'exhausted' as const },
    expired: { $or: [{ status: 'expired' as const }, { status: 'active' as const, expiresAt: { $lte: now } }] },
  }
  return wanted.length === liveStatuses.length
    ? { status: { $ne: 'archived' as const } }
    : { $or: wanted.map((status) => meanings[status]) }
}

/** The status after a change of the expiry or a reset of the usage; undefined when it stays. */
export function revived(
  status: Status,
  { expiresAt, resetUsage }: { readonly expiresAt: Date | null | undefined; readonly resetUsage: boolean | undefined },
): 'active' | undefined {
  if (status === 'expired' && expiresAt !== undefined) return 'active'
  return status === 'exhausted' && resetUsage === true ? 'active' : undefined
}
