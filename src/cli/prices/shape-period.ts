import {
  type ConditionalPart,
  conditionKey,
  type ListedRates,
  periodFrom,
  tidiedParts,
  withJointRates,
} from '../../app/prices/joint-rates.ts'
import { dimensions, divideEven } from '../../gateway/ports/prices.ts'
import type { Fields } from '../../lib/json/fields.ts'

/** Rates as lists have them. */
export interface RawPeriod {
  readonly rates: ListedRates
  readonly parts: readonly ConditionalPart[]
  /** `chat`, `image` … */
  readonly kind: unknown
}

/**
 * Makes a period as the catalogue has it: no use charged twice, a rate for conditions that hold together, and no rate that a look-up finds without
 * it.
 */
export function shapedPeriod(raw: RawPeriod): Fields {
  const { rates, parts } = withParents(tokensFirst(raw))
  const all = tidiedParts(
    rates,
    withJointRates(
      rates,
      parts.map((part) => exactCaches(part, rates)),
    ),
  )
  return periodFrom(
    inOrder(rates),
    all.map(({ condition, rates: own }) => ({ condition, rates: inOrder(own) })),
  )
}

/** How far a published figure can be off by being rounded to a cent. */
const roundedPart = 0.045

/** Prices of caches are published rounded, such as $0.13 for $0.125: where the rate of the prompt names the factor, the exact figure is taken. */
function exactCaches({ condition, rates: own }: ConditionalPart, rates: ListedRates): ConditionalPart {
  const [changed, usual] = [own['input'], rates['input']]
  if (!changed || !usual) return { condition, rates: own }
  const exact = Object.entries(own).map(([name, rate]): [string, number] => {
    const base = rates[name]
    const whole = base === undefined || !name.startsWith('cache_') ? null : BigInt(base) * BigInt(changed)
    if (whole === null || whole % BigInt(usual) !== 0n) return [name, rate]
    const figure = Number(whole / BigInt(usual))
    return [name, Math.abs(rate - figure) <= roundedPart * figure ? figure : rate]
  })
  return { condition, rates: Object.fromEntries(exact) }
}

/** Dimensions of tokens that a mode changes as it changes their parents. Caches are no such: some modes have no discount on them. */
const kinds = [
  'reasoning',
  'input_audio',
  'output_audio',
  'cache_read_audio',
  'cache_write_audio',
  'input_image',
  'output_image',
  'cache_read_image',
  'input_video',
  'output_video',
] as const

/**
 * Leaves out the rates that are those of their parents: with a rate of its own, a kind of tokens would miss the modes that list the parent alone. Where reasoning costs
 * more than the answer, a mode changes both by the same factor.
 */
const withParents = (period: Omit<RawPeriod, 'kind'>): Omit<RawPeriod, 'kind'> => withReasoning(kinds.reduce(withoutKind, period))

function withoutKind({ rates, parts }: Omit<RawPeriod, 'kind'>, name: (typeof kinds)[number]): Omit<RawPeriod, 'kind'> {
  const parent = dimensions[name].parent ?? ''
  const isParents = (own: ListedRates): boolean => own[name] === undefined || own[name] === own[parent]
  if (rates[name] === undefined || !isParents(rates) || !parts.every((part) => isParents(part.rates))) return { rates, parts }
  return {
    rates: without(rates, name),
    parts: parts
      .map((part) => ({ condition: part.condition, rates: without(part.rates, name) }))
      .filter((part) => Object.keys(part.rates).length > 0),
  }
}

function withReasoning({ rates, parts }: Omit<RawPeriod, 'kind'>): Omit<RawPeriod, 'kind'> {
  const { reasoning, output } = rates
  if (reasoning === undefined || output === undefined || output === 0) return { rates, parts }
  return {
    rates,
    parts: parts.map((part) => {
      const changed = part.rates['output']
      if (changed === undefined || part.rates['reasoning'] !== undefined) return part
      const rate = Number(divideEven(BigInt(changed) * BigInt(reasoning), BigInt(output)))
      return { condition: part.condition, rates: { ...part.rates, reasoning: rate } }
    }),
  }
}

const without = (rates: ListedRates, name: string): ListedRates => Object.fromEntries(Object.entries(rates).filter(([one]) => one !== name))

const places = new Map(Object.keys(dimensions).map((name, at) => [name, at]))

const inOrder = (rates: ListedRates): ListedRates =>
  Object.fromEntries(Object.entries(rates).toSorted(([one], [other]) => (places.get(one) ?? 0) - (places.get(other) ?? 0)))

const isThing = (name: string): boolean => /^(?:image|megapixel|video_second|(?:(?:in|out)put_)?audio_(?:second|minute|hour))$/.test(name)
/** The kinds whose answers carry counts of tokens, or none at all. */
const answering: ReadonlySet<string> = new Set(['chat', 'image', 'transcription', 'speech', 'video'])
const byTokens = ['input', 'output', 'output_image', 'output_audio'] as const

/** Tokens go first: a price of a picture or a second beside them is for answers without counts. */
function tokensFirst({ rates, parts, kind }: RawPeriod): Omit<RawPeriod, 'kind'> {
  if (!answering.has(String(kind)) || byTokens.every((name) => rates[name] === undefined)) return { rates, parts }
  const [things, rest] = split(rates)
  const found = new Map<string, ConditionalPart>()
  const put = (condition: Fields, own: ListedRates): void => {
    if (Object.keys(own).length === 0) return
    const key = conditionKey(condition)
    found.set(key, { condition, rates: { ...own, ...found.get(key)?.rates } })
  }
  put({ usage: 'none' }, things)
  for (const { condition, rates: own } of parts) {
    const [ownThings, ownRest] = split(own)
    put(condition, ownRest)
    put({ ...condition, usage: 'none' }, ownThings)
  }
  return { rates: rest, parts: [...found.values()] }
}

function split(rates: ListedRates): readonly [things: ListedRates, rest: ListedRates] {
  const all = Object.entries(rates)
  return [Object.fromEntries(all.filter(([name]) => isThing(name))), Object.fromEntries(all.filter(([name]) => !isThing(name)))]
}
