import { numbersIn } from '../../src/app/prices/joint-rates.ts'
import type { ListedProvider } from '../../src/cli/prices/catalogue-files.ts'
import { type Fields, isFields } from '../../src/lib/json/fields.ts'

/** A price that is known better than the vote has it, with the reason. Without `entry` and `list` the vote is right, and the former figure was never true. */
export interface Override {
  readonly provider: string
  readonly models: readonly string[]
  /** The name of the list whose word counts: that of one of the recipe, or `former`. */
  readonly list?: string
  /** Fields of the model, with `prices` or, for one period, `rates`. */
  readonly entry?: Fields
  /** False: the price moved, so that requests of before keep the former one. */
  readonly wasNeverTrue: boolean
  readonly source: string
  readonly date: string
  readonly why: string
}

type Models = Readonly<Record<string, Fields>>

/** Puts overrides over lists. `lists` are those of the recipe, by their names. Throws on an override that finds no model. */
export function withOverrides(
  elected: readonly ListedProvider[],
  overrides: readonly Override[],
  lists: ReadonlyMap<string, readonly ListedProvider[]>,
): readonly ListedProvider[] {
  const byProvider = new Map<string, Models>(elected.map(({ provider, models }) => [provider, models]))
  for (const { provider, models: names, list, entry } of overrides) {
    const models = { ...byProvider.get(provider) }
    for (const name of names) models[name] = overridden(models[name], wordOf(list, { provider, name }, lists), entry)
    byProvider.set(provider, models)
  }
  return [...byProvider].map(([provider, models]) => ({ provider, models }))
}

/** Returns the entry of a model in a list; null: no list is named. */
function wordOf(
  list: string | undefined,
  { provider, name }: { readonly provider: string; readonly name: string },
  lists: ReadonlyMap<string, readonly ListedProvider[]>,
): Fields | null {
  if (list === undefined) return null
  const models = lists.get(list)?.find((one) => one.provider === provider)?.models ?? {}
  const found = Object.entries(models).find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1]
  if (found === undefined) throw new Error(`an override takes ${provider}/${name} from ${list}, which does not have it`)
  return { prices: found['prices'] }
}

function overridden(model: Fields | undefined, word: Fields | null, entry: Fields | undefined): Fields {
  const { rates, ...facts } = entry ?? {}
  const prices = isFields(rates) ? { prices: [{ rates: numbersIn(rates) }] } : {}
  return { ...model, ...word, ...facts, ...prices, confidence: model?.['confidence'] ?? 'single' }
}
