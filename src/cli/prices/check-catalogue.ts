import { entryFaults, isPriceEntry } from '../../gateway/prices/entry.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { Catalogue, ListedProvider } from './catalogue-files.ts'

/** The model whose price proves the unit of a file, and what a token of its prompt costs. */
const canary = { provider: 'openai', model: 'gpt-4o', rate: 2_500_000n }
/** A factor by which no honest list is off as a whole. */
const wrongUnit = 8n
/** With fewer models in common nothing can be said. */
const leastCommon = 3

/** Returns the faults of lists, in words: entries that are none, and units that are another. Empty: they can be used. */
export function catalogueFaults(lists: readonly ListedProvider[], known: Catalogue | null): readonly string[] {
  return lists.flatMap(({ provider, models }) => [
    ...Object.entries(models).flatMap(([name, model]) => entryFaults(model).map((fault) => `${provider}/${name}: ${fault}`)),
    ...canaryFaults(provider, models),
    ...(known === null ? [] : unitFaults({ provider, models }, known)),
  ])
}

function canaryFaults(provider: string, models: Readonly<Record<string, Fields>>): readonly string[] {
  const entry = provider === canary.provider ? models[canary.model] : undefined
  const rate = entry === undefined ? null : inputRate(entry)
  if (rate === null || rate === canary.rate) return []
  return [
    `${provider}/${canary.model}: a token of the prompt costs ${rate} pico-US-dollars and not ${canary.rate}: the unit of the file is another`,
  ]
}

/** Compares with the catalogue of the installation, model by model: when half of them are off by such a factor, the unit is another. */
function unitFaults({ provider, models }: ListedProvider, known: Catalogue): readonly string[] {
  const others = known.providers.find((list) => list.provider === provider)?.models ?? {}
  const pairs = Object.entries(models).flatMap(([name, model]) => {
    const [one, other] = [inputRate(model), inputRate(others[name] ?? {})]
    return one === null || other === null || one === 0n || other === 0n ? [] : [{ name, one, other }]
  })
  const off = pairs.filter(({ one, other }) => one >= other * wrongUnit || other >= one * wrongUnit)
  const [first] = off
  if (pairs.length < leastCommon || off.length * 2 <= pairs.length || first === undefined) return []
  return [
    `${provider}: ${off.length} of ${pairs.length} models cost ${wrongUnit} times more or less than in the catalogue, such as ${first.name} with ${first.one} for ${first.other}: the unit of the file is another`,
  ]
}

function inputRate(model: Fields): bigint | null {
  const rate = isPriceEntry(model) ? model.prices.at(-1)?.rates.input : undefined
  return rate === undefined ? null : BigInt(rate)
}
