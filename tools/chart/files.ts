import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { cutTable } from '../records/cut-records.ts'
import type { BuildContents } from '../../src/release/notes.ts'
import type { Project } from '../../src/release/project.ts'
import type { ReleaseTable } from '../../src/release/table.ts'
import { compareVersions } from '../../src/release/version.ts'
import { withManifest } from './manifest.ts'
import { releasesFile } from './releases-file.ts'
import { placeOf, type ChartSetting } from './settings.ts'
import { cutValues } from './values-file.ts'
import { withValues } from './values-readme.ts'
import { valuesSchema } from './values-schema.ts'
import { valuesYaml } from './values-yaml.ts'
import { cutTree } from './node.ts'
import { valuesTree } from './values/index.ts'

/** The sources of the chart beside the records. */
export interface ChartSources {
  /** Those of later releases too. */
  readonly settings: readonly ChartSetting[]
  /** Beginnings of the paths that the control plane serves, of one segment or of two with the version, and since which release. */
  readonly controlPaths: readonly { readonly since: string; readonly path: string }[]
  /** The build's own description, for the changes that the manifest names. */
  readonly built: BuildContents
}

/** The folder of the chart in a checkout. */
export const chartFolder = 'charts/app'

/**
 * The generated files of the chart, as they are and as they should be. The chart contains only the parts that existed in the release that it was cut for, so
 * that it is the same with every release that it deploys.
 */
export function chartFiles(root: string, newest: ReleaseTable, sources: ChartSources): Project['generated'] {
  const release = newest.charts.at(-1)?.appVersion ?? ''
  const has = (since: string) => compareVersions(since, release) <= 0
  const table = cutTable(newest, release)
  const settings = sources.settings.filter(({ since }) => has(since))
  const controlPaths = new Set(sources.controlPaths.flatMap((one) => (has(one.since) ? [one.path] : [])))
  const all = valuesTree(sources.settings)
  const tree = cutTree(all, has)
  const file = (name: string, expected: (found: string | null) => string) => {
    const at = path.join(root, chartFolder, name)
    const found = existsSync(at) ? readFileSync(at, 'utf8') : null
    return { path: `${chartFolder}/${name}`, found, expected: expected(found) }
  }
  return [
    file('Chart.yaml', (found) => withManifest(found, { table, tree, built: sources.built })),
    file('values.yaml', () => valuesYaml(tree)),
    file('values.schema.json', () => valuesSchema(tree)),
    file('README.md', (found) => withValues(found, tree)),
    file('files/releases.json', () => releasesFile(table)),
    file('files/settings.json', () => lines(settings.map((setting) => placeOf(setting)))),
    file('files/control-paths.json', () => lines([...controlPaths].toSorted())),
    ...valueFiles(root).map((name) => file(name, (found) => cutValues(found ?? '', { all, cut: tree }))),
  ]
}

/** The files of values that are written by hand: examples, and test values. */
const valueFiles = (root: string): readonly string[] =>
  globSync(['ci/*-values.yaml', 'examples/*/values.yaml'], { cwd: path.join(root, chartFolder) }).toSorted()

/** A JSON array with one item on each line, so that changes merge. */
const lines = (items: readonly unknown[]) => `[\n${items.map((item) => ` ${JSON.stringify(item)}`).join(',\n')}\n]\n`
