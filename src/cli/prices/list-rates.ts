import type { ListedRates } from '../../app/prices/joint-rates.ts'
import { divideEven } from '../../gateway/ports/prices.ts'
import type { Fields } from '../../lib/json/fields.ts'
import { parsePico } from '../../lib/pico.ts'

/** Turns a price as a file has it into whole pico-US-dollars for one unit; null: it is none. */
export type ReadPrice = (price: unknown) => number | null

/** US dollars for one unit. */
export const perUnit: ReadPrice = (price) => rateOf(price, 1n)
/** US dollars for a thousand units. */
export const perThousand: ReadPrice = (price) => rateOf(price, 1000n)
/** US dollars for a million units. */
export const perMillion: ReadPrice = (price) => rateOf(price, 1_000_000n)
/** US dollars for an hour, as a rate for one second. */
export const perHour: ReadPrice = (price) => rateOf(price, 3600n)

/** Returns null for a value that is no price, and for zero, which stands for "not known" in public files. */
function rateOf(price: unknown, units: bigint): number | null {
  if (typeof price !== 'number' || !Number.isFinite(price) || price <= 0) return null
  return Number(divideEven(parsePico(withoutNoise(price)), units))
}

/** Files that were written by programs have 2.0000000000000002e-7 for 2e-7. */
const withoutNoise = (price: number): string => String(Number(price.toPrecision(12)))

/** Returns the rates of fields that have one. */
export function ratesOf(fields: Fields, names: Readonly<Record<string, string>>, read: ReadPrice): ListedRates {
  const found: Record<string, number> = {}
  for (const [field, dimension] of Object.entries(names)) {
    const rate = read(fields[field])
    if (rate !== null) found[dimension] = rate
  }
  return found
}

/** Returns the fields that are whole numbers above zero. */
export const numbersOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0))
