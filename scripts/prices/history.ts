import { conditionKey, type ListedRates, numbersIn, partsOfPeriod } from '../../src/app/prices/joint-rates.ts'
import type { ListedProvider } from '../../src/cli/prices/catalogue-files.ts'
import { isSame } from '../../src/cli/prices/votes.ts'
import { type Fields, isFields } from '../../src/lib/json/fields.ts'

/** When and where a price began, and which former figures were never true. */
export interface Change {
  /** The first day of the new prices, YYYY-MM-DD. */
  readonly day: string
  readonly wasNeverTrue: (provider: string, model: string) => boolean
}

/**
 * Keeps the former prices of models: a request of before the change, priced again, has the price of its day. A figure that was never true leaves no period behind, and
 * neither does a rate that was missing.
 */
export function withHistory(
  before: readonly ListedProvider[],
  after: readonly ListedProvider[],
  change: Change,
): readonly ListedProvider[] {
  const former = new Map(
    before.flatMap(({ provider, models }) => Object.entries(models).map(([name, model]) => [keyOf(provider, name), model])),
  )
  return after.map(({ provider, models }) => ({
    provider,
    models: Object.fromEntries(
      Object.entries(models).map(([name, model]) => {
        const old = former.get(keyOf(provider, name))
        return [name, old === undefined || change.wasNeverTrue(provider, name) ? model : joined(old, model, change.day)]
      }),
    ),
  }))
}

const keyOf = (provider: string, name: string): string => `${provider}\n${name.toLowerCase()}`

const periodsOf = ({ prices }: Fields): readonly Fields[] => (Array.isArray(prices) ? prices.filter(isFields) : [])

function joined(old: Fields, model: Fields, day: string): Fields {
  const [past, present] = [periodsOf(old), periodsOf(model)]
  const [was, is] = [past.find((one) => holdsOn(one, day)), present.find((one) => holdsOn(one, day))]
  if (was === undefined || is === undefined || !moved(was, is)) return model
  const earlier = past.filter(({ from }) => typeof from !== 'string' || from < day)
  const later = present.filter(({ from }) => typeof from === 'string' && from > day)
  const ended = earlier.map((one, at): Fields =>
    Object.assign({}, one, { from: one['from'] ?? null, to: at === earlier.length - 1 ? day : one['to'] }),
  )
  return { ...model, prices: [...ended, { ...is, from: day, to: later[0]?.['from'] ?? null }, ...later].map(inOrder) }
}

const holdsOn = ({ from, to }: Fields, day: string): boolean =>
  (typeof from !== 'string' || from <= day) && (typeof to !== 'string' || day < to)

const inOrder = ({ from, to, ...rest }: Fields): Fields => ({ from, to, ...rest })

/** Returns true if a rate that both have is another one now. */
function moved(was: Fields, is: Fields): boolean {
  const [old, young] = [allRates(was), allRates(is)]
  return [...old].some(([name, rate]) => !isSame(rate, young.get(name) ?? rate))
}

function allRates(period: Fields): ReadonlyMap<string, number> {
  const all: [string, ListedRates][] = [
    ['', numbersIn(period['rates'])],
    ...partsOfPeriod(period).map(({ condition, rates }): [string, ListedRates] => [conditionKey(condition), rates]),
  ]
  return new Map(all.flatMap(([key, rates]) => Object.entries(rates).map(([name, rate]) => [`${key} ${name}`, rate] as const)))
}
