// The fee of models that search for every request: by the size of the search context where a list has rates for it.
import test from 'ava'
import type { PriceEntry } from '../../../../src/gateway/prices/entry.ts'
import { withSearchFee } from '../../../../src/gateway/prices/search-fee.ts'

const flat: PriceEntry = { prices: [{ rates: { input: 1, web_search: 25 } }] }
const sized: PriceEntry = { prices: [{ rates: { input: 1, web_search_low: 10, web_search_medium: 20, web_search_high: 30 } }] }
const asking = (size: unknown) => ({ web_search_options: { search_context_size: size } })

for (const [model, entry, json, fee] of [
  ['gpt-4o-search-preview', flat, {}, 'web_search'],
  ['gpt-4o-search-preview', flat, asking('high'), 'web_search'],
  ['gpt-4o-mini-search-preview-2025-03-11', sized, {}, 'web_search_medium'],
  ['openai/gpt-5-search-api', sized, asking('low'), 'web_search_low'],
  ['gpt-5-search-api-2025-10-14', sized, asking('high'), 'web_search_high'],
  ['gpt-5-search-api', sized, asking('constructor'), 'web_search_medium'],
  ['gpt-4o', flat, asking('high'), null],
  ['my-search-preview', flat, {}, null],
  ['gpt-4o-search-preview-of-mine', flat, {}, null],
] as const)
  test(`${model} asked for ${JSON.stringify(json)} by ${entry === flat ? 'one rate' : 'rates by size'}: ${fee ?? 'no fee'}`, (t) => {
    const counts = { input: 5 }
    t.deepEqual(withSearchFee(counts, { model, entry }, json), fee === null ? counts : { input: 5, [fee]: 1 })
    t.deepEqual(withSearchFee({ input: 5, web_search: 3 }, { model, entry }, json), { input: 5, web_search: 3 }, 'what is told counts')
    t.is(withSearchFee(counts, null, json), counts)
  })
