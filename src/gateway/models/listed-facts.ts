import type { PriceEntry } from '../prices/entry.ts'
import { namesOf } from '../prices/names.ts'
import type { PriceSource } from '../prices/price-source.ts'

/** Returns what the price lists tell of a model of a provider; null: they do not know it. */
export function listedFacts(source: Pick<PriceSource, 'find'>, provider: string, model: string): PriceEntry | null {
  for (const candidate of namesOf(provider, model)) {
    const found = source.find(candidate.provider, candidate.model)
    if (found !== null) return found.entry
  }
  return null
}
