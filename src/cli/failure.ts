import { CommanderError } from 'commander'
import { BootRefusal } from '../app/boot-refusal.ts'
import { DatabaseConnectionError } from '../app/database/connection-error.ts'
import { ConfigError } from '../config/index.ts'
import { DistributionFault } from '../distribution/fault.ts'
import { RecordError } from '../release/table.ts'
import { exitCodes, type ExitCode } from './exit-codes.ts'

/** A command cannot do its work; its message is for the person who asked. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode = exitCodes.refused) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** The command line asks for something impossible. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, exitCodes.usage)
    this.name = 'UsageError'
  }
}

/** The exit code for an error of a command; prints the message, unless the library did already. A bug is thrown on. */
export function exitCodeFor(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  const code = codeOf(error)
  if (code === null || !(error instanceof Error)) throw error
  console.error(`error: ${sentence(error)}`)
  return code
}

function codeOf(error: unknown): ExitCode | null {
  if (error instanceof CommandError) return error.exitCode
  if (error instanceof RecordError) return exitCodes.refused
  if (error instanceof ConfigError || error instanceof BootRefusal) return exitCodes.configuration
  if (error instanceof DistributionFault) return error.code === 'registry_unreachable' ? exitCodes.unavailable : exitCodes.refused
  if (error instanceof DatabaseConnectionError) return exitCodes.unavailable
  return isOfTheSystem(error) ? exitCodes.refused : null
}

/** Returns true for a refusal of the operating system: a folder in a file's place, a full disk, a missing right. Not a bug, so that no stack is of use. */
const isOfTheSystem = (error: unknown): error is Error => error instanceof Error && typeof Reflect.get(error, 'syscall') === 'string'

/** With the file that it is about, which the system does not always name. */
function sentence(error: Error): string {
  const file: unknown = isOfTheSystem(error) ? Reflect.get(error, 'path') : undefined
  return typeof file !== 'string' || error.message.includes(file) ? error.message : `${error.message}: ${file}`
}
