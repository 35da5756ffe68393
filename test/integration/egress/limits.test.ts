import { once } from 'node:events'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import type { EgressOptions } from '../../../src/gateway/egress/create-egress.ts'
import type { EgressOrigin } from '../../../src/gateway/egress/egress.ts'
import { sendTo } from '../../support/egress-answer.ts'
import type { RawScript } from '../../support/raw-server.ts'
import { answering, httpAnswer, onRequest, startRawServer } from '../../support/raw-server.ts'

async function start(t: ExecutionContext, script: RawScript, options: Partial<EgressOptions> = {}) {
  const server = await startRawServer(script)
  const egress = createEgress({
    trustedHosts: ['127.0.0.1', '*.test'],
    connectTimeoutMs: 2000,
    resolve: async () => [{ address: '127.0.0.1' }],
    ...options,
  })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  return { server, egress, origin: await egress.origin(server.origin, 'custom_host') }
}

test('a burst uses no more connections than allowed, and all are answered in order', async (t) => {
  const order: string[] = []
  const { origin, server } = await start(
    t,
    onRequest((socket) => setImmediate(() => socket.write(httpAnswer('ok')))),
    { maxConnectionsPerOrigin: 4 },
  )
  const sent = Array.from({ length: 40 }, async (_, index) => {
    const answer = await sendTo(origin).done
    order.push(String(index))
    return answer.status
  })
  t.deepEqual(
    await Promise.all(sent),
    Array.from({ length: 40 }, () => 200),
  )
  t.true(server.connections <= 4, `${server.connections}`)
  t.is(order.length, 40)
})

test('beyond the queue a request is refused at once', async (t) => {
  const { origin } = await start(t, () => {}, { maxConnectionsPerOrigin: 1, maxQueuedPerOrigin: 2 })
  const sent = Array.from({ length: 4 }, () => sendTo(origin))
  const answer = await sent[3]?.done
  t.like(answer?.error, { code: 'overloaded', status: 503, retryAfter: 1 })
  for (const { call } of sent) call.abort()
})

test('a failed connection gives its place to the next in line', async (t) => {
  const { origin, server } = await start(
    t,
    onRequest((socket, count) => (count === 0 ? socket.resetAndDestroy() : undefined)),
    { maxConnectionsPerOrigin: 1 },
  )
  const answers = await Promise.all(Array.from({ length: 5 }, () => sendTo(origin).done))
  t.true(answers.every(({ error }) => error !== null))
  t.is(server.connections, 5)
})

test('one idle origin makes room for another; when none is idle the request is refused', async (t) => {
  const { egress, server } = await start(
    t,
    onRequest((socket) => socket.write(httpAnswer('ok'))),
    { maxOrigins: 2 },
  )
  const at = async (name: string): Promise<EgressOrigin> => egress.origin(`http://${name}.test:${server.port}`, 'custom_host')
  for (const name of ['a', 'b', 'c', 'd']) t.is((await sendTo(await at(name)).done).status, 200)
  while (server.open.size > 2) await once([...server.open][0] ?? process, 'close')
  const hung = await startRawServer(() => {})
  t.teardown(() => hung.close())
  const busy = await Promise.all(['x', 'y', 'z'].map(async (name) => egress.origin(`http://${name}.test:${hung.port}`, 'custom_host')))
  const sent = busy.map((origin) => sendTo(origin))
  t.like((await sent[2]?.done)?.error, { code: 'overloaded' })
  for (const { call } of sent) call.abort()
})

test('the origin of a pool that made room works again', async (t) => {
  const { egress, server } = await start(t, answering(httpAnswer('ok')), { maxOrigins: 1 })
  const [a, b] = await Promise.all(['a', 'b'].map(async (name) => egress.origin(`http://${name}.test:${server.port}`, 'custom_host')))
  for (const origin of [a, b, a, b]) t.is(origin && (await sendTo(origin).done).status, 200)
})

test('an idle connection that the server closes is not used again', async (t) => {
  const { origin, server } = await start(t, answering(httpAnswer('ok')))
  for (let count = 1; count <= 3; count += 1) {
    t.is((await sendTo(origin).done).status, 200)
    t.is(server.connections, count)
    for (const socket of server.open) {
      socket.end()
      await once(socket, 'close')
    }
  }
})

test('answers of the DNS are kept for as long as they say, and not after a failed connection', async (t) => {
  let asked = 0
  const resolve = async () => {
    asked += 1
    return [{ address: '127.0.0.1', ttl: 60 }]
  }
  const { egress, server } = await start(
    t,
    onRequest((socket) => socket.end(httpAnswer('ok', 'connection: close\r\n'))),
    { resolve },
  )
  const origin = await egress.origin(`http://llm.test:${server.port}`, 'custom_host')
  for (let count = 0; count < 3; count += 1) await sendTo(origin).done
  t.is(server.connections, 3)
  t.is(asked, 1)
  await server.close()
  t.like((await sendTo(origin).done).error, { code: 'upstream_unreachable' })
  await sendTo(origin).done
  t.is(asked, 2)
})
