import { conditionKey, type ConditionalPart, type ListedRates, numbersIn, partsOfPeriod } from '../../app/prices/joint-rates.ts'
import { unitFault } from '../../app/prices/unit-check.ts'
import { dimensions, isDimension } from '../../gateway/ports/prices.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'

/** A rate that two catalogues have differently. Pico-US-dollars. */
export interface RateChange {
  readonly provider: string
  readonly model: string
  readonly dimension: string
  /** The conditions under which the rate applies; empty: always. */
  readonly condition: Fields
  /** The day from which it is so; null: now. */
  readonly from: string | null
  readonly before: number
  readonly after: number
  /** How many times the one is the other, always 1 or more; null: one of them is free. */
  readonly factor: number | null
}

/** The differences between two catalogues. */
export interface Comparison {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Rates that one catalogue has and the other one does not, in the same model. */
  readonly rates_added: number
  readonly rates_removed: number
  /** Changes by the factor and more. */
  readonly changed: readonly RateChange[]
  /** Changes by less. */
  readonly smaller: number
  /** Providers whose lists are in another unit, in words. */
  readonly units: readonly string[]
}

export interface CompareOptions {
  readonly factor: number
  /** YYYY-MM-DD. Prices that begin later are compared too. */
  readonly today: string
}

/** Compares the prices of models in two catalogues: rate by rate, under each condition, from today on. A rate that is missing is that of its parent, as in a request. */
export function compareRates(before: readonly ListedProvider[], after: readonly ListedProvider[], options: CompareOptions): Comparison {
  const [old, young] = [byName(before), byName(after)]
  const both = [...young].flatMap(([name, model]) => {
    const former = old.get(name)
    return former === undefined ? [] : [differences(former, model, options.today)]
  })
  const changes = both.flatMap(({ changed }) => changed)
  const large = changes.filter(({ factor }) => factor === null || factor >= options.factor)
  return {
    added: missing(young, old),
    removed: missing(old, young),
    rates_added: both.reduce((sum, { added }) => sum + added, 0),
    rates_removed: both.reduce((sum, { removed }) => sum + removed, 0),
    changed: large.toSorted((one, other) => (other.factor ?? Infinity) - (one.factor ?? Infinity)),
    smaller: changes.length - large.length,
    units: after.flatMap((list) => unitsOf(list, before)),
  }
}

interface NamedModel {
  readonly provider: string
  readonly name: string
  readonly model: Fields
}

const byName = (lists: readonly ListedProvider[]): ReadonlyMap<string, NamedModel> =>
  new Map(
    lists.flatMap(({ provider, models }) =>
      Object.entries(models).map(([name, model]) => [`${provider}/${name.toLowerCase()}`, { provider, name, model }] as const),
    ),
  )

const missing = (here: ReadonlyMap<string, NamedModel>, there: ReadonlyMap<string, NamedModel>): readonly string[] =>
  [...here].flatMap(([key, { provider, name }]) => (there.has(key) ? [] : [`${provider}/${name}`])).toSorted()

function unitsOf(list: ListedProvider, before: readonly ListedProvider[]): readonly string[] {
  const known = before.find(({ provider }) => provider === list.provider)?.models ?? {}
  const fault = unitFault(list, (name) => known[name])
  return fault === null ? [] : [fault]
}

interface Differences {
  readonly changed: readonly RateChange[]
  readonly added: number
  readonly removed: number
}

function differences(former: NamedModel, { provider, name, model }: NamedModel, today: string): Differences {
  const days = [
    today,
    ...[...periodsOf(former.model), ...periodsOf(model)].flatMap(({ from }) => (typeof from === 'string' && from > today ? [from] : [])),
  ]
  const seen = new Set<string>()
  const changed: RateChange[] = []
  const found = { added: 0, removed: 0 }
  for (const day of [...new Set(days)].toSorted()) {
    const [old, young] = [ratesOn(former.model, day), ratesOn(model, day)]
    for (const { condition, dimension } of placesIn(old, young)) {
      const [before, after] = [rateUnder(old, condition, dimension), rateUnder(young, condition, dimension)]
      const key = `${conditionKey(condition)} ${dimension} ${before} ${after}`
      if (before === after || seen.has(key)) continue
      seen.add(key)
      if (before === undefined) found.added += 1
      else if (after === undefined) found.removed += 1
      else
        changed.push({
          provider,
          model: name,
          dimension,
          condition,
          from: day === today ? null : day,
          before,
          after,
          factor: factorOf(before, after),
        })
    }
  }
  return { changed, ...found }
}

const factorOf = (one: number, other: number): number | null =>
  one === 0 || other === 0 ? null : Number((Math.max(one, other) / Math.min(one, other)).toFixed(3))

const periodsOf = ({ prices }: Fields): readonly Fields[] => (Array.isArray(prices) ? prices.filter(isFields) : [])

interface DayRates {
  readonly rates: ListedRates
  readonly parts: readonly ConditionalPart[]
}

function ratesOn(model: Fields, day: string): DayRates {
  const period = periodsOf(model).find(({ from, to }) => (typeof from !== 'string' || from <= day) && (typeof to !== 'string' || day < to))
  return { rates: numbersIn(period?.['rates']), parts: partsOfPeriod(period ?? {}) }
}

interface Place {
  readonly condition: Fields
  readonly dimension: string
}

function placesIn(...all: readonly DayRates[]): readonly Place[] {
  const places = new Map<string, Place>()
  for (const { rates, parts } of all) {
    for (const part of [{ condition: {}, rates }, ...parts]) {
      for (const dimension of Object.keys(part.rates)) {
        places.set(`${conditionKey(part.condition)} ${dimension}`, { condition: part.condition, dimension })
      }
    }
  }
  return [...places.values()]
}

/** Finds a rate as the look-up of a request does: the entry with the most conditions, the later of equals, then the dimension's parent. */
function rateUnder({ rates, parts }: DayRates, condition: Fields, dimension: string): number | undefined {
  const holding = parts
    .filter((part) => Object.entries(part.condition).every(([name, value]) => holds(name, value, condition[name])))
    .toReversed()
    .toSorted((one, other) => Object.keys(other.condition).length - Object.keys(one.condition).length)
  for (let name: string | null = dimension; name !== null && isDimension(name); name = dimensions[name].parent) {
    const found = holding.find((part) => part.rates[name ?? ''] !== undefined)?.rates[name] ?? rates[name]
    if (found !== undefined) return found
  }
  return undefined
}

/** A list of places holds for each of them, and a length for each longer one. */
function holds(name: string, wanted: unknown, fact: unknown): boolean {
  if (name === 'over') return typeof fact === 'number' && typeof wanted === 'number' && fact >= wanted
  if (Array.isArray(wanted) && Array.isArray(fact)) return fact.every((one) => wanted.includes(one))
  return wanted === fact
}
