import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Certificate } from './certificates.ts'

/** A forward proxy as companies run them: it opens tunnels, takes requests with whole URLs, and asks for credentials. */
export interface ForwardProxy {
  readonly port: number
  /** The URL for HTTPS_PROXY, without credentials. */
  readonly url: string
  /** All that it was asked: `CONNECT host:port`, `GET http://host:port/path`. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

export interface ForwardProxyOptions {
  /** `user:password`; absent: it asks for none. */
  readonly credentials?: string
  /** TLS to the proxy itself, which answers to the name of the certificate. */
  readonly certificate?: Certificate
  /** In place of all answers to CONNECT. */
  readonly answers?: string
}

/** Starts a proxy on a free port. It resolves every name to this machine. */
export async function startForwardProxy({ credentials, certificate, answers }: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const asked: string[] = []
  const open = new Set<Socket>()
  const admits = (incoming: IncomingMessage) =>
    credentials === undefined || incoming.headers['proxy-authorization'] === `Basic ${Buffer.from(credentials).toString('base64')}`

  const forward: RequestListener = (incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    if (!admits(incoming)) return void outgoing.writeHead(407, { 'proxy-authenticate': 'Basic realm="proxy"' }).end()
    const url = URL.parse(incoming.url ?? '')
    if (url === null) return void outgoing.writeHead(400).end()
    const { 'proxy-authorization': _, ...headers } = incoming.headers
    const sent = request({ host: '127.0.0.1', port: url.port, path: url.pathname + url.search, method: incoming.method, headers })
    sent.on('response', (answer) => answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers)))
    sent.on('error', () => outgoing.writeHead(502).end())
    return void incoming.pipe(sent)
  }

  const server = certificate === undefined ? createServer(forward) : createTlsServer(certificate, forward)
  server.on('connection', (socket: Socket) => open.add(socket))
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url}`)
    socket.on('error', () => {})
    if (answers !== undefined) return void socket.end(answers)
    if (!admits(incoming)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n')
    const upstream = connect(Number(/:(\d+)$/.exec(incoming.url ?? '')?.[1]), '127.0.0.1')
    open.add(upstream)
    upstream.on('error', () => socket.destroy())
    return void upstream.on('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nvia: 1.1 proxy\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: certificate === undefined ? `http://127.0.0.1:${port}` : `https://proxy.test:${port}`,
    asked,
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
