import type { Command } from 'commander'
import type { TableRows } from '../../app/database/row-counts.ts'
import { answer } from '../answer.ts'
import type { ComparedTable } from '../backup/compare.ts'
import { addWait, withDatabase } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { CommandError } from '../failure.ts'

/** `gatehouse backup`. */
export function addBackup(program: Command): void {
  const backup = explain(program.command('backup').description('Proves backups by counting their rows.'), {
    example: 'gatehouse backup verify gatehouse.dump',
  })
  addCount(backup)
  addVerify(backup)
}

const addCount = (backup: Command): Command =>
  explain(addWait(backup.command('count')), { example: 'gatehouse backup count > rows.txt', exits: databaseExits })
    .description('Prints how many rows each table of the database has, for a comparison with a copy of it.')
    .option('--json', 'an array of { table, parent, rows }')
    .action(async ({ json }: { json?: true }, command: Command) => {
      const counted = await countDatabase(command)
      answer(json, counted, counted.map(({ table, rows }) => `${table} ${rows}`).join('\n'))
    })

interface VerifyOptions {
  readonly exact?: true
  readonly json?: true
}

const addVerify = (backup: Command): Command =>
  explain(addWait(backup.command('verify')), {
    example: 'gatehouse backup verify gatehouse.dump --exact',
    exits: { 1: 'the dump lacks rows of the database, or cannot be read', ...databaseExits },
  })
    .argument('<dump>', 'what pg_dump wrote, in any format; - reads its SQL from standard input')
    .description('Counts the rows of each table in a dump and in the database, and compares them.')
    .option('--exact', 'all numbers must be the same: for a database that was just restored, or that no process has changed since')
    .option('--json', '{ ok, tables: [{ table, dump, database, fault }] }')
    .action(async (file: string, { exact, json }: VerifyOptions, command: Command) => {
      const { countDump } = await import('../backup/dump-rows.ts')
      const { compareRows } = await import('../backup/compare.ts')
      const dump = await countDump(file)
      const compared = compareRows(dump, await countDatabase(command), { exact: exact === true })
      const faults = compared.filter(({ fault }) => fault !== null)
      answer(json, { ok: faults.length === 0, tables: compared }, describe(compared))
      if (faults.length > 0) throw new CommandError(`the dump is not whole: ${faults.length} tables differ`)
    })

const countDatabase = (command: Command): Promise<readonly TableRows[]> =>
  withDatabase(
    command,
    async ({ connection: { login } }) => {
      const { withClient } = await import('../../app/database/schema/migration-client.ts')
      const { countRows } = await import('../../app/database/row-counts.ts')
      return withClient(login, countRows)
    },
    { repeatable: true },
  )

/** A line for each table that differs, and one for all. */
function describe(compared: readonly ComparedTable[]): string {
  const differing = compared.filter(({ dump, database, fault }) => fault !== null || (dump ?? 0) !== (database ?? 0))
  const lines = differing.map(
    ({ table, dump, database, fault }) =>
      `${fault === null ? 'careful' : 'WRONG  '}  ${table}: ${dump ?? 'no'} rows in the dump, ${database ?? 'no'} in the database${fault === null ? '' : ` (${fault})`}`,
  )
  const rows = compared.reduce((sum, { dump }) => sum + (dump ?? 0), 0)
  return [...lines, `${compared.length} tables, ${rows} rows in the dump`].join('\n')
}
