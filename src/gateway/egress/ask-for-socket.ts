import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { Connect } from './connect.ts'
import type { EgressCall, EgressHandler, UpgradeRequest } from './egress.ts'
import { opened as toOpen, type OpenSocket } from './web-socket.ts'

interface Address {
  readonly url: string
  /** Opens a guarded connection. */
  readonly connect: Connect
  readonly fail: (error: Error) => void
}

interface Asking {
  readonly handler: EgressHandler
  readonly opened: (socket: OpenSocket) => void
}

/** The largest message of a provider. */
const mostBytes = 16 * 1024 * 1024
/** More of a refusal is not read. */
const longestRefusal = 1024 * 1024

/** Asks a provider for a WebSocket. Its connection is that of the guard, so that no other address is reached. */
export function askForSocket(
  { url, connect, fail }: Address,
  { headers, timeoutMs }: UpgradeRequest,
  { handler, opened }: Asking,
): EgressCall {
  let [isOver, ws]: [boolean, WebSocket | null] = [false, null]
  let connecting: Socket | null = null
  const end = (error: Error): void => {
    if (isOver) return
    isOver = true
    fail(error)
  }
  const ask = (socket: Duplex): void => {
    ws = new WebSocket(url.replace(/^http/, 'ws'), {
      headers,
      createConnection: () => socket,
      perMessageDeflate: false,
      maxPayload: mostBytes,
      handshakeTimeout: timeoutMs,
      followRedirects: false,
    })
    ws.on('error', end)
    ws.on('upgrade', ({ rawHeaders }) => {
      if (isOver) return
      isOver = true
      if (ws === null) return
      const open = toOpen(ws)
      ws.once('open', () => {
        // No message may come before it has a listener.
        open.pause()
        opened(open)
        handler.onHeaders(101, rawHeaders, 'Switching Protocols')
        handler.onEnd([])
      })
    })
    ws.on('unexpected-response', (_req, res) => {
      if (isOver) return
      isOver = true
      passOn(res, handler)
    })
  }
  connecting = connect((error, socket) => {
    connecting = null
    if (error !== null) end(error)
    else if (isOver) socket?.destroy()
    else if (socket !== null) ask(socket)
  })
  return {
    abort() {
      isOver = true
      connecting?.destroy()
      ws?.terminate()
    },
    pause() {},
    resume() {},
  }
}

/** Gives an answer other than 101 to the handler. */
function passOn(res: IncomingMessage, handler: EgressHandler): void {
  let size = 0
  handler.onHeaders(res.statusCode ?? 0, res.rawHeaders, res.statusMessage ?? '')
  res.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= longestRefusal) handler.onData(chunk)
  })
  res.on('error', (error) => handler.onError(error))
  res.on('end', () => handler.onEnd([]))
}
