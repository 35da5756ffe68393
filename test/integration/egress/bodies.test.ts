import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import type { EgressRequest } from '../../../src/gateway/egress/egress.ts'
import { sendTo } from '../../support/egress-answer.ts'
import type { RawScript } from '../../support/raw-server.ts'
import { httpAnswer, onRequest, startRawServer } from '../../support/raw-server.ts'

async function start(t: ExecutionContext, script: RawScript) {
  const server = await startRawServer(script)
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  return { server, egress, origin: await egress.origin(server.origin, 'custom_host') }
}

/** Answers when the bytes received end like this. */
const answerAfter: (end: string) => RawScript = (end) => (socket) => {
  let seen = ''
  socket.on('data', (chunk: Buffer) => {
    seen += chunk.toString('latin1')
    if (seen.endsWith(end)) socket.write(httpAnswer('ok'))
  })
}

const wire = test.macro(async (t, request: Partial<EgressRequest>, end: string, expected: string) => {
  const { origin, server } = await start(t, answerAfter(end))
  const answer = await sendTo(origin, request).done
  t.is(answer.error, null)
  t.is(server.received[0]?.replace(/host: [^\r]*\r\n/, ''), expected)
})

const pieces = () => Readable.from([Buffer.from('one '), Buffer.from('two')])
const latePieces = () =>
  Readable.from(
    (async function* () {
      yield Buffer.from('one ')
      await sleep(20)
      yield Buffer.from('two')
    })(),
  )
const keep = 'connection: keep-alive\r\n'

test(
  'no body: nothing is added but host and connection',
  wire,
  { headers: ['X-One', 'a', 'x-one', 'b', 'ACCEPT', '*/*'] },
  '\r\n\r\n',
  `GET / HTTP/1.1\r\n${keep}X-One: a\r\nx-one: b\r\nACCEPT: */*\r\n\r\n`,
)
test(
  'the path as given',
  wire,
  { path: '/v1/a%2Fb/../c?x=%20&y=é&&=' },
  '\r\n\r\n',
  `GET /v1/a%2Fb/../c?x=%20&y=é&&= HTTP/1.1\r\n${keep}\r\n`,
)
test('a POST without a body says so', wire, { method: 'POST' }, '\r\n\r\n', `POST / HTTP/1.1\r\n${keep}content-length: 0\r\n\r\n`)
test(
  'bytes',
  wire,
  { method: 'POST', body: Buffer.from('a\u00e9\r\n0', 'latin1') },
  '0',
  `POST / HTTP/1.1\r\n${keep}content-length: 5\r\n\r\na\u00e9\r\n0`,
)
test(
  'bytes with their length',
  wire,
  { method: 'PUT', headers: ['Content-Length', '3'], body: new Uint8Array([97, 98, 99]) },
  'abc',
  `PUT / HTTP/1.1\r\n${keep}content-length: 3\r\n\r\nabc`,
)
test(
  'bytes of a view',
  wire,
  { method: 'POST', body: new Uint8Array(Buffer.from('xxabcxx')).subarray(2, 5) },
  'abc',
  `POST / HTTP/1.1\r\n${keep}content-length: 3\r\n\r\nabc`,
)
test(
  'a DELETE with a body',
  wire,
  { method: 'DELETE', body: Buffer.from('abc') },
  'abc',
  `DELETE / HTTP/1.1\r\n${keep}content-length: 3\r\n\r\nabc`,
)
test(
  'a stream is sent in chunks',
  wire,
  { method: 'POST', body: latePieces() },
  '0\r\n\r\n',
  `POST / HTTP/1.1\r\n${keep}transfer-encoding: chunked\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n`,
)
test(
  'a stream that is all there is sent with its length',
  wire,
  { method: 'POST', body: pieces() },
  'two',
  `POST / HTTP/1.1\r\n${keep}content-length: 7\r\n\r\none two`,
)
test(
  'a stream with its length',
  wire,
  { method: 'POST', headers: ['content-length', '7'], body: pieces() },
  'two',
  `POST / HTTP/1.1\r\n${keep}content-length: 7\r\n\r\none two`,
)
test(
  'an empty stream',
  wire,
  { method: 'POST', body: Readable.from([]) },
  '\r\n\r\n',
  `POST / HTTP/1.1\r\n${keep}content-length: 0\r\n\r\n`,
)

for (const [name, length] of [
  ['longer', '5'],
  ['shorter', '9'],
] as const) {
  test(`a stream ${name} than its content-length`, async (t) => {
    const { origin } = await start(t, () => {})
    const answer = await sendTo(origin, { method: 'POST', headers: ['content-length', length], body: pieces() }).done
    t.like(answer.error, { code: 'invalid_request', message: 'The request body has another length than its content-length.' })
  })
}

test('bytes of another length than their content-length', async (t) => {
  const { origin } = await start(t, () => {})
  const answer = await sendTo(origin, { method: 'POST', headers: ['content-length', '9'], body: Buffer.from('abc') }).done
  t.like(answer.error, { code: 'invalid_request' })
})

test('a source that breaks off: the upstream sees a cut, not an end', async (t) => {
  const { origin, server } = await start(t, () => {})
  const source = new Readable({ read() {} })
  source.push('half')
  const sent = sendTo(origin, { method: 'POST', body: source })
  while (!server.received.join('').includes('half')) await sleep(5)
  source.destroy(new Error('client left'))
  t.like((await sent.done).error, { code: 'client_closed' })
  t.notRegex(server.received.join(''), /0\r\n\r\n$/)
})

test('a source that fails after the end of the exchange harms nobody', async (t) => {
  const { origin } = await start(t, (socket) => void socket.once('data', () => socket.end(httpAnswer('early', 'connection: close\r\n'))))
  const source = new Readable({ read() {} })
  source.push('half')
  const answer = await sendTo(origin, { method: 'POST', body: source }).done
  t.is(answer.body.toString(), 'early')
  source.destroy(new Error('client left'))
  await new Promise<void>((resolve) => void source.once('close', () => resolve()))
  t.true(source.destroyed)
})

test('a caller whose upload is answered early, or fails, can still be answered', async (t) => {
  const { origin } = await start(
    t,
    (socket) => void socket.once('data', () => socket.end(httpAnswer('no thanks', 'connection: close\r\n', '401 Unauthorized'))),
  )
  const front = createServer((request: IncomingMessage, response) => {
    const sent = sendTo(origin, { method: 'POST', body: request })
    void sent.done.then((answer) => response.writeHead(answer.status).end(answer.body))
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  t.teardown(() => front.close())
  const client = connect((front.address() as AddressInfo).port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 1000000\r\n\r\nonly the start')
  let text = ''
  for await (const chunk of client) {
    text += String(chunk)
    if (text.includes('no thanks')) break
  }
  t.regex(text, /^HTTP\/1\.1 401 Unauthorized/)
})

/** Writes a chunked body as fast as it is taken; counts the bytes handed to the system. */
function flood(socket: Socket, total: number) {
  const state = { written: 0 }
  const piece = Buffer.alloc(64 * 1024, 'x')
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
  const pump = () => {
    while (state.written < total) {
      state.written += piece.length
      if (socket.write(piece)) continue
      socket.once('drain', pump)
      break
    }
  }
  pump()
  return state
}

test('a paused reader stops the sender, and loses nothing', async (t) => {
  const total = 128 << 20
  let state = { written: 0 }
  const { origin } = await start(
    t,
    onRequest((socket) => (state = flood(socket, total))),
  )
  let received = 0
  let pausing = true
  const sent = sendTo(origin, {}, (chunk, call) => {
    received += chunk.length
    if (pausing) call.pause()
  })
  await sent.headers
  // A forbidden effect has no event: the sender is given time to run away.
  await sleep(500)
  t.true(state.written < total / 4, `${state.written} bytes were taken while paused`)
  t.true(received < 1 << 20, `${received} bytes were delivered while paused`)
  pausing = false
  sent.call.resume()
  t.is((await sent.done).error, null)
  t.is(received, total)
})

test('an upload goes no faster than the upstream reads', async (t) => {
  const { origin } = await start(t, (socket) => void socket.pause())
  let made = 0
  const source = new Readable({
    read() {
      made += 64 * 1024
      this.push(Buffer.alloc(64 * 1024))
    },
  })
  const sent = sendTo(origin, { method: 'POST', body: source })
  await sleep(500)
  t.true(made < 32 << 20, `${made} bytes were taken`)
  sent.call.abort()
  source.destroy()
})
