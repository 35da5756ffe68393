import { type Cost, notCharged } from '../prices/price-usage.ts'
import type { PriceFacts } from '../prices/rates.ts'
import type { Metered } from './meter.ts'

/** The usage and the cost of one attempt. */
export interface Charge {
  readonly metered: Metered | null
  readonly cost: Cost
  /** The name under which the price was found; null: it was not. */
  readonly pricedModel: string | null
  /** The digest of the price list. */
  readonly catalogue: string | null
  readonly facts: PriceFacts | null
  /** The cost that an answer from the cache saved. */
  readonly saved: bigint | null
}

/** The charge of an attempt of which no answer came. */
export const noCharge: Charge = { metered: null, cost: notCharged, pricedModel: null, catalogue: null, facts: null, saved: null }
