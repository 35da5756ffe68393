import type { Logger } from 'pino'
import type { ConfigError } from '../../config/index.ts'
import { BootRefusal, type RefusalCode } from '../boot-refusal.ts'

/** Why a start failed, as programs read it. Wrong settings and refusals end with exit code 78, the rest with 1. */
export type StartFailureCode =
  | 'settings_unusable'
  | RefusalCode
  | 'address_in_use'
  | 'address_unavailable'
  | 'data_dir_unusable'
  | 'start_failed'

export interface StartFailure {
  readonly code: StartFailureCode
  readonly exitCode: 1 | 78
  /** One sentence without its full stop: the fault, and the remedy. */
  readonly message: string
  /** The value that an unexpected failure threw. */
  readonly error?: unknown
}

/** Describes the error that stopped a start. */
export function describeStartFailure(error: unknown): StartFailure {
  if (error instanceof BootRefusal) return { code: error.code, exitCode: 78, message: error.message }
  return { exitCode: 1, ...(expectedFault(error) ?? { code: 'start_failed', message: firstLine(error), error }) }
}

/** Faults of the machine that an operator mends without reading a stack. */
function expectedFault(error: unknown): Pick<StartFailure, 'code' | 'message'> | null {
  if (!(error instanceof Error)) return null
  const detail = (name: string) => String(Reflect.get(error, name))
  const [address, port] = [detail('address'), detail('port')]
  if (detail('code') === 'EADDRINUSE')
    return { code: 'address_in_use', message: `something else listens at ${address}:${port}. End it, or set PORT` }
  if (detail('code') === 'EADDRNOTAVAIL')
    return { code: 'address_unavailable', message: `${address} is no address of this machine. Set HOST to one that is, or to 0.0.0.0` }
  // Every folder that a start makes lies in DATA_DIR.
  if (detail('syscall') === 'mkdir')
    return {
      code: 'data_dir_unusable',
      message: `the folder cannot be made (${error.message}). Set DATA_DIR to a folder that it may write to`,
    }
  return null
}

const firstLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''

/**
 * Writes the last two lines of a process that failed to start: JSON with `code` for programs, then one line for people. Call it when everything is
 * closed: `kubectl logs --tail=1` and termination messages show the last line.
 */
export function reportStartFailure(log: Logger, { code, exitCode, message, error }: StartFailure): void {
  log.fatal({ code, exit_code: exitCode, ...(error !== undefined && { err: error }) }, message)
  process.stderr.write(`Gatehouse does not start: ${message}.\n`)
}

/** Writes the same two things for wrong settings: JSON with their names, then a line for people for each of them. */
export function reportWrongSettings(log: Logger, { problems, message }: ConfigError): void {
  const code: StartFailureCode = 'settings_unusable'
  log.fatal({ code, exit_code: 78, settings: problems.map(({ name }) => name) }, 'settings cannot be used')
  process.stderr.write(`Gatehouse does not start: ${message}\n`)
}
