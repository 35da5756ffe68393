import { type Dimension, dimensions, isDimension } from '../dialects/neutral/counts.ts'
import type { ConditionalRates, PricePeriod, PriceEntry } from './entry.ts'

/** The facts of a request on which its rates depend. They come from the answer, and from the request where the answer is silent. */
export interface PriceFacts {
  /** Epoch milliseconds at which the request began. */
  readonly startedAt: number
  /** How it was served; null: as usual. */
  readonly mode: string | null
  /** The tokens of the whole prompt: cached, written and neither. */
  readonly promptTokens: number
  readonly geo: string | null
  readonly region: string | null
  readonly size: string | null
  readonly quality: string | null
  /** True if the answer carried token counts. */
  readonly hasTokens: boolean
}

/** A rate, and where in the entry it was found. */
export interface FoundRate {
  readonly rate: number
  /** The dimension whose rate it is: the one asked for, or one of its parents. */
  readonly dimension: Dimension
  readonly conditions: ConditionalRates | null
}

/** Returns the period that holds the start of a request; null when the entry has none for that day. */
export function periodAt({ prices }: Pick<PriceEntry, 'prices'>, startedAt: number): PricePeriod | null {
  if (prices.length === 1 && prices[0]?.from === undefined && prices[0]?.to === undefined) return prices[0] ?? null
  const day = new Date(startedAt).toISOString().slice(0, 10)
  return prices.find(({ from = null, to = null }) => (from === null || from <= day) && (to === null || day < to)) ?? null
}

/** Returns the conditional rates that hold for a request, the decisive ones first: most conditions, then the later one. */
export function holdingRates({ when = [] }: PricePeriod, facts: PriceFacts): readonly ConditionalRates[] {
  if (when.length === 0 || noneHolds(when, facts)) return none
  const holding = when.filter((entry) => holds(entry, facts))
  return holding.length < 2 ? holding : holding.toReversed().toSorted((a, b) => Object.keys(b).length - Object.keys(a).length)
}

const none: readonly ConditionalRates[] = []

/** Nearly every request is served as usual: no list is made for it. */
function noneHolds(when: readonly ConditionalRates[], facts: PriceFacts): boolean {
  for (const entry of when) if (holds(entry, facts)) return false
  return true
}

/** Finds the rate of a dimension, or of the nearest parent that has one; null: none has. */
export function findRate(dimension: Dimension, period: PricePeriod, holding: readonly ConditionalRates[]): FoundRate | null {
  for (let name: string | null = dimension; name !== null && isDimension(name); name = dimensions[name].parent) {
    for (const conditions of holding) {
      const rate = conditions.rates[name]
      if (rate !== undefined) return { rate, dimension: name, conditions }
    }
    const rate = period.rates[name]
    if (rate !== undefined) return { rate, dimension: name, conditions: null }
  }
  return null
}

function holds(entry: ConditionalRates, facts: PriceFacts): boolean {
  return (
    is(entry.mode, facts.mode) &&
    is(entry.size, facts.size) &&
    is(entry.quality, facts.quality) &&
    (entry.over === undefined || facts.promptTokens > entry.over) &&
    (entry.usage === undefined || !facts.hasTokens) &&
    includes(entry.geo, facts.geo) &&
    includes(entry.region, facts.region) &&
    isAt(entry, facts.startedAt)
  )
}

const is = (wanted: string | undefined, fact: string | null): boolean => wanted === undefined || wanted === fact
const includes = (wanted: readonly string[] | undefined, fact: string | null): boolean =>
  wanted === undefined || (fact !== null && wanted.includes(fact))

function isAt({ utc, weekdays }: ConditionalRates, startedAt: number): boolean {
  if (utc === undefined && weekdays === undefined) return true
  const date = new Date(startedAt)
  if (weekdays !== undefined && !weekdays.includes(date.getUTCDay() === 0 ? 7 : date.getUTCDay())) return false
  return utc === undefined || utc.some((window) => isWithin(window, date.toISOString().slice(11, 16)))
}

/** A window is half open and may go past midnight; `00:00-00:00` is the whole day. */
function isWithin(window: string, time: string): boolean {
  const [from = '', to = ''] = window.split('-')
  return from < to ? from <= time && time < to : time >= from || time < to
}
