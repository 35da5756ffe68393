import { type Counts, type Dimension, dimensions, isDimension } from '../dialects/neutral/counts.ts'
import { type ModelPrices, priceAmount } from './price-usage.ts'
import type { PriceFacts } from './rates.ts'

/** Sold by the container at some providers, and by the call at others: one rate is enough. */
const codeDimensions: ReadonlySet<string> = new Set<Dimension>(['code_session', 'code_execution'])
/** Images have the price of the model that draws them. */
const drawn: Dimension = 'image'

/** Returns true if any of the tools that were counted has no known fee. */
export function lacksFee(calls: Counts, facts: PriceFacts, found: ModelPrices): boolean {
  const names = Object.keys(calls)
    .filter(isDimension)
    .filter((name) => name !== drawn && (calls[name] ?? 0) > 0)
  const isPriced = (name: Dimension): boolean => found.entry.free !== true && priceAmount({ counts: { [name]: 1 }, facts }, found) !== null
  return names.some((name) => !(codeDimensions.has(name) ? names.some((one) => codeDimensions.has(one) && isPriced(one)) : isPriced(name)))
}

/** Returns true if any of the kinds of tokens that were counted has no rate: a price without them is a lower bound. */
export function lacksRate(counts: Counts, facts: PriceFacts, found: ModelPrices): boolean {
  for (const name in counts) {
    if (!isDimension(name) || dimensions[name].unit !== 'token' || (counts[name] ?? 0) === 0) continue
    if (priceAmount({ counts: { [name]: 1 }, facts }, found) === null) return true
  }
  return false
}
