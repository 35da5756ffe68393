import type { LoggedCharge, LoggedCostLine } from '../../gateway/ports.ts'
import {
  priceRuns,
  type PriceSource,
  type Cost,
  type CostState,
  notCharged,
  findPrices,
  stateOf,
  type IntegrationPrices,
  isProvisioned,
} from '../../gateway/ports/prices.ts'

/** The cost of a log with other price lists. */
export interface RepricedCost {
  readonly state: CostState
  /** Pico-US-dollars; null when unpriced. */
  readonly amount: bigint | null
  readonly lines: readonly PricedLine[]
  readonly catalogue: string | null
  /** Pico-US-dollars by attempt; an attempt without a known price is not there. */
  readonly amounts: ReadonlyMap<number, bigint>
  /** The attempts whose amounts are lower bounds. */
  readonly least: ReadonlySet<number>
}

/** A line of an attempt, with amounts as they are worked out, or as texts where a log has it already. */
export interface PricedLine extends Omit<LoggedCostLine, 'rate' | 'amount'> {
  readonly rate: bigint | string | null
  readonly amount: bigint | string
}

/** The cost of a job that an attempt began, which its provider reported at its end. */
export interface JobCost {
  readonly attempt: number
  readonly cost: Pick<Cost, 'state' | 'amount'> & { readonly lines: readonly Omit<PricedLine, 'attempt'>[] }
}

export interface RepriceOptions {
  readonly prices: PriceSource
  /** Those of the jobs that its attempts began, which stay as they are; one that has not ended is missing. */
  readonly jobs: readonly JobCost[]
  /** Returns the terms of the integration behind a charge; null: it has none. */
  readonly termsOf: (charge: LoggedCharge) => IntegrationPrices | null
}

/** Prices the attempts of a log again, from the counts and the facts that the log has. No body and no provider is asked. */
export function reprice(charges: readonly LoggedCharge[], options: RepriceOptions): RepricedCost {
  const { jobs } = options
  const others = charges.filter((charge) => jobs.every(({ attempt }) => attempt !== charge.attempt))
  const priced: JobPrice[] = others.map((charge) => Object.assign({ attempt: charge.attempt }, priceAgain(charge, options)))
  const least = new Set(priced.filter(({ cost }) => cost.state === 'partly_priced').map(({ attempt }) => attempt))
  for (const job of jobs) priced.push(Object.assign({ catalogue: null }, job))
  const state = stateOf(priced.map(({ cost }) => cost.state))
  return {
    state,
    amount: state === 'unpriced' ? null : priced.reduce((sum, { cost }) => sum + (cost.amount ?? 0n), 0n),
    lines: priced.flatMap(({ attempt, cost }) => cost.lines.map((line) => Object.assign({ attempt }, line))),
    catalogue: priced.find(({ catalogue }) => catalogue !== null)?.catalogue ?? null,
    amounts: amountsOf(priced),
    least,
  }
}

interface JobPrice extends JobCost {
  readonly catalogue: string | null
}

/** An answer that was made of several has a charge for each. */
function amountsOf(priced: readonly JobCost[]): ReadonlyMap<number, bigint> {
  const amounts = new Map<number, bigint>()
  for (const { attempt, cost } of priced) if (cost.amount !== null) amounts.set(attempt, (amounts.get(attempt) ?? 0n) + cost.amount)
  return amounts
}

const free = { cost: notCharged, catalogue: null }
const unknown = { cost: { state: 'unpriced', amount: null, lines: [], unpriced: [] }, catalogue: null } as const

function priceAgain(charge: LoggedCharge, { prices, termsOf }: RepriceOptions): { readonly cost: Cost; readonly catalogue: string | null } {
  const { provider, answered, sent, counts, facts, reported, estimated, recalled, skipped } = charge
  if (charge.untold === true) return unknown
  const terms = termsOf(charge)
  if (recalled || skipped || isProvisioned(terms, charge.usage) || facts === null) return free
  const query = { provider: provider ?? '', answered, sent, terms }
  const found = provider === null ? null : findPrices(query, prices)
  const usage = { counts, facts, reported: reported === null ? null : BigInt(reported), estimated, raw: charge.usage }
  const cost = priceRuns(usage, { query, found, prices })
  return { cost, catalogue: found?.catalogue ?? null }
}
