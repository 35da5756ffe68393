import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { findProjectPath } from '../database/project-path.ts'
import { openPriceFile, type PriceFile } from './price-file.ts'

/** The catalogue that the installation brings. */
export interface BuiltInPrices {
  /** The day on which it was made. */
  readonly asOf: string
  /** The digest of all its lists. */
  readonly digest: string
  readonly providers: Readonly<Record<string, CatalogueProvider>>
  /** Returns the list of a provider, which is read when it is first asked for; null: there is none. */
  file(provider: string): PriceFile | null
}

/** How a provider sells. */
export interface CatalogueProvider {
  readonly models: number
  readonly mode_default?: Readonly<Record<string, number>>
  readonly billing?: string
  readonly note?: string
}

interface CatalogueIndex {
  readonly as_of: string
  readonly digest: string
  readonly providers: Readonly<Record<string, CatalogueProvider>>
}

/** Opens the catalogue of the installation, or the one in a folder. Throws when it is not there. */
export function openBuiltIn(folder = findProjectPath('assets/prices')): BuiltInPrices {
  if (folder === null) throw new Error('the installation is not complete: assets/prices is missing')
  const index: CatalogueIndex = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8'))
  const files = new Map<string, PriceFile | null>()
  return {
    asOf: index.as_of,
    digest: index.digest,
    providers: index.providers,
    file(provider) {
      const known = files.get(provider)
      if (known !== undefined) return known
      const opened = Object.hasOwn(index.providers, provider) ? openFile(path.join(folder, `${provider}.json`)) : null
      files.set(provider, opened)
      return opened
    },
  }
}

const openFile = (file: string): PriceFile | null => (existsSync(file) ? openPriceFile(readFileSync(file)) : null)
