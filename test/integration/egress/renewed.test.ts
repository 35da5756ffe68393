import { Readable } from 'node:stream'
import type { Socket } from 'node:net'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { sendTo } from '../../support/egress-answer.ts'
import { httpAnswer, onRequest, startRawServer } from '../../support/raw-server.ts'

type Fate = (socket: Socket) => void
const reset: Fate = (socket) => socket.resetAndDestroy()
const close: Fate = (socket) => socket.end()
const late: Fate = (socket) => void setTimeout(() => socket.resetAndDestroy(), 2200)
const answer: Fate = (socket) => void socket.write(httpAnswer('ok'))

/** A server that answers the first request of its first connection, and treats the next ones by its script. */
async function start(t: ExecutionContext, fates: readonly Fate[]) {
  const left = [answer, ...fates]
  const server = await startRawServer(onRequest((socket) => (left.shift() ?? answer)(socket)))
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 5000 })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  const origin = await egress.origin(server.origin, 'custom_host')
  t.is((await sendTo(origin).done).body.toString(), 'ok')
  return { origin, server }
}

const bodies = { none: null, bytes: Buffer.from('{"model":"m"}') }
for (const [name, fate] of Object.entries({ reset, close }))
  for (const [what, body] of Object.entries(bodies))
    for (const method of ['GET', 'POST'])
      test(`a used connection that is lost (${name}) before an answer: ${method}, ${what}, is sent again once`, async (t) => {
        const { origin, server } = await start(t, [fate])
        const { error, body: received, status } = await sendTo(origin, { method, body, leavesNothing: method === 'POST' }).done
        t.is(error, null)
        t.deepEqual([status, received.toString()], [200, 'ok'])
        t.is(server.connections, 2)
        t.is(server.received[1]?.endsWith(body === null ? '\r\n\r\n' : '{"model":"m"}'), true)
      })

test('it is sent again once: a second loss is an error, and the next request works', async (t) => {
  const { origin, server } = await start(t, [reset, reset])
  t.like((await sendTo(origin, { method: 'POST', body: Buffer.from('x'), leavesNothing: true }).done).error, {
    code: 'upstream_unreachable',
  })
  t.is(server.connections, 2)
  t.is((await sendTo(origin).done).body.toString(), 'ok')
})

test('a new connection that is lost is not tried again', async (t) => {
  const server = await startRawServer(onRequest(reset))
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 5000 })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  const origin = await egress.origin(server.origin, 'custom_host')
  t.like((await sendTo(origin).done).error, { code: 'upstream_unreachable' })
  t.is(server.connections, 1)
})

const begun: readonly (readonly [what: string, bytes: string])[] = [
  ['a piece of the status line', 'HTTP/1.1 2'],
  ['an informational answer', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['headers', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'],
]
for (const [what, bytes] of begun)
  test(`an answer that began is not asked for again: ${what}`, async (t) => {
    const { origin, server } = await start(t, [(socket) => void socket.write(bytes, () => socket.end())])
    t.not((await sendTo(origin).done).error, null)
    t.is(server.connections, 1)
  })

test('a body that is read as it comes cannot be sent again', async (t) => {
  const { origin, server } = await start(t, [reset])
  t.not((await sendTo(origin, { method: 'POST', leavesNothing: true, body: Readable.from([Buffer.from('x')]) }).done).error, null)
  t.is(server.connections, 1)
})

test('a request that leaves something behind is not sent again', async (t) => {
  const { origin, server } = await start(t, [reset])
  t.not((await sendTo(origin, { method: 'POST', body: Buffer.from('x') }).done).error, null)
  t.is(server.connections, 1)
})

test('a call of a model that is lost late may have been worked on; what only reads is asked for again', async (t) => {
  const [posting, getting] = await Promise.all([start(t, [late]), start(t, [late])])
  const [posted, got] = await Promise.all([
    sendTo(posting.origin, { method: 'POST', body: Buffer.from('x'), leavesNothing: true }).done,
    sendTo(getting.origin).done,
  ])
  t.not(posted.error, null)
  t.is(posting.server.connections, 1)
  t.is(got.body.toString(), 'ok')
})

test('an exchange that is given up is not sent again', async (t) => {
  const { origin, server } = await start(t, [() => {}])
  const sent = sendTo(origin)
  while (!server.received[0]?.match(/GET[^]*GET[^]*\r\n\r\n$/)) await new Promise((resolve) => setImmediate(resolve))
  sent.call.abort()
  while (server.open.size > 0) await new Promise((resolve) => setImmediate(resolve))
  t.is(server.connections, 1)
  t.deepEqual(sent.calls, [])
})
