import { type ConditionalPart, conditionKey, type ListedRates, numbersIn, partsOfPeriod } from '../../app/prices/joint-rates.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ListedProvider } from './catalogue-files.ts'
import { shapedPeriod } from './shape-period.ts'
import { agree, heaviest, isSame, mainRates, oneUnit, usualRates, type MedianPrice, type WeightedVote } from './votes.ts'

/** Lists of one maker, and the day on which they were made. */
export interface Source {
  /** YYYY-MM-DD. */
  readonly asOf: string
  readonly lists: readonly ListedProvider[]
  /** True for the catalogue of before, which repeats older lists: it decides only where no list speaks, and its figures stay where lists differ by a rounding. */
  readonly former?: boolean
}

/** The word of one list on a model. */
interface Vote extends WeightedVote {
  readonly model: Fields
  readonly former: boolean
  /** The rates of today: announced prices do not vote. */
  readonly rates: ListedRates
  readonly parts: readonly ConditionalPart[]
}

/** A vote loses half of its weight in so many days. */
const halfLifeDays = 30
const dayMs = 86_400_000
/** The weight of a catalogue that repeats older lists, as a share of its usual weight. */
const repeated = 0.1

/**
 * Decides between several lists of the same models by votes that weigh less the older their list is: prices move, and two old lists must not outvote
 * the one of today. Lists whose main rates are the same form a group, and the heaviest group wins; between equals that of the last list. Within it
 * each lesser rate is decided in the same way, under each condition. The lists that lost contribute no rates for that model.
 */
export function elect(sources: readonly Source[], today: string): readonly ListedProvider[] {
  const providers = new Map<string, Map<string, NamedVotes>>()
  for (const source of sources.toSorted(byAge)) {
    const weight = weightOf(source, today)
    for (const { provider, models } of source.lists) {
      const known = providers.get(provider) ?? new Map<string, NamedVotes>()
      providers.set(provider, known)
      for (const [name, model] of Object.entries(models)) {
        const named = known.get(name.toLowerCase()) ?? { name, votes: [] }
        named.votes.push({ model, weight, former: source.former === true, ...ratesAt(model, today) })
        known.set(name.toLowerCase(), named)
      }
    }
  }
  const usual = usualRates(sources.flatMap(({ lists }) => lists))
  return [...providers].map(([provider, models]) => ({
    provider,
    models: Object.fromEntries([...models.values()].map(({ name, votes }) => [name, chosenOf(votes, { today, usual: usual(name) })])),
  }))
}

interface NamedVotes {
  /** As the oldest list writes it: names in use do not change. */
  readonly name: string
  readonly votes: Vote[]
}

const byAge = (one: Source, other: Source): number => (one.asOf < other.asOf ? -1 : one.asOf > other.asOf ? 1 : 0)

function weightOf({ asOf, former = false }: Source, today: string): number {
  const days = Math.max(0, (Date.parse(today) - Date.parse(asOf)) / dayMs)
  return (former ? repeated : 1) * 0.5 ** (days / halfLifeDays)
}

/** Returns the rates of a model on a day. */
function ratesAt(model: Fields, day: string): Pick<Vote, 'rates' | 'parts'> {
  const period = periodsOf(model).find((one) => holdsOn(one, day)) ?? periodsOf(model).at(-1) ?? {}
  return { rates: numbersIn(period['rates']), parts: partsOfPeriod(period) }
}

const periodsOf = ({ prices }: Fields): readonly Fields[] => (Array.isArray(prices) ? prices.filter(isFields) : [])

const holdsOn = ({ from, to }: Fields, day: string): boolean =>
  (typeof from !== 'string' || from <= day) && (typeof to !== 'string' || day < to)

interface Election {
  readonly today: string
  readonly usual: MedianPrice
}

/** The order of votes is that of the lists, the oldest first. */
function chosenOf(votes: readonly Vote[], { today, usual }: Election): Fields {
  const sellers = votes.filter(({ rates }) => mainRates(rates).length > 0)
  const groups = groupsOf(sellers, (one, other) => agree(one.rates, other.rates))
  const won = byClock(sellers) ?? sensible(groups, usual)
  // A list that only has rates under conditions contradicts no other.
  const winners = votes.filter((vote) => won.includes(vote) || !sellers.includes(vote))
  const rates = decided(winners.map((vote) => ({ ...vote, own: vote.rates })))
  const parts = partsIn(winners, rates)
  const facts: Fields = Object.assign({}, ...votes.toReversed().map(({ model }) => factsOf(model)))
  const period = shapedPeriod({ rates, parts, kind: facts['kind'] })
  const frame = periodsOf((winners.find(({ model }) => periodsOf(model).length > 1) ?? winners.at(-1))?.model ?? {})
  return { ...facts, ...newest(votes), prices: framed(frame, period, today), confidence: confidenceOf(votes, groups) }
}

/** The list that has the weekdays of prices that depend on the time is taken whole: another one may have the other half of the day as its usual price. */
function byClock(votes: readonly Vote[]): readonly Vote[] | null {
  const known = votes.filter(({ parts }) => parts.some(({ condition }) => condition['weekdays'] !== undefined))
  const last = known.at(-1)
  return last === undefined ? null : known.filter(({ rates }) => agree(rates, last.rates))
}

/** A single list that is far from the price of the model elsewhere has a wrong unit more often than a new price. */
function sensible(groups: readonly (readonly Vote[])[], usual: MedianPrice): readonly Vote[] {
  const won = heaviest(groups)
  const rate = won[0]?.rates['input']
  if (groups.length < 2 || won.length > 1 || usual === null || rate === undefined) return won
  const far = (one: number): number => Math.abs(Math.log(one / usual))
  const [nearest] = groups
    .flatMap((group) => (group[0]?.rates['input'] ? [{ group, at: group[0].rates['input'] }] : []))
    .toSorted((one, other) => far(one.at) - far(other.at))
  const isSlip = nearest !== undefined && Math.max(nearest.at / rate, rate / nearest.at) >= slip && far(rate) >= Math.log(slip)
  return isSlip ? nearest.group : won
}

const slip = 5

interface RateVote extends WeightedVote {
  readonly former: boolean
  readonly own: ListedRates
}

function decided(votes: readonly RateVote[]): ListedRates {
  const names = new Set(votes.flatMap(({ own }) => Object.keys(own)))
  const all = Object.fromEntries([...names].map((name) => [name, rateOf(votes, name)]))
  return oneUnit(all, (votes.find(({ former }) => former) ?? votes.at(-1))?.own ?? {})
}

/** The last figure of the group that wins counts, but that of the catalogue of before stays: lists round. */
function rateOf(votes: readonly RateVote[], name: string): number {
  const said = votes.flatMap(({ own, weight, former }) => (own[name] === undefined ? [] : [{ weight, former, rate: own[name] }]))
  const group = heaviest(groupsOf(said, (one, other) => isSame(one.rate, other.rate)))
  return (group.find(({ former }) => former) ?? group.at(-1))?.rate ?? 0
}

/** A list that lost on a rate has no vote on that rate under a condition. */
function partsIn(winners: readonly Vote[], rates: ListedRates): readonly ConditionalPart[] {
  const found = new Map<string, { condition: Fields; votes: RateVote[] }>()
  for (const { parts, rates: own, weight, former } of winners) {
    for (const { condition, rates: all } of parts) {
      const said = Object.entries(all).filter(
        ([name]) => own[name] === undefined || rates[name] === undefined || isSame(own[name], rates[name]),
      )
      const part = found.get(conditionKey(condition)) ?? { condition, votes: [] }
      part.votes.push({ weight, former, own: Object.fromEntries(said) })
      found.set(conditionKey(condition), part)
    }
  }
  return [...found.values()].flatMap(({ condition, votes }) => {
    const own = decided(votes)
    return Object.keys(own).length === 0 ? [] : [{ condition, rates: own }]
  })
}

/** Puts the prices of today between the past and the announced ones. */
function framed(periods: readonly Fields[], period: Fields, today: string): readonly Fields[] {
  if (periods.length < 2) return [period]
  return periods.map((one) => (holdsOn(one, today) ? { from: one['from'] ?? null, to: one['to'] ?? null, ...period } : one))
}

const named = ['kind', 'uplift', 'free', 'limits', 'in', 'out', 'can', 'confidence'] as const

const factsOf = (model: Fields): Fields =>
  Object.fromEntries(named.flatMap((name) => (model[name] === undefined || isEmpty(model[name]) ? [] : [[name, model[name]]])))

const isEmpty = (value: unknown): boolean => isFields(value) && Object.keys(value).length === 0

/** The end of a model is set and moved late: the last list that states it is right. */
function newest(votes: readonly Vote[]): Fields {
  const last = votes.findLast(({ model }) => model['deprecated'] !== undefined)
  return last === undefined ? {} : { deprecated: last.model['deprecated'] }
}

function confidenceOf(votes: readonly Vote[], groups: readonly (readonly Vote[])[]): string {
  const [only] = votes
  if (votes.length === 1) return typeof only?.model['confidence'] === 'string' ? only.model['confidence'] : 'single'
  if (groups.length < 2) return 'agreed'
  const sizes = groups.map(({ length }) => length).toSorted((one, other) => other - one)
  return sizes[0] === sizes[1] ? 'disputed' : 'majority'
}

function groupsOf<T>(all: readonly T[], same: (one: T, other: T) => boolean): readonly (readonly T[])[] {
  const groups: T[][] = []
  for (const one of all) {
    const group = groups.find((members) => members.every((member) => same(member, one)))
    if (group === undefined) groups.push([one])
    else group.push(one)
  }
  return groups
}
