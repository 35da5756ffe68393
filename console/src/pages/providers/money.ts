import { shortMoney } from '../../api/figures.ts'

const million = 1_000_000
/** A cent in pico-dollars. */
const picoOfCent = 10_000_000_000

type Rate = readonly [name: string, text: string]

/** Returns the rates of a price list, in cents for one unit, as texts: tokens by the million. */
export const ratesIn = (rates: Readonly<Record<string, unknown>>): readonly Rate[] =>
  Object.entries(rates).flatMap(([name, rate]): readonly Rate[] => {
    if (typeof rate !== 'object' || rate === null) return []
    if ('price' in rate && typeof rate.price === 'number') return [[wordsOf(name), textOf(name, rate.price)]]
    return ratesIn(rate as Readonly<Record<string, unknown>>).map(([inner, text]): Rate => [`${wordsOf(name)}, ${inner}`, text])
  })

const wordsOf = (name: string): string => name.replaceAll('_', ' ')

const textOf = (name: string, cents: number): string =>
  name.includes('token')
    ? `${shortMoney(String(BigInt(Math.round(cents * million * 1e6)) * BigInt(picoOfCent / 1e6)))} a million`
    : `${shortMoney(String(BigInt(Math.round(cents * picoOfCent))))} each`
