import type { Command } from 'commander'
import { migrate, pendingMigrations } from '../../app/database/migrate.ts'
import { answer } from '../answer.ts'
import { addWait, withDatabase } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../explain.ts'

interface Options {
  readonly json?: true
}

/** `gatehouse migrate [status|plan]`. */
export function addMigrate(program: Command): void {
  const run = addWait(program.command('migrate'))
    .description('Brings the schema up to this release; what removes something waits for "gatehouse finalize".')
    .option('--json', 'what was applied, as { applied: [id] }')
    .action(async ({ json }: Options, command: Command) => {
      const applied = await withDatabase(command, ({ connection, log }) => migrate(connection.login, log))
      answer(json, { applied }, applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
    })
  // Without this, the options of `plan` would be taken for those of `migrate`.
  run.enablePositionalOptions()
  explain(run, { example: 'gatehouse migrate', exits: databaseExits })
  const plan = addWait(run.command('plan'))
    .description('Tells what "gatehouse migrate" would apply, and applies nothing.')
    .option('--json', '{ pending: [id] }')
    .action(async ({ json }: Options, command: Command) => {
      const pending = await withDatabase(command, ({ connection }) => pendingMigrations(connection.login))
      answer(json, { pending }, pending.length === 0 ? 'The schema is up to date.' : pending.join('\n'))
    })
  explain(plan, { example: 'gatehouse migrate plan --json', exits: databaseExits })
}
