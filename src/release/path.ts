import type { ReleaseRecord } from './record.ts'
import { chartFor, releasesBetween, type ReleaseTable } from './table.ts'
import { compareVersions } from './version.ts'

/** One upgrade on the way, with what the operator has to know of everything that it passes over. */
export interface Hop {
  readonly version: string
  /** The chart's tag, such as `app-1.6.0`; null when no chart deploys the release. */
  readonly chart: string | null
  /** Why the upgrade halts here; empty at the goal. */
  readonly because: readonly string[]
  readonly breaking: readonly { readonly id: string; readonly check: string; readonly fix: string }[]
  /** The backfills that must be complete before the next hop. */
  readonly backfills: readonly string[]
}

/** What is true of the installation. */
export interface Installation {
  readonly volume: boolean
}

/**
 * The fewest upgrades that lead from one release to a later one. An upgrade halts at every stop that applies, and before a contract
 * migration that needs a backfill which the installation does not have yet: at the newest release before it.
 */
export function upgradePath(
  table: ReleaseTable,
  jump: { readonly from: string; readonly to: string },
  installation: Installation,
): readonly Hop[] {
  const hops: Hop[] = []
  let at = jump.from
  while (at !== jump.to) {
    const ahead = releasesBetween(table, at, jump.to)
    const halts = ahead.map((release) => reasonsToHalt(table, release, { at, installation }))
    const first = halts.findIndex((reasons) => reasons.length > 0)
    const reached = first === -1 ? ahead : ahead.slice(0, first + 1)
    const goal = reached.at(-1)
    if (goal === undefined) throw new RangeError(`no release leads from ${at} to ${jump.to}`)
    hops.push(hop(table, reached, goal.version === jump.to ? [] : (halts[reached.length - 1] ?? [])))
    at = goal.version
  }
  return hops
}

function hop(table: ReleaseTable, passed: readonly ReleaseRecord[], because: readonly string[]): Hop {
  const goal = passed.at(-1)
  const chart = goal === undefined ? null : chartFor(table, goal)
  return {
    version: goal?.version ?? '',
    chart: chart === null ? null : `app-${chart.version}`,
    because,
    breaking: passed.flatMap(({ breaking }) => breaking),
    backfills: passed.flatMap(({ migrations }) => migrations.filter(({ phase }) => phase === 'backfill').map(({ id }) => id)),
  }
}

function reasonsToHalt(
  { releases }: ReleaseTable,
  release: ReleaseRecord,
  { at, installation }: { at: string; installation: Installation },
): readonly string[] {
  const { stop } = release
  const applies = stop !== null && (stop.kind === 'required' || installation[stop.when])
  const next = releases[releases.indexOf(release) + 1]
  const contracts =
    next?.migrations.filter(({ phase, needs }) => phase === 'contract' && needs.some((id) => isAhead(releases, id, at))) ?? []
  return [
    ...(applies ? [stop.reason] : []),
    ...contracts.map(({ id, needs }) => `${next?.version} runs ${id}, which needs ${needs.join(', ')} to be complete`),
  ]
}

/** Whether a migration comes with a release after the installed one. */
const isAhead = (releases: readonly ReleaseRecord[], migration: string, at: string) =>
  releases.some(({ version, migrations }) => compareVersions(version, at) > 0 && migrations.some(({ id }) => id === migration))
