import { type ListedRates, numbersIn } from '../../app/prices/joint-rates.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'

/** A word that counts for more or less. */
export interface WeightedVote {
  readonly weight: number
}

/** The price of a token of the prompt of a model at the median of all providers that sell it, in pico-US-dollars; null: too few sell it. */
export type MedianPrice = number | null

/** Rates that differ by no more are the same: lists round. */
const samePart = 0.01

/** Returns true if two rates are the same but for rounding. */
export const isSame = (one: number | undefined, other: number | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && Math.abs(one - other) <= Math.max(one, other) * samePart)

/** The rates by which models are sold. Time counts by the second, in any unit of a list. */
const main: readonly (readonly [name: string, perSecond?: number])[] = [
  ['input'],
  ['output'],
  ['image'],
  ['search_unit'],
  ['input_character'],
  ['page'],
  ['request'],
  ['video_second'],
  ['megapixel'],
  ['output_image'],
  ['output_audio'],
  ...['input_audio', 'output_audio', 'audio'].flatMap((sound): (readonly [string, number])[] => [
    [`${sound}_second`, 1],
    [`${sound}_minute`, 60],
    [`${sound}_hour`, 3600],
  ]),
]

interface MainRate {
  readonly name: string
  readonly rate: number
}

/** Returns the rates by which a model is sold, comparable between lists. */
export const mainRates = (rates: ListedRates): readonly MainRate[] =>
  main.flatMap(([name, seconds]) => {
    const rate = rates[name]
    if (rate === undefined || rate === 0) return []
    return [seconds === undefined ? { name, rate } : { name: name.replace(/_[a-z]+$/, ''), rate: rate / seconds }]
  })

const sounds = ['input_audio', 'output_audio', 'audio'] as const
const units = ['second', 'minute', 'hour'] as const

/** Leaves one unit of time for each kind of sound: that of the list `like` where it has one. */
export function oneUnit(rates: ListedRates, like: ListedRates): ListedRates {
  const dropped = sounds.flatMap((sound) => {
    const names = units.map((unit) => `${sound}_${unit}`).filter((name) => rates[name] !== undefined)
    const kept = names.find((name) => like[name] !== undefined) ?? names[0]
    return names.filter((name) => name !== kept)
  })
  return dropped.length === 0 ? rates : Object.fromEntries(Object.entries(rates).filter(([name]) => !dropped.includes(name)))
}

/** Returns true if two lists sell a model in the same way at the same price: some main rates are in both, and these are the same. */
export function agree(one: ListedRates, other: ListedRates): boolean {
  const theirs = new Map(mainRates(other).map(({ name, rate }) => [name, rate]))
  const shared = mainRates(one).filter(({ name }) => theirs.has(name))
  return shared.length > 0 && shared.every(({ name, rate }) => isSame(rate, theirs.get(name)))
}

/** Returns the group with the greatest sum of weights; between equals the one that came last. */
export function heaviest<T extends WeightedVote>(groups: readonly (readonly T[])[]): readonly T[] {
  const weightOf = (group: readonly T[]): number => group.reduce((sum, { weight }) => sum + weight, 0)
  return groups.reduce((most, group) => (weightOf(group) >= weightOf(most) - Number.EPSILON ? group : most), [])
}

const fewest = 3

/** Returns a look-up of the usual price of a model by its name, at all providers that sell it. */
export function usualRates(lists: readonly ListedProvider[]): (name: string) => MedianPrice {
  const rates = new Map<string, number[]>()
  for (const { models } of lists) {
    for (const [name, { prices }] of Object.entries(models)) {
      const period: unknown = Array.isArray(prices) ? prices.at(-1) : null
      const { input } = numbersIn(isFields(period) ? period['rates'] : null)
      if (input !== undefined && input > 0) rates.set(familyName(name), [...(rates.get(familyName(name)) ?? []), input])
    }
  }
  return (name) => {
    const all = (rates.get(familyName(name)) ?? []).toSorted((one, other) => one - other)
    return all.length < fewest ? null : (all[Math.floor(all.length / 2)] ?? null)
  }
}

/** Returns the name of a model without its maker, its date and its punctuation: the same model at different hosts. */
export const familyName = (name: string): string =>
  (name.toLowerCase().split('/').at(-1) ?? '')
    .replace(/:.*$/, '')
    .replace(/[-@](?:\d{4}-\d\d-\d\d|\d{8})$/, '')
    .replaceAll(/[^a-z\d]+/g, '')
