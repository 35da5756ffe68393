import { type Dimension, isDimension } from '../dialects/neutral/counts.ts'

/** Whole pico-US-dollars for one unit of each dimension. They fit into 53 bits; sums of them do not. */
export type Rates = { readonly [Name in Dimension]?: number }

/** Rates that apply when every condition holds. */
export interface ConditionalRates {
  readonly rates: Rates
  /** How the request was served: `batch`, `flex`, `priority`, `fast`. */
  readonly mode?: string
  /** Holds when the prompt has more tokens, cached ones included. It prices the whole request. */
  readonly over?: number
  readonly geo?: readonly string[]
  readonly region?: readonly string[]
  /** Windows of the day in UTC, half open: `04:00-06:00`. */
  readonly utc?: readonly string[]
  /** ISO numbers; 1 is Monday. */
  readonly weekdays?: readonly number[]
  readonly size?: string
  readonly quality?: string
  /** `none`: for answers that carry no token counts. */
  readonly usage?: 'none'
}

/** The prices of one period: `from` inclusive, `to` exclusive, dates in UTC. */
export interface PricePeriod {
  readonly from?: string | null
  readonly to?: string | null
  readonly rates: Rates
  readonly when?: readonly ConditionalRates[]
}

/** The prices of one model, as the catalogue has it. */
export interface PriceEntry {
  readonly prices: readonly PricePeriod[]
  /** Per mille of the token rates, by geography. */
  readonly uplift?: Readonly<Record<string, number>>
  /** True if the provider states that the model is free. Without it, a model without rates is unpriced. */
  readonly free?: boolean
  /** `chat`, `embedding`, `image` … */
  readonly kind?: string
  /** The limits in tokens. */
  readonly limits?: { readonly context?: number; readonly input?: number; readonly output?: number }
  /** Its input: `text`, `image`, `audio` … */
  readonly in?: readonly string[]
  /** Its output. */
  readonly out?: readonly string[]
  /** Its abilities: `tools`, `reasoning`, `json_schema` … */
  readonly can?: readonly string[]
}

/** Names every fault of a price entry; empty: it can be used. A rate that is not a whole number is never rounded, but refused. */
export function entryFaults(entry: unknown): readonly string[] {
  if (!isRecord(entry) || !Array.isArray(entry['prices']) || entry['prices'].length === 0) return ['no prices']
  const periods: readonly unknown[] = entry['prices']
  return [...periods.flatMap(periodFaults), ...gaps(periods), ...upliftFaults(entry['uplift'])]
}

/** Returns true if the entry has no fault. */
export const isPriceEntry = (entry: unknown): entry is PriceEntry => entryFaults(entry).length === 0

const conditions: Readonly<Record<string, (value: unknown) => boolean>> = {
  mode: isText,
  over: isWhole,
  geo: isTexts,
  region: isTexts,
  utc: (value) => isTexts(value) && value.every((window) => utcWindow.test(window)),
  weekdays: (value) => Array.isArray(value) && value.every((day) => isWhole(day) && day >= 1 && day <= 7),
  size: isText,
  quality: isText,
  usage: (value) => value === 'none',
}

/** The names of the conditions that rates can have. */
export const conditionNames: readonly string[] = Object.keys(conditions)

const utcWindow = /^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/
const date = /^\d{4}-\d\d-\d\d$/

function periodFaults(period: unknown): readonly string[] {
  if (!isRecord(period)) return ['a period that is no object']
  const { from = null, to = null, rates, when = [] } = period
  const dated = [from, to].filter((day) => day !== null && !(typeof day === 'string' && date.test(day)))
  const conditional: readonly unknown[] = Array.isArray(when) ? when : [null]
  return [...dated.map((day) => `the date ${String(day)}`), ...rateFaults(rates), ...conditional.flatMap(conditionalFaults)]
}

function conditionalFaults(entry: unknown): readonly string[] {
  if (!isRecord(entry)) return ['conditional rates that are no object']
  const { rates, ...given } = entry
  const wrong = Object.entries(given).filter(([name, value]) => conditions[name]?.(value) !== true)
  return [
    ...wrong.map(([name]) => `the condition ${name}`),
    ...rateFaults(rates),
    ...(Object.keys(given).length === 0 ? ['no condition'] : []),
  ]
}

function rateFaults(rates: unknown): readonly string[] {
  if (!isRecord(rates)) return ['no rates']
  return Object.entries(rates).flatMap(([name, rate]) =>
    !isDimension(name)
      ? [`the dimension ${name}`]
      : isWhole(rate)
        ? []
        : [`the rate of ${name}, which is no whole number of pico-US-dollars`],
  )
}

/** Periods follow each other without gap or overlap. */
function gaps(periods: readonly unknown[]): readonly string[] {
  return periods.flatMap((period, index) => {
    const before = periods[index - 1]
    return index > 0 && isRecord(period) && isRecord(before) && before['to'] !== period['from'] ? ['a gap or overlap between periods'] : []
  })
}

const upliftFaults = (uplift: unknown): readonly string[] =>
  uplift === undefined || (isRecord(uplift) && Object.values(uplift).every(isWhole)) ? [] : ['the uplift']

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && typeof value === 'number' && value >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isText)
}
