import type { RotationPolicy } from './api-key.entity.ts'

const dayMs = 24 * 60 * 60 * 1000

/** Returns the moment one rotation period later; a month later is the same day, or the last one of a shorter month. */
function onePeriodAfter(period: NonNullable<RotationPolicy['rotation_period']>, fromMs: number): string {
  if (period === 'weekly') return new Date(fromMs + 7 * dayMs).toISOString()
  const next = new Date(fromMs)
  next.setUTCMonth(next.getUTCMonth() + 1)
  if (next.getUTCDate() !== new Date(fromMs).getUTCDate()) next.setUTCDate(0)
  return next.toISOString()
}

interface PolicyContext {
  /** The policy that the key had before. */
  readonly before?: RotationPolicy | null | undefined
  readonly nowMs: number
}

/** Returns the policy with the date of the next rotation: the one sent, the one that the same period has already, or a period from now. */
export function datedPolicy<Given extends RotationPolicy | null | undefined>(
  given: Given,
  { before, nowMs }: PolicyContext,
): Given | RotationPolicy {
  if (!given?.rotation_period || given.next_rotation_at !== null) return given
  const kept = before?.rotation_period === given.rotation_period ? before.next_rotation_at : null
  const isAhead = kept !== null && Date.parse(kept) > nowMs
  return { ...given, next_rotation_at: isAhead ? kept : onePeriodAfter(given.rotation_period, nowMs) }
}

/** Returns the policy of a key that is rotated now; without a period the date of the rotation is over. */
export function policyAfterRotation(policy: RotationPolicy | null | undefined, nowMs: number): RotationPolicy | null {
  if (!policy) return null
  return datedPolicy({ ...policy, next_rotation_at: null }, { nowMs })
}
