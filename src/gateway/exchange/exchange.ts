import type { IncomingMessage, ServerResponse } from 'node:http'

/** One request of a caller and the answer it waits for, as the frame hands them over: raw in, raw out. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** UUID v7; also the id of the log row. */
  readonly requestId: string
  /** `performance.now()` when the request line arrived. */
  readonly startedAt: number
  readonly clientAddress: string
  /** The headers of every answer to it, flat, whoever answers. */
  readonly edgeHeaders: readonly string[]
}
