import { ApiError } from '../../lib/errors.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { SocketError } from './error-event.ts'
import type { SocketClose } from './socket-handler.ts'

interface EndingOptions {
  readonly socket: OpenSocket
  readonly upstream: OpenSocket
  readonly isBusy: () => boolean
  readonly fail: (error: SocketError) => void
}

/** The end of a session: both sides are closed once its turns have ended. */
export interface SessionEnd {
  /** Ends it with a close, unless it is about to end. `error`: an event before that. */
  stop(close: SocketClose, error: SocketError | null): void
  /** Closes it if it is about to end and no turn runs. */
  settle(): void
  /** Throws when it is about to end. */
  demandOpen(): void
}

export function endOf({ socket, upstream, isBusy, fail }: EndingOptions): SessionEnd {
  let ending: SocketClose | null = null

  function settle(): void {
    if (ending === null || isBusy()) return
    socket.close(ending.code, ending.reason)
    upstream.close(1000, '')
  }

  return {
    stop(close, error) {
      if (ending !== null) return
      ending = close
      if (error !== null) fail(error)
      settle()
    },
    settle,
    demandOpen() {
      if (ending !== null) throw new ApiError('draining', 'The connection is about to end. Open another one.')
    },
  }
}
