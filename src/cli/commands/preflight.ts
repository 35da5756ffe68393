import { readFileSync } from 'node:fs'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { environment } from '../../config/index.ts'
import { version } from '../../config/version.ts'
import { isVersion } from '../../release/version.ts'
import { readDuration, readLength } from '../duration.ts'
import { exitCodes } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { UsageError } from '../failure.ts'
import type { Result } from '../preflight/run.ts'
import type { Circumstances } from '../preflight/stage.ts'
import { progressLog } from '../progress.ts'
import { wrap } from '../wrap.ts'

interface Options {
  readonly json?: true
  readonly quick?: true
  readonly strict?: true
  readonly timeout: number
  readonly longestTransaction: number
  readonly as?: NonNullable<Circumstances['runAs']>
  readonly chart?: string
  readonly helmRelease?: NonNullable<Circumstances['helmRelease']>
  readonly helmHistory?: string
}

/** `gatehouse preflight`. */
export const addPreflight = (program: Command): Command =>
  explain(program.command('preflight'), {
    example: 'gatehouse preflight --as 10001:0 --helm-release gateway/gatehouse',
    exits: { 1: 'a check failed; with --strict: or warned' },
  })
    .description('Checks before an install or an upgrade that everything is in place, and prints the remedy for each fault.')
    .option('--json', '{ version, ok, counts, checks: [{ id, status, detail, fix? }] }; a status is ok, warn, fail or skipped')
    .option('--quick', 'run only the checks that are quick and disturb no traffic, as "helm test" does')
    .option('--strict', 'a warning fails too')
    .addOption(
      new Option('--timeout <duration>', 'how long the database may take for an answer').argParser(readLength).default(15_000, '15s'),
    )
    .addOption(new Option('--longest-transaction <duration>', 'what is older is in the way').argParser(readDuration).default(60_000, '60s'))
    .addOption(new Option('--as <uid:gid>', 'the user that will run Gatehouse; by default the one who asks').argParser(readUser))
    .addOption(new Option('--chart <version>', 'the chart that will deploy it, such as app-1.6.0').argParser(readChart))
    .addOption(new Option('--helm-release <[namespace/]name>', 'the Helm release; needs helm on the PATH').argParser(readRelease))
    .option('--helm-history <file>', 'the output of "helm history RELEASE -o json", where helm cannot be run here; - reads standard input')
    .action(async (options: Options) => {
      const results = await check(options)
      const { tally } = await import('../preflight/run.ts')
      const counts = tally(results)
      const failed = counts.fail > 0 || (options.strict === true && counts.warn > 0)
      if (options.json) console.log(JSON.stringify({ version: version(), ok: !failed, counts, checks: results }, null, 2))
      else
        console.log(
          `\n${results.length} checks: ${counts.ok} ok, ${counts.warn} warnings, ${counts.fail} failed, ${counts.skipped} skipped`,
        )
      process.exitCode = failed ? exitCodes.refused : exitCodes.done
    })

async function check(options: Options): Promise<readonly Result[]> {
  const { preflightChecks } = await import('../preflight/checks.ts')
  const { runChecks } = await import('../preflight/run.ts')
  const { openStage } = await import('../preflight/stage.ts')
  const stage = openStage(environment(), await toCircumstances(options), progressLog())
  try {
    // Results are the progress; for a program they come whole, and people who look on see them on standard error.
    const tell = options.json ? (process.stderr.isTTY ? console.error : () => {}) : console.log
    return await runChecks(
      preflightChecks.filter(({ quick }) => quick || !options.quick),
      stage,
      (result) => tell(toText(result)),
    )
  } finally {
    await stage.close()
  }
}

async function toCircumstances({ timeout, longestTransaction, as, chart, helmRelease, helmHistory }: Options): Promise<Circumstances> {
  return {
    timeoutMs: timeout,
    longestTransactionMs: longestTransaction,
    runAs: as ?? null,
    chart: chart ?? null,
    helmRelease: helmRelease ?? null,
    helmHistory: helmHistory === undefined ? null : await readHelmHistory(helmHistory),
  }
}

async function readHelmHistory(file: string): Promise<NonNullable<Circumstances['helmHistory']>> {
  const { parseHistory } = await import('../preflight/helm-history.ts')
  const history = parseHistory(readGiven(file))
  if (history === null) throw new UsageError(`${file} has not the form of "helm history RELEASE -o json"`)
  return history
}

function readGiven(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch {
    throw new UsageError(`${file} cannot be read`)
  }
}

function readUser(text: string): NonNullable<Circumstances['runAs']> {
  const [, uid, gid] = /^(\d{1,10}):(\d{1,10})$/.exec(text) ?? []
  if (uid === undefined || gid === undefined) throw new InvalidArgumentError('write uid:gid, such as 10001:0')
  return { uid: Number(uid), gid: Number(gid) }
}

function readChart(text: string): string {
  const chart = text.replace(/^app-/, '')
  if (isVersion(chart)) return chart
  throw new InvalidArgumentError('write the tag of a chart, such as app-1.6.0')
}

function readRelease(text: string): NonNullable<Circumstances['helmRelease']> {
  const [, namespace, name] = /^(?:([a-z0-9-]+)\/)?([a-z0-9][a-z0-9.-]*)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('write name, or namespace/name')
  return { name, namespace: namespace ?? null }
}

/** A result for people: one line, and below it the remedy. */
export function toText({ id, status, detail, fix }: Result): string {
  const [first = '', ...rest] = wrap(detail, '')
  const indent = ' '.repeat(38)
  return [
    `${status.padEnd(8)}${id.padEnd(30)}${first}`,
    ...rest.map((line) => `${indent}${line}`),
    ...(fix === undefined ? [] : wrap(`-> ${fix}`, indent)),
  ].join('\n')
}
