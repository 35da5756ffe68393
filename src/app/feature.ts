import type { EntitySchema } from '@mikro-orm/core'
import type { FeatureFlag } from '../config/config.ts'
import { isBuiltWith } from '../config/version.ts'
import type { Deletion } from '../gateway/ports/batches.ts'
import type { McpTokens } from '../gateway/ports/mcp.ts'
import type { Authenticator } from './authenticator.ts'
import type { Deps } from './deps.ts'
import type { MountedApp } from './mounted-app.ts'
import type { Protocol } from './protocol.ts'
import type { Route } from './route.ts'
import type { Views } from './snapshot/view.ts'

/** A module of the control plane: one folder, one exported value. */
export interface Feature {
  readonly id: string
  /** The release that brings it; mounted only at or above that level. */
  readonly since: string
  /** The later releases whose recorded changes of this feature it has. */
  readonly changes?: readonly string[]
  /** A sentence about the part that is not built yet; the notes then state that this build lacks the feature. */
  readonly incomplete?: string
  /** Absent: always on. `OFF` removes its routes and jobs. */
  readonly flag?: FeatureFlag
  readonly requires?: readonly string[]
  /** Every scope that its routes ask for. */
  readonly permissions: readonly string[]
  readonly entities: readonly EntitySchema[]
  readonly routes: readonly Route[]
  /** Files that its signed links lead to. */
  readonly files?: readonly FileRoute[]
  /** The protocols that it speaks, with paths of their own. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the type of a protocol's answers is private to the protocol
  readonly protocols?: readonly Protocol<any>[]
  /** Applications of libraries, which answer requests by themselves. */
  readonly apps?: readonly MountedApp[]
  readonly jobs?: readonly Job[]
  /** Reads the costs of jobs before the provider deletes them. */
  readonly settleBefore?: (deps: Deps, deletion: Deletion) => Promise<void>
  /** Renews tokens for servers of MCP. Called once. */
  readonly mcpTokens?: (deps: Deps) => McpTokens
  /** How callers of other kinds than keys are known. They act while the feature is on. */
  readonly authenticators?: readonly Authenticator[]
  /** The views that the gateway's snapshot reads, by the method of the port that asks for each. They exist at every level. */
  readonly views?: Partial<Views>
}

/** A file behind a link that is its own credential: no key is asked for, no transaction is held open, and the API description has it not. */
export interface FileRoute {
  /** Below `/v1`, Koa style. */
  readonly path: `/${string}`
  /** Finds the caller by the link alone, and the file. Throws the errors that an answer can be. */
  open(link: FileLink, deps: Deps): Promise<FileAnswer>
}

/** The parameters of a link: of its path and of its query. */
export type FileLink = Readonly<Record<string, string | undefined>>

/** A file on its way to the caller. */
export interface FileAnswer {
  readonly organisationId: string
  readonly name: string
  readonly type: string
  readonly length: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Background work; one process of all runs it at a time (advisory lock). */
export interface Job {
  readonly name: string
  /** A node-cron pattern. */
  readonly every: string
  /**
   * True: it deletes, by age or end, data that cannot be recovered. Such a job runs only while the clocks of the process and of the database agree,
   * and `deps.clock` is then that of the database.
   */
  readonly irreversible: boolean
  /** `ending` aborts when the process stops or has lost its lock; absent: the run is never ended early. */
  run(deps: Deps, ending?: AbortSignal): Promise<void>
}

export const feature = (definition: Feature): Feature => definition

/** The tables of this build: those of features that come with a later release are in none of its migrations. */
export const entitiesOf = (features: readonly Feature[]): readonly EntitySchema[] =>
  features.flatMap(({ since, entities }) => (isBuiltWith(since) ? entities : []))

/** The views of all features. */
export const viewsOf = (features: readonly Feature[]): Partial<Views> => Object.assign({}, ...features.map(({ views }) => views))
