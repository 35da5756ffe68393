import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { createEgress, type EgressOptions } from '../../../src/gateway/egress/create-egress.ts'
import type { Egress } from '../../../src/gateway/egress/egress.ts'
import { sendTo, type Sent } from '../../support/egress-answer.ts'
import { httpAnswer, onRequest, type RawScript, startRawServer } from '../../support/raw-server.ts'

async function startServer(t: ExecutionContext, script: RawScript) {
  const server = await startRawServer(script)
  t.teardown(() => server.close())
  return server
}

const send = async (owned: Egress, host: string, port: number): Promise<Sent> =>
  sendTo(await owned.origin(`http://${host}.test:${port}`, 'custom_host'))

async function start(t: ExecutionContext, options: Partial<EgressOptions>) {
  const egress = createEgress({
    trustedHosts: ['*.test'],
    connectTimeoutMs: 5000,
    resolve: async () => [{ address: '127.0.0.1' }],
    ...options,
  })
  t.teardown(() => egress.close())
  const mute = await startServer(t, () => {})
  const good = await startServer(
    t,
    onRequest((socket) => socket.write(httpAnswer('ok'))),
  )
  return { egress, mute, good }
}

test('an organisation that holds its share of hosts takes none from another, and no idle connection of another', async (t) => {
  const { egress, mute, good } = await start(t, { maxOrigins: 16 })
  const [hostile, other] = [egress.ownedBy('hostile'), egress.ownedBy('other')]
  t.is((await (await send(other, 'used', good.port)).done).status, 200)
  const held = await Promise.all(Array.from({ length: 20 }, (_, at) => send(hostile, `slow-${at}`, mute.port)))
  const refused = await Promise.all(held.slice(2).map(({ done }) => done))
  for (const { error } of refused) t.regex(String(error), /2 hosts, which is its share/)
  t.is((await (await send(other, 'used', good.port)).done).status, 200)
  t.is(good.connections, 1, 'the idle connection served once more')
  t.is((await (await send(other, 'fresh', good.port)).done).status, 200)
  for (const { call } of held) call.abort()
  t.is((await (await send(hostile, 'good', good.port)).done).status, 200)
})

test('an organisation at its share closes an idle host of its own for a new one', async (t) => {
  const { egress, good } = await start(t, { maxOrigins: 16 })
  const [one, other] = [egress.ownedBy('one'), egress.ownedBy('other')]
  t.is((await (await send(other, 'kept', good.port)).done).status, 200)
  for (const host of ['a', 'b', 'c', 'd']) t.is((await (await send(one, host, good.port)).done).status, 200)
  while (good.open.size > 3) await once([...good.open][0] ?? process, 'close')
  t.is((await (await send(other, 'kept', good.port)).done).status, 200)
  t.is(good.connections, 5)
})

test('when all hosts are taken, the organisation with the most idle ones makes room, and never one that has no more', async (t) => {
  const { egress, good } = await start(t, { maxOrigins: 4, maxOriginsOfOne: 3 })
  for (const host of ['a', 'b', 'c']) await (await send(egress.ownedBy('rich'), host, good.port)).done
  await (
    await send(egress.ownedBy('poor'), 'd', good.port)
  ).done
  t.is((await (await send(egress.ownedBy('new'), 'e', good.port)).done).status, 200)
  await (
    await send(egress.ownedBy('poor'), 'd', good.port)
  ).done
  t.is(good.connections, 5, 'the connection of the one that had no more was kept')
})

test('an idle host that another organisation uses is that one’s from then on', async (t) => {
  const { egress, good } = await start(t, { maxOrigins: 16, maxOriginsOfOne: 1 })
  for (const owner of ['a', 'b', 'c']) t.is((await (await send(egress.ownedBy(owner), 'shared', good.port)).done).status, 200)
  t.is(good.connections, 1)
  for (const owner of ['a', 'b']) t.is((await (await send(egress.ownedBy(owner), `own-${owner}`, good.port)).done).status, 200)
})

test('one organisation has half of the connections of a host, and an eighth of those who wait for one', async (t) => {
  const { egress, mute } = await start(t, { maxConnectionsPerOrigin: 4, maxQueuedPerOrigin: 16 })
  const held = await Promise.all(Array.from({ length: 5 }, () => send(egress.ownedBy('hostile'), 'host', mute.port)))
  t.like((await held[4]?.done)?.error, { code: 'overloaded' })
  const others = await Promise.all(Array.from({ length: 2 }, () => send(egress.ownedBy('other'), 'host', mute.port)))
  while (mute.connections < 4) await new Promise(setImmediate)
  t.is(mute.connections, 4)
  for (const { call } of [...held, ...others]) call.abort()
})

test('organisations that wait for a connection take turns', async (t) => {
  const order: string[] = []
  const { egress, good } = await start(t, { maxConnectionsPerOrigin: 1, maxQueuedPerOrigin: 64 })
  const sent = ['a', 'a', 'a', 'a', 'b'].map(async (owner) => {
    await (
      await send(egress.ownedBy(owner), 'host', good.port)
    ).done
    order.push(owner)
  })
  await Promise.all(sent)
  t.true(order.indexOf('b') <= 2, order.join())
})
