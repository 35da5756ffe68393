import { ApiError } from '../../lib/errors.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import type { Counters, Refusal, Taken } from './counters.ts'
import { estimateNeeds } from './estimate.ts'
import type { Ledger, Reached, Reservation } from './ledger.ts'
import { type Limit, type Needs, neededBy } from './limit.ts'

export const reservationOutcomes = ['granted', 'rate_limited', 'budget_exhausted', 'unavailable'] as const
export type ReservationOutcome = (typeof reservationOutcomes)[number]

export interface LeaseLedgerOptions {
  readonly counters: Counters
  /** True while usage limits are on. */
  readonly countsUsage: () => boolean
  readonly observe: (outcome: ReservationOutcome) => void
}

const unlimited: Reservation = { settle: () => {} }
const none: readonly Limit[] = []
/** Others may take a slice between the answer of the store and the next try. */
const mostTries = 8

/** The Ledger door: what a request needs is taken from slices of the counters of every limit that applies, from all of them or from none. */
export function createLeaseLedger(options: LeaseLedgerOptions): Ledger {
  return {
    reserve({ key, provider, body, countsTokens }) {
      const limits = applying(options, key.limits ?? none, provider?.limits ?? none)
      if (limits.length === 0) return unlimited
      const needs = estimateNeeds(body, countsTokens)
      const taken = options.counters.tryTake(limits, needs)
      return taken === null ? wait(options, limits, needs) : granted(options, taken)
    },
  }
}

function applying({ countsUsage }: LeaseLedgerOptions, ofKey: readonly Limit[], ofProvider: readonly Limit[]): readonly Limit[] {
  if (ofKey.length === 0 && ofProvider.length === 0) return none
  const both = ofProvider.length === 0 ? ofKey : ofKey.length === 0 ? ofProvider : [...ofKey, ...ofProvider]
  return countsUsage() ? both : both.filter(({ kind }) => kind === 'rate')
}

/** Waits for the slices that are missing. */
async function wait(options: LeaseLedgerOptions, limits: readonly Limit[], needs: Needs): Promise<Reservation> {
  const { counters, observe } = options
  let rest = limits
  for (let tries = 0; tries < mostTries; tries += 1) {
    const asked = await Promise.all(rest.map(async (limit) => ({ limit, end: await fill(options, limit, needs) })))
    const refusals = asked.flatMap(({ end }) => (typeof end === 'object' && end !== null ? [end] : []))
    if (refusals.length > 0) throw refuse(options, refusals)
    // A rate that nobody can count now does not stop requests.
    rest = asked.flatMap(({ limit, end }) => (end === 'away' ? [] : [limit]))
    const taken = counters.tryTake(rest, needs)
    if (taken !== null) return granted(options, taken)
  }
  observe('unavailable')
  throw new ApiError('busy', 'The limits of this request are asked for by too many at once.', { retryAfter: 1 })
}

async function fill({ counters, observe }: LeaseLedgerOptions, limit: Limit, needs: Needs): Promise<Refusal | null | 'away'> {
  try {
    return await counters.fill(limit, neededBy(limit, needs))
  } catch (error) {
    observe('unavailable')
    if (limit.kind === 'rate') return 'away'
    throw new ApiError(
      'dependency_unavailable',
      `The database is away, so that nobody can tell whether this request fits into ${limit.name}.`,
      {
        cause: error,
      },
    )
  }
}

function granted({ counters, observe }: LeaseLedgerOptions, taken: readonly Taken[]): Reservation {
  observe('granted')
  let settled = false
  return {
    settle(usage, reached) {
      if (settled) return
      settled = true
      for (const one of taken) counters.settle(one, usedOf(one, usage, reached))
    },
  }
}

function usedOf({ limit, amount }: Taken, usage: Usage | null, reached: Reached): number {
  if (reached === 'unsent') return 0
  if (limit.counts === 'requests') return amount
  if (usage === null) return reached === 'failed' ? 0 : amount
  return usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
}

/** Returns the error that names every limit that refused, and when the last of them opens. */
function refuse({ observe }: LeaseLedgerOptions, refusals: readonly Refusal[]): ApiError {
  const budget = refusals.find(({ limit }) => limit.kind === 'usage')
  const code = budget === undefined ? 'rate_limited' : 'budget_exhausted'
  observe(code)
  const message = refusals.map((refusal) => (refusal.limit.kind === 'rate' ? rateMessage(refusal) : usageMessage(refusal))).join(' ')
  const details = {
    code: budget === undefined ? '05' : '04',
    limits: refusals.map(({ limit: { id, kind, counts, value }, used, opensMs }) => ({
      limit: id,
      kind,
      type: counts,
      value,
      used,
      opens_in_ms: opensMs === null ? null : Math.ceil(opensMs),
    })),
  }
  const beside = { status: 'failure', message }
  if (budget !== undefined) return new ApiError(code, message, { details, beside })
  const opensMs = refusals.reduce((longest, { opensMs: ms }) => Math.max(longest, ms ?? 1000), 1)
  return new ApiError(code, message, { details, beside, retryAfter: Math.ceil(opensMs) / 1000, headers: rateHeaders(refusals) })
}

const rateMessage = ({ limit, opensMs }: Refusal): string =>
  limit.value === 0
    ? `Nothing may pass: ${limit.name}.`
    : `Too many at once: ${limit.name}. Try again ${opensMs === null ? 'later' : `in ${Math.ceil(opensMs / 1000)} s`}.`

function usageMessage({ limit, used, needed, opensMs }: Refusal): string {
  const again = opensMs === null ? '' : ` It starts again at ${new Date(Date.now() + opensMs).toISOString()}.`
  if (used >= limit.value) return `The limit is exhausted: ${limit.name}.${again}`
  return `The ${limit.value - used} that are left of ${limit.name} do not cover this request, which may use ${needed}; lower its max_tokens.${again}`
}

/** The names by which clients of OpenAI and of the IETF's draft read a limit. */
function rateHeaders(refusals: readonly Refusal[]): readonly string[] {
  return refusals.flatMap(({ limit, used, opensMs }) => {
    const left = String(Math.max(0, limit.value - used))
    const seconds = Math.ceil((opensMs ?? 0) / 1000)
    const window = limit.window.slotMs === null ? 0 : (limit.window.slotMs * limit.window.slots) / 1000
    const unit = limit.counts === 'tokens' ? ';qu="tokens"' : ''
    return [
      [`x-ratelimit-limit-${limit.counts}`, String(limit.value)],
      [`x-ratelimit-remaining-${limit.counts}`, left],
      [`x-ratelimit-reset-${limit.counts}`, `${seconds}s`],
      ['ratelimit-policy', `"${limit.id}";q=${limit.value};w=${window}${unit}`],
      ['ratelimit', `"${limit.id}";r=${left};t=${seconds}`],
    ].flat()
  })
}
