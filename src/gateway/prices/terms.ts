import type { Fields } from '../../lib/json/fields.ts'
import { parsePico } from '../../lib/pico.ts'
import type { PriceEntry } from './entry.ts'
import type { Multipliers } from './multipliers.ts'
import { divideEven } from './whole.ts'

/** An integration's own terms for the prices of its models. */
export interface IntegrationPrices {
  readonly multipliers: Multipliers | null
  readonly models: ReadonlyMap<string, ModelTerms>
  /** True: provisioned throughput, of which requests are counted and not charged. */
  readonly skipsCost: boolean
}

/** A custom price, and the model whose price is meant. */
export interface ModelTerms {
  readonly entry: PriceEntry | null
  readonly base: string | null
}

/** Returns true if an answer came from provisioned throughput that is not charged. An answer that states on-demand service is charged. */
export function isProvisioned(terms: IntegrationPrices | null, usage: Fields | null): boolean {
  const traffic = usage?.['trafficType']
  return terms?.skipsCost === true && !(typeof traffic === 'string' && traffic.startsWith('ON_DEMAND'))
}

/** Returns true if the provider itself states that an answer came from provisioned throughput: a config may leave out no other cost. */
export const saysProvisioned = (usage: Fields | null): boolean => {
  const traffic = usage?.['trafficType']
  return typeof traffic === 'string' && traffic.startsWith('PROVISIONED')
}

/** Returns the entry of a price that an integration has for a model, which people write in US dollars for a million tokens. */
export function customEntry({ input, output }: { readonly input: number | null; readonly output: number | null }): PriceEntry {
  return {
    prices: [
      { rates: { ...(input === null ? {} : { input: perToken(input) }), ...(output === null ? {} : { output: perToken(output) }) } },
    ],
  }
}

/** A million tokens cost so many dollars: one costs as many micro-dollars. */
const perToken = (dollars: number): number => Number(divideEven(parsePico(String(dollars)), 1_000_000n))
