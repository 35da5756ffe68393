import type { Socket } from 'node:net'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { Readable } from 'node:stream'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import type { EgressOptions } from '../../../src/gateway/egress/create-egress.ts'
import { sendTo } from '../../support/egress-answer.ts'
import type { Sent } from '../../support/egress-answer.ts'
import { loopLag } from '../../support/loop-lag.ts'
import type { RawScript, RawServer } from '../../support/raw-server.ts'
import { httpAnswer, onRequest, startRawServer } from '../../support/raw-server.ts'

async function start(t: ExecutionContext, script: RawScript, options: Partial<EgressOptions> = {}) {
  const server = await startRawServer(script)
  const egress = createEgress({ trustedHosts: ['127.0.0.1', '*.test'], connectTimeoutMs: 5000, ...options })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  return { server, egress, origin: await egress.origin(server.origin, 'custom_host') }
}

/** The one socket that is open at the server, when it has come. */
async function accepted(server: RawServer, arrived: Promise<unknown>) {
  await arrived
  const [socket] = server.open
  if (socket === undefined) throw new Error('no socket is open')
  return socket
}

/** Settles at the socket's close, with or without an error (unread bytes make it a reset). */
const closed = (socket: Socket) => new Promise<void>((resolve) => void socket.once('close', () => resolve()))

/** Aborts and checks that the server sees the close within 100 ms, and that the handler is not called again. */
async function abortsInTime(t: ExecutionContext, sent: Sent, done: Promise<unknown>): Promise<void> {
  const before = sent.calls.length
  const startedAt = performance.now()
  sent.call.abort()
  sent.call.abort()
  await done
  const ms = performance.now() - startedAt
  t.true(ms < 100 + loopLag(), `${ms} ms`)
  await new Promise(setImmediate)
  t.is(sent.calls.length, before, sent.calls.join(' '))
}

/** A script that settles a promise with each call of the step it is given. */
function signal() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { reached: promise, reach: () => resolve() }
}

test('before the response headers', async (t) => {
  const { reached, reach } = signal()
  const { origin, server } = await start(t, onRequest(reach))
  const sent = sendTo(origin)
  const socket = await accepted(server, reached)
  await abortsInTime(t, sent, closed(socket))
})

test('while the TLS handshake waits', async (t) => {
  const { reached, reach } = signal()
  const { egress, server } = await start(t, (socket) => void socket.once('data', reach))
  const sent = sendTo(await egress.origin(server.origin.replace('http:', 'https:'), 'custom_host'))
  const socket = await accepted(server, reached)
  await abortsInTime(t, sent, closed(socket))
})

test('while the name is being resolved: nothing connects', async (t) => {
  const asked = signal()
  const answer = Promise.withResolvers<{ address: string }[]>()
  let count = 0
  const resolve = () => {
    count += 1
    if (count === 1) return Promise.resolve([{ address: '127.0.0.1' }])
    asked.reach()
    return answer.promise
  }
  const { egress, server } = await start(t, () => {}, { resolve, dnsCacheMs: 0 })
  const sent = sendTo(await egress.origin(`http://slow.test:${server.port}`, 'custom_host'))
  await asked.reached
  await abortsInTime(t, sent, Promise.resolve())
  answer.resolve([{ address: '127.0.0.1' }])
  // A request of another origin goes the same way later: when it is through, the aborted one would have connected.
  const control = sendTo(await egress.origin(`http://127.0.0.1:${server.port}`, 'custom_host'), {
    timeouts: { firstByteMs: 100, idleMs: 100 },
  })
  await control.done
  t.is(server.connections, 1)
})

test('while it waits for a connection: the next in line is not held up', async (t) => {
  const first = signal()
  const release: (() => void)[] = []
  const { origin, server } = await start(
    t,
    onRequest((socket) => {
      release.push(() => socket.write(httpAnswer('ok')))
      first.reach()
    }),
    { maxConnectionsPerOrigin: 1 },
  )
  const running = sendTo(origin, { path: '/running' })
  const queued = sendTo(origin, { path: '/queued' })
  const last = sendTo(origin, { path: '/last' })
  await first.reached
  await abortsInTime(t, queued, Promise.resolve())
  running.call.abort()
  while (release.length < 2) await new Promise(setImmediate)
  release.at(-1)?.()
  t.is((await last.done).status, 200)
  t.notRegex(server.received.join(''), /queued/)
})

test('in the middle of the body', async (t) => {
  const { origin, server } = await start(
    t,
    onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const timer = setInterval(() => socket.write('1\r\n.\r\n'), 5)
      socket.once('close', () => clearInterval(timer))
    }),
  )
  const sent = sendTo(origin)
  const socket = await accepted(server, sent.headers)
  await abortsInTime(t, sent, closed(socket))
})

test('while the reader is paused', async (t) => {
  const { origin, server } = await start(
    t,
    onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      socket.write(`100000\r\n${'x'.repeat(0x100000)}\r\n`)
    }),
  )
  const sent = sendTo(origin, {}, (_, call) => call.pause())
  const socket = await accepted(server, sent.headers)
  await abortsInTime(t, sent, closed(socket))
})

test('from inside a handler, in the middle of a piece', async (t) => {
  const body = '.'.repeat(50)
  const chunks = Array.from({ length: 50 }, () => `32\r\n${body}\r\n`).join('')
  const { origin, server } = await start(
    t,
    onRequest((socket) => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`)),
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  const sent = sendTo(origin, {}, (_, call) => {
    call.abort()
    resolve()
  })
  const [socket] = await Promise.all([accepted(server, sent.headers), promise])
  if (!socket.destroyed) await closed(socket)
  t.deepEqual(sent.calls, ['headers', 'data'])
})

test('in the middle of the upload: the source is left alone', async (t) => {
  const { reached, reach } = signal()
  const { origin, server } = await start(t, (socket) => void socket.once('data', reach))
  const source = new Readable({ read() {} })
  source.push('first piece')
  const sent = sendTo(origin, { method: 'POST', body: source })
  const socket = await accepted(server, reached)
  await abortsInTime(t, sent, closed(socket))
  t.false(source.destroyed)
  t.true(source.isPaused())
})

test('at once after send', async (t) => {
  const { origin, server } = await start(
    t,
    onRequest((socket) => socket.write(httpAnswer('ok'))),
  )
  const sent = sendTo(origin, { path: '/aborted' })
  await abortsInTime(t, sent, Promise.resolve())
  t.is((await sendTo(origin, { path: '/next' }).done).status, 200)
  t.deepEqual(sent.calls, [])
  t.notRegex(server.received.join(''), /aborted/)
})

test('at once after a send that cannot work: not even the error is told', async (t) => {
  const { origin } = await start(t, () => {})
  const sent = sendTo(origin, { method: 'CONNECT' })
  await abortsInTime(t, sent, Promise.resolve())
  t.deepEqual(sent.calls, [])
})

test('on a connection that was used before, before it is written to', async (t) => {
  const { origin, server } = await start(
    t,
    onRequest((socket) => socket.write(httpAnswer('ok'))),
  )
  await sendTo(origin).done
  const sent = sendTo(origin, { path: '/aborted' })
  await abortsInTime(t, sent, Promise.resolve())
  t.is((await sendTo(origin).done).status, 200)
  t.notRegex(server.received.join(''), /aborted/)
})

test('after the end it does nothing', async (t) => {
  const { origin, server } = await start(
    t,
    onRequest((socket) => socket.write(httpAnswer('ok'))),
  )
  const sent = sendTo(origin)
  await sent.done
  sent.call.abort()
  t.is((await sendTo(origin).done).status, 200)
  t.is(server.connections, 1)
})

test('close: running and waiting requests get their error, and later ones too', async (t) => {
  const { reached, reach } = signal()
  const { origin, egress, server } = await start(t, onRequest(reach), { maxConnectionsPerOrigin: 1 })
  const running = sendTo(origin)
  const waiting = sendTo(origin)
  const socket = await accepted(server, reached)
  await egress.close()
  t.like((await running.done).error, { code: 'draining' })
  t.like((await waiting.done).error, { code: 'draining' })
  t.like((await sendTo(origin).done).error, { code: 'draining' })
  if (!socket.destroyed) await closed(socket)
  t.is(server.open.size, 0)
})
