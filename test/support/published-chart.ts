import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { chartFiles, chartFolder } from '../../tools/chart/files.ts'
import { chartSources } from '../../tools/records/project.ts'
import { readOwnTable } from '../../src/app/level/release-records.ts'
import { compareVersions } from '../../src/release/version.ts'
import { chart, lazily, root, scratch } from './helm.ts'

const table = readOwnTable()
const sources = lazily(chartSources)

/** The versions of all charts, oldest first. */
export const publishedCharts: readonly string[] = table.charts.map(({ version }) => version)

/** Makes the chart of that version, as it is in every release that it deploys. A cut writes the same files. */
export function publishedChart(version: string): string {
  const charts = table.charts.filter((one) => compareVersions(one.version, version) <= 0)
  const folder = mkdtempSync(path.join(scratch, `app-${version}-`))
  cpSync(chart, path.join(folder, chartFolder), { recursive: true })
  for (const { path: at, expected } of chartFiles(root, { ...table, charts }, sources())) {
    mkdirSync(path.dirname(path.join(folder, at)), { recursive: true })
    writeFileSync(path.join(folder, at), expected)
  }
  return path.join(folder, chartFolder)
}
