import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import { parseAllowedHosts } from '../../gateway/egress/allowed-hosts.ts'
import { createEgress } from '../../gateway/egress/create-egress.ts'
import { clientAddressOf, clientCountryOf } from '../http/listener/client-address.ts'
import { chooseDatabase } from '../database/choose.ts'
import type { ReleaseTable } from '../../release/table.ts'
import type { Clock, Deps } from '../deps.ts'
import type { Feature } from '../feature.ts'
import { openFoundation } from './open-database.ts'
import { createHealth } from '../http/health.ts'
import { edgeHeadersOf } from '../http/listener/edge-headers.ts'
import type { Frame } from '../http/frame.ts'
import { createHandler, createManagementHandler } from '../http/handler.ts'
import { followConnections } from '../http/listener/connections.ts'
import { createHttpServer } from '../http/listener/server.ts'
import { openTls } from '../http/listener/tls.ts'
import { isTlsServer } from '../http/listener/tls-server.ts'
import { startJobs } from '../jobs.ts'
import { drainApp } from './lifecycle.ts'
import { createLevel } from '../level/level.ts'
import { followLevel } from '../level/follow-level.ts'
import { runBackfills } from '../database/schema/backfill-runner.ts'
import { guardBoot } from './boot-guard.ts'
import { byHand, schemaOf, type StartMode } from './start-mode.ts'
import { createLoggers, type Loggers } from '../logging/log.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { jobsOf } from '../level/mount.ts'
import { memoryLimit, watchOverload } from '../http/listener/overload.ts'
import type { DrainOptions, Parts, Started } from './app-state.ts'
import { openPlanes } from './open-planes.ts'
import { provision } from './provision.ts'
import { createRecords } from '../level/lazy-release-table.ts'

export type { DrainOptions, Started } from './app-state.ts'

/** One process of Gatehouse. */
export interface App {
  /** Resolves when everything runs; rejects when this cannot be, however long one waits. */
  readonly started: Promise<Started>
  /** Opens the port, at once: until `started` the answers are 503, and /healthz and /readyz say why. */
  listen(): Promise<Ports>
  /** Ends in order: readiness fails, `DRAIN_DELAY`, running answers finish, the journal is flushed, the pools are closed. */
  drain(options?: DrainOptions): Promise<void>
}

/** What a caller may put in place of what the app would build: in tests, and in worker processes. */
export type Overrides = Partial<Pick<Deps, 'clock' | 'egress' | 'metrics'>> & {
  readonly loggers?: Loggers
  /** The database as the primary process has prepared it: then this one neither starts, migrates nor provisions it, and runs no jobs. */
  readonly prepared?: Promise<DatabaseConfig>
  /** In place of those of the installation. */
  readonly releases?: ReleaseTable
  /** Another folder than the installation's `migrations`. */
  readonly migrations?: string
  /** Absent: `byHand`. */
  readonly mode?: StartMode
  readonly clusterMetrics?: () => Promise<string>
}

/** Where a process listens. */
export interface Ports {
  readonly port: number
  /** For probes and metrics; null: they are on `port`. */
  readonly managementPort: number | null
}

/** Builds one process: config -> log, metrics, egress -> HTTP -> (meanwhile) database, vault, first keys -> snapshot, journal, gateway -> jobs. */
export async function createApp(config: Config, features: readonly Feature[], overrides: Overrides = {}): Promise<App> {
  const loggers = overrides.loggers ?? createLoggers(config)
  const base = createBase(config, loggers, overrides)
  const tls = config.tls === null ? null : openTls(config.tls, base.log)
  const server = createHttpServer((req, res) => handle(req, res), tls?.options)
  if (tls !== null && isTlsServer(server)) tls.follow(server)
  if (tls !== null)
    base.metrics.measure('gateway_tls_certificate_ends_timestamp_seconds', () => tls.certificateEnds().getTime() / 1000, {
      certificate: 'server',
    })
  server.on('error', (error) => base.log.error({ err: error }, 'the HTTP server met an error'))
  const parts: Parts = {
    config,
    loggers,
    base,
    server,
    management: config.managementPort === null ? null : createHttpServer((req, res) => handleManagement(req, res)),
    tls,
    connections: followConnections(server),
    records: createRecords(overrides.releases),
    stopping: new AbortController(),
    overload: watchOverload({
      memoryLimitBytes: memoryLimit(config.workers),
      onChange: (pressure, facts) => base.log.warn({ pressure, ...facts }, pressure === null ? 'the overload is over' : 'overloaded'),
    }),
    waitingFor: 'starting',
    draining: false,
    embedded: null,
    foundation: null,
    planes: null,
    jobs: null,
    following: null,
  }
  const frame = toFrame(parts, features, overrides)
  const handle = createHandler(frame)
  const handleManagement = createManagementHandler(frame)
  const started = start(parts, features, overrides)
  // Whoever never asks for `started` must not crash the process; `main` asks.
  started.catch(() => {})
  return { started, listen: () => listen(parts), drain: (options) => drainApp(parts, started, options) }
}

function createBase(config: Config, { application: log }: Loggers, overrides: Overrides): Parts['base'] {
  const metrics = overrides.metrics ?? createMetrics(config.version)
  const clock: Clock = overrides.clock ?? { now: Date.now }
  const egress =
    overrides.egress ??
    createEgress({
      trustedHosts: config.trustedCustomHosts,
      allowedHosts: config.allowedCustomHosts === null ? null : parseAllowedHosts(config.allowedCustomHosts),
      connectTimeoutMs: config.connectTimeoutMs,
      onBlocked: ({ reason, ...event }) => {
        metrics.egressBlocked(reason)
        log.warn({ ...event, reason }, 'a URL was refused by the egress guard')
      },
    })
  return { config, log, clock, egress, metrics, level: createLevel(config) }
}

const toFrame = (parts: Parts, features: readonly Feature[], { clusterMetrics }: Overrides): Frame => ({
  config: parts.config,
  log: parts.base.log,
  access: parts.loggers.access,
  metrics: parts.base.metrics,
  features,
  level: parts.base.level,
  records: parts.records,
  clientAddress: clientAddressOf(parts.config.trustedProxies),
  edgeHeaders: edgeHeadersOf(parts.config),
  clientCountry: clientCountryOf(parts.config.trustedProxies),
  running: () => parts.planes,
  draining: () => parts.draining,
  overload: parts.overload,
  health: createHealth({
    config: parts.config,
    running: () => parts.planes,
    draining: () => parts.draining,
    tls: parts.tls,
    waitingFor: () => parts.waitingFor,
  }),
  clusterMetrics: clusterMetrics ?? null,
})

async function start(parts: Parts, features: readonly Feature[], overrides: Overrides): Promise<Started> {
  const { config, base, stopping } = parts
  const { prepared, mode = byHand, migrations } = overrides
  await guardBoot(config, { mode, records: parts.records, log: base.log })
  const onPhase = (waitingFor: string) => (parts.waitingFor = waitingFor)
  onPhase('waiting for the database')
  const { database, embedded } =
    prepared === undefined ? await chooseDatabase(config, base.log) : { database: await prepared, embedded: null }
  parts.embedded = embedded
  const foundation = await openFoundation(
    {
      ...base,
      features,
      schema: prepared === undefined ? schemaOf(mode, config) : 'given',
      refusesWrongKey: mode.deployed,
      migrations,
      signal: stopping.signal,
      onPhase,
    },
    database,
  )
  parts.foundation = foundation
  const deps: Deps = Object.freeze({ ...base, orm: foundation.orm, vault: foundation.vault, journal: null })
  const provisioned = prepared === undefined ? await provision(deps) : null
  const planes = openPlanes({ deps, foundation, features, loggers: parts.loggers })
  parts.planes = planes
  if (prepared === undefined && config.roles.has('jobs'))
    parts.jobs = startJobs(jobsOf(features, deps), deps, foundation.connection.runtime)
  const fills = prepared === undefined && config.roles.has('jobs')
  parts.following = Promise.all([
    followLevel(deps.orm, base.level, { config, log: base.log, signal: stopping.signal }),
    fills &&
      runBackfills({ client: foundation.connection.runtime, log: base.log, metrics: base.metrics, migrations, signal: stopping.signal }),
  ])
  await Promise.race([planes.snapshot.contacted, aborted(stopping.signal)])
  return { deps: planes.deps, provisioned, snapshot: planes.snapshot }
}

const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, 'abort'))

async function listen({ server, management, config: { host, port, managementPort } }: Parts): Promise<Ports> {
  const open = management === null ? null : await listenOn(management, host, managementPort ?? 0)
  return { port: await listenOn(server, host, port), managementPort: open }
}

function listenOn(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(portOf(server.address()))
    })
  })
}

const portOf = (address: ReturnType<Server['address']>) => (typeof address === 'object' && address !== null ? address.port : 0)
