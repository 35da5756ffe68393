import { setTimeout as sleep } from 'node:timers/promises'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { DatabaseConfig } from '../../config/config.ts'
import { settingNotes } from '../../config/effect.ts'
import { changeRecorder } from '../audit/changes.ts'
import { connectWithRetry, type Connection } from '../database/connect.ts'
import { DatabaseConnectionError } from '../database/connection-error.ts'
import { assertRowLevelSecurity } from '../database/guard.ts'
import { openOrm } from '../database/orm.ts'
import { openSidePool, type SidePool } from '../database/side-pool.ts'
import { documentBounds } from '../database/document-bounds.ts'
import { storedBounds } from '../database/stored-bounds.ts'
import { BootRefusal } from '../boot-refusal.ts'
import { entitiesOf, type Feature } from '../feature.ts'
import { toCallerError } from '../http/errors.ts'
import type { LiveLevel } from '../level/level.ts'
import { bringUpToDate, type SchemaOptions } from '../database/schema/prepare-schema.ts'
import { openVault } from '../secrets/open-vault.ts'
import type { Vault } from '../secrets/vault.ts'

/** The opened database: the basis of all other parts of a process. */
export interface OpenDatabase {
  readonly database: DatabaseConfig
  readonly connection: Connection
  readonly orm: MikroORM
  readonly side: SidePool
  readonly vault: Vault
}

export interface OpenDatabaseOptions extends SchemaOptions {
  readonly features: readonly Feature[]
  /** Takes the release state of the database, before any part uses it. */
  readonly level: LiveLevel
  /** True if a wrong encryption key refuses the start. False: the process starts sealed. */
  readonly refusesWrongKey: boolean
}

const retryMs = 1000

/** Codes of faults that waiting mends. */
const passing = new Set<string>(['dependency_unavailable', 'busy'])

/** A wrong password at the start stays wrong; later the same code may mean a rotation. */
const isFinal = (error: unknown): boolean => error instanceof DatabaseConnectionError && !error.retryable

/** Connects, migrates and opens, again and again while the database is away. Throws faults that waiting cannot mend. */
export async function openDatabase(options: OpenDatabaseOptions, database: DatabaseConfig): Promise<OpenDatabase> {
  for (;;) {
    try {
      const db = await open(options, database)
      // Workers get a ready schema; their primary has reported the settings.
      if (options.schema !== 'given') tellSettings(options)
      return db
    } catch (error) {
      if (options.signal.aborted || isFinal(error) || !passing.has(toCallerError(error).code)) throw error
      options.log.warn({ err: error, retryInMs: retryMs }, 'the database went away during the start')
      await sleep(retryMs, undefined, { signal: options.signal })
    }
  }
}

/** Logs the settings that were given and do not take effect; the level of the database is known by then. */
function tellSettings({ config, level, log }: OpenDatabaseOptions): void {
  for (const { name, note } of settingNotes(config, level)) log.warn({ name }, note)
}

async function open(options: OpenDatabaseOptions, database: DatabaseConfig): Promise<OpenDatabase> {
  const { config, features, log, signal, metrics, level, onPhase = () => {} } = options
  onPhase('waiting for the database')
  const connection = await connectWithRetry(database, log, { signal })
  const state = await bringUpToDate(connection, options)
  if (state !== null) level.finalizedAt(state.level)
  onPhase('opening the database')
  const orm = await openOrm({
    client: connection.runtime,
    poolSize: database.poolSize,
    entities: entitiesOf(features),
    subscribers: [documentBounds, changeRecorder, storedBounds(config.storedItems)],
    log,
    onPool(pool) {
      metrics.measure('gateway_db_pool_in_use', () => pool.totalCount - pool.idleCount)
      metrics.measure('gateway_db_pool_waiting', () => pool.waitingCount)
    },
  })
  const side = openSidePool(connection.runtime, log)
  try {
    await assertRowLevelSecurity(orm)
    const vault = await openVault({ orm, side, config, log })
    if (vault.sealed === 'wrong_key' && options.refusesWrongKey) throw wrongKey()
    metrics.measure('gateway_sealed', () => Number(vault.sealed !== null))
    metrics.state('gateway_level_info', () => [{ level: level.release, finalized: level.finalized ?? 'unknown' }])
    return { database, connection, orm, side, vault }
  } catch (error) {
    await Promise.all([side.end(), orm.close(true)])
    throw error
  }
}

const wrongKey = () =>
  new BootRefusal(
    'wrong_key',
    'the encryption key is not the one that this database was sealed with',
    'set ENCRYPTION_KEY to that key; "gatehouse migrate status" tells its fingerprint',
  )
