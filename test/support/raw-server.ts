import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { createServer as createTlsServer } from 'node:tls'

/** A server of raw bytes: it reports every connection and answers by the script. */
export interface RawServer {
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** Connections accepted so far. */
  readonly connections: number
  /** Sockets that are open now. */
  readonly open: ReadonlySet<Socket>
  /** All bytes received, connection by connection. */
  readonly received: readonly string[]
  close(): Promise<void>
}

export interface RawServerOptions {
  readonly host?: string
  readonly port?: number
  readonly tls?: TlsOptions
}

/** Called once per connection, with the bytes so far in `received()`. */
export type RawScript = (socket: Socket, index: number) => void

/** Starts a raw server on a free port. */
export async function startRawServer(script: RawScript, options: RawServerOptions = {}): Promise<RawServer> {
  const host = options.host ?? '127.0.0.1'
  const open = new Set<Socket>()
  const received: string[] = []
  const accept = (socket: Socket) => {
    const index = received.push('') - 1
    socket.on('data', (chunk: Buffer) => {
      received[index] += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    script(socket, index)
  }
  const server: Server = options.tls === undefined ? createServer(accept) : createTlsServer(options.tls, accept)
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('tlsClientError', () => {})
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    get connections() {
      return connections
    },
    open,
    received,
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A script that waits for the end of each request's header block and then calls back. */
export function onRequest(answer: (socket: Socket, count: number) => void): RawScript {
  return (socket) => {
    let pending = ''
    let count = 0
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('latin1')
      for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
        pending = pending.slice(end + 4)
        answer(socket, count)
        count += 1
      }
    })
  }
}

/** A script that answers each request (without a body) with these bytes. */
export function answering(bytes: string | Buffer): RawScript {
  return onRequest((socket) => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes))
}

/** A whole answer with a content-length. */
export function httpAnswer(body: string, extra = '', status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\n${extra}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
