import type { MikroORM } from '@mikro-orm/postgresql'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { Journal } from '../gateway/ports.ts'
import type { Egress } from '../gateway/ports/egress.ts'
import type { EventFeed } from './events/event-feed.ts'
import type { LogStore } from './log-store/log-store.ts'
import type { Vault } from './secrets/vault.ts'
import type { Level } from '../release/level.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { OpenSigning } from './secret-managers/open-signing.ts'
import type { ModelCatalogue } from './prices/model-catalogue.ts'

/** The services of the process: one frozen record, built once, no module singletons. */
export interface Deps {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  readonly orm: MikroORM
  readonly vault: Vault
  readonly egress: Egress
  readonly metrics: Metrics
  /** The signing of requests to providers: secrets of external managers, and the identity of the workload. */
  readonly signing: OpenSigning
  /** The level, for behaviour that a release changed: `level.atLeast('1.10.0')`. */
  readonly level: Level
  /** The journal, which takes logs; null before the planes run, and in a process with neither of them. */
  readonly journal: Journal | null
  /** The events of all processes; null before the planes run, and in a process without the role `control`. */
  readonly events: EventFeed | null
  /** The store of bodies of logs; null: the database keeps them. */
  readonly logStore: LogStore | null
  /** Returns the ids of the features that are on now, without those of which this build has only a part. */
  readonly featuresOn: () => readonly string[]
  /** Prices and abilities of models. */
  readonly catalogue: ModelCatalogue
}

export interface Clock {
  /** Epoch milliseconds. */
  now(): number
}
