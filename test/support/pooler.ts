import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import type { ClientConfig } from 'pg'

/** `AuthenticationOk` and `ReadyForQuery`, as a pooler greets a client whose server connection is open already. */
const greeting = Buffer.from('5200000008000000005a0000000549', 'hex')

/** A connection pooler in transaction mode, with one server connection for all of its clients. */
export async function startPooler(t: ExecutionContext, database: ClientConfig): Promise<number> {
  const upstream = connect(database.port ?? 5432, database.host)
  await once(upstream, 'connect')
  let speaker: Socket | null = null
  let clients = 0
  upstream.on('data', (data) => speaker?.write(data))
  const server = createServer((client) => {
    const isFirst = clients === 0
    let greeted = isFirst
    clients += 1
    client.on('error', () => {})
    client.on('data', (data) => {
      if (data[0] === 0x58) return client.end()
      speaker = client
      if (greeted) return upstream.write(data)
      greeted = true
      return client.write(greeting)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    upstream.destroy()
  })
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
