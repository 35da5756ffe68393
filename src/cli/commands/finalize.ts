import { InvalidArgumentError, Option, type Command } from 'commander'
import { finalize, isReached, planFinalize, type Finalization } from '../../app/database/schema/finalize.ts'
import { version } from '../../config/version.ts'
import { deploymentOf } from '../../app/database/schema/prepare-schema.ts'
import { answer } from '../answer.ts'
import { readTable, releaseNamed, rootFor } from '../checkout.ts'
import { addWait, withDatabase } from '../database.ts'
import { databaseExits, exitCodes } from '../exit-codes.ts'
import { explain } from '../command-help.ts'

interface Options {
  readonly to?: string
  readonly dryRun?: true
  readonly force?: string
  readonly json?: true
}

/** `gatehouse finalize`. */
export const addFinalize = (program: Command): Command =>
  explain(addWait(program.command('finalize')), {
    example: 'gatehouse finalize --dry-run',
    exits: { 1: 'there are obstacles, and no change was made', ...databaseExits },
  })
    .description('Ends an upgrade: the features of the new release come on, and earlier releases cannot run again.')
    .option('--to <release>', 'the release to reach, when not this one')
    .option('--dry-run', 'only print the steps')
    .addOption(
      new Option('--force <reason>', 'although processes of earlier releases still run; the release history keeps why').argParser(
        readReason,
      ),
    )
    .option('--json', '{ from, to, releases, contracts, obstacles, done }')
    .action(async function run(this: Command, { to, dryRun, force, json }: Options) {
      const table = readTable(rootFor(this))
      releaseNamed(table, to ?? version())
      const found = await withDatabase(this, ({ config, connection, log }) => {
        const options = { deployment: deploymentOf(config), table, ...(force !== undefined && { force }), ...(to !== undefined && { to }) }
        return dryRun ? planFinalize(connection.login, options) : finalize(connection.login, log, options)
      })
      const free = found.obstacles.length === 0
      answer(json, { ...found, done: free && !dryRun }, describe(found, dryRun ?? false))
      process.exitCode = free ? exitCodes.done : exitCodes.refused
    })

function readReason(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('it is a reason in words.')
  return text
}

function describe(found: Finalization, dryRun: boolean): string {
  const { from, to, releases, contracts, obstacles } = found
  if (obstacles.length > 0)
    return [`${to} cannot be finalized now, and no change was made:`, ...obstacles.map((one) => `  ${one}`)].join('\n')
  if (isReached(found)) return `${to} is finalized already.`
  return [
    dryRun ? `This would finalize ${to}, from ${from}:` : `${to} is finalized, from ${from}:`,
    `  features of ${releases.join(', ')} ${dryRun ? 'would come on' : 'are on'}`,
    ...contracts.map((id) => `  ${dryRun ? 'would run' : 'ran'} ${id}`),
    `  releases before ${to} ${dryRun ? 'could' : 'can'} not run again`,
  ].join('\n')
}
