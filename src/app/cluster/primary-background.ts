import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import { createEgress } from '../../gateway/egress/create-egress.ts'
import type { Outcome } from '../start/announce.ts'
import { chooseDatabase } from '../database/choose.ts'
import { closeOrm } from '../database/orm.ts'
import type { EmbeddedDatabase } from '../database/embedded/embedded.ts'
import type { Deps } from '../deps.ts'
import type { Feature } from '../feature.ts'
import { openFoundation, type Foundation } from '../start/open-database.ts'
import { startJobs, type Jobs } from '../jobs.ts'
import { runBackfills } from '../database/schema/backfill-runner.ts'
import { guardBoot } from '../start/boot-guard.ts'
import { followLevel } from '../level/follow-level.ts'
import { createLevel } from '../level/level.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'
import { jobsOf } from '../level/mount.ts'
import { provision } from '../start/provision.ts'
import { createRecords } from '../level/lazy-release-table.ts'
import { schemaOf, type StartMode } from '../start/start-mode.ts'

/** What a primary process does for its workers: database, migrations, first keys, jobs. */
export interface Backstage {
  readonly prepared: Promise<{ readonly database: DatabaseConfig } & Outcome>
  /** Of the jobs and backfills, which no worker runs. */
  readonly metrics: Metrics
  close(): Promise<void>
}

interface Parts {
  readonly stopping: AbortController
  embedded: EmbeddedDatabase | null
  foundation: Foundation | null
  jobs: Jobs | null
  following: Promise<unknown> | null
}

const jobGraceMs = 5_000

export interface BackstageOptions {
  readonly log: Logger
  readonly mode: StartMode
}

/** Begins at once. */
export function createBackstage(config: Config, features: readonly Feature[], { log, mode }: BackstageOptions): Backstage {
  const parts: Parts = { stopping: new AbortController(), embedded: null, foundation: null, jobs: null, following: null }
  const metrics = createMetrics(config.version)
  const prepared = prepare(parts, config, { features, log, mode, metrics })
  prepared.catch(() => {})
  return {
    prepared,
    metrics,
    async close() {
      parts.stopping.abort()
      await prepared.catch(() => {})
      await Promise.race([parts.following, sleep(jobGraceMs, undefined, { ref: false })])
      await parts.jobs?.stop(jobGraceMs)
      if (parts.foundation !== null)
        await closeOrm(parts.foundation.orm).catch((error: unknown) => log.error({ err: error }, 'closing failed: database pool'))
      await parts.embedded?.stop()
    },
  }
}

async function prepare(
  parts: Parts,
  config: Config,
  options: BackstageOptions & { readonly features: readonly Feature[]; readonly metrics: Metrics },
) {
  const { features, log, mode, metrics } = options
  await guardBoot(config, { mode, records: createRecords(), log })
  const level = createLevel(config)
  const { database, embedded } = await chooseDatabase(config, log)
  parts.embedded = embedded
  const foundation = await openFoundation(
    {
      config,
      features,
      log,
      schema: schemaOf(mode, config),
      refusesWrongKey: mode.deployed,
      signal: parts.stopping.signal,
      metrics,
      level,
    },
    database,
  )
  parts.foundation = foundation
  const egress = createEgress({ trustedHosts: config.trustedCustomHosts, connectTimeoutMs: config.connectTimeoutMs })
  const { orm, vault, connection } = foundation
  const deps: Deps = Object.freeze({ config, log, clock: { now: Date.now }, orm, vault, egress, metrics, level, journal: null })
  const provisioned = await provision(deps)
  if (config.roles.has('jobs')) parts.jobs = startJobs(jobsOf(features, deps), deps, connection.runtime)
  const { signal } = parts.stopping
  parts.following = Promise.all([
    followLevel(orm, level, { config, log, signal }),
    config.roles.has('jobs') && runBackfills({ client: connection.runtime, log, metrics, signal }),
  ])
  return { database, provisioned, sealed: vault.sealed !== null }
}
