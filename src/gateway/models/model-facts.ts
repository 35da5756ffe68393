import { dimensions, isDimension } from '../dialects/neutral/counts.ts'
import type { ModelDetails, WrittenPrices } from '../dialects/neutral/model.ts'
import type { PriceEntry } from '../prices/entry.ts'
import type { ModelFacts, PriceSource } from '../prices/price-source.ts'
import { periodAt } from '../prices/rates.ts'
import { findPrices, type FoundPrices } from '../prices/resolve.ts'
import type { ProviderView } from '../targets/provider-view.ts'
import { listedFacts } from './listed-facts.ts'

const nothing: ModelDetails = {
  kind: null,
  contextWindow: null,
  maxInput: null,
  maxOutput: null,
  input: null,
  output: null,
  abilities: null,
  pricedAs: null,
  prices: null,
}

/** Returns the facts in the price lists about a model of a stored provider. Its price is that of the integration, where it has one of its own. */
export function modelDetails(source: PriceSource, view: ProviderView, model: string): ModelDetails {
  const facts = listedFacts(source, view.provider, model)
  const priced = findPrices({ provider: view.provider, answered: null, sent: model, terms: view.prices }, source)
  return { ...(facts === null ? nothing : toDetails(facts)), pricedAs: priced?.model ?? null, prices: priced && pricesOf(priced) }
}

const toDetails = ({ kind, limits, in: input, out: output, can: abilities }: ModelFacts): ModelDetails => ({
  ...nothing,
  ...given({ kind, input, output, abilities }),
  ...given({ contextWindow: limits?.context ?? limits?.input, maxInput: limits?.input ?? limits?.context, maxOutput: limits?.output }),
})

/** Returns the facts that are there. */
const given = (facts: Readonly<Record<string, unknown>>): Partial<ModelDetails> =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))

/** Rates are whole pico-dollars. */
const [perMillion, perUnit] = [1e6, 1e12]

function pricesOf({ entry, source }: Pick<FoundPrices, 'entry' | 'source'>): ModelDetails['prices'] {
  const { currency, ...rates } = writePrices(entry, Date.now())
  return { currency, source, ...rates }
}

/** Returns the standard rates of a moment as US dollars: those of tokens for a million, all others for the unit in their name. */
export function writePrices(entry: PriceEntry, now: number): WrittenPrices {
  const rates = periodAt(entry, now)?.rates ?? {}
  const tokens: Record<string, number> = {}
  const others: Record<string, number> = {}
  for (const [name, rate] of Object.entries(rates)) {
    if (!isDimension(name)) continue
    if (dimensions[name].unit === 'token') tokens[name] = rate / perMillion
    else others[name] = rate / perUnit
  }
  return { currency: 'USD', per_million_tokens: tokens, ...(Object.keys(others).length > 0 && { per_unit: others }) }
}
