import { ApiError } from '../../lib/errors.ts'
import type { Charge } from '../metering/charge.ts'
import type { Counters, Refusal, Taken } from './counters.ts'
import { estimateTokens } from './estimate.ts'
import type { Ledger, Reached, Reservation } from './ledger.ts'
import { type Limit, type MoneyTerms, type Needs, neededBy } from './limit.ts'
import { worstCost } from './worst-cost.ts'
import { policyLimits } from './policy.ts'
import { refusalOf, unpricedRefusal } from './refusal.ts'

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
  const made = { ...options, overcounted: new Map<string, bigint>() }
  return {
    reserve(request) {
      const all = applying(options, request)
      if (all.length === 0) return unlimited
      const needs = needsOf(options, all, request)
      const limits = needs.cost === 0 && request.call.operation.spec !== null ? withoutMoney(all) : all
      if (limits.length === 0) return unlimited
      const taken = options.counters.tryTake(limits, needs)
      return taken === null ? wait(made, limits, needs) : granted(made, taken)
    },
  }
}

/** A request that costs nothing passes a budget in money that is exhausted. */
const withoutMoney = (limits: readonly Limit[]): readonly Limit[] =>
  limits.some(({ counts }) => counts === 'cost') ? limits.filter(({ counts }) => counts !== 'cost') : limits

interface State extends LeaseLedgerOptions {
  /** Pico-dollars by which a counter of whole nano-dollars stands too high, by counter, until a later request uses them up. */
  readonly overcounted: Map<string, bigint>
}

type Asked = Parameters<Ledger['reserve']>[0]

/** Returns what a request may use. Throws `budget_exhausted` when a limit in money applies and nobody knows what it costs. */
function needsOf({ observe }: LeaseLedgerOptions, limits: readonly Limit[], { body, call, target, prices }: Asked): Needs {
  const { spec } = call.operation
  const tokens = (spec?.dialect ?? null) === null ? 0 : estimateTokens(body)
  const ofMoney = limits.filter(({ counts }) => counts === 'cost')
  if (ofMoney.length === 0) return { requests: 1, tokens, cost: 0 }
  const cost = worstCost({ target, body, task: spec?.task ?? null, receivedAt: Date.now() }, prices, strictest(ofMoney))
  const refusing = cost === null ? ofMoney.find(({ money }) => money?.onUnpriced !== 'allow') : undefined
  if (refusing === undefined) return { requests: 1, tokens, cost: cost ?? 0 }
  observe('budget_exhausted')
  throw unpricedRefusal(refusing)
}

const strictest = (limits: readonly Limit[]): MoneyTerms['output'] =>
  limits.some(({ money }) => money?.output === 'strict') ? 'strict' : 'typical'

function applying({ countsUsage }: LeaseLedgerOptions, { call, target, policies }: Asked): readonly Limit[] {
  const own = joined(call.caller.key.limits ?? none, target.view?.limits ?? none)
  const all = policies === null ? own : joined(own, policyLimits(policies, { call, target }))
  return all.length === 0 || countsUsage() ? all : all.filter(({ kind }) => kind === 'rate')
}

const joined = (some: readonly Limit[], more: readonly Limit[]): readonly Limit[] =>
  more.length === 0 ? some : some.length === 0 ? more : [...some, ...more]

/** Waits for the slices that are missing. */
async function wait(options: State, limits: readonly Limit[], needs: Needs): Promise<Reservation> {
  const { counters, observe } = options
  let rest = limits
  for (let tries = 0; tries < mostTries; tries += 1) {
    const asked = await Promise.all(rest.map(async (limit) => ({ limit, end: await fill(options, limit, needs) })))
    const refusals = asked.flatMap(({ end }) => (typeof end === 'object' && end !== null ? [end] : []))
    if (refusals.length > 0) throw refused(options, refusals)
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

function granted({ counters, observe, overcounted }: State, taken: readonly Taken[]): Reservation {
  observe('granted')
  let settled = false
  return {
    settle(charge, reached) {
      if (settled) return
      settled = true
      for (const one of taken) counters.settle(one, reached === 'unsent' ? 0 : usedOf(one, { charge, reached, overcounted }))
    },
  }
}

interface Settled extends Pick<State, 'overcounted'> {
  readonly charge: Charge | null
  readonly reached: Reached
}

/** An answer of which nobody knows what it used keeps what was reserved for it. */
function usedOf({ limit, amount }: Taken, { charge, reached, overcounted }: Settled): number {
  if (limit.counts === 'requests') return amount
  const unknown = reached === 'failed' ? 0 : amount
  if (limit.counts === 'tokens') return tokensOf(charge) ?? unknown
  const cost = charge?.cost.amount ?? null
  return cost === null ? unknown : nanoOf(limit.id, cost, overcounted)
}

function tokensOf(charge: Charge | null): number | null {
  const usage = charge?.metered?.usage ?? null
  return usage === null ? null : (usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))
}

const picoPerNano = 1000n
const mostRemembered = 10_000

/** Returns an amount in whole nano-dollars, rounded up; what was rounded is taken off the next one, so that sums stay exact. */
function nanoOf(id: string, pico: bigint, overcounted: State['overcounted']): number {
  const owed = pico - (overcounted.get(id) ?? 0n)
  const nano = owed <= 0n ? 0n : (owed + picoPerNano - 1n) / picoPerNano
  if (overcounted.size > mostRemembered) overcounted.clear()
  overcounted.set(id, nano * picoPerNano - owed)
  return Number(nano)
}

function refused({ observe }: LeaseLedgerOptions, refusals: readonly Refusal[]): ApiError {
  const error = refusalOf(refusals)
  observe(error.code === 'rate_limited' ? 'rate_limited' : 'budget_exhausted')
  return error
}
