import { divideEven } from '../../gateway/ports/prices.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'

/** Pico-US-dollars by dimension. */
export type ListedRates = Readonly<Record<string, number>>

/** Rates, and the conditions under which they apply. */
export interface ConditionalPart {
  readonly condition: Fields
  readonly rates: ListedRates
}

/** The conditions that multiply: a mode, a length of the prompt, a place. Sizes and qualities name products of their own. */
const factors: ReadonlySet<string> = new Set(['mode', 'over', 'geo', 'region'])

/** Returns a name of conditions that is the same for the same conditions. */
export const conditionKey = (condition: Fields): string => JSON.stringify(ordered(condition))

/**
 * Adds the rates for conditions that hold together. A list that has a rate for a mode and one for a long prompt, and none for both, would lose one of the two:
 * of entries with as many conditions only one applies. The rate for both is that of the one, times the factor of the other.
 */
export function withJointRates(rates: ListedRates, parts: readonly ConditionalPart[]): readonly ConditionalPart[] {
  const all = new Map(parts.map((part) => [conditionKey(part.condition), part]))
  // A second pass joins the results of the first one with a third condition.
  for (let pass = 0; pass < 2; pass += 1) {
    const alone = [...all.values()].filter(({ condition }) => Object.keys(condition).every((name) => factors.has(name)))
    for (const one of alone) for (const other of alone) addJoint(all, [one, other], rates)
  }
  return [...all.values()]
}

function addJoint(all: Map<string, ConditionalPart>, [one, other]: readonly [ConditionalPart, ConditionalPart], rates: ListedRates): void {
  const [names, others] = [Object.keys(one.condition), Object.keys(other.condition)]
  if (!canJoin(names, others)) return
  const condition = { ...one.condition, ...other.condition }
  const key = conditionKey(condition)
  const known = all.get(key)
  const joint: Record<string, number> = {}
  for (const [dimension, rate] of Object.entries(one.rates)) {
    const [usual, factor] = [rates[dimension], other.rates[dimension]]
    if (usual === undefined || usual === 0 || factor === undefined || known?.rates[dimension] !== undefined) continue
    joint[dimension] = Number(divideEven(BigInt(rate) * BigInt(factor), BigInt(usual)))
  }
  if (Object.keys(joint).length > 0) all.set(key, { condition, rates: { ...joint, ...known?.rates } })
}

/** Two parts join once, and only if no condition stands in both: a geography and a region are both a place. */
function canJoin(names: readonly string[], others: readonly string[]): boolean {
  if (others.length !== 1 || names.includes(others[0] ?? '')) return false
  if (names.some(isPlace) && others.some(isPlace)) return false
  return names.length > 1 || (names[0] ?? '') < (others[0] ?? '')
}

const isPlace = (name: string): boolean => name === 'geo' || name === 'region'

/** Leaves out the rates that a look-up would find without them, and orders the rest as ties are decided: the later one applies. */
export function tidiedParts(rates: ListedRates, parts: readonly ConditionalPart[]): readonly ConditionalPart[] {
  const kept: ConditionalPart[] = []
  for (const { condition, rates: own } of parts.toSorted(byWeight)) {
    const needed = Object.entries(own).filter(([dimension, rate]) => foundWithout({ condition, dimension }, rates, kept) !== rate)
    if (needed.length > 0) kept.push({ condition, rates: Object.fromEntries(needed) })
  }
  return kept
}

function byWeight(one: ConditionalPart, other: ConditionalPart): number {
  const [names, others] = [Object.keys(one.condition).length, Object.keys(other.condition).length]
  if (names !== others) return names - others
  const [over, otherOver] = [Number(one.condition['over'] ?? 0), Number(other.condition['over'] ?? 0)]
  if (over !== otherOver) return over - otherOver
  return conditionKey(one.condition) < conditionKey(other.condition) ? -1 : 1
}

function foundWithout(
  { condition, dimension }: { readonly condition: Fields; readonly dimension: string },
  rates: ListedRates,
  kept: readonly ConditionalPart[],
): number | undefined {
  const found = kept.findLast((part) => part.rates[dimension] !== undefined && implies(condition, part.condition))
  return found === undefined ? rates[dimension] : found.rates[dimension]
}

const implies = (condition: Fields, smaller: Fields): boolean =>
  Object.entries(smaller).every(([name, value]) =>
    name === 'over' ? Number(condition['over'] ?? 0) >= Number(value) : JSON.stringify(condition[name]) === JSON.stringify(value),
  )

/** Reads the conditional rates of a period, as a list has them. */
export const partsOfPeriod = (period: Fields): readonly ConditionalPart[] =>
  (Array.isArray(period['when']) ? period['when'].filter(isFields) : []).map(({ rates, ...condition }) => ({
    condition,
    rates: numbersIn(rates),
  }))

/** Reads rates, as a list has them. */
export const numbersIn = (value: unknown): ListedRates =>
  Object.fromEntries(
    Object.entries(isFields(value) ? value : {}).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )

/** Returns base rates and conditional rates as the `{ rates, when }` of a period in a price list; `partsOfPeriod` reads it back. */
export function periodFrom(rates: ListedRates, parts: readonly ConditionalPart[]): Fields {
  const when = parts.map(({ condition, rates: own }): Fields => ({ ...ordered(condition), rates: own }))
  return { rates, ...(when.length === 0 ? {} : { when }) }
}

const ordered = (condition: Fields): Fields =>
  Object.fromEntries(Object.entries(condition).toSorted(([one], [other]) => (one < other ? -1 : 1)))
