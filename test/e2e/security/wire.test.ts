import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send } from '../../support/http.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { speak } from '../../support/wire.ts'

let emulator: Emulator
let gatehouse: Gatehouse

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse({ env: { LOG_LEVEL: 'debug' } })
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

/** The head of a request that, were it understood, would reach the emulator. */
const line = (method: string, target: string) => `${method} ${target} HTTP/1.1\r\nhost: gatehouse\r\n${credentials()}`
const credentials = () => `x-service-api-key: ${workspaceKey}\r\nx-service-provider: openai\r\nx-service-custom-host: ${emulator.url}\r\n`
const json = 'content-type: application/json\r\n'
const smuggled = () => `${line('GET', '/v1/smuggled')}\r\n`
const post = (headers: string, body = '') => `${line('POST', '/v1/chat/completions')}${json}${headers}\r\n${body}`
const get = (target: string, headers = '') => `${line('GET', target)}${headers}\r\n`
const chunked = 'transfer-encoding: chunked\r\n'

/** Bytes that are no request: one answer of ours, and the connection ends, so that bytes behind them are not read. */
const refused: Readonly<Record<string, () => string>> = {
  'content-length before transfer-encoding': () => post(`content-length: 6\r\n${chunked}`, `0\r\n\r\n${smuggled()}`),
  'transfer-encoding before content-length': () => post(`${chunked}content-length: 4\r\n`, `5c\r\n${smuggled()}\r\n0\r\n\r\n`),
  'an unknown transfer-encoding': () => post('transfer-encoding: xchunked\r\n', `0\r\n\r\n${smuggled()}`),
  'chunked not last': () => post('transfer-encoding: chunked, identity\r\n', `0\r\n\r\n${smuggled()}`),
  'two transfer-encodings': () => post(`${chunked}transfer-encoding: identity\r\n`, `0\r\n\r\n${smuggled()}`),
  'a space before the colon': () => post('transfer-encoding : chunked\r\n', `0\r\n\r\n${smuggled()}`),
  'a vertical tab before the value': () => post('transfer-encoding: \x0bchunked\r\n', `0\r\n\r\n${smuggled()}`),
  'a folded header': () => post('x-a: b\r\n transfer-encoding: chunked\r\n', smuggled()),
  'bare line feeds': () => smuggled().replaceAll('\r\n', '\n'),
  'a bare carriage return': () => post('x-a: b\rcontent-length: 3\r\n', smuggled()),
  'a NUL in a header': () => post('x-a: b\0c\r\n', smuggled()),
  'a DEL in a header that answers repeat': () => post('x-service-trace-id: a\x7fb\r\ncontent-length: 2\r\n', '{}'),
  'different content-lengths': () => post('content-length: 2\r\ncontent-length: 5\r\n', `{}${smuggled()}`),
  'the same content-length twice': () => post('content-length: 2\r\ncontent-length: 2\r\n', `{}${smuggled()}`),
  'a list of content-lengths': () => post('content-length: 2, 2\r\n', `{}${smuggled()}`),
  'a signed content-length': () => post('content-length: +2\r\n', `{}${smuggled()}`),
  'a negative content-length': () => post('content-length: -1\r\n', smuggled()),
  'a hexadecimal content-length': () => post('content-length: 0x2\r\n', `{}${smuggled()}`),
  'a content-length beyond 64 bits': () => post('content-length: 99999999999999999999\r\n', '{}'),
  'a chunk size that is no number': () => post(chunked, `zz\r\n{}\r\n0\r\n\r\n${smuggled()}`),
  'a negative chunk size': () => post(chunked, `-1\r\n{}\r\n0\r\n\r\n${smuggled()}`),
  'a chunk size beyond 64 bits': () => post(chunked, `fffffffffffffffff\r\n{}\r\n0\r\n\r\n${smuggled()}`),
  'a chunk longer than its size': () => post(chunked, `2\r\n{}XX0\r\n\r\n${smuggled()}`),
  'chunks with bare line feeds': () => post(chunked, `2\n{}\n0\n\n${smuggled()}`),
  'a content-length in the trailers': () => post(chunked, `2\r\n{}\r\n0\r\ncontent-length: 5\r\n\r\n${smuggled()}`),
  'a space in a header name': () => post('x a: b\r\n', smuggled()),
  'a header without a name': () => post(': b\r\n', smuggled()),
  'a method nobody knows': () => `${line('SMUGGLE', '/v1/smuggled')}\r\n`,
  'an authority for a target': () => get('evil.example:80'),
  'bytes above ASCII in the target': () => get('/v1/smuggled/\xe9\xff'),
  'a control character in the target': () => get('/v1/smuggled/\x01'),
  'two Host headers': () => get('/v1/smuggled', 'Host: other\r\n'),
  'an expectation that nobody meets': () => post('expect: 200-maybe\r\ncontent-length: 2\r\n', '{}'),
  'the preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'the hello of TLS': () => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'a'.repeat(80)}`,
  'an upgrade to WebSocket': () => get('/v1/smuggled', 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n'),
}

const isRefusal = test.macro(async (t, bytes: () => string, status: number, code: string) => {
  // Long, because a busy machine ends a connection later; one that is ended in time does not wait.
  const { answers, closed, text } = await speak(gatehouse.origin, bytes(), { quietMs: 5_000 })
  t.true(closed, 'the connection stayed open')
  t.is(answers.length, 1, text)
  t.is(answers[0]?.status, status, text)
  const { error } = JSON.parse(answers[0]?.body ?? '') as { error: { code: string; request_id: string } }
  t.is(error.code, code)
  t.truthy(error.request_id)
})

for (const [name, bytes] of Object.entries(refused)) {
  test(name, isRefusal, bytes, 400, name.includes('WebSocket') ? 'unsupported_operation' : 'invalid_request')
}
test('headers of 70 KB', isRefusal, () => get('/v1/smuggled', `x-a: ${'a'.repeat(70_000)}\r\n`), 431, 'headers_too_large')
test('a target of 70 KB', isRefusal, () => get(`/v1/smuggled/${'a'.repeat(70_000)}`), 431, 'headers_too_large')
test('2,000 headers', isRefusal, () => get('/v1/smuggled', 'x-a: 1\r\n'.repeat(2000)), 431, 'headers_too_large')
test('a chunk extension of 20 KB', isRefusal, () => post(chunked, `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`), 413, 'payload_too_large')

/** A request, but not one for a provider: an answer of ours in which the emulator had no part. */
const answered: Readonly<Record<string, readonly [bytes: () => string, status: number, code: string]>> = {
  'headers of 17 KB': [() => `GET /v1/smuggled HTTP/1.1\r\nhost: h\r\nx-a: ${'a'.repeat(17_000)}\r\n\r\n`, 401, 'unauthorized'],
  TRACE: [() => `${line('TRACE', '/v1/smuggled')}\r\n`, 405, 'method_not_allowed'],
  'TRACE of the control plane': [() => 'TRACE /v1/api-keys HTTP/1.1\r\nhost: h\r\n\r\n', 405, 'method_not_allowed'],
  PROPFIND: [() => `${line('PROPFIND', '/v1/smuggled')}\r\n`, 405, 'method_not_allowed'],
  // The host in it is not gone to: this is no proxy, and the path is ours.
  'an absolute target': [() => `GET http://169.254.169.254/v1/smuggled HTTP/1.1\r\nhost: h\r\n\r\n`, 401, 'unauthorized'],
  CONNECT: [() => 'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n', 405, 'method_not_allowed'],
  'no Host header': [() => 'GET /v1/health HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
  'two slashes at the start': [() => get('//v1/smuggled'), 404, 'not_found'],
  'no path at all': [() => `${line('OPTIONS', '*')}\r\n`, 404, 'not_found'],
  'dot segments': [() => get('/v1/../smuggled'), 400, 'invalid_request'],
  'encoded dots': [() => get('/v1/%2E%2e/smuggled'), 400, 'invalid_request'],
  'encoded slashes': [() => get('/v1/a%2f..%2fsmuggled'), 400, 'invalid_request'],
  backslashes: [() => get('/v1/a\\..\\smuggled'), 400, 'invalid_request'],
  '%00 in a slug': [() => get('/v1/integrations/%00'), 404, 'AB08'],
  'half a percent sign in an id': [() => 'GET /v1/api-keys/%E0%A4%A HTTP/1.1\r\nhost: h\r\n\r\n', 401, 'AB05'],
  'a body that is announced and never sent whole': [() => post('content-length: 999999999999999999\r\n', '{}'), 413, 'payload_too_large'],
}

for (const [name, [bytes, status, code]] of Object.entries(answered)) {
  test(name, async (t) => {
    const { answers, text } = await speak(gatehouse.origin, bytes(), { quietMs: 100 })
    t.is(answers.length, 1, text)
    t.is(answers[0]?.status, status, text)
    t.is((JSON.parse(answers[0]?.body ?? '') as { error: { code: string } }).error.code, code)
  })
}

test('HTTP without headers gets an answer, not the provider', async (t) => {
  const { closed, answers } = await speak(gatehouse.origin, 'GET /v1/smuggled\r\n\r\n')
  t.true(closed)
  t.is(answers[0]?.status, 400)
})

test('what stands behind a request in the same packet is a request of its own, with its own key', async (t) => {
  const { answers } = await speak(gatehouse.origin, `${post('content-length: 2\r\n', '{}')}GET /v1/api-keys HTTP/1.1\r\nhost: h\r\n\r\n`)
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 401],
  )
})

test('a request in the body of another is its body', async (t) => {
  const inner = `${line('GET', '/v1/smuggled')}\r\n`
  const outer = `${line('POST', '/v1/echo')}content-type: text/plain\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`
  const { answers } = await speak(gatehouse.origin, outer)
  t.is(answers.length, 1)
  t.is((JSON.parse(answers[0]?.body ?? '') as { length: number }).length, inner.length)
})

test('a refused request leaves no part of its body to be read as the next', async (t) => {
  const inner = smuggled()
  const { answers } = await speak(gatehouse.origin, `${line('POST', '/v1/../x')}content-length: ${inner.length}\r\n\r\n${inner}`)
  t.deepEqual(
    answers.map(({ status }) => status),
    [400],
  )
})

test('an offer of HTTP/2 is passed over, as Java makes one with every request', async (t) => {
  const { answers } = await speak(
    gatehouse.origin,
    post('connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\ncontent-length: 2\r\n', '{}'),
  )
  t.is(answers[0]?.status, 200)
  const received = emulator.requests.find(({ headers }) => 'http2-settings' in headers || 'upgrade' in headers)
  t.is(received, undefined, 'the offer went to the provider')
})

test('what Connection names ends here, but for what describes the body', async (t) => {
  const headers = `connection: close, x-hop, content-type\r\nx-hop: 1\r\nx-end: 1\r\ncontent-length: 2\r\n`
  const { answers } = await speak(gatehouse.origin, `${line('POST', '/v1/echo')}${json}${headers}\r\n{}`)
  const { rawHeaders } = JSON.parse(answers[0]?.body ?? '') as { rawHeaders: readonly string[] }
  t.false(rawHeaders.includes('x-hop'))
  t.true(rawHeaders.includes('x-end'))
  t.true(rawHeaders.includes('content-type'))
})

test('a client that waits for 100-continue gets it', async (t) => {
  const { text } = await speak(gatehouse.origin, post('expect: 100-continue\r\nconnection: close\r\ncontent-length: 2\r\n', '{}'), {
    quietMs: 5000,
  })
  t.regex(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
})

test('heads that never end are cut off', async (t) => {
  t.timeout(60_000)
  const halves = ['', 'GET /v1/health HT', 'GET /v1/health HTTP/1.1\r\nhost: h\r\nx-a: ', `${line('POST', '/v1/chat/completions')}x`]
  const ended = await Promise.all(halves.map((bytes) => speak(gatehouse.origin, bytes, { withinMs: 30_000, quietMs: 5000 })))
  for (const { closed, ms, answers } of ended) {
    t.true(closed, 'still open after 30 s')
    t.true(ms < 25_000, `${ms} ms`)
    t.is(answers[0]?.status, 408)
  }
})

test.after('nothing of all this reached the provider, broke the process or was a fault of its own', async (t) => {
  t.deepEqual(
    emulator.requests.filter(({ url, rawHeaders }) => /smuggled|evil/.test(url + rawHeaders.join())).map(({ url }) => url),
    [],
  )
  t.is((await send(`${gatehouse.origin}/healthz`)).status, 200)
  t.is(gatehouse.process.exitCode, null)
  const faults = gatehouse
    .output()
    .split('\n')
    .filter((printed) => /"level":"(?:error|fatal)"|"status":500|^ {4}at /.test(printed))
  t.deepEqual(faults, [])
})
