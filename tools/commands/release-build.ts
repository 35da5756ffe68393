import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Option, type Command } from 'commander'
import { z } from 'zod'
import { DistributionFault } from '../../src/distribution/fault.ts'
import { check } from '../records/check.ts'
import { cutTable } from '../records/cut-records.ts'
import type { ReleaseRecord } from '../../src/release/record.ts'
import { chartFor, type ReleaseTable } from '../../src/release/table.ts'
import { compareVersions } from '../../src/release/version.ts'
import { answer } from '../../src/cli/answer.ts'
import { readTable, releaseNamed, rootFor } from '../../src/cli/checkout.ts'
import { explain } from '../../src/cli/command-help.ts'
import { CommandError, UsageError } from '../../src/cli/failure.ts'

interface Options {
  readonly output?: string
  readonly image?: string
  readonly builder: 'buildah' | 'node'
  readonly evaluation?: true
  readonly base?: string
  readonly packages?: string
  readonly allowDirty?: true
  readonly revision?: string
  readonly nightly?: string
  readonly list?: true
  readonly lock?: true
  readonly json?: true
}

/** `gatehouse release build <version>`. */
export const addReleaseBuild = (release: Command): Command =>
  explain(release.command('build'), {
    example: 'gatehouse release build 1.12.0 --output dist/1.12.0',
    exits: { 1: 'a rule of "release check" found a fault, a step of the build failed, or the release exists already' },
  })
    .description(
      'Builds a release from this checkout: image, chart, bills of materials, provenance and lock, with a list of their hashes. An earlier release is built from the sources as they are, cut at it: without later additions.',
    )
    .argument('[version]', 'the release')
    .option('--output <folder>', 'the folder to make')
    .option('--list', 'only list the releases that can be built, with the chart of each')
    .option('--image <layout>', 'an image that was built elsewhere: an OCI layout, as a folder or an archive')
    .addOption(
      new Option('--builder <builder>', 'what compiles: Node and npm alone, or buildah as docker/Dockerfile says; both give one digest')
        .choices(['buildah', 'node'])
        .default('node'),
    )
    .addOption(
      new Option(
        '--evaluation',
        'build the image <version>-evaluation, which has a PostgreSQL of its own for a trial without DB_HOST',
      ).conflicts(['image', 'lock']),
    )
    .option('--base <folder>', 'what "sh docker/base.sh <folder>" made, with "evaluation" behind it for --evaluation')
    .option('--packages <file>', 'another list of Debian packages than docker/debian.lock.json')
    .option('--allow-dirty', 'build changes that no commit holds; image and provenance state it')
    .option('--revision <commit>', 'the commit of the sources, when they are in no checkout of git')
    .option('--nightly <file>', 'the record of a nightly run of this commit, which "npm run nightly" writes: "release verify" demands it')
    .option('--lock', 'also write releases/locks/<version>.lock.json, after which the record and its migrations stay as they are')
    .option('--json', '{ folder, builder, lock }; with --list a JSON array of { version, date, chart }')
    .action(async (version: string | undefined, options: Options, command: Command) => {
      const root = rootFor(command)
      const table = readTable(root)
      const own = versionOf(root)
      if (options.list) return list(cutTable(table, own), options)
      if (version === undefined || options.output === undefined)
        throw new UsageError('name the release and its folder: gatehouse release build <version> --output <folder>; or give --list')
      const record = releaseNamed(table, version)
      if (compareVersions(version, own) > 0) throw new UsageError(`this checkout is ${own}: ${version} is built from a later one`)
      const locked = path.join(root, 'releases', 'locks', `${version}.lock.json`)
      if (options.lock && existsSync(locked))
        throw new DistributionFault('version_exists', `${locked} is there already; a release is locked once`)
      const given = { ...options, output: path.resolve(options.output) }
      if (version === own) await buildOwn(root, { table, record }, given)
      else await buildCut(root, record, given)
      if (options.lock) keepLock(path.join(given.output, `${version}.lock.json`), locked)
    })

/** The release that a checkout is. */
function versionOf(root: string): string {
  const manifest = path.join(root, 'package.json')
  if (!existsSync(path.join(root, 'docker', 'Dockerfile')) || !existsSync(manifest))
    throw new UsageError(`${root} is no checkout: a release is built from the sources`)
  return Manifest.parse(JSON.parse(readFileSync(manifest, 'utf8'))).version
}

const Manifest = z.object({ version: z.string() })

/** Prints the releases that can be built here, oldest first. */
function list(table: ReleaseTable, { json }: Options): void {
  const rows = table.releases.map((release) => ({
    version: release.version,
    date: release.date,
    chart: `app-${chartFor(table, release)?.version ?? ''}`,
  }))
  answer(json, rows, rows.map(({ version, date, chart }) => `${version.padEnd(8)}  ${date}  ${chart}`).join('\n'))
}

type BuildOptions = Options & { readonly output: string }

const onStep = (text: string) => console.error(text)

/** The release that this checkout is. */
async function buildOwn(
  root: string,
  { table, record }: { table: ReleaseTable; record: ReleaseRecord },
  options: BuildOptions,
): Promise<void> {
  const { version, date } = record
  const chart = chartFor(table, record)
  if (chart === null) throw new CommandError(`no chart deploys ${version}: see "gatehouse release check"`)
  const { buildRelease } = await import('../release/build.ts')
  const built = await buildRelease({
    root,
    output: options.output,
    version,
    date,
    sources: () => readSources(root, version),
    image: options.image ?? null,
    builder: options.builder,
    variant: options.evaluation ? 'evaluation' : 'release',
    packages: options.packages === undefined ? null : path.resolve(options.packages),
    allowDirty: options.allowDirty === true,
    base: options.base === undefined ? null : path.resolve(options.base),
    nightly: options.nightly === undefined ? null : path.resolve(options.nightly),
    revision: options.revision ?? null,
    chart,
    onStep,
  })
  const digests = Object.entries(built.lock.digests).map(([name, digest]) => `  ${digest}  ${name}`)
  answer(options.json, built, [built.folder, ...digests].join('\n'))
}

/** An earlier one: its sources are cut out of this checkout, and build themselves. */
async function buildCut(root: string, release: ReleaseRecord, options: BuildOptions): Promise<void> {
  const { cutSources } = await import('../release/cut.ts')
  const { readRevision } = await import('../release/revision.ts')
  const revision = options.revision ?? (await readRevision(root, { allowDirty: options.allowDirty === true, onStep })).label
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-cut-'))
  try {
    onStep(`sources: cutting ${release.version} out of this checkout`)
    await cutSources({ root, folder, release })
    const { output, builder } = options
    const places = Object.entries({ image: options.image, base: options.base, packages: options.packages, nightly: options.nightly })
    const named = [
      ...places.flatMap(([name, place]) => (place === undefined ? [] : [`--${name}`, path.resolve(place)])),
      ...(options.evaluation ? ['--evaluation'] : []),
      ...(options.json ? ['--json'] : []),
    ]
    const args = ['release', 'build', release.version, '--output', output, '--builder', builder, '--revision', revision, ...named]
    const child = spawn(process.execPath, [path.join(folder, 'tools/gatehouse.ts'), ...args], { stdio: ['ignore', 'inherit', 'inherit'] })
    const [code]: unknown[] = await once(child, 'close')
    if (code !== 0) throw new CommandError(`${release.version} was not built`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The hashes of the record and of its migrations, when all rules are kept. */
async function readSources(root: string, version: string) {
  const { readProject } = await import('../records/project.ts')
  const project = readProject(root)
  const fault = check(project).find(({ pending }) => pending !== true)
  if (fault !== undefined) throw new CommandError(`${fault.rule} ${fault.where}: ${fault.message}; see "gatehouse release check"`)
  const { migrations = [] } = project.table.releases.find((release) => release.version === version) ?? {}
  const hash = ({ id }: { readonly id: string }) => [id, project.hashes.migrations[id] ?? ''] as const
  return { record: project.hashes.records[version] ?? '', migrations: Object.fromEntries(migrations.map(hash)) }
}

function keepLock(from: string, to: string): void {
  mkdirSync(path.dirname(to), { recursive: true })
  copyFileSync(from, to)
}
