import type { IncomingMessage, Server } from 'node:http'
import { connectionEvent } from './connections.ts'

type Socket = IncomingMessage['socket']

const checkEveryMs = 30_000

/** The bytes that a connection had moved at the last look. */
interface Progress {
  read: number
  written: number
  request: IncomingMessage | null
}

/**
 * Ends connections that have not moved for a whole check: a body that stopped coming, or an answer that is not read. No chunk has a timer. A
 * connection that waits for us, with an upload that we have paused or an answer not yet written, is left alone.
 */
export function watchStalls(server: Server, everyMs: number = checkEveryMs): void {
  const connections = new Map<Socket, Progress>()
  server.on(connectionEvent(server), (socket: Socket) => {
    connections.set(socket, { read: 0, written: 0, request: null })
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', (req) => {
    const progress = connections.get(req.socket)
    if (progress !== undefined) progress.request = req
  })
  const timer = setInterval(() => {
    for (const [socket, progress] of connections) check(server, socket, progress)
  }, everyMs)
  timer.unref()
  server.on('close', () => clearInterval(timer))
}

function check(server: Server, socket: Socket, progress: Progress): void {
  const { request } = progress
  const awaitsBody = request !== null && !request.complete && request.readableFlowing === true
  const awaitsReader = socket.writableLength > 0
  const moved = socket.bytesRead !== progress.read || socket.bytesWritten !== progress.written
  progress.read = socket.bytesRead
  progress.written = socket.bytesWritten
  if (moved) return
  if (awaitsReader) socket.destroy()
  else if (awaitsBody)
    server.emit('clientError', Object.assign(new Error('The body stopped coming.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
}
