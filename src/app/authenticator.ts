import type { IncomingHttpHeaders } from 'node:http'
import type { Deps } from './deps.ts'
import type { Actor, CallerKind, Route } from './route.ts'

/** Finds the callers of the control plane by one kind of credential. */
export interface Authenticator {
  /** As routes name it in `callers`. */
  readonly kind: Exclude<CallerKind, 'key'>
  /**
   * Finds the caller; null: the request shows no credential of this kind. Throws AB05 for one that is not good, which counts against the
   * address, and AB03 for a caller who may not do this in this way.
   */
  authenticate(asked: AskedBy, deps: Deps): Promise<KnownCaller | null>
}

/** The request, before its body is read. */
export interface AskedBy {
  readonly route: Route
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** The value of one of our own headers, `x-service-…` or an alias, by its short name. */
  readonly ownHeader: (name: string) => string | undefined
  readonly clientAddress: string
  /** The request was let in before: only the credential's validity is checked, and it is not renewed. */
  readonly looksOnly?: boolean
}

/** A caller who was found. */
export interface KnownCaller {
  readonly actor: Actor
  /** A `Set-Cookie` for the answer, successful or not; absent: none. */
  readonly cookie?: string
}
