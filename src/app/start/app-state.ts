import type { IncomingMessage, Server } from 'node:http'
import type { Config } from '../../config/config.ts'
import type { Deps } from '../deps.ts'
import type { LiveTls } from '../http/listener/tls.ts'
import type { Loggers } from '../logging/log.ts'
import type { Overload } from '../http/listener/overload.ts'
import type { Background } from './background.ts'
import type { Planes } from './open-planes.ts'
import type { FirstTenant } from './provision.ts'
import type { Records } from '../level/lazy-release-table.ts'

/** Values available only after the database is open. */
export interface StartedApp {
  readonly deps: Deps
  /** The first keys, when this start made them. */
  readonly provisioned: FirstTenant | null
  readonly snapshot: Planes['snapshot']
}

export interface DrainOptions {
  /** Without `DRAIN_DELAY`, and without waiting for work under way. */
  readonly now?: boolean
}

/** The state of one process: the parts that it opened, in the order of the start. */
export interface AppState {
  readonly config: Config
  readonly loggers: Loggers
  readonly background: Background
  readonly records: Records
  readonly server: Server
  /** For probes and metrics; null: they are on the one port. */
  readonly management: Server | null
  /** Null: the port speaks plain HTTP. */
  readonly tls: LiveTls | null
  readonly connections: ReadonlySet<IncomingMessage['socket']>
  readonly overload: Overload
  waitingFor: string
  draining: boolean
  planes: Planes | null
}
