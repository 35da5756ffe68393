import { entryFaults } from '../../gateway/ports/prices.ts'
import { unitFault } from '../../app/prices/unit-check.ts'
import type { Catalogue, ListedProvider } from './catalogue-files.ts'

/** Returns the faults of lists, in words: entries that are none, and units that are another. Empty: they can be used. */
export function catalogueFaults(lists: readonly ListedProvider[], known: Catalogue | null): readonly string[] {
  return lists.flatMap(({ provider, models }) => [
    ...Object.entries(models).flatMap(([name, model]) => entryFaults(model).map((fault) => `${provider}/${name}: ${fault}`)),
    ...(known === null ? [] : unitFaults({ provider, models }, known)),
  ])
}

/** Compares with the catalogue of the installation, as lists are when they are loaded. */
function unitFaults(list: ListedProvider, known: Catalogue): readonly string[] {
  const others = known.providers.find(({ provider }) => provider === list.provider)?.models ?? {}
  const fault = unitFault(list, (name) => others[name])
  return fault === null ? [] : [fault]
}
