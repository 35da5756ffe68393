import type { OpenSocket } from '../egress/web-socket.ts'
import type { SocketError } from './error-event.ts'
import { type Flow, flowOf } from './flow.ts'

/** The two directions of a relay. A side is not read while the other one does not keep up. */
export interface RealtimeLines {
  readonly toClient: (text: string) => void
  readonly toProvider: (text: string) => void
  /** Sends the client the event of an error. */
  readonly fail: (error: SocketError) => void
  /** Returns true while the client is not read. */
  readonly held: () => boolean
  /** Stops the client, or lets it go on. */
  readonly holdClient: (holds: boolean) => void
  /** Stops the provider, and lets it go on. */
  readonly steps: Flow['steps']
}

export function linesBetween(socket: OpenSocket, upstream: OpenSocket): RealtimeLines {
  const [client, provider] = [flowOf(socket), flowOf(upstream)]
  const toClient = (text: string): void => provider.until(socket.send(text))
  return {
    toClient,
    toProvider: (text) => client.until(upstream.send(text)),
    fail: ({ error }) => toClient(JSON.stringify({ type: 'error', error })),
    held: client.held,
    holdClient: (holds) => client.hold(holds),
    steps: provider.steps,
  }
}
