import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, ClientConfig } from 'pg'
import type { Logger } from 'pino'
import type { DatabaseConfig } from '../../config/config.ts'
import { BootRefusal } from '../boot-refusal.ts'
import { appRole } from './app-role.ts'
import { DatabaseConnectionError, explainConnectionError } from './connection-error.ts'
import { assertSessions } from './pooler.ts'
import { sessionClient } from './session.ts'
import { sslOptions } from './ssl.ts'

/** How to reach the database, proven by one connection. */
export interface Connection {
  /** As the role that was given, without time limits: for migrations alone. */
  readonly login: ClientConfig
  /** For everything else: bound by row-level security, with time limits. Usable after `migrate`, which makes its role. */
  readonly runtime: ClientConfig
  /** For example `18.1`. */
  readonly serverVersion: string
  readonly encrypted: boolean
}

/** The oldest major version of PostgreSQL that this build runs on; the release records state the same. */
export const oldestPostgresql = 14

/** A hung database must not hang a request: these hold for every connection of the running process, in milliseconds. */
export const limits = { statement_timeout: 5000, lock_timeout: 2000, idle_in_transaction_session_timeout: 60_000 }

/** The server ends a statement by itself after `statement_timeout`: if a server is silent for so long, it is gone, or the way to it. */
export const silenceMs = limits.statement_timeout + 3000

/** Connects once and returns the parameters for all later connections. Throws DatabaseConnectionError, or BootRefusal when the server is too old. */
export async function connect(database: DatabaseConfig, log: Logger): Promise<Connection> {
  const { client, login } = await reach(database, log)
  try {
    return await examine(client, login)
  } catch (error) {
    throw error instanceof BootRefusal ? error : explainConnectionError(error, database)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * A connection as the login, to any server that answers; with or without TLS, as DB_SSL allows. The caller ends it. `more` is for a caller that will
 * not wait for ever. Throws DatabaseConnectionError.
 */
export async function reach(
  database: DatabaseConfig,
  log: Logger,
  more: Pick<ClientConfig, 'query_timeout' | 'connectionTimeoutMillis'> = {},
): Promise<{ readonly client: Client; readonly login: ClientConfig }> {
  const login = { ...clientConfig(database), ...more }
  try {
    return { client: await open(login), login }
  } catch (error) {
    if (!(database.ssl.mode === 'PREFERRED' && lacksTls(error))) throw explainConnectionError(error, database)
    log.info({ host: database.host }, 'PostgreSQL offers no TLS; DB_SSL=PREFERRED goes on without it')
  }
  const plain = { ...login, ssl: false }
  try {
    return { client: await open(plain), login: plain }
  } catch (error) {
    throw explainConnectionError(error, database)
  }
}

async function open(login: ClientConfig): Promise<Client> {
  const client = sessionClient(login)
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** Tries until the database is there. Faults that waiting cannot mend (a wrong password, a wrong certificate) are thrown at once. */
export async function connectWithRetry(
  database: DatabaseConfig,
  log: Logger,
  options: { readonly signal?: AbortSignal; readonly maxWaitMs?: number } = {},
): Promise<Connection> {
  const deadline = Date.now() + (options.maxWaitMs ?? Number.POSITIVE_INFINITY)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connect(database, log)
    } catch (error) {
      if (!(error instanceof DatabaseConnectionError)) throw error
      const waitMs = Math.min(250 * 2 ** Math.min(attempt - 1, 10), 5000)
      if (!error.retryable || Date.now() + waitMs > deadline) {
        log.error({ attempt }, error.message)
        throw error
      }
      log.warn({ attempt, retryInMs: waitMs }, error.message)
      await sleep(waitMs, undefined, options.signal === undefined ? {} : { signal: options.signal })
    }
  }
}

function clientConfig(database: DatabaseConfig): ClientConfig {
  return {
    host: database.host,
    port: database.port,
    user: database.user,
    password: passwordOf(database),
    database: database.name,
    ssl: sslOptions(database),
    application_name: 'gatehouse',
    connectionTimeoutMillis: database.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
}

/** A password that stands in a file is read for each connection, so that a rotation needs no restart. */
function passwordOf({ password, passwordFile }: DatabaseConfig): ClientConfig['password'] {
  if (passwordFile === undefined) return password?.reveal()
  return async () => {
    const text = await readFile(passwordFile, 'utf8').catch(() => '')
    return text.replace(/\r?\n$/, '') || (password?.reveal() ?? '')
  }
}

interface Facts {
  readonly version: string
  readonly number: number
  /** The schema that has the tables, or would get them; null: the search path names none. */
  readonly schema: string | null
  /** The search path does not lead to the tables. */
  readonly astray: boolean
  readonly bypasses: boolean
  readonly standby: boolean
}

async function examine(client: Client, login: ClientConfig): Promise<Connection> {
  // For this transaction only: settings of a session stay with a pooler that shares it.
  await client.query('BEGIN; SET LOCAL statement_timeout = 0')
  const { rows } = await client.query<Facts>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number, rolsuper OR rolbypassrls AS bypasses,
            pg_is_in_recovery() AS standby, quote_ident(coalesce(reached, home, current_schema())) AS schema, reached IS NULL AND home IS NOT NULL AS astray
       FROM pg_roles, (${homes}) h WHERE rolname = current_user`,
  )
  await client.query('ROLLBACK')
  const [facts] = rows
  if (facts === undefined || facts.number < oldestPostgresql * 10_000) throw tooOld(facts?.version ?? 'unknown')
  if (facts.standby) throw isStandby(login)
  await assertSessions(client, login)
  if (facts.schema === null) throw lacksSchema(login)
  return {
    login: facts.astray ? { ...login, options: sessionOptions({ search_path: facts.schema }) } : login,
    runtime: runtimeOf(login, facts),
    serverVersion: facts.version,
    encrypted: login.ssl !== false,
  }
}

/** The schema of the tables that the search path leads to, and the only one that has them. */
const homes = `
  SELECT (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('schema_migrations')) AS reached,
         (SELECT min(n.nspname::text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE c.relname = 'schema_migrations' AND EXISTS (SELECT FROM pg_class r WHERE r.relnamespace = n.oid AND r.relname = 'release_state')
          HAVING count(*) = 1) AS home`

const lacksSchema = ({ user, database }: ClientConfig) =>
  new DatabaseConnectionError(
    `the search_path of user "${user}" in database "${database}" names no schema that exists: run ALTER ROLE … RESET search_path, or create the schema`,
    { retryable: false },
  )

/** How the running process connects: with time limits, and as a plain role when the login would bypass row-level security. */
export const runtimeOf = (
  login: ClientConfig,
  { bypasses, schema = null }: { readonly bypasses: boolean; readonly schema?: string | null },
): ClientConfig => ({
  ...login,
  options: sessionOptions({ ...limits, ...(schema === null ? {} : { search_path: schema }), ...(bypasses ? { role: appRole } : {}) }),
})

const tooOld = (version: string) =>
  new BootRefusal('postgresql_too_old', `PostgreSQL ${version} is too old`, `version ${oldestPostgresql} or newer is needed`)

/** After a failover the same address may lead to the new primary, so this is worth waiting for. */
const isStandby = ({ host, port }: ClientConfig) =>
  new DatabaseConnectionError(`PostgreSQL at ${host}:${port} is a read-only standby: set DB_HOST to the primary`, { retryable: true })

const sessionOptions = (settings: Readonly<Record<string, string | number>>) =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')

const lacksTls = (error: unknown) => error instanceof Error && error.message.includes('does not support SSL')
