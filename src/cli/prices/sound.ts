import { CommandError } from '../failure.ts'
import type { ListedProvider } from './catalogue-files.ts'
import { installedPrices } from './installed.ts'

/** Returns the faults of lists. Units are compared with the catalogue of the installation. */
export async function faultsOf(lists: readonly ListedProvider[]): Promise<readonly string[]> {
  const { readCatalogue } = await import('./catalogue-files.ts')
  const { catalogueFaults } = await import('./check-catalogue.ts')
  return catalogueFaults(lists, readCatalogue(installedPrices()))
}

/** Reads files that people hand over: their faults are reported, and are no bugs. */
export function readable<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new CommandError(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Returns how many models lists have. */
export const countOf = (lists: readonly { readonly models: object }[]): number =>
  lists.reduce((sum, { models }) => sum + Object.keys(models).length, 0)
