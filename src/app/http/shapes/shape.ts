import type { Context } from '../context.ts'
import type { BodyFormats } from '../routes/body.ts'
import type { RouteResult } from '../routes/perform.ts'

/** How the frame reads the bodies of a route and writes its answers. */
export interface Shape {
  /** The formats that a body may have beside JSON. */
  readonly formats: BodyFormats
  /** The conventions of our own API hold: Idempotency-Key, If-Match, and fields of a body that repeat parts of the path. */
  readonly ours: boolean
  /** Prepares the answer to a request that may yet be refused. */
  begin?(ctx: Context): void
  write(ctx: Context, result: RouteResult): void | Promise<void>
}
