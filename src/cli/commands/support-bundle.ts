import { closeSync, fstatSync, openSync } from 'node:fs'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { environment } from '../../config/index.ts'
import { version } from '../../config/version.ts'
import { readDuration } from '../duration.ts'
import { explain } from '../command-help.ts'
import { CommandError, UsageError } from '../failure.ts'
import { progressLog } from '../progress.ts'
import type { SecretInventory } from '../support-bundle/bundle.ts'

interface Options {
  readonly output?: string
  readonly url?: string
  readonly logFile: readonly string[]
  readonly logMib: number
  readonly longestTransaction: number
  readonly json?: true
}

const MiB = 1024 * 1024

/** `gatehouse support-bundle`. */
export const addSupportBundle = (program: Command): Command =>
  explain(program.command('support-bundle'), {
    example: 'gatehouse support-bundle --log-file /var/log/gatehouse.log',
    exits: { 1: 'the file exists already, or cannot be written' },
  })
    .description('Writes one .tar.gz for support: versions, settings, health, figures of PostgreSQL and logs, with every secret removed.')
    .option('-o, --output <file>', 'where to write it; by default gatehouse-support-<version>-<time>.tar.gz in this folder')
    .option('--url <url>', 'the running process; by default at the address of these settings')
    .addOption(
      new Option('--log-file <file>', 'a log to take the end of, any number of times; - reads standard input')
        .argParser((file, files: readonly string[]) => [...files, file])
        .default([], 'none'),
    )
    .addOption(new Option('--log-mib <number>', 'how much of each log').argParser(readMib).default(2, '2'))
    .addOption(new Option('--longest-transaction <duration>', 'what is older is noted').argParser(readDuration).default(60_000, '60s'))
    .option('--json', '{ file, files, redactions, gaps, missing }')
    .action(async (options: Options) => {
      for (const log of options.logFile) assertReadable(log)
      const file = options.output ?? `gatehouse-support-${version()}-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar.gz`
      const { manifest, known } = await writeBundle(file, options)
      if (options.json) console.log(JSON.stringify({ file, ...manifest, gaps: known.gaps }, null, 2))
      else console.log(file)
      for (const gap of known.gaps) console.error(`careful: ${gap}`)
    })

async function writeBundle(file: string, options: Options) {
  const { collectBundle } = await import('../support-bundle/bundle.ts')
  const { gatherSecrets } = await import('../support-bundle/known.ts')
  const { writeArchive } = await import('../support-bundle/archive.ts')
  const { openStage, usualCircumstances } = await import('../preflight/stage.ts')
  const { openProcess, ownUrl } = await import('../ask-process.ts')
  const stage = openStage(environment(), { ...usualCircumstances, longestTransactionMs: options.longestTransaction }, progressLog())
  const url = options.url ?? (stage.configError === null ? ownUrl(stage.settings()) : null)
  const running = url === null ? null : openProcess(url)
  try {
    const known: SecretInventory = await gatherSecrets(stage)
    const scene = { stage, process: running, logFiles: options.logFile, logBytes: options.logMib * MiB }
    const { files, manifest } = await collectBundle(scene, known, (part) => console.error(`collecting ${part}`))
    await writeArchive(file, files).catch((error: unknown) => {
      throw new CommandError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
    })
    return { manifest, known }
  } finally {
    await running?.close()
    await stage.close()
  }
}

/** A named log is required: a bundle without it would be sent before the gap is seen. */
function assertReadable(file: string): void {
  if (file === '-') return
  try {
    const descriptor = openSync(file, 'r')
    const isFolder = fstatSync(descriptor).isDirectory()
    closeSync(descriptor)
    if (!isFolder) return
  } catch (error) {
    throw new UsageError(`--log-file ${file} cannot be read (${error instanceof Error ? error.message : String(error)})`)
  }
  throw new UsageError(`--log-file ${file} is a folder: name a file in it`)
}

function readMib(text: string): number {
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (value > 0 && value <= 512) return value
  throw new InvalidArgumentError('write a number up to 512')
}
