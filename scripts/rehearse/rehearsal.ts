import path from 'node:path'
import { readMigrations } from '../../src/app/database/schema/migration-files.ts'
import { inParallel } from '../../test/support/in-parallel.ts'
import type { Product } from './installation.ts'
import type { Jump } from './pairs.ts'
import type { RecordOptions } from './recording.ts'
import { freshCatalogue, installAt, rehearse, type Outcome } from './upgrade.ts'

export interface PairsOptions extends Omit<RecordOptions, 'features'> {
  readonly product: Product
  /** How many installations are worked on at once. */
  readonly width: number
  readonly onOutcome?: (outcome: Outcome) => void
}

/** Every upgrade, each on a copy of one installation of the release that it begins at. */
export async function rehearsePairs(jumps: readonly Jump[], options: PairsOptions): Promise<readonly Outcome[]> {
  const catalogueOf = freshCatalogues(options.product)
  const byOrigin = [...Map.groupBy(jumps, ([from]) => from)]
  const outcomes = await inParallel(byOrigin, options.width, ([from, group]) =>
    rehearseFrom(
      from,
      group.map(([, to]) => to),
      { ...options, catalogueOf },
    ),
  )
  return outcomes.flat()
}

interface FromOptions extends PairsOptions {
  readonly catalogueOf: (release: string) => Promise<readonly string[]>
}

/** A release that cannot be installed fails every upgrade that begins there. */
async function rehearseFrom(from: string, goals: readonly string[], options: FromOptions): Promise<readonly Outcome[]> {
  const { product, catalogueOf, onOutcome = () => {}, ...recording } = options
  const origin = await installAt(from, product, recording).catch((error: unknown) => `${from} cannot be installed: ${String(error)}`)
  try {
    const outcomes: Outcome[] = []
    for (const to of goals) {
      const outcome =
        typeof origin === 'string'
          ? { from, to, faults: [origin], readings: 0, requests: 0, ms: 0 }
          : await rehearse(origin, { release: to, catalogue: await catalogueOf(to) }, product)
      onOutcome(outcome)
      outcomes.push(outcome)
    }
    return outcomes
  } finally {
    if (typeof origin !== 'string') await origin.installation.remove()
  }
}

/** The contents of a fresh installation, made once for releases with the same migrations. */
function freshCatalogues(product: Product): (release: string) => Promise<readonly string[]> {
  const made = new Map<string, Promise<readonly string[]>>()
  return async (release) => {
    const { folder } = await product.build(release)
    const files = (await readMigrations(path.join(folder, 'migrations'))).map(({ id }) => id).join()
    const catalogue = made.get(files) ?? freshCatalogue(release, product)
    made.set(files, catalogue)
    return catalogue
  }
}
