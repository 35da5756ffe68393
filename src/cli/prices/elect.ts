import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'

/** Rates that differ by no more are the same: lists round. */
const samePart = 0.01

/**
 * Decides between several lists of the same models. Those whose main rates are the same form a group, and the largest group wins; between equals that
 * of the last list. Within it each lesser rate is decided in the same way. The lists that lost give nothing for that model.
 */
export function elect(sources: readonly (readonly ListedProvider[])[]): readonly ListedProvider[] {
  const providers = new Map<string, Map<string, Fields[]>>()
  for (const { provider, models } of sources.flat()) {
    const known = providers.get(provider) ?? new Map<string, Fields[]>()
    for (const [name, model] of Object.entries(models)) known.set(name, [...(known.get(name) ?? []), model])
    providers.set(provider, known)
  }
  return [...providers].map(([provider, models]) => ({
    provider,
    models: Object.fromEntries([...models].map(([name, votes]) => [name, chosenOf(votes)])),
  }))
}

/** The order of votes is that of the lists. */
function chosenOf(votes: readonly Fields[]): Fields {
  const groups = groupsOf(votes, (one, other) => mainDimensions.every((name) => isSame(rateOf(one, name), rateOf(other, name))))
  const winners = largest(groups)
  const chosen = winners.at(-1) ?? {}
  const names = new Set(winners.flatMap((model) => Object.keys(ratesOf(model))))
  const rates = Object.fromEntries([...names].map((name) => [name, decided(winners, name)]))
  return { ...chosen, prices: withRates(chosen, rates), confidence: confidenceOf(votes.length, groups) }
}

const mainDimensions = ['input', 'output', 'image', 'search_unit', 'input_character', 'input_audio_second', 'page']

/** The rates of the latest period. */
function ratesOf({ prices }: Fields): Readonly<Record<string, number>> {
  const period: unknown = Array.isArray(prices) ? prices.at(-1) : null
  const rates = isFields(period) && isFields(period['rates']) ? period['rates'] : {}
  return Object.fromEntries(Object.entries(rates).filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
}

const rateOf = (model: Fields, name: string): number | undefined => ratesOf(model)[name]

const isSame = (one: number | undefined, other: number | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && Math.abs(one - other) <= Math.max(one, other) * samePart)

function decided(winners: readonly Fields[], name: string): number {
  const rates = winners.flatMap((model) => rateOf(model, name) ?? [])
  return largest(groupsOf(rates, isSame)).at(-1) ?? 0
}

function groupsOf<T>(all: readonly T[], same: (one: T, other: T) => boolean): readonly (readonly T[])[] {
  const groups: T[][] = []
  for (const one of all) {
    const group = groups.find(([first]) => first !== undefined && same(first, one))
    if (group === undefined) groups.push([one])
    else group.push(one)
  }
  return groups
}

/** Between equals the one that came last. */
const largest = <T>(groups: readonly (readonly T[])[]): readonly T[] =>
  groups.reduce((most, group) => (group.length >= most.length ? group : most), [])

function withRates({ prices }: Fields, rates: Readonly<Record<string, number>>): readonly unknown[] {
  const periods: readonly unknown[] = Array.isArray(prices) ? prices : []
  const last = periods.at(-1)
  return [...periods.slice(0, -1), { ...(isFields(last) ? last : {}), rates }]
}

function confidenceOf(votes: number, groups: readonly (readonly Fields[])[]): string {
  if (votes === 1) return 'single'
  if (groups.length === 1) return 'agreed'
  const sizes = groups.map(({ length }) => length).toSorted((one, other) => other - one)
  return sizes[0] === sizes[1] ? 'disputed' : 'majority'
}
