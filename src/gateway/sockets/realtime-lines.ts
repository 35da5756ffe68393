import type { OpenSocket, Taken } from '../egress/web-socket.ts'
import type { SocketError } from './error-event.ts'
import { type Flow, flowOf } from './flow.ts'

/** The two directions of a relay. A side is not read while the other one does not keep up. */
export interface RealtimeLines {
  readonly toClient: (text: string) => void
  readonly toProvider: (text: string) => void
  /** Sends the client the event of an error. Neither side is read until it is taken: each can cause one after the other. */
  readonly fail: (error: SocketError) => Taken
  /** Returns true while the client is not read. */
  readonly held: () => boolean
  /** Stops the client, or lets it go on. */
  readonly holdClient: (holds: boolean) => void
  /** Stops the provider, or lets it go on. */
  readonly holdProvider: (holds: boolean) => void
  readonly steps: Flow['steps']
}

export function linesBetween(socket: OpenSocket, upstream: OpenSocket): RealtimeLines {
  const [client, provider] = [flowOf(socket), flowOf(upstream)]
  const toClient = (text: string): void => provider.until(socket.send(text))
  function fail({ error }: SocketError): Taken {
    const taken = socket.send(JSON.stringify({ type: 'error', error }))
    provider.until(taken)
    client.until(taken)
    return taken
  }
  return {
    toClient,
    toProvider: (text) => client.until(upstream.send(text)),
    fail,
    held: client.held,
    holdClient: (holds) => client.hold(holds),
    holdProvider: (holds) => provider.hold(holds),
    steps: () => provider.steps(),
  }
}
