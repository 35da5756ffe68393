import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import type { Tokens, FailedCredentials } from '../../gateway/ports/callers.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { RecordRefusal } from '../audit/refused-tokens.ts'
import type { Deps } from '../deps.ts'
import type { Feature } from '../feature.ts'
import type { HealthReport } from '../health-report.ts'
import type { LiveLevel } from '../level/level.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Records } from '../level/lazy-release-table.ts'
import type { ConsoleSource } from './console-files.ts'
import type { Overload } from './listener/overload.ts'
import type { LiveSnapshot } from '../snapshot/snapshot.ts'

/** The parts of the process that the HTTP side uses. It listens before the database is reachable, so parts that need the database may be missing. */
export interface Frame {
  readonly config: Config
  readonly log: Logger
  readonly access: Logger
  readonly metrics: Metrics
  /** In the order of the table of contents, mounted or not. */
  readonly features: readonly Feature[]
  readonly level: LiveLevel
  readonly records: Records
  readonly clientAddress: (req: IncomingMessage) => string
  /** The headers of every answer to a request, flat. */
  readonly edgeHeaders: (req: IncomingMessage) => readonly string[]
  /** Returns the client's country, in two letters, as a trusted proxy states it. */
  readonly clientCountry: (req: IncomingMessage) => string | null
  /** Null until the database is there, migrated and opened. */
  running(): FrameServices | null
  draining(): boolean
  readonly overload: Overload
  health(): Promise<HealthReport>
  readonly console: ConsoleSource
  /** The figures of all workers together; null when this process is the only one. */
  readonly clusterMetrics: (() => Promise<string>) | null
}

/** The parts of the process that need the database. */
export interface FrameServices {
  readonly deps: Deps
  readonly snapshot: LiveSnapshot
  readonly tokens: Tokens
  readonly failures: FailedCredentials
  /** Counts the requests without a credential, such as sign-ins, by their address. */
  readonly openCalls: FailedCredentials
  readonly recordRefusal: RecordRefusal
  /** Null when this process has not the role `gateway`. */
  readonly gateway: Gateway | null
  /** The folder in which log records wait for the database, and why it cannot be written; null with neither of the roles `gateway` and `control`. */
  readonly journal: { readonly directory: string; fault(): string | null } | null
  /** The limits of the data plane; null: this process counts none. */
  readonly limits: { away(): boolean } | null
}
