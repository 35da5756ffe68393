import type { ReleaseRecord } from './record.ts'
import { chartFor, releasesBetween, type ReleaseTable } from './table.ts'

/** One upgrade on the way, with the notes of all releases that it passes over. */
export interface Hop {
  readonly version: string
  /** The chart's tag, such as `app-1.6.0`; null when no chart deploys the release. */
  readonly chart: string | null
  /** Why the upgrade halts here; empty at the goal. */
  readonly because: readonly string[]
  readonly breaking: readonly { readonly id: string; readonly check: string; readonly fix: string }[]
  /** The backfills that must be complete before this hop can be finalized. */
  readonly backfills: readonly string[]
}

/** The facts of an installation that decide its path. */
export interface Installation {
  readonly volume: boolean
}

/**
 * Returns the fewest upgrades that lead from one release to a later one. An upgrade halts at every stop that applies. It does not halt for a
 * contract migration: `finalize` waits for the backfills of all releases that were passed over, and for the end of older processes.
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
    const halts = ahead.map((release) => reasonsToHalt(release, installation))
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

const reasonsToHalt = ({ stop }: ReleaseRecord, installation: Installation): readonly string[] =>
  stop !== null && (stop.kind === 'required' || installation[stop.when]) ? [stop.reason] : []
