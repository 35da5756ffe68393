import { setTimeout as sleep } from 'node:timers/promises'
import { Option, type Command } from 'commander'
import type { Logger } from 'pino'
import { chooseDatabase, hasEmbedded } from '../app/database/choose.ts'
import { connectWithRetry, type Connection } from '../app/database/connect.ts'
import { DatabaseConnectionError, explainConnectionError } from '../app/database/connection-error.ts'
import { toCallerError } from '../app/http/errors.ts'
import { environment, loadConfig, type Config, type DatabaseConfig } from '../config/index.ts'
import { readDuration } from './duration.ts'
import { exitCodes } from './exit-codes.ts'
import { CommandError } from './failure.ts'
import { progressLog } from './progress.ts'

/** The services of a command that works on the database. */
export interface DatabaseServices {
  readonly config: Config
  readonly connection: Connection
  /** Progress, on standard error. */
  readonly log: Logger
}

/** Adds `--wait`, which `withDatabase` reads. */
export const addWait = (command: Command): Command =>
  command.addOption(new Option('--wait <duration>', 'how long to wait for the database').argParser(readDuration).default(30_000, '30s'))

const retryMs = 500

/**
 * Runs `work` on the database that the settings name, the embedded one included; waits for it as long as `--wait` allows. Work that is `repeatable`
 * is begun again when the database goes away meanwhile. Throws ConfigError and DatabaseConnectionError.
 */
export async function withDatabase<T>(
  command: Command,
  work: (opened: DatabaseServices) => Promise<T>,
  { repeatable = false }: { readonly repeatable?: boolean } = {},
): Promise<T> {
  const config = loadConfig(environment())
  const log = progressLog()
  const { wait = 0 } = command.optsWithGlobals<{ wait?: number }>()
  demandDatabase(config)
  const { database, embedded } = await chooseDatabase(config, log)
  const deadline = performance.now() + wait
  try {
    for (;;) {
      try {
        return await work({ config, connection: await connectWithRetry(database, log, { maxWaitMs: deadline - performance.now() }), log })
      } catch (error) {
        const away = toConnectionError(error, database)
        if (away === null || !away.retryable || !repeatable || performance.now() > deadline) throw away ?? error
        log.warn({ retryInMs: retryMs }, away.message)
      }
      await sleep(retryMs)
    }
  } finally {
    await embedded?.stop()
  }
}

/** Only a server makes an embedded PostgreSQL: a command that made one would work on an empty database and report success. */
function demandDatabase(config: Config): void {
  if (!config.database.embedded || hasEmbedded(config)) return
  throw new CommandError(
    `DB_HOST is not set, and there is no embedded PostgreSQL in ${config.dataDir}. Set DB_HOST to the server of the installation, or DATA_DIR to the folder of its embedded PostgreSQL.`,
    exitCodes.configuration,
  )
}

/** The database went away; null: it is something else. */
function toConnectionError(error: unknown, database: DatabaseConfig): DatabaseConnectionError | null {
  if (error instanceof DatabaseConnectionError) return error
  return toCallerError(error).code === 'dependency_unavailable' ? explainConnectionError(error, database) : null
}
