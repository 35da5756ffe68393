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
export async function rehearsePairs(
  jumps: readonly Jump[],
  { product, width, onOutcome = () => {}, ...options }: PairsOptions,
): Promise<readonly Outcome[]> {
  const releases = (end: 0 | 1) => [...new Set(jumps.map((jump) => jump[end]))]
  const catalogues = await inParallel(releases(1), width, async (release) => [release, await freshCatalogue(release, product)] as const)
  const targets = new Map(catalogues)
  const origins = await inParallel(releases(0), width, (release) => installAt(release, product, options))
  try {
    const byRelease = new Map(origins.map((origin) => [origin.release, origin]))
    return await inParallel(jumps, width, async ([from, to]) => {
      const target = { release: to, catalogue: present(targets, to) }
      const outcome = await rehearse(present(byRelease, from), target, product)
      onOutcome(outcome)
      return outcome
    })
  } finally {
    await Promise.all(origins.map(({ installation }) => installation.remove()))
  }
}

function present<T>(found: ReadonlyMap<string, T>, key: string): T {
  const value = found.get(key)
  if (value === undefined) throw new RangeError(`${key} was not installed`)
  return value
}
