import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { compareVersions } from '../../src/release/version.ts'
import { chart, scratch } from './helm.ts'

interface Known {
  readonly version: string
  readonly needs?: readonly object[]
}

export interface Copy {
  /** The version of the chart, and the release that it is for. */
  readonly version?: string
  readonly appVersion?: string
  /** The newest release that it contains; `appVersion` by default. */
  readonly knows?: string
  readonly change?: (known: Known) => Known
  readonly controlPaths?: readonly string[]
}

/** The chart as it was, or would have been, published under another version for another release. */
export function chartCopy({ version, appVersion, knows = appVersion, change = (known) => known, controlPaths }: Copy): string {
  const folder = path.join(mkdtempSync(path.join(scratch, 'chart-')), 'app')
  cpSync(chart, folder, { recursive: true })
  const edit = (name: string, make: (text: string) => string) => {
    const file = path.join(folder, name)
    writeFileSync(file, make(readFileSync(file, 'utf8')))
  }
  if (version !== undefined) edit('Chart.yaml', (text) => text.replace(/^version: .*$/m, `version: ${version}`))
  if (appVersion !== undefined) edit('Chart.yaml', (text) => text.replace(/^appVersion: .*$/m, `appVersion: ${appVersion}`))
  edit('files/releases.json', (text) => {
    const { releases } = JSON.parse(text) as { releases: readonly Known[] }
    const known = releases.filter((release) => knows === undefined || compareVersions(release.version, knows) <= 0)
    return JSON.stringify({ releases: known.map(change) })
  })
  if (controlPaths !== undefined) edit('files/control-paths.json', () => JSON.stringify(controlPaths))
  return folder
}
