import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Option, type Command } from 'commander'
import { DistributionFault } from '../../distribution/fault.ts'
import { check } from '../../release/check.ts'
import { chartFor } from '../../release/table.ts'
import { answer } from '../answer.ts'
import { readTable, releaseNamed, rootFor } from '../checkout.ts'
import { explain } from '../explain.ts'
import { CommandError, UsageError } from '../failure.ts'

interface Options {
  readonly output: string
  readonly image?: string
  readonly builder: 'buildah' | 'node'
  readonly evaluation?: true
  readonly base?: string
  readonly packages?: string
  readonly allowDirty?: true
  readonly lock?: true
  readonly json?: true
}

/** `gatehouse release build <version>`. */
export const addReleaseBuild = (release: Command): Command =>
  explain(release.command('build'), {
    example: 'gatehouse release build 1.12.0 --output dist/1.12.0',
    exits: { 1: 'a rule of "release check" found a fault, a step of the build failed, or the release exists already' },
  })
    .description('Builds the release of this checkout: image, chart, bills of materials, provenance and lock, with a list of their hashes.')
    .argument('<version>', 'the release')
    .requiredOption('--output <folder>', 'the folder to make')
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
    .option('--allow-dirty', 'build changes that no commit holds; image and provenance say so')
    .option('--lock', 'also write releases/locks/<version>.lock.json, after which the record and its migrations stay as they are')
    .option('--json', '{ folder, builder, lock }')
    .action(async (version: string, options: Options, command: Command) => {
      const root = rootFor(command)
      const table = readTable(root)
      const record = releaseNamed(table, version)
      if (!existsSync(path.join(root, 'docker', 'Dockerfile')))
        throw new UsageError(`${root} is no checkout: a release is built from the sources`)
      const manifest: { version?: unknown } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
      if (manifest.version !== version) throw new UsageError(`this checkout is ${String(manifest.version)}, not ${version}`)
      const locked = path.join(root, 'releases', 'locks', `${version}.lock.json`)
      if (options.lock && existsSync(locked))
        throw new DistributionFault('version_exists', `${locked} is there already; a release is locked once`)
      const { buildRelease } = await import('../../distribution/release/build.ts')
      const built = await buildRelease({
        root,
        output: options.output,
        version,
        date: record.date,
        sources: () => readSources(root, version),
        image: options.image ?? null,
        builder: options.builder,
        variant: options.evaluation ? 'evaluation' : 'release',
        packages: options.packages === undefined ? null : path.resolve(options.packages),
        allowDirty: options.allowDirty === true,
        base: options.base === undefined ? null : path.resolve(options.base),
        chart: chartFor(table, record)?.version ?? '',
        onStep: (text) => console.error(text),
      })
      if (options.lock) keepLock(path.join(built.folder, `${version}.lock.json`), locked)
      answer(
        options.json,
        built,
        [built.folder, ...Object.entries(built.lock.digests).map(([name, digest]) => `  ${digest}  ${name}`)].join('\n'),
      )
    })

/** The hashes of the record and of its migrations, when all rules are kept. */
async function readSources(root: string, version: string) {
  const { readProject } = await import('../project.ts')
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
