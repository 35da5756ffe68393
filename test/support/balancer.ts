import { once } from 'node:events'
import { get } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A balancer as clusters have it: it gives each new connection to a process that reports ready, and takes none away. */
export interface Balancer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  isReady(origin: string): boolean
  /** Resolves when the probes succeed. */
  until(origin: string, ready: boolean): Promise<void>
  stop(): Promise<void>
}

const probeEveryMs = 50
const probeTimeoutMs = 1000

interface State {
  readonly origins: readonly string[]
  readonly ready: Set<string>
  readonly sockets: Set<Socket>
  readonly waiting: Set<() => void>
  turn: number
}

/** Starts a balancer on 127.0.0.1 in front of these origins. It uses only their /readyz. */
export async function startBalancer(origins: readonly string[]): Promise<Balancer> {
  const state: State = { origins, ready: new Set(), sockets: new Set(), waiting: new Set(), turn: 0 }
  const server = createServer((client) => serve(state, client))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const probes = origins.map((origin) => setInterval(() => void probe(state, origin), probeEveryMs))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isReady: (origin) => state.ready.has(origin),
    until: (origin, ready) => until(state, () => state.ready.has(origin) === ready),
    async stop() {
      for (const timer of probes) clearInterval(timer)
      server.close()
      for (const socket of state.sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function until({ waiting }: State, condition: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = () => {
    if (!condition()) return
    waiting.delete(look)
    resolve()
  }
  waiting.add(look)
  look()
  return promise
}

async function probe(state: State, origin: string): Promise<void> {
  const ready = await answersReady(origin)
  if (ready === true) state.ready.add(origin)
  if (ready === false) state.ready.delete(origin)
  for (const look of state.waiting) look()
}

/** Null: it did not answer in time, which is more likely a busy machine than the process; clusters too wait for several of these. */
function answersReady(origin: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    const sent = get(`${origin}/readyz`, { agent: false, timeout: probeTimeoutMs }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    sent.on('timeout', () => {
      resolve(null)
      sent.destroy()
    })
    sent.on('error', () => resolve(false))
  })
}

function serve(state: State, client: Socket): void {
  keep(state, client)
  const ready = state.origins.filter((origin) => state.ready.has(origin))
  const chosen = ready[(state.turn += 1) % ready.length]
  if (chosen === undefined) {
    client.destroy()
    return
  }
  const { hostname, port } = new URL(chosen)
  const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
  keep(state, upstream)
  client.setNoDelay(true)
  client.pipe(upstream).pipe(client)
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => client.destroySoon())
}

function keep({ sockets }: State, socket: Socket): void {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
}
