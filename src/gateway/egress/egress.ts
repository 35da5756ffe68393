import type { IncomingHttpHeaders } from 'node:http'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { OpenSocket } from './web-socket.ts'
import type { HostSource } from './guard.ts'

/**
 * The only code that opens sockets to hosts named by data. Checks literal and resolved addresses, pins the connection to the
 * checked address, follows no redirect, never reaches a metadata address.
 */
export interface Egress {
  /**
   * Checks a URL and returns the origin to send to. Throws (rejects with) ApiError `blocked_host` naming the field `param`. Hosts in data must be
   * allowed by ALLOWED_CUSTOM_HOSTS. Synchronous for an origin checked before; the addresses are checked again at every new connection.
   */
  origin(url: string, param: string, named?: HostSource): MaybePromise<EgressOrigin>
  /** A small exchange of our own (token endpoints, log stores), with an answer of at most 256 KB by default; no redirects. */
  exchange(request: SmallRequest): Promise<SmallResponse>
  /** Returns whether the host of a URL can be looked up, and is one that requests may go to. Never rejects, and asks only the name server. */
  resolves(url: string): Promise<boolean>
  /** The same egress for the work of an organisation, which has a share of its connections. */
  ownedBy(organisationId: string): Egress
  /** Ends all connections; pending requests get their error. */
  close(): Promise<void>
}

/** A checked origin with its connection pool. */
export interface EgressOrigin {
  /** `https://api.openai.com` */
  readonly origin: string
  /** The base path of the URL that was checked, without a trailing slash: `/v1`, or empty. */
  readonly basePath: string
  /** Starts one exchange. Never throws; failures reach `onError`, as ApiError where the cause is known. Returns the means to stop it. */
  send(request: EgressRequest, handler: EgressHandler): EgressCall
  /**
   * Asks for a WebSocket on a connection of its own. An answer other than 101 is given to the handler as any answer; on 101 the
   * handler gets its head, `opened` the socket, and then the handler its end.
   */
  upgrade(request: UpgradeRequest, handler: EgressHandler, opened: (socket: OpenSocket) => void): EgressCall
  /** Looks the name up. Rejects with an ApiError when it has no address, or one that is refused. */
  resolve(): Promise<void>
  /** Opens a connection of its own, TLS included, and closes it. Rejects with the same ApiErrors as `send`. */
  reach(): Promise<void>
}

export interface EgressCall {
  /** Destroys the exchange and its socket. The handler is not called after it. */
  abort(): void
  /** Back-pressure on the response body. */
  pause(): void
  resume(): void
}

export interface EgressRequest {
  readonly method: string
  /** Path and query, as they go on the wire. */
  readonly path: string
  /** Flat name, value, name, value … as they go on the wire. */
  readonly headers: readonly string[]
  readonly body: Uint8Array | NodeJS.ReadableStream | null
  /** True if it leaves no state behind although its method may: asked twice, it answers twice. */
  readonly leavesNothing?: boolean
  /** Called when it goes out on a connection; each time, where it is sent again. */
  readonly noteSent?: (() => void) | undefined
  readonly timeouts: { readonly firstByteMs: number; readonly idleMs: number }
}

/** A request for a WebSocket. */
export interface UpgradeRequest {
  /** Path and query, as they go on the wire. */
  readonly path: string
  /** Those beside the handshake's own. */
  readonly headers: Readonly<Record<string, string>>
  /** The longest wait for its answer. */
  readonly timeoutMs: number
}

export interface EgressHandler {
  onInformation?(status: number, rawHeaders: readonly string[]): void
  /** `rawHeaders`: flat name, value … exactly as received (latin1). */
  onHeaders(status: number, rawHeaders: readonly string[], statusMessage: string): void
  onData(chunk: Buffer): void
  onEnd(rawTrailers: readonly string[]): void
  /** ApiError: `upstream_timeout`, `upstream_unreachable`, `upstream_bad_response`, `blocked_host`. */
  onError(error: Error): void
}

export interface SmallRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** A body that is no text, in place of `body`. */
  readonly bytes?: Uint8Array
  readonly timeoutMs: number
  /** When the answer may be longer than 256 KB. */
  readonly maxBytes?: number
  /** Absent: by data. */
  readonly named?: HostSource
  /** The authorities that may sign the certificate of the host, PEM, in place of the usual ones. */
  readonly ca?: string | undefined
  /**
   * Secrets of the request under unsuspicious names of fields. A failure is reported without these and without those under suspicious names, because
   * it ends up in messages.
   */
  readonly secrets?: readonly string[]
  /** Secrets that a success may not repeat either, because it is shown to people; absent: a success is given as it came. */
  readonly hides?: readonly string[]
}

export interface SmallResponse {
  readonly status: number
  /** The headers; those of a failure without the secrets of the request. */
  readonly headers: IncomingHttpHeaders
  /** The bytes; those of a failure, and of a request with `hides`, without the secrets of the request; for a failure the first 64 KB. */
  readonly bytes: Buffer
  /** The bytes as UTF-8. */
  readonly text: string
}
