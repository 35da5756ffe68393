import { ApiError } from '../../lib/errors.ts'
import { formatPico, fromPico } from '../../lib/pico.ts'
import type { Refusal } from './counters.ts'
import type { Limit } from './limit.ts'
import { type HeadedAnswer, rateHeaders, type RateLimitState } from './rate-headers.ts'

/** The limits of a request that was refused. */
export interface RefusedLimits {
  readonly refusals: readonly Refusal[]
  /** The rate limits that would have let it pass. */
  readonly passing: readonly RateLimitState[]
}

/** Returns the error that names every limit that refused, and when the last of them opens; its headers show the state of all rate limits. */
export function refusalOf({ refusals: found, passing }: RefusedLimits, headed: Pick<HeadedAnswer, 'dialect' | 'prefix'>): ApiError {
  const refusals = found.map(withinWindow)
  const budget = refusals.find(({ limit }) => limit.kind === 'usage')
  const code = budget === undefined ? 'rate_limited' : 'budget_exhausted'
  const message = refusals.map((refusal) => (refusal.limit.kind === 'rate' ? rateMessage(refusal) : usageMessage(refusal))).join(' ')
  const details = {
    code: budget === undefined ? '05' : '04',
    limits: refusals.map(({ limit: { id, kind, counts, value }, used, reserved, opensMs }) => ({
      limit: id,
      kind,
      type: counts,
      value: shown(counts, value),
      used: shown(counts, used - reserved),
      ...(kind === 'usage' && { reserved: shown(counts, reserved) }),
      opens_in_ms: opensMs === null ? null : Math.ceil(opensMs),
      ...(kind === 'usage' && { next_usage_reset_at: borderIn(opensMs) }),
    })),
  }
  const beside = { status: 'failure', message }
  const isReserved = refusals.every(isOnlyReserved)
  if (budget !== undefined)
    return new ApiError(code, message, {
      beside,
      ...(isReserved ? { details: { ...details, reason: 'reserved' }, retryAfter: settledInSeconds } : { details }),
    })
  const opensMs = refusals.reduce((longest, { opensMs: ms }) => Math.max(longest, ms ?? 1000), 1)
  const standings = refusals.map(({ limit, used, opensMs: ms }) => ({ limit, left: Math.max(0, limit.value - used), opensMs: ms }))
  const headers = rateHeaders([...standings, ...passing], { ...headed, theirs: noHeaders, now: Date.now() })
  return new ApiError(code, message, { details, beside, retryAfter: Math.ceil(opensMs) / 1000, headers })
}

/** No rate limit opens later than its window is long, also where the clocks that counted it differ by some milliseconds: SDKs heed no longer wait. */
const withinWindow = (refusal: Refusal): Refusal => {
  const { rate } = refusal.limit
  return rate === undefined || refusal.opensMs === null || refusal.opensMs <= rate.windowMs
    ? refusal
    : Object.assign({}, refusal, { opensMs: rate.windowMs })
}

const noHeaders: readonly string[] = []

/** Most answers that others wait for have come by then, or the next try may wait again. */
const settledInSeconds = 1

/** Returns true if a budget would let a request pass without the reservations of others. */
export const isOnlyReserved = ({ limit, needed, used, reserved }: Refusal): boolean =>
  limit.kind === 'usage' && used - reserved + needed <= limit.value

const rateMessage = ({ limit, opensMs }: Refusal): string =>
  limit.value === 0
    ? `Nothing may pass: ${limit.name}.`
    : `Too many at once: ${limit.name}. Try again ${opensMs === null ? 'later' : `in ${Math.ceil(opensMs / 1000)} s`}.`

function usageMessage(refusal: Refusal): string {
  const { limit, used, reserved, needed, opensMs } = refusal
  const border = borderIn(opensMs)
  const again = border === null ? '' : ` It starts again at ${border}.`
  const spent = used - reserved
  if (spent >= limit.value) return `The limit is exhausted: ${limit.name}.${again}`
  const [left, may, held] = [limit.value - spent, needed, reserved].map((amount) => amountText(limit, amount))
  if (isOnlyReserved(refusal))
    return `${left} are left of ${limit.name}, and requests on their way have reserved ${held} of it: this request may use ${may}. Try again in ${settledInSeconds} s, or lower its max_tokens.`
  return `The ${left} that are left of ${limit.name} do not cover this request, which may use ${may}; lower its max_tokens.${again}`
}

const secondMs = 1000

/** Returns the moment at which a period ends, to the second: the way from the database takes milliseconds. Null: it never does. */
const borderIn = (ms: number | null): string | null =>
  ms === null ? null : new Date(Math.round((Date.now() + ms) / secondMs) * secondMs).toISOString()

/** Amounts of money are shown in US dollars, in texts with all their digits. */
const shown = (counts: Limit['counts'], amount: number): number => (counts === 'cost' ? fromPico(BigInt(amount) * picoPerNano) : amount)
const amountText = ({ counts }: Limit, amount: number): string =>
  counts === 'cost' ? `$${formatPico(BigInt(amount) * picoPerNano).replace(/\.?0+$/, '')}` : String(amount)
const picoPerNano = 1000n

/** Returns the error for a request of unknown price, under a limit that lets none such through. */
export const unpricedRefusal = (limit: Limit): ApiError =>
  unknownCost(limit, {
    reason: 'unpriced_model',
    message: `The model of this request has no price, and ${limit.name} lets no request through whose cost is not known. Give the model a price in its integration, or set on_unpriced of the limit to "allow".`,
  })

/** Returns the error for a request with work that no figure bounds, under a strict limit that lets no request of unknown cost through. */
export const unboundedRefusal = (limit: Limit): ApiError =>
  unknownCost(limit, {
    reason: 'unbounded_request',
    message: `Nothing bounds the cost of this request before it is answered: its model, its tier, a tool or a field lets the provider do more work. ${limit.name} is strict and lets no request of unknown cost through. Leave that out, or set on_unpriced of the limit to "allow".`,
  })

/** Returns the error for a batch, a training, a video or a session under a limit that lets no request through whose cost is not known. */
export const jobRefusal = (limit: Limit): ApiError =>
  unknownCost(limit, {
    reason: 'unpriced_job',
    message: `The cost of a batch, a training, a video or a realtime session is known only when it has ended, and ${limit.name} lets no request of unknown cost through. Set on_unpriced of the limit to "allow" to let it begin.`,
  })

/**
 * Returns the error for a request at a path that Gatehouse does not know, which names no model, under a limit that lets no request of unknown cost
 * through.
 */
export const unknownRefusal = (limit: Limit): ApiError =>
  unknownCost(limit, {
    reason: 'unpriced_work',
    message: `Gatehouse does not know the cost of this path, and the request names no model: ${limit.name} lets no request of unknown cost through. Set on_unpriced of the limit to "allow" to let it through.`,
  })

function unknownCost({ id, value }: Limit, { reason, message }: { readonly reason: string; readonly message: string }): ApiError {
  const details = {
    code: '04',
    reason,
    limits: [{ limit: id, kind: 'usage', type: 'cost', value: shown('cost', value) }],
  }
  return new ApiError('budget_exhausted', message, { details, beside: { status: 'failure', message } })
}
