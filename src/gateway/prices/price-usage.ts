import { type Counts, type Dimension, dimensions, isDimension } from '../dialects/neutral/counts.ts'
import type { ConditionalRates, PriceEntry, PricePeriod, Rates } from './entry.ts'
import { factorOf, type Multipliers } from './multipliers.ts'
import { findRate, type FoundRate, holdingRates, periodAt, type PriceFacts } from './rates.ts'
import { tokenizerName } from '../tokens/tokenizer.ts'
import { divideEven } from './whole.ts'

export type CostState =
  /** Every count has a price. */
  | 'priced'
  /** Some counts have none: the amount is a lower bound. */
  | 'partly_priced'
  /** The counts are estimates. */
  | 'estimated'
  /** The price or the counts are not known, which is not the same as free. */
  | 'unpriced'
  /** Free at the provider: a failure without usage, a cache hit. */
  | 'not_charged'

/** One line of a cost: count x rate = amount. Amounts and rates are pico-US-dollars. */
export interface CostLine {
  readonly dimension: Dimension | 'provider_reported_cost'
  readonly count: number
  readonly unit: string
  /** Null: the provider named the amount. */
  readonly rate: bigint | null
  readonly amount: bigint
  /** The list that has the rate: `catalogue`, `integration`, a layer, or `provider`. */
  readonly source: string
  readonly note: string | null
}

export interface Cost {
  readonly state: CostState
  /** Null when unpriced. */
  readonly amount: bigint | null
  readonly lines: readonly CostLine[]
  /** The dimensions that were used and have no rate. */
  readonly unpriced: readonly string[]
}

/** The prices of one model, as they were found for a request. */
export interface ModelPrices {
  readonly entry: PriceEntry
  /** The name under which the model was found. */
  readonly model: string
  readonly source: string
  /** Per mille of the token rates for a mode for which the model has no rates of its own. */
  readonly modeDefault: Readonly<Record<string, number>> | null
  /** The provider's fees for tools that the model's own prices do not name; absent or null: none is known. */
  readonly fees?: Rates | null
  /** The integration's factors; null: it has none. */
  readonly multipliers: Multipliers | null
}

/** The counts of an attempt, with the facts on which rates depend. */
export interface PricedUsage {
  readonly counts: Counts
  readonly facts: PriceFacts
  /** The cost that the provider itself named; it goes before every list. */
  readonly reported: bigint | null
  /** True: the counts are not the provider's. */
  readonly estimated: boolean
}

/** Prices the usage of one attempt. `prices` is null when no list has the model. */
export function priceUsage(usage: PricedUsage, prices: ModelPrices | null): Cost {
  if (usage.reported !== null) return reportedCost(usage.reported)
  const used = namesOf(usage.counts)
  const period = prices === null ? null : periodAt(prices.entry, usage.facts.startedAt)
  if (prices?.entry.free === true) return stated([], [], usage)
  if (prices === null || period === null || used.length === 0) return { state: 'unpriced', amount: null, lines: [], unpriced: used }
  const holding = holdingRates(period, usage.facts)
  const pricing = { usage, prices, period, holding, hasMode: hasRatesFor(period, usage.facts.mode), notes: [] }
  // Made with their length known, because a list that grows takes room for seventeen.
  const lines = used.map((name) => lineOf(name, usage.counts[name] ?? 0, pricing))
  if (lines.every((line) => line !== null)) return stated(lines, [], usage)
  const unpriced = used.filter((_, at) => lines[at] === null)
  return stated(
    lines.filter((line) => line !== null),
    unpriced,
    usage,
  )
}

/** Returns the amount that `priceUsage` comes to, without the lines that lead to it; null: unpriced. */
export function priceAmount(usage: Pick<PricedUsage, 'counts' | 'facts'>, prices: ModelPrices): bigint | null {
  const { counts, facts } = usage
  const period = periodAt(prices.entry, facts.startedAt)
  if (period === null) return null
  const holding = holdingRates(period, facts)
  const pricing = { usage, prices, period, holding, hasMode: hasRatesFor(period, facts.mode), notes: null }
  let amount: bigint | null = null
  for (const name in counts) {
    if (!isDimension(name)) continue
    const count = counts[name] ?? 0
    if (count > 0) amount = plus(amount, prices.entry.free === true ? 0n : priceOf(name, count, pricing))
  }
  return amount
}

const plus = (one: bigint | null, other: bigint | null): bigint | null => (one === null ? other : other === null ? one : one + other)

function priceOf(counted: Dimension, count: number, pricing: Rating): bigint | null {
  const found = rateOf(counted, pricing)
  if (found === null) return null
  const dimension = chargedAs(counted, found)
  return divideEven(BigInt(count) * adjusted(found, dimension, pricing), dimensions[dimension].per)
}

/** The cost of an attempt that a provider does not charge. */
export const notCharged: Cost = { state: 'not_charged', amount: 0n, lines: [], unpriced: [] }

const reportedCost = (amount: bigint): Cost => ({
  state: 'priced',
  amount,
  lines: [{ dimension: 'provider_reported_cost', count: 1, unit: 'request', rate: null, amount, source: 'provider', note: null }],
  unpriced: [],
})

function stated(lines: readonly CostLine[], unpriced: readonly string[], { estimated }: PricedUsage): Cost {
  if (lines.length === 0 && unpriced.length > 0) return { state: 'unpriced', amount: null, lines, unpriced }
  const amount = lines.reduce((sum, line) => sum + line.amount, 0n)
  return { state: unpriced.length > 0 ? 'partly_priced' : estimated ? 'estimated' : 'priced', amount, lines, unpriced }
}

function namesOf(counts: Counts): readonly Dimension[] {
  const names = Object.keys(counts)
  return areUsed(names, counts) ? names : names.filter(isDimension).filter((name) => (counts[name] ?? 0) > 0)
}

function areUsed(names: readonly string[], counts: Counts): names is readonly Dimension[] {
  for (const name of names) if (!isDimension(name) || (counts[name] ?? 0) === 0) return false
  return true
}

/** The facts from which a rate is worked out. */
interface Rating {
  readonly usage: Pick<PricedUsage, 'facts'>
  readonly prices: ModelPrices
  readonly period: PricePeriod
  readonly holding: readonly ConditionalRates[]
  /** True if the model has rates of its own for the mode of the request. */
  readonly hasMode: boolean
  /** Takes a word on everything that changed the rate of the line that is being made; null: no line is made. */
  readonly notes: string[] | null
}

interface Pricing extends Rating {
  readonly usage: PricedUsage
  readonly notes: string[]
}

function lineOf(counted: Dimension, count: number, pricing: Pricing): CostLine | null {
  const found = rateOf(counted, pricing)
  if (found === null) return null
  const dimension = chargedAs(counted, found)
  const { notes } = pricing
  if (dimension !== found.dimension) notes.push(`no rate of its own: the rate of ${found.dimension}`)
  const rate = adjusted(found, dimension, pricing)
  const { unit, per } = dimensions[dimension]
  if (pricing.usage.estimated && unit === 'token') notes.push(estimateNote)
  if (per > 1n) notes.push(perNotes[unit]?.(per) ?? '')
  const amount = divideEven(BigInt(count) * rate, per)
  return { dimension, count, unit, rate, amount, source: pricing.prices.source, note: noteOf(notes) }
}

/** Time is charged by the seconds, minutes or hours of the rate that was found. */
const chargedAs = (counted: Dimension, { dimension }: FoundRate): Dimension =>
  dimensions[dimension].unit === 'millisecond' ? dimension : counted

/** Returns the notes of a line, and begins the next. */
const noteOf = (notes: string[]): string | null => (notes.length === 0 ? null : notes.splice(0).join('; '))

const estimateNote = `estimated by ${tokenizerName} where the provider stated no count`

const perNotes: Readonly<Record<string, (per: bigint) => string>> = {
  millisecond: (per) => `the rate is for ${per / 1000n} s`,
  pixel: () => 'the rate is for a million pixels',
}

const rateOf = (counted: Dimension, pricing: Rating): FoundRate | null =>
  findRate(counted, pricing.period, pricing.holding) ?? ofOtherTime(counted, pricing) ?? feeOf(counted, pricing)

function feeOf(counted: Dimension, { prices: { fees = null } }: Rating): FoundRate | null {
  const rate = fees?.[counted]
  return rate === undefined ? null : { rate, dimension: counted, conditions: null }
}

const times = ['_second', '_minute', '_hour'] as const

/** A model has its rate for seconds, minutes or hours: one of the three. */
function ofOtherTime(counted: Dimension, { period, holding }: Rating): FoundRate | null {
  const end = times.find((time) => counted.endsWith(time))
  if (end === undefined) return null
  for (const time of times) {
    const name = counted.slice(0, -end.length) + time
    const found = isDimension(name) ? findRate(name, period, holding) : null
    if (found !== null) return found
  }
  return null
}

/** Returns the rate after the provider's discount for the mode, its surcharge for the place, and the integration's factor. */
function adjusted(found: FoundRate, dimension: Dimension, pricing: Rating): bigint {
  const { prices, notes } = pricing
  const isToken = dimensions[dimension].unit === 'token'
  let rate = BigInt(found.rate)
  if (isToken) rate = ofMode(rate, pricing)
  if (isToken) rate = ofPlace(rate, found, pricing)
  const factor = prices.multipliers === null ? null : factorOf(prices.multipliers, dimension)
  if (factor === null) return rate
  notes?.push(`${rate} x ${factor.text} of the integration`)
  return divideEven(rate * factor.over, factor.under)
}

function ofMode(rate: bigint, { usage, hasMode, prices, notes }: Rating): bigint {
  const { mode } = usage.facts
  if (mode === null || hasMode) return rate
  const perMille = prices.modeDefault?.[mode]
  notes?.push(
    perMille === undefined ? `mode_unpriced: the standard rate, ${mode} has none` : `derived: ${perMille} per mille of ${rate} for ${mode}`,
  )
  return perMille === undefined ? rate : divideEven(rate * BigInt(perMille), 1000n)
}

function ofPlace(rate: bigint, { conditions }: FoundRate, { usage, prices, notes }: Rating): bigint {
  const { geo } = usage.facts
  const perMille = geo === null ? undefined : prices.entry.uplift?.[geo]
  if (perMille === undefined || conditions?.geo !== undefined || conditions?.region !== undefined) return rate
  notes?.push(`${perMille} per mille of ${rate} for ${geo}`)
  return divideEven(rate * BigInt(perMille), 1000n)
}

/** Returns true if a model has rates for the mode of a request, or its provider a rule for them. */
export function isModePriced({ entry, modeDefault }: ModelPrices, facts: PriceFacts): boolean {
  const { mode } = facts
  if (mode === null || entry.free === true || modeDefault?.[mode] !== undefined) return true
  const period = periodAt(entry, facts.startedAt)
  return period !== null && holdingRates(period, facts).some((rates) => rates.mode === mode)
}

const hasRatesFor = ({ when = [] }: PricePeriod, mode: string | null): boolean => mode !== null && when.some((entry) => entry.mode === mode)
