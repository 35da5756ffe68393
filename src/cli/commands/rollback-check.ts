import type { Command } from 'commander'
import { withClient } from '../../app/database/schema/migration-client.ts'
import { readHistory, readReleaseState } from '../../app/database/schema/release-state.ts'
import { rollbackVerdict } from '../../release/rollback.ts'
import { answer } from '../answer.ts'
import { readTable, releaseNamed, rootFor } from '../checkout.ts'
import { addWait, withDatabase } from '../database.ts'
import { databaseExits, exitCodes } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { CommandError } from '../failure.ts'

/** `gatehouse rollback-check <to>`. */
export const addRollbackCheck = (program: Command): Command =>
  explain(addWait(program.command('rollback-check')), {
    example: 'gatehouse rollback-check 1.11.2',
    exits: { 1: 'that release cannot run on this database', ...databaseExits },
  })
    .description('Checks whether an earlier release can run again on the database as it is now.')
    .argument('<to>', 'the release to go back to')
    .option('--json', 'the verdict, as { to, allowed, oldest, chart, reason }')
    .action(async function check(this: Command, to: string, { json }: { json?: true }) {
      const table = readTable(rootFor(this))
      releaseNamed(table, to)
      const { state, latest } = await withDatabase(this, ({ connection }) =>
        withClient(connection.login, async (client) => ({
          // Read in this order: a process that no longer holds the lock has written the state before.
          latest: (await readHistory(client, 1))[0],
          state: await readReleaseState(client),
        })),
      )
      if (latest?.status === 'running')
        throw new CommandError(`"gatehouse ${latest.action}" is at work on the database: ask again when it is done`)
      const verdict = rollbackVerdict(table, state, to)
      const title = verdict.allowed
        ? `${to} can run again${verdict.chart === null ? '' : `, with the chart ${verdict.chart}`}.`
        : `${to} cannot run again.`
      answer(json, verdict, `${title} ${verdict.reason}`)
      process.exitCode = verdict.allowed ? exitCodes.done : exitCodes.refused
    })
