import type { IncomingMessage, Server } from 'node:http'
import { isTlsServer } from './tls-server.ts'

type Socket = IncomingMessage['socket']

/** The event that brings the sockets on which a server answers. */
export const connectionEvent = (server: Server): 'connection' | 'secureConnection' =>
  isTlsServer(server) ? 'secureConnection' : 'connection'

/** The open connections of a server, from its first on. */
export function followConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on(connectionEvent(server), (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/** A watch on how long the clients of a server have been silent. */
export interface Silence {
  /** Returns true if every client has been silent for a while or waits for an answer, so that a new request is unlikely just now. */
  complete(): boolean
  stop(): void
}

const lookEveryMs = 50
/** Longer than a busy client needs from an answer to its next request, short enough not to delay a stop. */
const silentAfterMs = 500

/** Notes from now on when each connection moved last. */
export function watchSilence(connections: ReadonlySet<Socket>): Silence {
  const seen = new WeakMap<Socket, { readonly bytes: number; readonly at: number }>()
  const look = () => {
    for (const socket of connections) {
      const bytes = socket.bytesRead + socket.bytesWritten
      if (seen.get(socket)?.bytes !== bytes) seen.set(socket, { bytes, at: performance.now() })
    }
  }
  const silent = (socket: Socket) => performance.now() - (seen.get(socket)?.at ?? Infinity) >= silentAfterMs
  const timer = setInterval(look, lookEveryMs)
  look()
  return {
    complete() {
      look()
      return [...connections].every((socket) => awaitsAnswer(socket) || silent(socket))
    },
    stop: () => clearInterval(timer),
  }
}

/** Returns true if an answer to this connection is under way, or still to be written. */
function awaitsAnswer(socket: Socket): boolean {
  const current: unknown = Reflect.get(socket, '_httpMessage')
  return current !== null && current !== undefined
}

const longestWaitMs = 2_000

export interface CloseOptions {
  readonly silence: Silence
  readonly now: boolean
}

/**
 * Closes the port and resolves when the last connection has ended. Idle connections are ended, since they would stay for their whole
 * timeout, but not in the moment after an answer: it may have begun before the drain, without `connection: close`, and the client's
 * next request would meet a closed socket. Node's own `close` makes no such difference, so it waits for such a moment to pass.
 */
export function closeServer(server: Server, { silence, now }: CloseOptions): Promise<void> {
  if (!server.listening) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const from = performance.now()
  const end = () => {
    if (server.listening) server.close(() => resolve())
    else server.closeIdleConnections()
  }
  const timer = setInterval(() => {
    const late = server.listening && performance.now() - from > longestWaitMs
    if (late || silence.complete()) end()
  }, lookEveryMs)
  if (now || silence.complete()) end()
  return promise.finally(() => clearInterval(timer))
}
