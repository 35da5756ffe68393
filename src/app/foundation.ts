import { setTimeout as sleep } from 'node:timers/promises'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { Config, DatabaseConfig } from '../config/config.ts'
import { changeRecorder } from './audit/changes.ts'
import { connectWithRetry, type Connection } from './database/connect.ts'
import { assertRowLevelSecurity } from './database/guard.ts'
import { migrate, pendingMigrations } from './database/migrate.ts'
import { openOrm } from './database/orm.ts'
import type { Feature } from './feature.ts'
import { toCallerError } from './http/errors.ts'
import type { Metrics } from './metrics.ts'
import { openVault } from './secrets/open-vault.ts'
import type { Vault } from './secrets/vault.ts'

/** The database, opened: what everything else of a process stands on. */
export interface Foundation {
  readonly database: DatabaseConfig
  readonly connection: Connection
  readonly orm: MikroORM
  readonly vault: Vault
}

export interface FoundationOptions {
  readonly config: Config
  readonly features: readonly Feature[]
  readonly log: Logger
  /** Whether this process brings the schema up to date; a worker leaves that to its primary. */
  readonly migrates: boolean
  readonly signal: AbortSignal
  /** Told what is being waited for, for /readyz. */
  readonly onPhase?: (waitingFor: string) => void
  readonly metrics: Metrics
}

const retryMs = 1000

/** Connects, migrates and opens, again and again while the database is away. Throws what waiting cannot mend. */
export async function openFoundation(options: FoundationOptions, database: DatabaseConfig): Promise<Foundation> {
  for (;;) {
    try {
      return await open(options, database)
    } catch (error) {
      if (options.signal.aborted || toCallerError(error).code !== 'dependency_unavailable') throw error
      options.log.warn({ err: error, retryInMs: retryMs }, 'the database went away during the start')
      await sleep(retryMs, undefined, { signal: options.signal })
    }
  }
}

async function open(options: FoundationOptions, database: DatabaseConfig): Promise<Foundation> {
  const { config, features, log, signal, metrics, onPhase = () => {} } = options
  onPhase('waiting for the database')
  const connection = await connectWithRetry(database, log, { signal })
  onPhase('migrating the database')
  await bringUpToDate(connection, options)
  onPhase('opening the database')
  const orm = await openOrm({
    client: connection.runtime,
    poolSize: database.poolSize,
    entities: features.flatMap(({ entities }) => entities),
    subscribers: [changeRecorder],
    log,
    onPool(pool) {
      metrics.measure('gateway_db_pool_in_use', () => pool.totalCount - pool.idleCount)
      metrics.measure('gateway_db_pool_waiting', () => pool.waitingCount)
    },
  })
  try {
    await assertRowLevelSecurity(orm)
    return { database, connection, orm, vault: await openVault({ orm, client: connection.runtime, config, log }) }
  } catch (error) {
    await orm.close(true)
    throw error
  }
}

async function bringUpToDate(
  { login, serverVersion, encrypted }: Connection,
  { log, metrics, migrates, signal }: FoundationOptions,
): Promise<void> {
  let pending = (await pendingMigrations(login)).length
  metrics.measure('gateway_migrations_pending', () => pending)
  if (!migrates) return
  const applied = await migrate(login, log, { signal })
  pending = 0
  log.info(
    { postgresql: serverVersion, tls: encrypted, migrations: applied },
    applied.length === 0 ? 'database is up to date' : 'database was migrated',
  )
}
