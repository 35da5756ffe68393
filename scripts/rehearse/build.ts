import { cpSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import { cutSources, type CutRelease } from '../../tools/release/cut.ts'
import { root } from '../../test/support/cli.ts'

/** A release that there is not yet: this checkout's code under another version, with migrations of its own. */
export interface NextRelease {
  readonly version: string
  /** SQL by id, such as `v01.13.00/001-name`; each begins with its phase. */
  readonly migrations: Readonly<Record<string, string>>
  /** How its record names them. */
  readonly recorded: readonly Readonly<Record<string, unknown>>[]
}

/** A folder that can be run as an installation of a release. */
export interface Build {
  readonly folder: string
  readonly release: string
  readonly remove: () => Promise<void>
}

/** This checkout itself. */
export const thisBuild = async (): Promise<Build> => ({
  folder: root,
  release: (JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string }).version,
  remove: async () => {},
})

/** An earlier release, cut out of this checkout as `gatehouse release build` cuts it. */
export async function buildCut(release: CutRelease): Promise<Build> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-cut-'))
  await cutSources({ root, folder, release, runs: true })
  return { folder, release: release.version, remove: async () => rmSync(folder, { recursive: true, force: true }) }
}

/** The files that the product reads at run time, as the image holds them. */
const parts = ['src', 'assets', 'docker/ca', 'migrations', 'releases']

/** How sources differ from this checkout's, by their files. */
export type Edits = Readonly<Record<string, (text: string) => string>>

/** Builds the last of these releases, each on top of the one before it; with edits where a product is wanted that is not ours. */
export async function buildNext(releases: readonly NextRelease[], edits: Edits = {}): Promise<Build> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-build-'))
  for (const part of parts) cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  for (const release of releases) await add(folder, release)
  for (const [name, edit] of Object.entries(edits)) {
    const file = path.join(folder, name)
    await writeFile(file, edit(await readFile(file, 'utf8')))
  }
  const version = releases.at(-1)?.version ?? ''
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name: 'gatehouse', version, type: 'module' }))
  return { folder, release: version, remove: async () => rmSync(folder, { recursive: true, force: true }) }
}

async function add(folder: string, { version, migrations, recorded }: NextRelease): Promise<void> {
  for (const [id, sql] of Object.entries(migrations)) {
    const file = path.join(folder, 'migrations', `${id}.sql`)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, sql)
  }
  const record = {
    version,
    date: '2099-01-01',
    chart: '>=1.6.0',
    kind: 'minor',
    migrations: recorded,
    postgres: '>=14 <19',
    kubernetes: '>=1.25',
    notes: 'A release that is only rehearsed.',
  }
  await writeFile(path.join(folder, 'releases', `${version}.yaml`), stringify(record))
}
