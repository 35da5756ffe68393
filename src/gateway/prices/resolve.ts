import { type ModelName, namesOf } from './names.ts'
import type { ModelPrices } from './price-usage.ts'
import type { PriceSource } from './price-source.ts'
import type { IntegrationPrices } from './terms.ts'

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
  /** What the name itself told of the place. */
  readonly geo: string | null
  readonly region: string | null
}

/** Finds the prices of a model: the integration's own, then those of the model that answered, of the one sent. Null: it is unpriced. */
export function findPrices(query: PriceQuery, source: PriceSource): FoundPrices | null {
  const { provider, terms, sent, answered } = query
  const own = sent === null ? null : (terms?.models.get(sent) ?? null)
  const multipliers = terms?.multipliers ?? null
  if (own !== null && own.entry !== null && sent !== null) {
    const custom = { entry: own.entry, model: sent, source: 'integration', catalogue: null }
    return { ...custom, modeDefault: source.modeDefault(provider), multipliers, geo: null, region: null }
  }
  const base = own === null ? null : own.base
  for (const name of asked(base, answered, sent)) {
    const found = listed(provider, name, source)
    if (found !== null) return { ...found, modeDefault: source.modeDefault(provider), multipliers }
  }
  return null
}

/** A base model that the operator named goes before what the answer says, which has named the wrong family at times. */
const asked = (base: string | null, answered: string | null, sent: string | null): readonly string[] =>
  [...new Set([base, answered, sent])].filter((name) => name !== null)

type Listed = Omit<FoundPrices, 'modeDefault' | 'multipliers'>

function listed(provider: string, name: string, source: PriceSource): Listed | null {
  for (const candidate of namesOf(provider, name)) {
    const found = source.find(candidate.provider, candidate.model)
    if (found !== null) return { ...toListed(candidate), entry: found.entry, source: found.source, catalogue: found.catalogue }
  }
  return null
}

const toListed = ({ model, geo, region }: ModelName) => ({ model, geo, region })

/** Returns the figure by which models are ranked: what three tokens of the prompt and one of the answer cost. Null: no price is known. */
export function rankOf(source: Pick<PriceSource, 'find'>, provider: string, model: string): number | null {
  for (const candidate of namesOf(provider, model)) {
    const rates = source.find(candidate.provider, candidate.model)?.entry.prices.at(-1)?.rates
    if (rates?.input !== undefined) return rates.input * 3 + (rates.output ?? 0)
  }
  return null
}
