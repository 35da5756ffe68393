import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createHttpServer } from '../../../src/app/http/listener/server.ts'

/** The answers that wait for the test, by path, and the paths that reached the handler. */
const held = new Map<string, (res: ServerResponse) => void>()
const reached: string[] = []
let server: Server
let port: number

test.before(async () => {
  server = createHttpServer((req, res) => {
    const path = req.url ?? ''
    reached.push(path)
    req.resume()
    const take = held.get(path)
    if (take === undefined) req.on('end', () => res.end(`<${path}>`))
    else take(res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
test.after.always(() => {
  server.close()
  server.closeAllConnections()
})

interface Client {
  readonly socket: Socket
  /** The bytes so far. */
  readonly text: () => string
  /** Resolves with all that came when the server has ended the connection. */
  readonly ended: Promise<string>
  /** Resolves when this has come. */
  until(text: string): Promise<void>
}

function open(t: ExecutionContext): Client {
  let text = ''
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  const ended = new Promise<string>((resolve) => {
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
  return {
    socket,
    text: () => text,
    ended,
    async until(wanted) {
      while (!text.includes(wanted)) await once(socket, 'data')
    },
  }
}

/** Resolves with the answer to this path as soon as it may be given. */
const hold = (path: string): Promise<ServerResponse> => new Promise((resolve) => held.set(path, resolve))

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** Requests that are refused before any handler sees them, and how. */
const refused: Readonly<Record<string, readonly [bytes: string, status: number]>> = {
  'Host twice': [get('/no', 'host: y\r\n'), 400],
  'no Host': ['GET /no HTTP/1.1\r\n\r\n', 400],
  'a fragment': [get('/no#a'), 400],
  '300 headers': [get('/no', Array.from({ length: 300 }, (_, at) => `x-${at}: 1\r\n`).join('')), 431],
  'a head of 70 KB': [get('/no', `x-a: ${'b'.repeat(70_000)}\r\n`), 431],
  'an unknown expectation': [get('/no', 'expect: tea\r\n'), 400],
  'an upgrade': [get('/no', 'connection: upgrade\r\nupgrade: websocket\r\n'), 400],
  CONNECT: ['CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n', 405],
  'no HTTP': ['hello\r\n\r\n', 400],
  'a length and chunks': ['POST /no HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  'two lengths': ['POST /no HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcd', 400],
  'gzip before chunked': ['POST /no HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 501],
  'chunks that are none': ['POST /body HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 400],
  'many of them': [get('/no', 'host: y\r\n').repeat(50), 400],
  'HTTP/1.0 with Host twice': ['GET /no HTTP/1.0\r\nhost: x\r\nhost: y\r\n\r\n', 400],
}

for (const [name, [bytes, status]] of Object.entries(refused)) {
  const path = `/late/${encodeURIComponent(name)}`
  const after = get(`/after${path}`)

  test(`behind a request that waits: ${name} is answered second, and nothing after it`, async (t) => {
    const waiting = hold(path)
    const { socket, ended, text } = open(t)
    socket.write(get(path) + bytes + after, 'latin1')
    const res = await waiting
    await settled(t)
    t.is(text(), '')
    res.end('first')
    const all = await ended
    t.deepEqual(statuses(all), [200, status], all)
    t.true(all.indexOf('first') < all.indexOf('"error"'))
    t.false(reached.some((one) => one === '/no' || one === `/after${path}`))
  })

  test(`behind a stream: ${name} is answered when it has ended`, async (t) => {
    const waiting = hold(`${path}/stream`)
    const client = open(t)
    client.socket.write(get(`${path}/stream`), 'latin1')
    const res = await waiting
    res.write('one ')
    await client.until('one ')
    client.socket.write(bytes, 'latin1')
    await settled(t)
    res.write('two ')
    await client.until('two ')
    res.end('three')
    const all = await client.ended
    t.deepEqual(statuses(all), [200, status], all)
    const [stream = '', refusal = ''] = all.split(`HTTP/1.1 ${status}`)
    t.regex(stream, /one \r\n4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n$/)
    t.regex(refusal, /^connection: close$/m)
    t.regex(refusal, /"error"/)
  })
}

/** Resolves when the server has surely read the earlier bytes: another connection has come and gone. */
async function settled(t: ExecutionContext): Promise<void> {
  const other = open(t)
  other.socket.write(get('/settled', 'connection: close\r\n'))
  await other.ended
}

test('requests after one that closes the connection are not carried out', async (t) => {
  for (const [closing, next] of [
    [get('/closing', 'connection: close\r\n'), '/unread/1'],
    ['GET /closing HTTP/1.0\r\n\r\n', '/unread/2'],
    [get('/no', 'host: y\r\n'), '/unread/3'],
  ] as const) {
    const { socket, ended } = open(t)
    socket.write(closing + get(next))
    t.is(statuses(await ended).length, 1)
    t.false(reached.includes(next))
  }
})

test('an answer with more than the socket holds ends whole, though CONNECT came behind it', async (t) => {
  const waiting = hold('/big')
  const client = open(t)
  client.socket.pause()
  client.socket.write(`${get('/big')}CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n`)
  const res = await waiting
  res.writeHead(200, { 'content-length': 64 * 1024 * 1024 })
  const block = Buffer.alloc(1024 * 1024, 'a')
  const filled = (async () => {
    for (let sent = 0; sent < 64; sent += 1) if (!res.write(block)) await once(res, 'drain')
    res.end()
  })()
  await settled(t)
  client.socket.resume()
  await filled
  const all = await client.ended
  t.deepEqual(statuses(all), [200, 405])
  t.true(all.length > 64 * 1024 * 1024)
})

test('a client that resets the connection after CONNECT harms nobody', async (t) => {
  for (let at = 0; at < 20; at += 1) {
    const { socket } = open(t)
    await once(socket, 'connect')
    socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n')
    socket.resetAndDestroy()
  }
  await settled(t)
  t.pass()
})

test('a body that goes wrong after its answer began ends the connection without a second answer', async (t) => {
  const waiting = hold('/early')
  const client = open(t)
  client.socket.write('POST /early HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n')
  const res = await waiting
  res.write('some')
  await client.until('some')
  client.socket.write('zz\r\n')
  t.deepEqual(statuses(await client.ended), [200])
})
