// Memory of idle WebSockets: `node bench/sockets.ts [count]`. The gateway and a bare relay of `ws`, each in a process of its own, hold as many
// connections, one after the other, and the growth of their memory is compared.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { startGateway, workspaceKey } from '../test/support/gateway.ts'

type Role = 'gateway' | 'relay'

/** Serves in this process, and answers each message of the parent with its memory. */
async function serve(role: Role): Promise<void> {
  const port = role === 'gateway' ? await serveGateway() : await serveBare()
  process.on('message', () => {
    globalThis.gc?.()
    process.send?.({ rss: process.memoryUsage.rss() })
  })
  process.send?.({ port })
}

async function serveGateway(): Promise<number> {
  const bed = await startGateway({ providers: { mine: {} }, settings: { maxSockets: 100_000 } })
  return Number(new URL(bed.origin).port)
}

async function serveBare(): Promise<number> {
  const server = createServer()
  const wss = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false })
  wss.on('connection', (socket) => socket.on('message', (data) => socket.send(data)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function memoryOf(child: ChildProcess): Promise<number> {
  child.send('memory')
  const [{ rss }] = (await once(child, 'message')) as [{ rss: number }]
  return rss
}

/** Returns how many bytes a process holds with all connections, and by how many it grew. */
async function measure(role: Role, count: number): Promise<{ readonly rss: number; readonly growth: number }> {
  const child = fork(import.meta.filename, [], { env: { ...process.env, ROLE: role }, execArgv: ['--expose-gc'] })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const before = await memoryOf(child)
  const headers = { authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@mine' }
  const sockets: WebSocket[] = []
  while (sockets.length < count) {
    const batch = Array.from(
      { length: 100 },
      () => new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, { headers, perMessageDeflate: false }),
    )
    await Promise.all(batch.map((socket) => once(socket, 'open')))
    sockets.push(...batch)
  }
  const rss = await memoryOf(child)
  child.kill('SIGKILL')
  for (const socket of sockets) socket.terminate()
  return { rss, growth: rss - before }
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0)

const role = process.env['ROLE']
if (role === 'gateway' || role === 'relay') await serve(role)
else {
  const count = Number(process.argv[2] ?? 5000)
  const [gateway, relay] = [await measure('gateway', count), await measure('relay', count)]
  console.log(`gateway: ${mb(gateway.rss)} MB with ${count} idle connections, ${(gateway.growth / count / 1024).toFixed(1)} KiB each`)
  console.log(
    `bare relay: ${mb(relay.rss)} MB, ${(relay.growth / count / 1024).toFixed(1)} KiB each; ratio ${(gateway.growth / relay.growth).toFixed(2)}`,
  )
  process.exitCode = gateway.rss < 400e6 ? 0 : 1
}
