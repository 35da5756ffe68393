import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import { logStoreActs } from '../../config/effect.ts'
import { parseAllowedHosts } from '../../gateway/ports/egress.ts'
import { createEgress } from '../../gateway/ports/egress-making.ts'
import { chooseDatabase } from '../database/choose.ts'
import type { EmbeddedDatabase } from '../database/embedded/embedded.ts'
import { closeOrm } from '../database/orm.ts'
import { runBackfills } from '../database/schema/backfill-runner.ts'
import type { Deps } from '../deps.ts'
import { openCatalogue } from '../prices/model-catalogue.ts'
import type { Feature } from '../feature.ts'
import { startJobs, type Jobs } from '../jobs.ts'
import { offerIdentity } from '../secret-managers/offer-identity.ts'
import { openSigning } from '../secret-managers/open-signing.ts'
import { openLogStore } from '../log-store/open-log-store.ts'
import { startMover, type RunningMover } from '../log-store/start-mover.ts'
import { followLevel } from '../level/follow-level.ts'
import type { Records } from '../level/lazy-release-table.ts'
import { createLevel, type LiveLevel } from '../level/level.ts'
import { featuresOn, jobsOf } from '../level/mount.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { guardBoot } from './boot-guard.ts'
import { openDatabase, type OpenDatabase } from './open-database.ts'
import { provision, type FirstTenant } from './provision.ts'
import { schemaOf, type StartMode } from './start-mode.ts'

/** Services of a process that do not need the database. */
export type Base = Omit<Deps, 'featuresOn' | 'orm' | 'vault' | 'level' | 'journal' | 'events'> & { readonly level: LiveLevel }

/** The start of every process but its port and its planes. Each part is set as soon as it is open, so that a start that fails can be closed. */
export interface Background {
  readonly base: Base
  readonly stopping: AbortController
  embedded: EmbeddedDatabase | null
  db: OpenDatabase | null
  jobs: Jobs | null
  mover: RunningMover | null
  /** Ends soon after `stopping`: the level is followed, backfills run. */
  following: Promise<unknown> | null
}

export interface BackgroundOptions {
  readonly features: readonly Feature[]
  readonly mode: StartMode
  readonly records: Records
  /** The database as the primary process prepared it: then this process does not start, migrate or provision it, and runs no jobs. */
  readonly prepared?: Promise<DatabaseConfig> | undefined
  /** Another folder than the installation's `migrations`. */
  readonly migrations?: string | undefined
  readonly onPhase?: (waitingFor: string) => void
}

/** The database with all that stands on it. */
export interface OpenServices {
  readonly deps: Deps
  readonly db: OpenDatabase
  /** The first keys, when this start made them. */
  readonly provisioned: FirstTenant | null
}

/** Makes the services that do not need the database. */
export function createBase(config: Config, log: Logger, overrides: Partial<Pick<Deps, 'clock' | 'egress' | 'metrics'>> = {}): Base {
  const metrics = overrides.metrics ?? createMetrics(config.version)
  const egress =
    overrides.egress ??
    createEgress({
      trustedHosts: config.trustedCustomHosts,
      allowedHosts: config.allowedCustomHosts === null ? null : parseAllowedHosts(config.allowedCustomHosts),
      proxies: config.proxies,
      connectTimeoutMs: config.connectTimeoutMs,
      onBlocked: ({ reason, ...event }) => {
        metrics.egressBlocked(reason)
        log.warn({ ...event, reason }, 'a URL was refused by the egress guard')
      },
    })
  const clock = overrides.clock ?? { now: Date.now }
  const signing = openSigning({ config, clock, metrics })
  const { workload } = signing
  const logStore = config.logStore === null ? null : openLogStore(config.logStore, { egress, now: () => clock.now(), workload })
  const base = { config, log, clock, egress, metrics, signing, logStore, level: createLevel(config) }
  return { ...base, catalogue: openCatalogue(base) }
}

/** No part is open yet. */
export const createBackground = (base: Base): Background => ({
  base,
  stopping: new AbortController(),
  embedded: null,
  db: null,
  jobs: null,
  mover: null,
  following: null,
})

/** Guards the start, then opens the database and the vault, and makes the first keys. */
export async function openBackground(background: Background, options: BackgroundOptions): Promise<OpenServices> {
  const { base, stopping } = background
  const { features, mode, prepared, migrations, onPhase = () => {} } = options
  await guardBoot(base.config, { mode, records: options.records, log: base.log })
  onPhase('waiting for the database')
  const { database, embedded } =
    prepared === undefined ? await chooseDatabase(base.config, base.log) : { database: await prepared, embedded: null }
  background.embedded = embedded
  const db = await openDatabase(
    {
      ...base,
      features,
      schema: prepared === undefined ? schemaOf(mode, base.config) : 'given',
      refusesWrongKey: mode.deployed,
      migrations,
      signal: stopping.signal,
      onPhase,
    },
    database,
  )
  background.db = db
  const ids = () => featuresOn(features, base).flatMap(({ id, incomplete }) => (incomplete === undefined ? [id] : []))
  const deps: Deps = Object.freeze({ ...base, featuresOn: ids, orm: db.orm, vault: db.vault, journal: null, events: null })
  const provisioned = prepared === undefined ? await provision(deps) : null
  await offerIdentity(deps)
  return { deps, db, provisioned }
}

/** Starts the jobs and the backfills, where this process runs them, and follows the level. */
export function startBackground(background: Background, { deps, db }: OpenServices, options: BackgroundOptions): void {
  const { base, stopping } = background
  const { config, log, metrics, level } = base
  const client = db.connection.runtime
  const works = options.prepared === undefined && config.roles.has('jobs')
  if (works) background.jobs = startJobs(jobsOf(options.features, deps), deps, client)
  if (works) startMovingLogs(background, db)
  background.following = Promise.all([
    followLevel(deps.orm, level, { config, log, signal: stopping.signal }),
    works && runBackfills({ client, log, metrics, migrations: options.migrations, signal: stopping.signal }),
  ])
}

const lookEveryMs = 5_000

/** Moves bodies to the log store, if there is one, from the level on that brought it. */
function startMovingLogs(background: Background, { database, connection }: OpenDatabase): void {
  const { config, log, metrics, level } = background.base
  const store = config.logStore
  if (store === null) return
  const stats = () => background.mover?.stats()
  metrics.measure('gateway_log_store_moved_total', () => stats()?.moved ?? 0)
  metrics.measure('gateway_log_store_failures_total', () => stats()?.failed ?? 0)
  metrics.measure('gateway_log_store_waiting', () => stats()?.waiting ?? 0)
  metrics.measure('gateway_log_store_failing', () => Number((stats()?.fault ?? null) !== null))
  const start = () => {
    if (!logStoreActs(config, level) || background.stopping.signal.aborted) return
    clearInterval(timer)
    background.mover = startMover({ store, config, database, client: connection.runtime, log })
  }
  const timer = setInterval(start, lookEveryMs).unref()
  start()
}

const jobGraceMs = 5_000

/** Closes in the reverse order of the start; `planes` closes the parts that use the database. */
export async function closeBackground(background: Background, planes: () => Promise<void> | undefined = () => undefined): Promise<void> {
  const { base, following, jobs, mover, db, embedded } = background
  const steps: readonly (readonly [string, () => Promise<unknown> | undefined])[] = [
    ['level and backfills', () => Promise.race([following, sleep(jobGraceMs, undefined, { ref: false })])],
    ['jobs', () => jobs?.stop(jobGraceMs)],
    ['log store', () => mover?.stop(jobGraceMs)],
    ['journal and snapshot', planes],
    ['egress', () => base.egress.close()],
    ['side pool of the database', () => db?.side.end()],
    ['database pool', () => (db === null ? undefined : closeOrm(db.orm))],
    ['embedded database', () => embedded?.stop()],
  ]
  // Each step is tried, even if an earlier one failed.
  for (const [name, close] of steps) {
    try {
      await close()
    } catch (error) {
      base.log.error({ err: error }, `closing failed: ${name}`)
    }
  }
}
