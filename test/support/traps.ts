import type { RawServer } from './raw-server.ts'
import { httpAnswer, onRequest, startRawServer } from './raw-server.ts'

/** Servers on three loopback addresses, one port: no request that the guard refuses may connect to them. */
export interface Traps {
  readonly port: number
  /** Connections that any trap has seen. */
  readonly connections: number
  close(): Promise<void>
}

/** Starts traps on 127.0.0.1, ::1 and 127.0.0.2. */
export async function startTraps(): Promise<Traps> {
  const script = onRequest((socket) => socket.write(httpAnswer('trapped')))
  const first = await startRawServer(script)
  const others: RawServer[] = []
  for (const host of ['::1', '127.0.0.2']) others.push(await startRawServer(script, { host, port: first.port }))
  const all = [first, ...others]
  return {
    port: first.port,
    get connections() {
      return all.reduce((sum, server) => sum + server.connections, 0)
    },
    async close() {
      await Promise.all(all.map((server) => server.close()))
    },
  }
}
