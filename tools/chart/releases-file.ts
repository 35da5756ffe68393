import type { ReleaseRecord } from '../../src/release/record.ts'
import { chartFor, type ReleaseTable } from '../../src/release/table.ts'

/** files/releases.json: the facts about each release that the chart's guard needs. */
export const releasesFile = (table: ReleaseTable): string =>
  `${JSON.stringify({ releases: table.releases.map((release) => known(release, table)) }, null, 1)}\n`

function known(release: ReleaseRecord, table: ReleaseTable) {
  const { version, chart, stop } = release
  return {
    version,
    floor: chart ?? '',
    chart: chartFor(table, release)?.version ?? '',
    ...(stop === null ? {} : { stop: { when: stop.kind === 'conditional' ? stop.when : 'always', reason: stop.reason } }),
  }
}
