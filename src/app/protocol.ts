import type { EntityManager } from '@mikro-orm/postgresql'
import type { ApiError } from '../lib/errors.ts'
import type { Deps } from './deps.ts'
import type { Actor, Route } from './route.ts'

/**
 * A protocol that a standard of others describes, such as SCIM. It has credentials, answers and errors of its own, and no place in our API
 * description. Its routes run as all routes do: in one transaction of the tenant, with a row of the trail.
 */
export interface Protocol<Answer = unknown> {
  /** The paths from the origin's root below which its routes are. Letters count in their case. */
  readonly prefixes: readonly `/${string}`[]
  /** The prefixes below which all paths are its own: unknown ones are refused in its own way. */
  readonly whole: readonly `/${string}`[]
  /** Paths below a prefix. */
  readonly routes: readonly Route[]
  /** The media types of its bodies, in words. */
  readonly takes: string
  /** Finds whose a bearer token is. Throws AB05 for one that is not good, which counts against the address. */
  identify(token: string, deps: Deps): Promise<Actor>
  answer(answer: Answer): ProtocolAnswer
  refuse(error: ApiError, requestId: string): ProtocolAnswer
  /** Notes a write in its transaction. */
  written?(heard: ProtocolRequest, em: EntityManager, deps: Deps): Promise<void>
  /** Called for every refused request of a known caller, before the answer goes out. Its failures are logged. */
  refused?(heard: ProtocolRequest, deps: Deps): Promise<void>
}

/** A request that has its answer. */
export interface ProtocolRequest {
  readonly actor: Actor
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
  /** As it was sent; undefined: none was read. */
  readonly body: unknown
  readonly answer: ProtocolAnswer
  readonly requestId: string
}

/** The answer that goes out. */
export interface ProtocolAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly type: string
  /** Null: no body. */
  readonly body: Readonly<Record<string, unknown>> | null
}
