import { toApiError } from '../../lib/errors.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import { ownError, type SocketError } from './error-event.ts'
import type { SocketHandler } from './socket-handler.ts'

/** An open WebSocket with its driver, as it is watched. */
export interface Session {
  readonly socket: OpenSocket
  readonly handler: SocketHandler
  readonly recheck: () => unknown
  readonly openedAt: number
  /** When the last message came, or the last turn ran. */
  heardAt: number
  /** When it was seen first that messages wait for the client and it takes none; null: it takes them, or none waits. */
  stalledAt: number | null
  /** Pings without an answer, in a row. */
  misses: number
}

/** The bounds of one WebSocket in time. */
export interface SessionBounds {
  readonly socketIdleMs: number
  readonly socketMaxMs: number
}

/** A client that leaves so many pings in a row unanswered has gone. */
const mostMisses = 2

const tooOld: SocketError = {
  status: 400,
  error: {
    type: 'invalid_request_error',
    code: 'websocket_connection_limit_reached',
    message: 'The connection has been open for as long as it may be. Open another one.',
    param: null,
  },
}

/** Listens to a connection. `closed` is called when it has ended. */
export function followSession(parts: Pick<Session, 'socket' | 'handler' | 'recheck'>, closed: () => void): Session {
  const { socket, handler } = parts
  const now = performance.now()
  const session: Session = { ...parts, openedAt: now, heardAt: now, stalledAt: null, misses: 0 }
  socket.listen({
    message(data, isBinary) {
      session.heardAt = performance.now()
      session.misses = 0
      handler.message(data, isBinary)
    },
    pong: () => void (session.misses = 0),
    closed(code) {
      handler.closed(code)
      closed()
    },
  })
  return session
}

/** Looks after a connection: ends one whose client has gone, that is idle or too old, or whose key is good no longer. */
export function watchSession(session: Session, { socketIdleMs, socketMaxMs }: SessionBounds): void {
  const { socket, handler, openedAt } = session
  const now = performance.now()
  if (handler.busy()) session.heardAt = now
  // No sign of life can come while reading is paused.
  session.misses = handler.paused() ? 0 : session.misses + 1
  session.stalledAt = socket.takes() ? null : (session.stalledAt ?? now)
  // Other signs of life do not count for one that takes no message: it may send and never read.
  if (session.misses > mostMisses || (session.stalledAt !== null && now - session.stalledAt > socketIdleMs)) {
    socket.terminate()
    return
  }
  socket.ping()
  if (now - openedAt > socketMaxMs) handler.stop({ code: 1000, reason: 'The connection was open for as long as it may be.' }, tooOld)
  else if (now - session.heardAt > socketIdleMs) handler.stop({ code: 1000, reason: 'The connection was idle.' }, null)
  else void shutOut(session)
}

/** Ends a connection whose key was revoked meanwhile, or has expired: each of its turns would be refused. Resolves to whether it did. */
export async function shutOut({ handler, recheck }: Pick<Session, 'handler' | 'recheck'>): Promise<boolean> {
  try {
    await recheck()
    return false
  } catch (thrown) {
    const error = toApiError(thrown)
    if (error.status !== 401 && error.status !== 403) return false
    handler.stop({ code: 1008, reason: error.message }, ownError(error))
    return true
  }
}
