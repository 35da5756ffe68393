import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy on 127.0.0.1 that can fail on command, between a client and a server that must not be touched. */
export interface TcpProxy {
  readonly port: number
  /** Breaks all connections and refuses new ones. */
  cut(): void
  /** Keeps connections open and blocks all bytes; new ones hang too. */
  freeze(): void
  /** Serves again; frozen connections are broken. */
  heal(): void
  stop(): Promise<void>
}

/** Starts a proxy to this address. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'frozen' = 'open'
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
  }
  const server = createServer((client) => {
    keep(client)
    if (state === 'cut') client.resetAndDestroy()
    if (state !== 'open') return
    const upstream = connect(target)
    keep(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  const breakAll = () => sockets.forEach((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut'
      breakAll()
    },
    freeze() {
      state = 'frozen'
      for (const socket of sockets) socket.unpipe().pause()
    },
    heal() {
      state = 'open'
      breakAll()
    },
    stop() {
      breakAll()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
