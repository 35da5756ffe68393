import { type Rates, type PriceEntry, periodAt } from '../../gateway/ports/prices.ts'
import { centNames, centUnits } from '../../lib/cent-names.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { fromPico } from '../../lib/pico.ts'

/** Returns the prices of a model as the API shows them: those of today in US cents, and all of them in pico-US-dollars. */
export function presentPricing(entry: PriceEntry, now: number) {
  return {
    object: 'model.pricing' as const,
    currency: 'USD' as const,
    pay_as_you_go: toCents(periodAt(entry, now)?.rates ?? {}),
    prices: [...entry.prices],
    free: entry.free ?? false,
  }
}

function toCents(rates: Rates): Fields {
  const cents = new Map(Object.entries(rates).map(([dimension, rate]) => [dimension, { price: fromPico(BigInt(rate) * 100n) }]))
  const named = (names: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(names).flatMap(([name, dimension]) => (cents.has(dimension) ? [[name, cents.get(dimension)]] : [])))
  const known = new Set(Object.values(centNames))
  const others = [...cents].filter(([dimension]) => !known.has(dimension) && !Object.values(centUnits).includes(dimension))
  const units = { ...named(centUnits), ...Object.fromEntries(others) }
  return { ...named(centNames), ...(Object.keys(units).length === 0 ? {} : { additional_units: units }) }
}

/** Returns the abilities of a model as the API shows them. */
export function presentAbilities({ kind, limits, in: input, out, can, params }: Fields) {
  return {
    object: 'model.general' as const,
    type: { primary: typeof kind === 'string' ? kind : null, supported: texts(can) },
    limits: isFields(limits) ? numbers(limits) : {},
    input: texts(input),
    output: texts(out),
    params: Array.isArray(params) ? [...params] : [],
  }
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [])
const numbers = (fields: Fields): Record<string, number> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])))
