import { connect, type Socket } from 'node:net'

/** The events on a connection, by answer. Times are `performance.now()`. */
export interface ResponseListener {
  onBody?(at: number): void
  onEnd(status: number, at: number): void
  onError(error: Error): void
}

/** One keep-alive connection that sends fixed bytes and reads answers; it has just enough HTTP to find their ends. */
export interface Connection {
  send(request: Buffer): void
  close(): void
}

interface Reading {
  phase: 'head' | 'counted' | 'size' | 'chunk' | 'trailer'
  left: number
  status: number
  started: boolean
  kept: Buffer | null
}

/** Opens a connection to a port of this machine. */
export function open(port: number, listener: ResponseListener): Connection {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const reading: Reading = { phase: 'head', left: 0, status: 0, started: false, kept: null }
  let closing = false
  socket.on('data', (data) => take(reading, data, listener))
  socket.on('error', (error) => closing || listener.onError(error))
  socket.on('close', () => closing || listener.onError(new Error('the connection was closed')))
  return {
    send: (request) => void socket.write(request),
    close() {
      closing = true
      socket.destroy()
    },
  }
}

function take(reading: Reading, data: Buffer, listener: ResponseListener): void {
  const bytes = reading.kept === null ? data : Buffer.concat([reading.kept, data])
  reading.kept = null
  let at = 0
  while (at < bytes.length) {
    const next = step(reading, { bytes, at, listener })
    if (next === -1) {
      reading.kept = bytes.subarray(at)
      return
    }
    at = next
  }
}

interface Position {
  readonly bytes: Buffer
  readonly at: number
  readonly listener: ResponseListener
}

/** Reads one element and gives where it ends; -1 when it is not complete yet. */
function step(reading: Reading, position: Position): number {
  const { bytes, at, listener } = position
  if (reading.phase === 'head') return readHead(reading, position)
  if (reading.phase === 'size') return readSize(reading, bytes, at)
  if (reading.phase === 'trailer') return readTrailer(reading, position)
  const taken = Math.min(reading.left, bytes.length - at)
  reading.left -= taken
  if (!reading.started && taken > 0) {
    reading.started = true
    listener.onBody?.(performance.now())
  }
  if (reading.left === 0 && reading.phase === 'counted') end(reading, listener)
  else if (reading.left === 0) reading.phase = 'size'
  return at + taken
}

function readHead(reading: Reading, { bytes, at, listener }: Position): number {
  const split = bytes.indexOf('\r\n\r\n', at)
  if (split === -1) return -1
  const head = bytes.toString('latin1', at, split)
  reading.status = Number(head.slice(9, 12))
  reading.started = false
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) reading.phase = 'size'
  else {
    reading.phase = 'counted'
    reading.left = Number(length)
    if (reading.left === 0) end(reading, listener)
  }
  return split + 4
}

function readSize(reading: Reading, bytes: Buffer, at: number): number {
  const line = bytes.indexOf('\r\n', at)
  if (line === -1) return -1
  const text = bytes.toString('latin1', at, line)
  // The line end of the chunk before.
  if (text === '') return line + 2
  reading.left = parseInt(text, 16)
  reading.phase = reading.left === 0 ? 'trailer' : 'chunk'
  return line + 2
}

function readTrailer(reading: Reading, { bytes, at, listener }: Position): number {
  const line = bytes.indexOf('\r\n', at)
  if (line === -1) return -1
  if (line === at) end(reading, listener)
  return line + 2
}

function end(reading: Reading, listener: ResponseListener): void {
  reading.phase = 'head'
  listener.onEnd(reading.status, performance.now())
}
