import type { CallHead } from '../call.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { InnerAnswer, InnerRequest } from '../exchange/inner-exchange.ts'
import type { SharedBytes } from './shared-bytes.ts'
import type { SocketError } from './error-event.ts'

/** The code and the reason with which a connection ends. */
export interface SocketClose {
  readonly code: number
  readonly reason: string
}

/** One accepted connection. */
export interface SocketSession {
  /** Of its handshake. */
  readonly head: CallHead
  readonly socket: OpenSocket
  readonly perform: (request: InnerRequest) => Promise<InnerAnswer>
  /** Throws, or rejects, when the caller would not be let in any longer. */
  readonly recheck: () => unknown
  /** Throws when the process refuses new work for a moment. */
  readonly demandRoom: () => void
  /** True while responses are kept for continuing, in every process. */
  readonly storesResponses: boolean
  readonly maxJsonBytes: number
  /** The room for conversations. */
  readonly keptBytes: SharedBytes
  /** The room for messages that wait for a turn. */
  readonly waitingBytes: SharedBytes
}

/** The driver of one protocol on one connection. */
export interface SocketHandler {
  message(data: Buffer, isBinary: boolean): void
  /** Returns true while a turn runs or waits. */
  busy(): boolean
  /** Returns true while reading from the client is paused, so that no sign of life can come. */
  paused(): boolean
  /** Takes no more turns, and closes the connection after the last one. `error`: an event before that. */
  stop(close: SocketClose, error: SocketError | null): void
  closed(code: number): void
}
