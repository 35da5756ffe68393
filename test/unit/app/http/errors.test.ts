import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import test from 'ava'
import { Client } from 'pg'
import { toCallerError } from '../../../../src/app/http/errors.ts'

test('a database that accepts and says nothing is away, and no bug of ours', async (t) => {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = new Client({ host: '127.0.0.1', port, connectionTimeoutMillis: 20 })
  client.on('error', () => {})
  const error: unknown = await t.throwsAsync(client.connect())
  t.is(toCallerError(error).code, 'dependency_unavailable')
  t.is(toCallerError(new Error('a request failed', { cause: error })).code, 'dependency_unavailable')
  t.is(toCallerError(new Error('the timeout expired of a token')).code, 'internal')
})

const fault = (code: string) => toCallerError(new Error('a request failed', { cause: Object.assign(new Error('canceling'), { code }) }))

test('a database that gave work up because of a lock, or of its length, is busy; one that stops is away', (t) => {
  for (const code of ['55P03', '40P01', '57014']) {
    t.is(fault(code).code, 'busy', code)
    t.is(fault(code).retryAfter, 5)
    t.notRegex(fault(code).message, /reached/)
  }
  for (const code of ['57P01', '08006', '53300']) t.is(fault(code).code, 'dependency_unavailable', code)
})
