import type { Counts } from '../dialects/neutral/counts.ts'
import { dearModes } from '../dialects/served-facts.ts'
import { type Cost, isModePriced } from '../prices/price-usage.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { PriceFacts } from '../prices/rates.ts'
import { findPrices, type FoundPrices, isRouted, type PriceQuery } from '../prices/resolve.ts'
import { withSearchFee } from '../prices/search-fee.ts'
import type { IntegrationPrices } from '../prices/terms.ts'
import type { Target } from '../targets/target.ts'
import type { MeteredUsage } from './meter.ts'
import { placeOf } from './region.ts'
import { asksUnpricedTool } from './tool-uses.ts'
import { priceRuns } from './runs.ts'

/** The request behind an answer, as far as its price depends on it. */
export interface PricedRequest {
  readonly target: Target
  readonly terms: IntegrationPrices | null
  readonly prices: PriceSource
  /** Its parsed body; undefined: it is no JSON, or not known. */
  readonly json: unknown
  /** Epoch milliseconds: the prices of then count. */
  readonly startedAt: number
}

/** The cost of an answer, with the inputs of its computation. */
export interface PricedAnswer {
  /** With the fees beside the usage in the answer. */
  readonly metered: MeteredUsage
  readonly facts: PriceFacts
  /** Null: no list has the model. */
  readonly found: FoundPrices | null
  readonly cost: Cost
}

/** Prices the usage of an answer, whether it came at once or in the file of a batch. */
export function priceMetered(told: MeteredUsage, { target, terms, prices, json, startedAt }: PricedRequest): PricedAnswer {
  const query = { provider: target.providerId, answered: told.model, sent: target.model, terms }
  const found = findPrices(query, prices)
  const facts = factsOf(told, placeOf(target, found), startedAt)
  const metered = withFees(told, { query, found, json, facts })
  const { counts, reported, estimated, raw } = metered
  const cost = priceRuns({ counts, facts, reported, estimated, raw }, { query, found, prices })
  return { metered, facts, found, cost }
}

interface Fees {
  readonly query: PriceQuery
  readonly found: FoundPrices | null
  readonly json: unknown
  readonly facts: PriceFacts
}

/** Counts the fees of a request beside the usage in its answer, and what has no price. Nearly every request stays as it is. */
function withFees(metered: MeteredUsage, { query, found, json, facts }: Fees): MeteredUsage {
  const routed = isRouted(query) ? { ...metered.counts, routing: metered.promptTokens } : metered.counts
  const counts = withSearchFee(routed, found, json)
  const open = found === null || !metered.hasTokens || metered.reported !== null ? null : unpricedOf({ query, found, json, facts })
  if (open !== null) return { ...metered, counts: { ...counts, ...open } }
  return counts === metered.counts ? metered : { ...metered, counts }
}

/** Returns counts of the work of a request that has no known price; null: there is none. */
function unpricedOf({ query, found, json, facts }: Fees & { readonly found: FoundPrices }): Counts | null {
  const hasTool = asksUnpricedTool(json, facts, found)
  const hasTier = isDearer(facts, query) && !isModePriced(found, facts)
  return hasTool || hasTier ? { ...(hasTool && { unpriced_tool: 1 }), ...(hasTier && { unpriced_tier: 1 }) } : null
}

/** Priority at Anthropic is capacity that was bought before, at rates of its own. */
const isDearer = ({ mode }: PriceFacts, { provider }: PriceQuery): boolean =>
  mode !== null && dearModes.has(mode) && !(provider === 'anthropic' && mode === 'priority')

const factsOf = (metered: MeteredUsage, place: Pick<PriceFacts, 'geo' | 'region'>, startedAt: number): PriceFacts => ({
  startedAt,
  mode: metered.mode,
  promptTokens: metered.promptTokens,
  geo: metered.geo ?? place.geo,
  region: place.region,
  size: metered.size,
  quality: metered.quality,
  hasTokens: metered.hasTokens,
})
