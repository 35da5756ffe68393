import type { TargetPrices } from '../routing/target-prices.ts'
import type { PriceEntry } from './entry.ts'

/** A model as a price list has it. */
export interface ListedModel {
  readonly entry: PriceEntry
  /** The layer that has it: `proxy`, `log_store`, `local`, `built_in`. */
  readonly source: string
  /** The digest of the list. */
  readonly catalogue: string
}

/** The facts about a model besides its prices. */
export type ModelFacts = Pick<PriceEntry, 'kind' | 'limits' | 'in' | 'out' | 'can'>

/** The port to the price lists, which are in memory. Only the first request for a provider may have to wait until its lists were read. */
export interface PriceSource extends TargetPrices {
  /** Returns null when the lists of a provider were read, or could not be; else a promise that resolves then, or after a bounded time. */
  ready(provider: string): Promise<void> | null
  /** Returns the entry of a model by its whole name, upper and lower case alike; null: no list has it. */
  find(provider: string, model: string): ListedModel | null
  /** Returns the facts in the lists about a model, each from the first list that has it; null: they have none. */
  facts(provider: string, model: string): ModelFacts | null
  /** Returns the names of all models that the built-in list has of a provider. */
  models(provider: string): readonly string[]
  /** Returns the per mille of the token rates at which a provider sells a mode; null: it has no such rule. */
  modeDefault(provider: string): Readonly<Record<string, number>> | null
}

/** A source without prices. */
export const noPrices: PriceSource = {
  ready: () => null,
  find: () => null,
  facts: () => null,
  models: () => [],
  modeDefault: () => null,
  rank: () => null,
}
