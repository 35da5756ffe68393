import { entryFaults, isPriceEntry } from '../../gateway/prices/entry.ts'
import { unitFault } from '../../app/prices/unit-check.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { Catalogue, ListedProvider } from './catalogue-files.ts'

/** The model whose price proves the unit of a file, and what a token of its prompt costs. */
const canary = { provider: 'openai', model: 'gpt-4o', rate: 2_500_000n }

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

/** Compares with the catalogue of the installation, as lists are when they are loaded. */
function unitFaults(list: ListedProvider, known: Catalogue): readonly string[] {
  const others = known.providers.find(({ provider }) => provider === list.provider)?.models ?? {}
  const fault = unitFault(list, (name) => others[name])
  return fault === null ? [] : [fault]
}

function inputRate(model: Fields): bigint | null {
  const rate = isPriceEntry(model) ? model.prices.at(-1)?.rates.input : undefined
  return rate === undefined ? null : BigInt(rate)
}
