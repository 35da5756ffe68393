import type { IncomingMessage, Server } from 'node:http'
import type { Config } from '../../config/config.ts'
import type { EmbeddedDatabase } from '../database/embedded/embedded.ts'
import type { Deps } from '../deps.ts'
import type { Foundation } from './open-database.ts'
import type { LiveTls } from '../http/listener/tls.ts'
import type { Jobs } from '../jobs.ts'
import type { LiveLevel } from '../level/level.ts'
import type { Loggers } from '../logging/log.ts'
import type { Overload } from '../http/listener/overload.ts'
import type { Planes } from './open-planes.ts'
import type { Provisioned } from './provision.ts'
import type { Records } from '../level/lazy-release-table.ts'

/** What the database had to be there for. */
export interface Started {
  readonly deps: Deps
  /** The first keys, when this start made them. */
  readonly provisioned: Provisioned | null
  readonly snapshot: Planes['snapshot']
}

export interface DrainOptions {
  /** Without `DRAIN_DELAY`, and without waiting for what runs. */
  readonly now?: boolean
}

/** Parts of an app that come one after the other, and are closed in the other direction. */
export interface Parts {
  readonly config: Config
  readonly loggers: Loggers
  readonly base: Omit<Deps, 'orm' | 'vault' | 'level' | 'journal'> & { readonly level: LiveLevel }
  readonly records: Records
  readonly server: Server
  /** For probes and metrics; null: they are on the one port. */
  readonly management: Server | null
  /** Null: the port speaks plain HTTP. */
  readonly tls: LiveTls | null
  readonly connections: ReadonlySet<IncomingMessage['socket']>
  readonly stopping: AbortController
  readonly overload: Overload
  waitingFor: string
  draining: boolean
  embedded: EmbeddedDatabase | null
  foundation: Foundation | null
  planes: Planes | null
  jobs: Jobs | null
  /** Ends soon after `stopping`: the level is followed, backfills run. */
  following: Promise<unknown> | null
}
