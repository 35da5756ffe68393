import test from 'ava'
import { BlockedAddressError, createConnect } from '../../../src/gateway/egress/connect.ts'
import { createResolver } from '../../../src/gateway/egress/resolver.ts'
import { checkUrl } from '../../../src/gateway/egress/rules.ts'
import type { Trust } from '../../../src/gateway/egress/trust.ts'
import { parseTrustedHosts } from '../../../src/gateway/egress/trust.ts'
import { startRawServer } from '../../support/raw-server.ts'

const connectOnce = async (port: number, trust: Trust) => {
  const target = checkUrl(`http://llm.test:${port}`, parseTrustedHosts([]))
  if ('reason' in target) throw new Error(target.message)
  const resolver = createResolver({ resolve: async () => [{ address: '127.0.0.1' }], maxAgeMs: 1000, timeoutMs: 1000 })
  const { promise, resolve } = Promise.withResolvers<Error | null>()
  const socket = createConnect(target, { trust, resolver, timeoutMs: 1000 })((...[error]) => resolve(error))
  const error = await promise
  socket.destroy()
  return error
}

/** Trusts an address in its first `times` checks only. */
const trusting = (times: number): Trust => {
  let checks = 0
  return {
    name: () => false,
    port: () => false,
    address: () => {
      checks += 1
      return checks <= times
    },
  }
}

test('the address that the socket is connected to is checked again, before a byte is sent', async (t) => {
  const server = await startRawServer(() => {})
  t.teardown(() => server.close())
  t.true((await connectOnce(server.port, trusting(0))) instanceof BlockedAddressError)
  t.is(server.connections, 0)
  t.true((await connectOnce(server.port, trusting(1))) instanceof BlockedAddressError)
  t.is(await connectOnce(server.port, trusting(2)), null)
  t.deepEqual(server.received.join(''), '')
})
