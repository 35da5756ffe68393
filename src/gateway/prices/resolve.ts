import type { PriceEntry } from './entry.ts'
import { namesOf } from './names.ts'
import type { ModelPrices } from './price-usage.ts'
import type { ModelFacts, PriceSource } from './price-source.ts'
import type { IntegrationPrices } from './terms.ts'
import { toolFeesOf } from './tool-fees.ts'

/** The names by which a request's model is known. */
export interface PriceQuery {
  /** A row of the catalogue. */
  readonly provider: string
  /** The model that answered; it goes before the one asked for, except where a deployment has a name of its own. */
  readonly answered: string | null
  readonly sent: string | null
  readonly terms: IntegrationPrices | null
}

/** The prices of a request's model. */
export interface FoundPrices extends ModelPrices {
  readonly catalogue: string | null
  /** The place, as far as the name itself states it. */
  readonly geo: string | null
  readonly region: string | null
}

/** Finds the prices of a model: the integration's own, then those of the model that answered, of the one sent. Null: it is unpriced. */
export function findPrices(query: PriceQuery, source: PriceSource): FoundPrices | null {
  const { sent, answered, terms } = query
  const own = sent === null ? undefined : terms?.models.get(sent)
  if (own === undefined) {
    const [first, second] = sentTellsPlace.has(query.provider) ? [sent, answered] : [answered, sent]
    return listed(first, query, source) ?? (first === second ? null : listed(second, query, source))
  }
  // A base model that the operator named goes before that of the answer, which has named the wrong family at times.
  const base = isRouted(query) ? null : own.base
  return agreed(own.entry, query, source) ?? listed(base, query, source) ?? listed(answered, query, source) ?? listed(sent, query, source)
}

/** Providers whose price depends on the place in the name that was sent, which their answers leave out: a profile of Bedrock serves one model. */
const sentTellsPlace: ReadonlySet<string> = new Set(['bedrock'])

/** The model of Azure that hands a request on to another one, and charges for that beside it. */
const router = 'model-router'

/** Returns true for a target that chooses the model by itself: the answer names it, and routing costs a fee. */
export const isRouted = ({ provider, sent, terms }: Omit<PriceQuery, 'answered'>): boolean =>
  provider === 'azure-openai' && sent !== null && (terms?.models.get(sent)?.base ?? sent) === router

/** Returns the prices that the integration itself has for a model. */
function agreed(entry: PriceEntry | null, { provider, sent, terms }: PriceQuery, source: PriceSource): FoundPrices | null {
  if (entry === null || sent === null) return null
  const custom = { entry, model: sent, source: 'integration', catalogue: null, geo: null, region: null }
  return { ...custom, modeDefault: source.modeDefault(provider), fees: toolFeesOf(provider), multipliers: terms?.multipliers ?? null }
}

function listed(name: string | null, { provider, terms }: PriceQuery, source: PriceSource): FoundPrices | null {
  if (name === null) return null
  for (const { provider: list, model, geo, region } of namesOf(provider, name)) {
    const found = source.find(list, model)
    if (found === null) continue
    const { entry, source: layer, catalogue } = found
    const modeDefault = source.modeDefault(provider)
    const fees = toolFeesOf(provider)
    return { entry, model, source: layer, catalogue, modeDefault, fees, multipliers: terms?.multipliers ?? null, geo, region }
  }
  return null
}

/** Returns the facts of a model beside its prices, under the first of its names that a list has; null: none has it. */
export function factsByName(source: Pick<PriceSource, 'facts'>, provider: string, model: string): ModelFacts | null {
  for (const candidate of namesOf(provider, model)) {
    const facts = source.facts(candidate.provider, candidate.model)
    if (facts !== null) return facts
  }
  return null
}

/** Returns the figure by which models are ranked: the price of three tokens of the prompt and one of the answer. Null: no price is known. */
export function rankOf(source: Pick<PriceSource, 'find'>, provider: string, model: string): number | null {
  for (const candidate of namesOf(provider, model)) {
    const rates = source.find(candidate.provider, candidate.model)?.entry.prices.at(-1)?.rates
    if (rates?.input !== undefined) return rates.input * 3 + (rates.output ?? 0)
  }
  return null
}
