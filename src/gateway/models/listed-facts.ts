import { namesOf } from '../prices/names.ts'
import type { ModelFacts, PriceSource } from '../prices/price-source.ts'

/** Returns the facts in the price lists about a model of a provider; null: they do not have it. */
export function listedFacts(source: Pick<PriceSource, 'facts'>, provider: string, model: string): ModelFacts | null {
  for (const candidate of namesOf(provider, model)) {
    const facts = source.facts(candidate.provider, candidate.model)
    if (facts !== null) return facts
  }
  return null
}
