import type { Logger } from 'pino'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import type { Feature } from '../feature.ts'
import { createRecords } from '../level/lazy-release-table.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Outcome } from '../start/announce.ts'
import { closeBackground, createBackground, createBase, openBackground, startBackground, type Background } from '../start/background.ts'
import type { StartMode } from '../start/start-mode.ts'

/** The primary process's work for its workers: database, migrations, first keys, jobs. */
export interface PrimaryBackground {
  readonly prepared: Promise<{ readonly database: DatabaseConfig } & Outcome>
  /** The metrics of the jobs and backfills, which no worker runs. */
  readonly metrics: Metrics
  close(): Promise<void>
}

export interface PrimaryBackgroundOptions {
  readonly log: Logger
  readonly mode: StartMode
}

/** Begins at once. */
export function createPrimaryBackground(
  config: Config,
  features: readonly Feature[],
  { log, mode }: PrimaryBackgroundOptions,
): PrimaryBackground {
  const background = createBackground(createBase(config, log))
  const prepared = prepare(background, features, mode)
  prepared.catch(() => {})
  return {
    prepared,
    metrics: background.base.metrics,
    async close() {
      background.stopping.abort()
      await prepared.catch(() => {})
      await closeBackground(background)
    },
  }
}

async function prepare(background: Background, features: readonly Feature[], mode: StartMode) {
  const options = { features, mode, records: createRecords() }
  const opened = await openBackground(background, options)
  startBackground(background, opened, options)
  const { db, provisioned } = opened
  return { database: db.database, provisioned, sealed: db.vault.sealed !== null }
}
