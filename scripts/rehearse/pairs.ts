import type { ReleaseTable } from '../../src/release/table.ts'

/** One upgrade: from a release to a later one. */
export type Jump = readonly [from: string, to: string]

/** Each release to every later one. */
export const allPairs = (releases: readonly string[]): readonly Jump[] =>
  releases.flatMap((from, at) => releases.slice(at + 1).map((to): Jump => [from, to]))

/** Each release to the next, and the first to the last. */
export function neighbours(releases: readonly string[]): readonly Jump[] {
  const [first, last] = [releases[0], releases.at(-1)]
  const steps = releases.slice(1).map((to, at): Jump => [releases[at] ?? to, to])
  return first === undefined || last === undefined || releases.length < 3 ? steps : [...steps, [first, last]]
}

/**
 * The releases that an upgrade changes more than features and settings for: from each that has migrations, asks for a stop or breaks something to
 * the next such one, with the first release and the last. The features of the releases between are steps of these upgrades.
 */
export function changes({ releases }: ReleaseTable): readonly Jump[] {
  const [first, last] = [releases[0], releases.at(-1)]
  const changed = releases.filter(
    (release) => [first, last].includes(release) || release.stop !== null || release.migrations.length + release.breaking.length > 0,
  )
  return neighbours(changed.map(({ version }) => version))
}

/** The value of `--pairs`: `all`, `neighbours`, `changes`, or upgrades such as `1.3.0-1.12.0,1.4.0-1.5.0`. Throws RangeError. */
export function readPairs(text: string, table: ReleaseTable): readonly Jump[] {
  const releases = table.releases.map(({ version }) => version)
  if (text === 'all') return allPairs(releases)
  if (text === 'neighbours') return neighbours(releases)
  if (text === 'changes') return changes(table)
  const known = allPairs(releases)
  return text.split(',').map((word) => {
    const pair = known.find(([from, to]) => word === `${from}-${to}`)
    if (pair === undefined)
      throw new RangeError(`${word} is no upgrade: write all, neighbours, changes, or <from>-<to> with releases that there are`)
    return pair
  })
}
