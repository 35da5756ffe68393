import { Command, CommanderError } from 'commander'
import { version } from '../config/version.ts'
import { RecordError } from '../release/table.ts'
import { addNotes } from './commands/notes.ts'
import { addPath } from './commands/path.ts'
import { addRelease } from './commands/release.ts'
import { UsageError } from './usage-error.ts'

const exitCodes = `
Exit codes:
  0  done, and nothing is wrong
  1  a check found something, or a release record does not follow its schema
  2  the command line is wrong, or names a release that does not exist`

const program = new Command('gatehouse')
  .description('Looks after an installation of Gatehouse and its releases.')
  .version(version())
  .option('--root <folder>', 'the checkout to read; by default the one that holds this program')
  .addHelpText('after', '\nExample:\n  gatehouse path 1.3.0 1.12.0')
  .addHelpText('afterAll', exitCodes)
  .exitOverride()

addRelease(program)
addNotes(program)
addPath(program)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeFor(error)
}

/** Says what went wrong, unless the library did already. */
function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (!(error instanceof UsageError) && !(error instanceof RecordError)) throw error
  console.error(`error: ${error.message}`)
  return error instanceof UsageError ? 2 : 1
}
