import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Config, DatabaseConfig } from '../../config/config.ts'
import { clientAddressOf, clientCountryOf } from '../http/listener/client-address.ts'
import type { ReleaseTable } from '../../release/table.ts'
import type { Deps } from '../deps.ts'
import type { Feature } from '../feature.ts'
import { installedConsole, type ConsoleSource } from '../http/console-files.ts'
import { createHealth } from '../http/health.ts'
import { edgeHeadersOf } from '../http/listener/edge-headers.ts'
import type { Frame } from '../http/frame.ts'
import { createHandler, createManagementHandler } from '../http/handler.ts'
import { followConnections } from '../http/listener/connections.ts'
import { hasSocket, socketPlane } from '../http/socket-plane.ts'
import { createHttpServer } from '../http/listener/server.ts'
import { openTls } from '../http/listener/tls.ts'
import { isTlsServer } from '../http/listener/tls-server.ts'
import { drainApp } from './lifecycle.ts'
import { interactive, type StartMode } from './start-mode.ts'
import { createLoggers, type Loggers } from '../logging/log.ts'
import { memoryLimit, watchOverload } from '../http/listener/overload.ts'
import type { DrainOptions, AppState, StartedApp } from './app-state.ts'
import { createBackground, createBase, openBackground, startBackground } from './background.ts'
import { openPlanes } from './open-planes.ts'
import { createRecords } from '../level/lazy-release-table.ts'

export type { DrainOptions, StartedApp } from './app-state.ts'

/** One process of Gatehouse. */
export interface App {
  /** Resolves when everything runs; rejects when this cannot be, however long one waits. */
  readonly started: Promise<StartedApp>
  /** Opens the port, at once: until `started` the answers are 503, and /healthz and /readyz give the reason. */
  listen(): Promise<Ports>
  /** Ends in order: readiness fails, `DRAIN_DELAY`, running answers finish, the journal is flushed, the pools are closed. */
  drain(options?: DrainOptions): Promise<void>
}

/** The parts that a caller may supply instead of the app's own: in tests, and in worker processes. */
export type Overrides = Partial<Pick<Deps, 'clock' | 'egress' | 'metrics'>> & {
  readonly loggers?: Loggers
  /** The database as the primary process has prepared it: then this one neither starts, migrates nor provisions it, and runs no jobs. */
  readonly prepared?: Promise<DatabaseConfig>
  /** In place of those of the installation. */
  readonly releases?: ReleaseTable
  /** Another folder than the installation's `migrations`. */
  readonly migrations?: string
  /** Absent: `interactive`. */
  readonly mode?: StartMode
  readonly clusterMetrics?: () => Promise<string>
  /** In place of the built console of the installation. */
  readonly console?: ConsoleSource
}

/** The ports on which a process listens. */
export interface Ports {
  readonly port: number
  /** For probes and metrics; null: they are on `port`. */
  readonly managementPort: number | null
}

/** Builds one process: config -> log, metrics, egress -> HTTP -> (meanwhile) database, vault, first keys -> snapshot, journal, gateway -> jobs. */
export async function createApp(config: Config, features: readonly Feature[], overrides: Overrides = {}): Promise<App> {
  const loggers = overrides.loggers ?? createLoggers(config)
  const base = createBase(config, loggers.application, overrides)
  const tls = config.tls === null ? null : openTls(config.tls, base.log)
  const server = createHttpServer((req, res) => handle(req, res), {
    tls: tls?.options ?? null,
    upgrades: { takes: hasSocket, take: (upgrade, res) => connect(upgrade, res) },
  })
  if (tls !== null && isTlsServer(server)) tls.follow(server)
  if (tls !== null)
    base.metrics.measure('gateway_tls_certificate_ends_timestamp_seconds', () => tls.certificateEnds().getTime() / 1000, {
      certificate: 'server',
    })
  server.on('error', (error) => base.log.error({ err: error }, 'the HTTP server met an error'))
  const state: AppState = {
    config,
    loggers,
    background: createBackground(base),
    server,
    management: config.managementPort === null ? null : createHttpServer((req, res) => handleManagement(req, res)),
    tls,
    connections: followConnections(server),
    records: createRecords(overrides.releases),
    overload: watchOverload({
      memoryLimitBytes: memoryLimit(config.workers),
      onChange: (pressure, facts) => base.log.warn({ pressure, ...facts }, pressure === null ? 'the overload is over' : 'overloaded'),
    }),
    waitingFor: 'starting',
    draining: false,
    planes: null,
  }
  const frame = toFrame(state, features, overrides)
  const handle = createHandler(frame)
  const connect = socketPlane(frame)
  const handleManagement = createManagementHandler(frame)
  const started = start(state, features, overrides)
  // A caller that never asks for `started` must not crash the process; `main` asks.
  started.catch(() => {})
  return { started, listen: () => listen(state), drain: (options) => drainApp(state, started, options) }
}

const toFrame = (state: AppState, features: readonly Feature[], { clusterMetrics, console = installedConsole() }: Overrides): Frame => ({
  config: state.config,
  log: state.background.base.log,
  access: state.loggers.access,
  metrics: state.background.base.metrics,
  features,
  level: state.background.base.level,
  records: state.records,
  clientAddress: clientAddressOf(state.config.trustedProxies),
  edgeHeaders: edgeHeadersOf(state.config),
  clientCountry: clientCountryOf(state.config.trustedProxies),
  running: () => state.planes,
  draining: () => state.draining,
  overload: state.overload,
  health: createHealth({
    config: state.config,
    running: () => state.planes,
    draining: () => state.draining,
    tls: state.tls,
    waitingFor: () => state.waitingFor,
  }),
  console,
  clusterMetrics: clusterMetrics ?? null,
})

async function start(state: AppState, features: readonly Feature[], overrides: Overrides): Promise<StartedApp> {
  const { mode = interactive, prepared, migrations } = overrides
  const onPhase = (waitingFor: string) => void (state.waitingFor = waitingFor)
  const options = { features, mode, records: state.records, prepared, migrations, onPhase }
  const opened = await openBackground(state.background, options)
  const planes = openPlanes({ ...opened, features, loggers: state.loggers })
  state.planes = planes
  startBackground(state.background, opened, options)
  await Promise.race([planes.snapshot.contacted, aborted(state.background.stopping.signal)])
  return { deps: planes.deps, provisioned: opened.provisioned, snapshot: planes.snapshot }
}

const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, 'abort'))

async function listen({ server, management, config: { host, port, managementPort } }: AppState): Promise<Ports> {
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
