import { cpSync } from 'node:fs'
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isSeq, parse, parseDocument } from 'yaml'
import { Chart, type ReleaseRecord } from '../../src/release/record.ts'
import { compareVersions, isVersion, releaseOf } from '../../src/release/version.ts'
import { runStep } from './image/run.ts'

/** The sources of a release. Tests and benchmarks are the checkout's. */
const sources =
  '.dockerignore ARCHITECTURE.md CHANGELOG.md README.md package.json package-lock.json tsconfig.json assets charts console docker docs migrations releases scripts src tools test/golden'.split(
    ' ',
  )

/** The folders that a process of a release reads. */
const program = ['package.json', 'assets', 'docker/ca', 'migrations', 'releases', 'src']

/**
 * The places in files that name the release, and their text for another release. `release check` in a cut proves the generated files; these are
 * written by hand.
 */
const stamps: readonly (readonly [file: string, place: RegExp, stamp: (release: CutRelease) => string])[] = [
  ['docker/Dockerfile', /(?<=^ARG RELEASE=).*$/m, ({ version }) => version],
  ['docker/Dockerfile', /(?<=^ARG CREATED=).*$/m, ({ date }) => `${date}T00:00:00Z`],
  ['docker/compose.yaml', /(?<=image: gatehouse:).*$/m, ({ version }) => version],
  ['package.json', /(?<=^ {2}"version": ").*?(?=")/m, ({ version }) => version],
  ['package-lock.json', /(?<=^ {2}"version": ").*?(?=")/m, ({ version }) => version],
  ['package-lock.json', /(?<=^ {6}"version": ").*?(?=")/m, ({ version }) => version],
]

/** The release to cut at. */
export type CutRelease = Pick<ReleaseRecord, 'date' | 'version'>

export interface CutOptions {
  /** The checkout. */
  readonly root: string
  /** The folder to make. */
  readonly folder: string
  readonly release: CutRelease
  /** Only the files that a process reads while it runs, without documents, chart and image. */
  readonly runs?: boolean
}

/**
 * Makes the sources of an earlier release from a checkout: the same code under that version, with the records, migrations, charts and documents of
 * that release. Later additions are there as unreachable code: settings, columns, features and fields name the release that brought them.
 */
export async function cutSources({ root, folder, release, runs = false }: CutOptions): Promise<void> {
  for (const name of runs ? program : sources) {
    // In one call of the system's library; `cp` of promises takes thirteen times as long for a thousand files.
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  }
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  await removeLater(path.join(folder, 'migrations'), release, (name) => releaseOf(`${name}/`))
  await removeLater(path.join(folder, 'releases'), release, (name) => path.basename(name, '.yaml'))
  await removeLater(path.join(folder, 'releases/locks'), release, (name) => path.basename(name, '.lock.json'))
  await edit(path.join(folder, 'releases/charts.yaml'), (text) => cutCharts(text, release))
  for (const [file, place, stamp] of stamps) {
    const copied = sources.includes(file) ? !runs || program.includes(file) : !runs
    if (copied) await edit(path.join(folder, file), (text) => stamped(text, place, stamp(release)))
  }
  if (runs) return
  const own = /(?<=^ {2}"version": ").*?(?=")/m.exec(await readFile(path.join(root, 'package.json'), 'utf8'))?.[0]
  if (own !== release.version) await noteLaterReleases(folder, release)
  await generate(folder)
}

/** Notes on each page written by hand that it describes later releases too; pages generated afterwards are of the release alone. */
async function noteLaterReleases(folder: string, { version }: CutRelease): Promise<void> {
  const docs = path.join(folder, 'docs')
  const pages = (await readdir(docs, { recursive: true })).filter((name) => name.endsWith('.md') && !/^(?:adr|reference)\b/.test(name))
  const note = [
    `> Release ${version}. This page is that of later releases too, and names features, settings and fields which ${version} does not have.`,
    '> What it has: `docs/reference/settings.md`, the API page `/docs` of the running product, and `CHANGELOG.md`.',
  ].join('\n')
  for (const file of [path.join(folder, 'README.md'), ...pages.map((name) => path.join(docs, name))])
    await edit(file, (text) => text.replace(/^# .*\n/, (title) => `${title}\n${note}\n`))
}

/** Removes the files that are named after a later release. */
async function removeLater(folder: string, { version }: CutRelease, releaseIn: (name: string) => string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const later = names.filter((name) => isVersion(releaseIn(name)) && compareVersions(releaseIn(name), version) > 0)
  for (const name of later) await rm(path.join(folder, name), { recursive: true })
}

/** releases/charts.yaml, with its comments, without charts that were cut for later releases. */
function cutCharts(text: string, { version }: CutRelease): string {
  const document = parseDocument(text)
  const charts = document.get('charts')
  if (!isSeq(charts)) throw new TypeError('releases/charts.yaml lists no charts')
  charts.items = charts.items.filter((item) => compareVersions(Chart.parse(parse(String(item))).appVersion, version) <= 0)
  return document.toString({ lineWidth: 0 })
}

function stamped(text: string, place: RegExp, stamp: string): string {
  if (!place.test(text)) throw new RangeError(`nothing names the release: ${place} is not there`)
  return text.replace(place, stamp)
}

async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')))
}

/** Lets the cut write its own documents from its settings, fields and releases. */
async function generate(folder: string): Promise<void> {
  const title = 'the documents of the release'
  await runStep({ title, command: [process.execPath, 'tools/gatehouse.ts', 'release', 'generate'], cwd: folder })
  await runStep({ title, command: [process.execPath, 'scripts/generate-docs.ts'], cwd: folder })
}
