import type { z } from 'zod'
import { satisfies } from './floor.ts'
import { ChartList, ReleaseRecord, type Chart } from './record.ts'
import { compareVersions } from './version.ts'

/** All releases and all charts, oldest first. */
export interface ReleaseTable {
  readonly releases: readonly ReleaseRecord[]
  readonly charts: readonly Chart[]
}

/** The records, by file name, and the list of charts do not follow their schema. */
export class RecordError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'RecordError'
    this.problems = problems
  }
}

/** The table from parsed YAML: records by file name (`1.5.0.yaml`), and charts.yaml. Throws RecordError naming every fault. */
export function parseTable(records: Readonly<Record<string, unknown>>, charts: unknown): ReleaseTable {
  const list = ChartList.safeParse(charts)
  const parsed = Object.entries(records).map(([file, content]) => ({ file, result: ReleaseRecord.safeParse(content) }))
  const releases = parsed.flatMap(({ result }) => (result.success ? [result.data] : []))
  const problems = [
    ...problemsOf('charts.yaml', list),
    ...parsed.flatMap(({ file, result }) => problemsOf(file, result)),
    ...parsed.flatMap(({ file, result }) =>
      result.success && file !== `${result.data.version}.yaml` ? [`${file}: holds release ${result.data.version}`] : [],
    ),
  ]
  if (!list.success || problems.length > 0) throw new RecordError(problems)
  return { releases: releases.toSorted(byVersion), charts: list.data.charts.toSorted(byVersion) }
}

const problemsOf = (file: string, { error }: z.ZodSafeParseResult<unknown>) =>
  (error?.issues ?? []).map(({ path, message }) => `${file}: ${path.join('.')}: ${message}`)

const byVersion = (one: { version: string }, other: { version: string }) => compareVersions(one.version, other.version)

/** The release of a version; null when there is none. */
export const findRelease = ({ releases }: ReleaseTable, version: string): ReleaseRecord | null =>
  releases.find((release) => release.version === version) ?? null

/** The release that brings a feature; null when none does. */
export const releaseWith = ({ releases }: ReleaseTable, feature: string): ReleaseRecord | null =>
  releases.find(({ features }) => features.added.includes(feature)) ?? null

/** The feature that brings an operation: the one that its record names, else the one that its path begins with; null when there is none. */
export function ownerOf(table: ReleaseTable, operation: string): string | null {
  const named = table.releases.map(({ api }) => api.owners[operation]).find((owner) => owner !== undefined)
  const segment = operation.split('/')[1] ?? ''
  return named ?? (releaseWith(table, segment) === null ? null : segment)
}

/** The releases after `from`, up to and with `to`. */
export const releasesBetween = ({ releases }: ReleaseTable, from: string, to: string): readonly ReleaseRecord[] =>
  releases.filter(({ version }) => compareVersions(version, from) > 0 && compareVersions(version, to) <= 0)

/** The newest chart that was cut for a release or an earlier one and that satisfies its floor; null when there is none. */
export const chartFor = ({ charts }: ReleaseTable, { version, chart: floor }: Pick<ReleaseRecord, 'version' | 'chart'>): Chart | null =>
  charts.findLast((chart) => compareVersions(chart.appVersion, version) <= 0 && satisfies(chart.version, floor)) ?? null
