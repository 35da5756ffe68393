import { type ConditionalPart, conditionKey, type ListedRates } from '../../app/prices/joint-rates.ts'
import { isPriceEntry } from '../../gateway/ports/prices.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'
import { placedName } from './model-places.ts'
import { shapedPeriod } from './shape-period.ts'

/** The rates of a model from a day on. */
export interface ListedPeriod {
  readonly from: string | null
  readonly parts: readonly ConditionalPart[]
}

/** A model as a file has it. */
export interface FoundModel {
  readonly provider: string
  readonly name: string
  /** The oldest first. */
  readonly periods: readonly ListedPeriod[]
  /** Its abilities and limits, and surcharges. */
  readonly facts: Fields
}

interface Draft {
  name: string
  facts: Fields
  periods: readonly ListedPeriod[]
  /** The rates of the worldwide profile, which are those of the model. */
  worldwide: readonly ConditionalPart[]
}

/** Collects models by provider. The names that one file has for the places of a model become conditions. Models without a price are left out. */
export function createCollector() {
  const providers = new Map<string, Map<string, Draft>>()
  return {
    add({ provider, name, periods, facts }: FoundModel): void {
      const models = providers.get(provider) ?? new Map<string, Draft>()
      providers.set(provider, models)
      const { model, condition, isGlobal } = placedName(provider, name)
      const key = model.toLowerCase()
      const draft = models.get(key) ?? { name: model, facts: {}, periods: [], worldwide: [] }
      models.set(key, draft)
      draft.facts = { ...facts, ...draft.facts }
      const last = periods.at(-1)?.parts ?? []
      if (isGlobal) draft.worldwide = last
      else if (Object.keys(condition).length > 0) draft.periods = withParts(draft.periods, within(last, condition))
      else
        draft.periods =
          draft.periods.length === 0
            ? periods
            : withParts(
                periods,
                draft.periods.flatMap(({ parts }) => parts),
              )
    },
    lists: (): readonly ListedProvider[] =>
      [...providers].flatMap(([provider, drafts]) => {
        const models = Object.fromEntries([...drafts.values()].flatMap(modelOf))
        return Object.keys(models).length === 0 ? [] : [{ provider, models }]
      }),
  }
}

const within = (parts: readonly ConditionalPart[], condition: Fields): readonly ConditionalPart[] =>
  parts.map((part) => ({ condition: { ...part.condition, ...condition }, rates: part.rates }))

const withParts = (periods: readonly ListedPeriod[], parts: readonly ConditionalPart[]): readonly ListedPeriod[] =>
  (periods.length === 0 ? [{ from: null, parts: [] }] : periods).map((period) => ({
    from: period.from,
    parts: [...period.parts, ...parts],
  }))

function modelOf({ name, facts, periods, worldwide }: Draft): readonly (readonly [string, Fields])[] {
  const all = worldwide.length === 0 ? periods : inRegion(periods, worldwide)
  const prices = all.map(({ from, parts }, at): Fields => {
    const days = all.length === 1 ? {} : { from: at === 0 ? null : from, to: all[at + 1]?.from ?? null }
    return Object.assign(days, periodOf(parts, facts['kind']))
  })
  const model: Fields = { ...facts, prices }
  return isPriceEntry(model) && prices.some(hasRates) ? [[name, model]] : []
}

const hasRates = ({ rates, when }: Fields): boolean => Object.keys(rates ?? {}).length > 0 || when !== undefined

/** Makes the rates of the bare name those within a region, because a profile serves worldwide. */
function inRegion(periods: readonly ListedPeriod[], worldwide: readonly ConditionalPart[]): readonly ListedPeriod[] {
  const placed = periods
    .flatMap(({ parts }) => parts)
    .map((part) => (isPlaced(part) ? part : { rates: part.rates, condition: Object.assign({ geo: ['in-region'] }, part.condition) }))
  return [{ from: null, parts: [...worldwide, ...placed] }]
}

const isPlaced = ({ condition }: ConditionalPart): boolean => condition['geo'] !== undefined || condition['region'] !== undefined

function periodOf(parts: readonly ConditionalPart[], kind: unknown): Fields {
  const merged = new Map<string, ConditionalPart>()
  // The first that names a rate has it.
  for (const { condition, rates } of parts) {
    const key = conditionKey(condition)
    const known = merged.get(key)
    merged.set(key, { condition, rates: { ...rates, ...known?.rates } })
  }
  const rates = withoutSlips(merged.get('{}')?.rates ?? {})
  merged.delete('{}')
  const conditional = [...merged.values()]
    .map(({ condition, rates: own }) => ({ condition, rates: withoutSlips(isLong(condition) ? noneBelow(own, rates) : own) }))
    .filter((part) => Object.keys(part.rates).length > 0)
  return shapedPeriod({ rates, parts: conditional, kind })
}

/** No provider sells cache writes below the price of the prompt, or reads above it: the field stands for something else, and the prompt's own rate is safer. */
function withoutSlips(rates: ListedRates): ListedRates {
  const { input, cache_read: read, cache_write: write } = rates
  if (input === undefined) return rates
  const wrong = new Set([
    read !== undefined && read > input * 1.05 ? 'cache_read' : '',
    write !== undefined && write < input * 0.9 ? 'cache_write' : '',
  ])
  return Object.fromEntries(Object.entries(rates).filter(([name]) => !wrong.has(name)))
}

const isLong = (condition: Fields): boolean => Object.keys(condition).join() === 'over'

/** A long prompt costs no less than a short one. */
const noneBelow = (own: ListedRates, rates: ListedRates): ListedRates =>
  Object.fromEntries(Object.entries(own).filter(([name, rate]) => rate >= (rates[name] ?? 0)))
