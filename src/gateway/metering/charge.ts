import { sumCounts } from '../dialects/neutral/counts.ts'
import { type Cost, notCharged } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'
import { sumCosts } from '../prices/sum-costs.ts'
import type { MeteredUsage } from './meter.ts'

/** The usage and the cost of one attempt. */
export interface Charge {
  readonly metered: MeteredUsage | null
  readonly cost: Cost
  /** The name under which the price was found; null: it was not. */
  readonly pricedModel: string | null
  /** The digest of the price list. */
  readonly catalogue: string | null
  readonly facts: PriceFacts | null
  /** The cost that an answer from the cache saved. */
  readonly saved: bigint | null
  /** The model that was asked, where it is not the one of the request: a tool of the provider's asked it. */
  readonly asked?: string
  /** True if nobody saw the end of its answer: its output is what such a request is expected to have. */
  readonly isGuess?: true
  /** For a joined answer: the charge of each part. Null: it is one. */
  readonly parts: readonly Charge[] | null
}

/** The charge of an attempt of which no answer came. */
export const noCharge: Charge = {
  metered: null,
  cost: notCharged,
  pricedModel: null,
  catalogue: null,
  facts: null,
  saved: null,
  parts: null,
}

/** The charge of work that costs when it has ended, and of a session outside Gatehouse: it is unknown yet, which is not the same as free. */
export const untoldCharge: Charge = { ...noCharge, cost: { state: 'unpriced', amount: null, lines: [], unpriced: [] } }

/** Returns the charge of an answer that was made of several, each of which is charged for itself: a fee for each, and none at the rates of a longer prompt. */
export function sumCharges(whole: MeteredUsage, parts: readonly Charge[]): Charge {
  const [first] = parts
  const counts = sumCounts(parts.map(({ metered }) => metered?.counts ?? null)) ?? whole.counts
  return {
    metered: { ...whole, counts, inconsistent: parts.some(({ metered }) => metered?.inconsistent === true) },
    cost: sumCosts(parts.map(({ cost }) => cost)),
    pricedModel: first?.pricedModel ?? null,
    catalogue: first?.catalogue ?? null,
    facts: first?.facts ?? null,
    saved: null,
    parts,
  }
}
