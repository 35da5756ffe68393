import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { allSettingNames, settings } from '../../src/config/index.ts'
import { version } from '../../src/config/version.ts'
import { pagePaths } from '../../src/app/http/people-pages.ts'
import { wholePath } from '../../src/app/route.ts'
import { features } from '../../src/features/index.ts'
import { cutCode, cutPublished } from './cut-records.ts'
import type { Project } from '../../src/release/project.ts'
import { published } from '../../src/release/published.ts'
import { Lock } from '../../src/release/record.ts'
import type { ChartSources } from '../chart/files.ts'
import { readTable, recordFiles } from '../../src/cli/checkout.ts'
import { readCode } from '../../src/cli/own-code.ts'
import { generatedFiles } from './generated.ts'

/** Everything that `release check` compares, read from a checkout and from the code that runs. */
export function readProject(root: string): Project {
  const table = readTable(root)
  return {
    table,
    published: cutPublished(published, version()),
    code: cutCode(readCode()),
    hashes: {
      migrations: hashes(path.join(root, 'migrations'), '.sql'),
      records: Object.fromEntries(recordFiles(root).map((file) => [path.basename(file, '.yaml'), hash(path.join(root, 'releases', file))])),
    },
    locks: readLocks(path.join(root, 'releases', 'locks')),
    generated: generatedFiles(root, table, chartSources()),
    chart: readChart(path.join(root, 'charts', 'app')),
  }
}

/** Returns the sources of the chart. */
export const chartSources = (): ChartSources => ({
  settings: allSettingNames.map((name) => Object.assign({ name }, settings[name])),
  built: readCode(),
  controlPaths: controlPaths(),
})

const beginning = (at: string): string => at.split('/', at.startsWith('/v1/') ? 3 : 2).join('/')

/** Returns where the control plane serves anything: routes below `/v1` and below the root, files, protocols of others, applications of libraries, pages for people. */
function controlPaths(): ChartSources['controlPaths'] {
  const ofFeatures = features.flatMap(({ since, routes, files = [], protocols = [], apps = [] }) => {
    const below = [...protocols.flatMap(({ prefixes }) => prefixes), ...apps.flatMap(({ paths }) => paths)]
    return [...routes.map(wholePath), ...files.map((file) => wholePath(file)), ...below].map((at) => ({ since, path: beginning(at) }))
  })
  return [...ofFeatures, ...pagePaths.map((at) => ({ since: firstRelease, path: beginning(at) }))]
}

/** Pages for people are in every release. */
const firstRelease = '1.3.0'

const hash = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** The files below a folder, relative to it, with `/`; none when it does not exist. */
function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)).replaceAll(path.sep, '/')).toSorted()
}

const hashes = (folder: string, ending: string) =>
  Object.fromEntries(
    filesIn(folder)
      .filter((file) => file.endsWith(ending))
      .map((file) => [file.slice(0, -ending.length), hash(path.join(folder, file))]),
  )

const readLocks = (folder: string): readonly Lock[] =>
  filesIn(folder)
    .filter((file) => file.endsWith('.lock.json'))
    .map((file) => Lock.parse(JSON.parse(readFileSync(path.join(folder, file), 'utf8'))))

const ChartManifest = z.object({ annotations: z.object({ 'artifacthub.io/images': z.string() }) })
const Images = z.array(z.object({ image: z.string() }))

const SettingPlaces = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      return context.addIssue('is no JSON')
    }
  })
  .pipe(z.array(z.object({ env: z.string() })))

/** The chart's text files, the images that its manifest names, and the settings in its map. */
function readChart(folder: string): Project['chart'] {
  const files = Object.fromEntries(filesIn(folder).map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]))
  const manifest = ChartManifest.safeParse(parse(files['Chart.yaml'] ?? ''))
  return {
    files,
    images: manifest.success ? Images.parse(parse(manifest.data.annotations['artifacthub.io/images'])).map(({ image }) => image) : null,
    settings: readPlaces(files['files/settings.json']),
  }
}

/** An unreadable map counts as none; rule R11 reports a map that is wrong. */
function readPlaces(text: string | undefined): readonly string[] | null {
  const places = SettingPlaces.safeParse(text)
  return places.success ? places.data.map(({ env }) => env) : null
}
