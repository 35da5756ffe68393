import type { Announcement } from '../../../src/release/published.ts'
import { compareFloors, satisfies } from '../../../src/release/floor.ts'
import type { Finding, Rule } from '../../../src/release/project.ts'
import type { ReleaseRecord } from '../../../src/release/record.ts'
import { findRelease } from '../../../src/release/table.ts'
import { compareVersions } from '../../../src/release/version.ts'

/** R1: the records are the announced releases, no more, no less, with the same facts. */
export const matchesPublished: Rule = ({ table, published }) => {
  const announced = new Set(published.map(({ version }) => version))
  const invented = table.releases.filter(({ version }) => !announced.has(version))
  return [
    ...invented.map(({ version }): Finding => ({ rule: 'R1', where: version, message: 'was never announced' })),
    ...published.flatMap((row) =>
      differences(row, findRelease(table, row.version)).map((message): Finding => ({ rule: 'R1', where: row.version, message })),
    ),
  ]
}

function differences(row: Announcement, record: ReleaseRecord | null): readonly string[] {
  if (record === null) return ['was announced and has no record']
  const missing = (row.env ?? []).filter((name) => !record.env.added.includes(name))
  return [
    ...(record.date === row.date ? [] : [`is dated ${record.date}, and was announced for ${row.date}`]),
    ...(record.chart === row.chart ? [] : [`has the chart floor ${record.chart}, and was announced with ${row.chart}`]),
    ...(record.notes.length >= row.items ? [] : [`notes ${record.notes.length} things of the ${row.items} that were announced`]),
    ...(record.breaking.length > 0 === (row.breaking ?? false) ? [] : ['does not agree with the announcement on breaking changes']),
    ...missing.map((name) => `does not name the announced setting ${name}`),
  ]
}

/** R2: versions and dates ascend together, and the kind follows from the version and the content. */
export const isOrdered: Rule = ({ table: { releases, charts } }) => [
  ...[releases, charts].flatMap(disorder),
  ...releases
    .filter((release) => release.kind !== kindOf(release))
    .map((release): Finding => ({ rule: 'R2', where: release.version, message: `is a ${kindOf(release)} release, not ${release.kind}` })),
]

const disorder = (list: readonly { readonly version: string; readonly date: string }[]) =>
  list.flatMap(({ version, date }, at) => {
    const former = list[at - 1]
    if (former === undefined) return []
    return [
      ...(version === former.version ? ['is there twice'] : []),
      ...(date < former.date ? [`is dated ${date}, before ${former.version} of ${former.date}`] : []),
    ].map((message): Finding => ({ rule: 'R2', where: version, message }))
  })

/** Returns the kind of a release by the version and the content of its record. */
export function kindOf({ version, features, security }: Pick<ReleaseRecord, 'version' | 'features' | 'security'>): ReleaseRecord['kind'] {
  if (version.endsWith('.0.0')) return 'major'
  if (version.endsWith('.0')) return 'minor'
  return security.length > 0 && Object.values(features).flat().length === 0 ? 'security' : 'patch'
}

/** R3: on the day of a release there is a chart that deploys it. */
export const hasChart: Rule = ({ table: { releases, charts } }) =>
  releases
    .filter(({ date, chart: floor }) => !charts.some((chart) => chart.date <= date && satisfies(chart.version, floor)))
    .map(({ version, date, chart }) => ({ rule: 'R3', where: version, message: `no chart ${chart ?? ''} was published by ${date}` }))

/** R4: a floor never drops. */
export const floorsAscend: Rule = ({ table: { releases } }) =>
  releases.flatMap(({ version, chart }, at) => {
    const former = releases[at - 1]
    if (former === undefined || compareFloors(chart, former.chart) >= 0) return []
    return [{ rule: 'R4', where: version, message: `has the chart floor ${chart}, below ${former.chart} of ${former.version}` }]
  })

/** R5: the release that a chart was cut for exists by then and accepts the chart; charts never go back to an earlier release. */
export const chartsFit: Rule = ({ table }) =>
  table.charts.flatMap(({ version, date, appVersion }, at) => {
    const release = findRelease(table, appVersion)
    const former = table.charts[at - 1]
    return [
      ...(release === null ? [`deploys ${appVersion}, which has no record`] : []),
      ...(release !== null && release.date > date ? [`of ${date} deploys ${appVersion} of ${release.date}`] : []),
      ...(release !== null && !satisfies(version, release.chart) ? [`deploys ${appVersion}, which needs a chart ${release.chart}`] : []),
      ...(former !== undefined && compareVersions(appVersion, former.appVersion) < 0
        ? [`deploys ${appVersion}, before app-${former.version}`]
        : []),
    ].map((message): Finding => ({ rule: 'R5', where: `app-${version}`, message }))
  })
