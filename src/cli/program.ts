import { Command } from 'commander'
import { version } from '../config/version.ts'
import { addAudit } from './commands/audit.ts'
import { addBackup } from './commands/backup.ts'
import { addBudget } from './commands/budget.ts'
import { addBundle } from './commands/bundle.ts'
import { addCompletion } from './commands/completion.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEnv } from './commands/env.ts'
import { addKeys } from './commands/keys.ts'
import { addBackfill } from './commands/backfill.ts'
import { addFinalize } from './commands/finalize.ts'
import { addMigrate } from './commands/migrate.ts'
import { addNotes } from './commands/notes.ts'
import { addOrganisations } from './commands/organisations.ts'
import { addOwner } from './commands/owner.ts'
import { addPath } from './commands/path.ts'
import { addPeople } from './commands/people.ts'
import { addPrices } from './commands/prices.ts'
import { addPreflight } from './commands/preflight.ts'
import { addRollbackCheck } from './commands/rollback-check.ts'
import { addRelease } from './commands/release.ts'
import { addServe } from './commands/serve.ts'
import { addSupportBundle } from './commands/support-bundle.ts'
import { explain } from './command-help.ts'

/** The functions that add the commands, in the order of the help. */
const commands: readonly AddCommands[] = [
  addServe,
  addMigrate,
  addBackfill,
  addFinalize,
  addRollbackCheck,
  addPreflight,
  addDoctor,
  addKeys,
  addOrganisations,
  addOwner,
  addPeople,
  addSupportBundle,
  addAudit,
  addBackup,
  addPath,
  addNotes,
  addRelease,
  addPrices,
  addBudget,
  addBundle,
  addEnv,
  addCompletion,
]

/** Adds commands to the command line. */
export type AddCommands = (program: Command) => unknown

/** The command line of Gatehouse, with the commands of the caller; it throws instead of ending the process. */
export function createProgram(more: AddCommands = () => {}): Command {
  const program = explain(new Command('gatehouse'), { example: 'gatehouse path 1.3.0 1.12.0' })
    .description('Runs and looks after an installation of Gatehouse and its releases.')
    .version(version())
    .option('--root <folder>', 'the checkout to read; by default the one that holds this program')
    .exitOverride()
  for (const add of [...commands, more]) add(program)
  for (const command of program.commands) hint(command, 'gatehouse')
  return program.showHelpAfterError('"gatehouse --help" lists the commands.')
}

/** Lets a wrong command line end with how a right one looks. */
function hint(command: Command, parents: string): void {
  const name = `${parents} ${command.name()}`
  for (const below of command.commands) hint(below, name)
  command.showHelpAfterError(command.commands.length > 0 ? `"${name} --help" lists the commands.` : `usage: ${name} ${command.usage()}`)
}
