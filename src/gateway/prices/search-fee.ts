import { isFields } from '../../lib/json/fields.ts'
import type { Counts, Dimension } from '../dialects/neutral/counts.ts'
import type { PriceEntry } from './entry.ts'
import type { ModelPrices } from './price-usage.ts'

/** Models of chats that search the web once for each request, without a count in their usage. */
const alwaysSearches = /(?:^|\/)gpt-[\w.]+(?:-mini)?-search-(?:preview|api)(?:-\d{4}-\d{2}-\d{2})?$/

const sizes: Readonly<Record<string, Dimension>> = { low: 'web_search_low', medium: 'web_search_medium', high: 'web_search_high' }

/** Returns counts with the fee of a model that searches for every request, by the size of the search context where its prices depend on it. */
export function withSearchFee(counts: Counts, found: Pick<ModelPrices, 'model' | 'entry'> | null, json: unknown): Counts {
  const fee = found === null || (counts.web_search ?? 0) > 0 ? null : searchFeeOf(found, json)
  return fee === null ? counts : { ...counts, [fee]: 1 }
}

/** Returns the dimension of the fee that a model takes for every request because it searches; null: it takes none. */
export function searchFeeOf({ model, entry }: Pick<ModelPrices, 'model' | 'entry'>, json: unknown): Dimension | null {
  // The one look that every request pays for.
  if (!model.includes('-search-') || !alwaysSearches.test(model)) return null
  const bySize = sizes[searchSizeOf(json) ?? 'medium']
  return bySize !== undefined && hasRate(entry, bySize) ? bySize : 'web_search'
}

/** Returns how much of the search results a request asks a model to read: `low`, `medium`, `high`; null: it does not state it. */
export function searchSizeOf(json: unknown): string | null {
  const options = isFields(json) ? json['web_search_options'] : undefined
  const size = isFields(options) ? options['search_context_size'] : undefined
  return typeof size === 'string' && Object.hasOwn(sizes, size) ? size : null
}

const hasRate = ({ prices }: PriceEntry, dimension: Dimension): boolean => prices.some(({ rates }) => rates[dimension] !== undefined)
