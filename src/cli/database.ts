import { Option, type Command } from 'commander'
import type { Logger } from 'pino'
import { chooseDatabase } from '../app/database/choose.ts'
import { connectWithRetry, type Connection } from '../app/database/connect.ts'
import { environment, loadConfig, type Config } from '../config/index.ts'
import { readDuration } from './duration.ts'
import { progressLog } from './progress.ts'

/** What a command that works on the database is given. */
export interface Opened {
  readonly config: Config
  readonly connection: Connection
  /** Progress, on standard error. */
  readonly log: Logger
}

/** Adds `--wait`, which `withDatabase` reads. */
export const addWait = (command: Command): Command =>
  command.addOption(new Option('--wait <duration>', 'how long to wait for the database').argParser(readDuration).default(30_000, '30s'))

/**
 * Runs `work` on the database that the settings name, the embedded one included; waits for it as long as `--wait` says. Throws
 * ConfigError and DatabaseConnectionError.
 */
export async function withDatabase<T>(command: Command, work: (opened: Opened) => Promise<T>): Promise<T> {
  const config = loadConfig(environment())
  const log = progressLog()
  const { wait = 0 } = command.optsWithGlobals<{ wait?: number }>()
  const { database, embedded } = await chooseDatabase(config, log)
  try {
    return await work({ config, connection: await connectWithRetry(database, log, { maxWaitMs: wait }), log })
  } finally {
    await embedded?.stop()
  }
}
