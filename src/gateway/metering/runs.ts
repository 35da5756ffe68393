import { type Fields, isFields } from '../../lib/json/fields.ts'
import { type Counts, toldCounts } from '../dialects/neutral/counts.ts'
import { tellsNone } from '../dialects/read-counts.ts'
import { outputTokens, promptTokens } from '../dialects/neutral/disjoint.ts'
import { readCounts } from '../dialects/anthropic/billed.ts'
import { isOwnKey } from '../dialects/served-facts.ts'
import type { PriceSource } from '../prices/price-source.ts'
import { type Cost, type PricedUsage, priceUsage } from '../prices/price-usage.ts'
import { sumCosts } from '../prices/sum-costs.ts'
import { findPrices, type FoundPrices, type PriceQuery } from '../prices/resolve.ts'

/** One run of a model for an answer that several made: one that fell back to another model, or that had its conversation made shorter first. */
export interface Run {
  /** Null: that of the answer. */
  readonly model: string | null
  readonly counts: Counts
}

/**
 * Reads the runs from Anthropic's usage object, whose own figures leave out all but the last of them. A run that was blocked before its first content
 * is free. Null: it lists none, or less than the figures beside them.
 */
export function runsOf(usage: Fields | null): readonly Run[] | null {
  const told: readonly unknown[] = Array.isArray(usage?.['iterations']) ? usage['iterations'] : []
  const runs = told
    .filter(isFields)
    .map((run) => ({ model: typeof run['model'] === 'string' ? run['model'] : null, counts: readCounts(run).counts }))
    .filter(({ counts }) => outputTokens(counts) > 0)
  if (usage === null || runs.length === 0) return null
  const { web_search: searches, ...answer } = readCounts(usage).counts
  const sum = (of: (counts: Counts) => number) => runs.reduce((all, { counts }) => all + of(counts), 0)
  if (sum(promptTokens) < promptTokens(answer) || sum(outputTokens) < outputTokens(answer)) return null
  return searches === undefined ? runs : [...runs, { model: null, counts: { web_search: searches } }]
}

/** A usage with the provider's own object. */
export interface ChargedUsage extends PricedUsage {
  readonly raw: Fields | null
}

/** Prices the usage of one attempt, at the prices of its model; where several models ran, each at its own. */
export function priceRuns(usage: ChargedUsage, { query, found, prices }: Pricing): Cost {
  const runs = usage.reported === null ? runsOf(usage.raw) : null
  if (runs === null) {
    if (usage.reported === null && found !== null && isNone(usage)) return nothingUsed
    return usage.reported !== null && usage.raw !== null && isOwnKey(usage.raw)
      ? ofOwnKey(priceUsage(usage, found))
      : priceUsage(usage, found)
  }
  return sumCosts(runs.map((run) => costOf(run, usage, { query, found, prices })))
}

/** Returns true for an answer whose provider states that no tokens were used. */
const isNone = ({ counts, raw, estimated }: ChargedUsage): boolean => !estimated && toldCounts(counts) === null && tellsNone(raw)

const nothingUsed: Cost = { state: 'priced', amount: 0n, lines: [], unpriced: [] }

function costOf({ model, counts }: Run, usage: ChargedUsage, { query, found, prices }: Pricing): Cost {
  const own = model === null ? found : findPrices({ ...query, answered: model, sent: model }, prices)
  const cost = priceUsage({ ...usage, counts, facts: { ...usage.facts, promptTokens: promptTokens(counts) } }, own)
  return own === null || own.model === found?.model ? cost : { ...cost, lines: cost.lines.map((line) => by(own.model, line)) }
}

const ofOwnKey = (cost: Cost): Cost => ({
  ...cost,
  lines: cost.lines.map((line) => ({ ...line, note: 'the fee, and the charge of the vendor to a key of its own' })),
})

/** Returns a line that names the model that did it. */
export const by = (model: string, line: Cost['lines'][number]): Cost['lines'][number] => ({
  ...line,
  note: line.note === null ? `by ${model}` : `by ${model}; ${line.note}`,
})

interface Pricing {
  readonly query: PriceQuery
  readonly found: FoundPrices | null
  readonly prices: PriceSource
}
