import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import test from 'ava'
import { createHttpServer } from '../../../src/app/http/listener/server.ts'
import { watchStalls } from '../../../src/app/http/listener/stalls.ts'

let server: Server
let port: number
/** Request lines that reached the handler. */
const reached: string[] = []

test.before(async () => {
  server = createHttpServer((req, res) => {
    reached.push(`${req.method} ${req.url}`)
    req.resume()
    req.on('end', () => res.end('ok'))
  })
  port = await listen(server)
})
test.after.always(() => {
  server.close()
  server.closeAllConnections()
})

async function listen(target: Server): Promise<number> {
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
  return (target.address() as AddressInfo).port
}

/** Writes the bytes and reads until the server ends the connection. */
const exchange = (bytes: string, to = port): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(to, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
  })

const refuses = test.macro<[string, string, number, string]>({
  async exec(t, _name, bytes, status, code) {
    const answer = await exchange(bytes)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    t.regex(head, new RegExp(`^HTTP/1\\.1 ${status} `), answer)
    t.regex(head, /^connection: close$/m)
    t.regex(head, /^content-type: application\/json/m)
    const { error } = JSON.parse(body)
    t.is(error.code, code)
    t.true(head.includes(`x-request-id: ${error.request_id}`))
    t.is(answer.match(/HTTP\/1\.1 \d/g)?.length, 1)
  },
  title: (_, name, __, status) => `${name}: ${status}`,
})

const post = (headers: string, body = '') => `POST /smuggled HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n${body}`

test(refuses, 'no HTTP at all', 'hello\r\n\r\n', 400, 'invalid_request')
test(refuses, 'TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00', 400, 'invalid_request')
test(
  refuses,
  'content-length and transfer-encoding',
  post('content-length: 4\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
  400,
  'invalid_request',
)
test(
  refuses,
  'transfer-encoding and content-length',
  post('transfer-encoding: chunked\r\ncontent-length: 4', '0\r\n\r\n'),
  400,
  'invalid_request',
)
test(refuses, 'two content-lengths', post('content-length: 4\r\ncontent-length: 5', 'abcd'), 400, 'invalid_request')
test(refuses, 'a list of content-lengths', post('content-length: 4, 4', 'abcd'), 400, 'invalid_request')
test(refuses, 'a signed content-length', post('content-length: +4', 'abcd'), 400, 'invalid_request')
test(refuses, 'an unknown transfer-encoding', post('transfer-encoding: xchunked', 'abcd'), 400, 'invalid_request')
test(refuses, 'gzip before chunked', post('transfer-encoding: gzip, chunked', '0\r\n\r\n'), 501, 'not_implemented')
test(
  refuses,
  'gzip and chunked in two lines',
  post('transfer-encoding: gzip\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
  501,
  'not_implemented',
)
test(refuses, 'a fragment', 'GET /v1/completions#a HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'invalid_request')
test(refuses, 'chunked twice', post('transfer-encoding: chunked, chunked', '0\r\n\r\n'), 400, 'invalid_request')
test(refuses, 'chunked not last', post('transfer-encoding: chunked, identity', '0\r\n\r\n'), 400, 'invalid_request')
test(refuses, 'a space before the colon', post('transfer-encoding : chunked', '0\r\n\r\n'), 400, 'invalid_request')
test(refuses, 'a folded header', post('x-a: b\r\n c: d', ''), 400, 'invalid_request')
test(refuses, 'a bare carriage return', post('x-a: b\rx-c: d', ''), 400, 'invalid_request')
test(refuses, 'a NUL in a header', post('x-a: b\0c', ''), 400, 'invalid_request')
test(refuses, 'a NUL in the path', 'GET /a\0b HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'invalid_request')
test(refuses, 'a header without a name', post(': b', ''), 400, 'invalid_request')
test(refuses, 'a chunk size that is no number', post('transfer-encoding: chunked', 'zz\r\n'), 400, 'invalid_request')
test(refuses, 'a header of 70 KB', post(`x-a: ${'b'.repeat(70_000)}`, ''), 431, 'headers_too_large')
test(refuses, 'a path of 70 KB', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, 'headers_too_large')
test(refuses, '300 headers', post(Array.from({ length: 300 }, (_, at) => `x-${at}: 1`).join('\r\n'), ''), 431, 'headers_too_large')
test(
  refuses,
  'a protocol upgrade',
  'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  400,
  'unsupported_operation',
)

test('what was refused reached no handler', (t) => {
  t.deepEqual(
    reached.filter((line) => line !== 'GET /fine' && line !== 'POST /smuggled'),
    [],
  )
})

test('a header of 60 KB is fine', async (t) => {
  const answer = await exchange(`GET /fine HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-a: ${'b'.repeat(60_000)}\r\n\r\n`)
  t.regex(answer, /^HTTP\/1\.1 200 OK/)
})

test('a body that stops coming is a 408, one that nobody reads yet is not', async (t) => {
  const slow = createServer((req, res) => {
    if (req.url === '/read') req.resume()
    else setTimeout(() => res.end('done'), 400)
  })
  slow.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    socket.end(`HTTP/1.1 408 ${error.code}\r\n\r\n`)
  })
  watchStalls(slow, 100)
  const to = await listen(slow)
  const half = 'HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 10\r\n\r\nabc'
  t.regex(await exchange(`POST /read ${half}`, to), /^HTTP\/1\.1 408 ERR_HTTP_REQUEST_TIMEOUT/)
  t.regex(await exchange(`POST /wait ${half}`, to), /^HTTP\/1\.1 200 OK/)
  slow.close()
  slow.closeAllConnections()
})

test('an answer that nobody reads is cut off', async (t) => {
  const big = createServer((_req, res) => res.end(Buffer.alloc(64 * 1024 * 1024)))
  watchStalls(big, 100)
  const to = await listen(big)
  const socket = connect(to, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'))
  socket.pause()
  await new Promise<void>((resolve) => big.on('connection', (peer) => peer.on('close', () => resolve())))
  socket.destroy()
  t.pass()
  big.close()
})
