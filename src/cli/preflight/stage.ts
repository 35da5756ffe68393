import type { Client, ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { chooseDatabase, hasEmbedded } from '../../app/database/choose.ts'
import { reach } from '../../app/database/connect.ts'
import { DatabaseConnectionError } from '../../app/database/connection-error.ts'
import type { EmbeddedDatabase } from '../../app/database/embedded/embedded.ts'
import { ConfigError, loadConfig, type Config, type DatabaseConfig, type Environment } from '../../config/index.ts'
import type { Revision } from './helm-history.ts'
import { NotPossible } from './not-possible.ts'

/** The facts of the installation that only the operator knows. */
export interface Circumstances {
  /** No question to the database takes longer. */
  readonly timeoutMs: number
  /** A transaction that is older than this is in the way. */
  readonly longestTransactionMs: number
  /** The user and the group that will run Gatehouse; null: those of this process. */
  readonly runAs: { readonly uid: number; readonly gid: number } | null
  /** The version of the chart that will deploy Gatehouse; null: the one that deployed this process. */
  readonly chart: string | null
  /** The Helm release, when it is known. */
  readonly helmRelease: { readonly name: string; readonly namespace: string | null } | null
  /** The revisions of the Helm release, oldest first, when they were given. */
  readonly helmHistory: readonly Revision[] | null
}

/** The circumstances when no option names others. */
export const usualCircumstances: Circumstances = {
  timeoutMs: 15_000,
  longestTransactionMs: 60_000,
  runAs: null,
  chart: null,
  helmRelease: null,
  helmHistory: null,
}

/** The database, with a connection that the checks share. */
export interface ReachedDatabase {
  readonly client: Client
  readonly login: ClientConfig
  readonly config: DatabaseConfig
}

/** The input of the checks; each part throws NotPossible when it is not available. */
export interface Stage {
  readonly env: Environment
  readonly circumstances: Circumstances
  readonly log: Logger
  settings(): Config
  /** Why the settings cannot be used; null: they can. */
  readonly configError: ConfigError | null
  database(): Promise<ReachedDatabase>
  /** Why the database cannot be reached; null: it can, or no connection was tried. */
  connectionError(): Promise<DatabaseConnectionError | null>
  close(): Promise<void>
}

/** Prepares the stage; connects when the first check asks. */
export function openStage(env: Environment, circumstances: Circumstances, log: Logger): Stage {
  const config = readConfig(env)
  const opened: { client?: Client; embedded?: EmbeddedDatabase | null } = {}
  let reaching: Promise<ReachedDatabase | Error> | null = null

  const settings = () => {
    if (config instanceof ConfigError) throw new NotPossible('the settings cannot be used')
    return config
  }
  const open = async (): Promise<ReachedDatabase> => {
    const known = settings()
    if (known.database.embedded && !hasEmbedded(known))
      throw new NotPossible('the embedded PostgreSQL does not exist yet; the first start makes it')
    const { database, embedded } = await chooseDatabase(known, log)
    opened.embedded = embedded
    const { client, login } = await reach(database, log, { query_timeout: circumstances.timeoutMs })
    opened.client = client
    return { client, login, config: database }
  }
  const attempt = () => (reaching ??= open().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error)))))
  return {
    env,
    circumstances,
    log,
    settings,
    configError: config instanceof ConfigError ? config : null,
    async database() {
      const reached = await attempt()
      if (reached instanceof DatabaseConnectionError) throw new NotPossible('the database cannot be reached')
      if (reached instanceof Error) throw reached
      return reached
    },
    async connectionError() {
      const reached = await attempt()
      if (reached instanceof DatabaseConnectionError) return reached
      if (reached instanceof Error) throw reached
      return null
    },
    async close() {
      await opened.client?.end().catch(() => {})
      await opened.embedded?.stop()
    },
  }
}

function readConfig(env: Environment): Config | ConfigError {
  try {
    return loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}
