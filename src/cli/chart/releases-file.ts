import type { ReleaseRecord } from '../../release/record.ts'
import { chartFor, type ReleaseTable } from '../../release/table.ts'

/** files/releases.json: what the chart's guard has to know of each release. */
export const releasesFile = (table: ReleaseTable): string =>
  `${JSON.stringify({ releases: table.releases.map((release) => known(release, table)) }, null, 1)}\n`

function known(release: ReleaseRecord, table: ReleaseTable) {
  const { version, chart, stop } = release
  return {
    version,
    floor: chart ?? '',
    chart: chartFor(table, release)?.version ?? '',
    ...(stop === null ? {} : { stop: { when: stop.kind === 'conditional' ? stop.when : 'always', reason: stop.reason } }),
    ...needsOf(release, table),
  }
}

/** The contract steps that need a backfill: whoever comes from before it has to run it first, at the newest release before the step. */
function needsOf({ version, migrations }: ReleaseRecord, { releases }: ReleaseTable) {
  const at = releases.findIndex((release) => release.version === version)
  const needs = migrations.flatMap(({ id, needs: ids }) =>
    ids.map((need) => ({
      since: releases.find((release) => release.migrations.some((migration) => migration.id === need))?.version ?? version,
      at: releases[at - 1]?.version ?? version,
      reason: `${id} needs ${need} to be complete`,
    })),
  )
  return needs.length > 0 ? { needs } : {}
}
