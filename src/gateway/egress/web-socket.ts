import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'

/** A client's request to go on as a WebSocket, which was not answered yet. */
export interface Upgrade {
  readonly req: IncomingMessage
  readonly socket: Duplex
  /** The bytes that came behind the request. */
  readonly head: Buffer
}

/** The events of an open WebSocket. */
export interface SocketEvents {
  message(data: Buffer, isBinary: boolean): void
  pong(): void
  /** Called once, last. 1005 and 1006: the other side gave no code. */
  closed(code: number, reason: string): void
}

/** The way of a message to the other side. Null: there is room for another one; else it resolves when the other side has taken this one. */
export type Taken = Promise<void> | null

/** An open WebSocket, from either side. */
export interface OpenSocket {
  /** Sends a message. A closed socket sends no more. */
  send(message: string | Uint8Array): Taken
  /** Returns true if the other side has taken a message since the last call, or none waits for it. */
  takes(): boolean
  /** Reads no more, so that the other side has to wait. */
  pause(): void
  resume(): void
  ping(): void
  /** Ends the connection in order. */
  close(code: number, reason: string): void
  /** Ends it at once. */
  terminate(): void
  /** Hears its events; a socket that was asked for reads nothing before that. */
  listen(events: SocketEvents): void
}

/** More bytes than these wait for no reader. */
const mostWaiting = 1024 * 1024
/** The longest reason that a close frame can hold, in bytes. */
const longestReason = 123

interface AcceptOptions {
  readonly maxMessageBytes: number
  /** Chooses one of the subprotocols that a client offers; null: none. */
  readonly protocol: (offered: readonly string[]) => string | null
}

/** Accepts a request; `headers` are of the answer, as lines. Null: the client left, or its request was malformed and is answered so. */
export type AcceptSocket = (upgrade: Upgrade, headers: readonly string[]) => OpenSocket | null

/** Returns what accepts requests for a WebSocket. Messages are not compressed: each would cost memory for as long as it is open. */
export function acceptSockets({ maxMessageBytes, protocol }: AcceptOptions): AcceptSocket {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => protocol([...offered]) ?? false,
  })
  const lines = new WeakMap<IncomingMessage, readonly string[]>()
  server.on('headers', (headers, req) => void headers.push(...(lines.get(req) ?? [])))
  return ({ req, socket, head }, headers) => {
    lines.set(req, headers)
    let accepted: OpenSocket | null = null
    server.handleUpgrade(req, socket, head, (ws) => {
      accepted = opened(ws)
    })
    return accepted
  }
}

/** Returns a connection of `ws` as it is used here. */
export function opened(ws: WebSocket): OpenSocket {
  // A fault of the wire is followed by `close`, which is heard.
  ws.on('error', () => {})
  let hasTaken = false
  const noteTaken = (): void => void (hasTaken = true)
  return {
    send(message) {
      if (ws.readyState !== WebSocket.OPEN) return null
      if (ws.bufferedAmount < mostWaiting) {
        ws.send(message, noteTaken)
        return null
      }
      return new Promise((resolve) => {
        ws.send(message, () => {
          noteTaken()
          resolve()
        })
      })
    },
    takes() {
      const takes = hasTaken || ws.bufferedAmount === 0
      hasTaken = false
      return takes
    },
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    ping() {
      if (ws.readyState === WebSocket.OPEN) ws.ping()
    },
    close: (code, reason) => ws.close(code, shortReason(reason)),
    terminate: () => ws.terminate(),
    listen(events) {
      ws.on('message', (data, isBinary) => {
        if (Buffer.isBuffer(data)) events.message(data, isBinary)
      })
      ws.on('pong', () => events.pong())
      ws.on('close', (code, reason) => events.closed(code, reason.toString()))
      ws.resume()
    },
  }
}

function shortReason(reason: string): string {
  let short = reason.slice(0, longestReason).toWellFormed()
  while (Buffer.byteLength(short) > longestReason) short = short.slice(0, -1).toWellFormed()
  return short
}
