import { createConnection } from 'node:net'
import test from 'ava'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { messagesProvider } from '../../conformance/sides/anthropic.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Headers, openClient, refused, type SocketEvent } from '../../support/sockets/socket-client.ts'

let emulator: Emulator
let app: TestApp
test.before(async () => {
  emulator = await startEmulator()
  app = await startApp({ env: { CORS_ORIGINS: 'https://pages.example.com' } })
})
test.after.always(() => Promise.all([app?.stop(), emulator?.stop()]))

const auth = (): Headers => ({
  'x-service-api-key': app.workspaceKey,
  'x-service-provider': 'openai',
  'x-service-custom-host': emulator.url,
  authorization: 'Bearer sk-own',
})
const path = '/v1/responses'
const ends = ({ type }: SocketEvent): boolean => type === 'response.completed' || type === 'error'
const create = { type: 'response.create', model: 'gpt-5', input: 'hi' }

test('pages of listed origins may open connections, and those of our own; others may not', async (t) => {
  const own = new URL(app.baseUrl).origin
  for (const origin of ['https://pages.example.com', own]) {
    const { socket } = await openClient(app.baseUrl, path, { ...auth(), origin })
    socket.close()
  }
  for (const origin of ['https://evil.example.com', 'null', 'http://pages.example.com'])
    t.like(await refused(app.baseUrl, path, { ...auth(), origin }), {
      status: 403,
      body: { error: { code: 'forbidden', param: 'origin' } },
    })
})

test('no other path takes an upgrade, of whichever plane', async (t) => {
  for (const other of ['/v1/api-keys', '/v1/responses/resp_1', '/v1/chat/completions', '/healthz', '/v1/responses/', '/v2/responses'])
    t.like(await refused(app.baseUrl, other, auth()), { status: 400, body: { error: { code: 'unsupported_operation' } } }, other)
  t.is((await refused(app.baseUrl, path, {})).status, 401)
})

/** Writes bytes to a socket of its own, and returns all that comes back. */
function exchange(text: string): Promise<string> {
  const socket = createConnection(Number(new URL(app.baseUrl).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1')
  socket.on('data', (part: string) => (answer += part))
  socket.write(text, 'latin1')
  return new Promise((resolve, reject) => {
    socket.once('close', () => resolve(answer))
    socket.once('error', reject)
  })
}

const lines = (more: Headers) =>
  Object.entries({ host: 'h', ...auth(), ...more })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Requests for a connection whose bytes another hop could read in another way. */
const odd: readonly (readonly [title: string, request: () => string, status: RegExp])[] = [
  ['with a body', () => `GET ${path} HTTP/1.1\r\n${lines({ ...handshake, 'content-length': '2' })}\r\n{}`, /^HTTP\/1.1 400 /],
  ['in chunks', () => `GET ${path} HTTP/1.1\r\n${lines({ ...handshake, 'transfer-encoding': 'chunked' })}\r\n0\r\n\r\n`, /^HTTP\/1.1 400 /],
  ['by POST', () => `POST ${path} HTTP/1.1\r\n${lines(handshake)}\r\n`, /^HTTP\/1.1 400 /],
  ['with two hosts', () => `GET ${path} HTTP/1.1\r\nhost: other\r\n${lines(handshake)}\r\n`, /^HTTP\/1.1 400 /],
  ['with a fragment', () => `GET ${path}#x HTTP/1.1\r\n${lines(handshake)}\r\n`, /^HTTP\/1.1 400 /],
  [
    'behind a request without an answer',
    () => `GET /v1/models HTTP/1.1\r\n${lines({ 'x-emulate': '{"delayMs":200}' })}\r\nGET ${path} HTTP/1.1\r\n${lines(handshake)}\r\n`,
    /^HTTP\/1.1 200 [^]*HTTP\/1.1 400 /,
  ],
]
for (const [title, request, status] of odd)
  test(`a request for a connection ${title} is refused`, async (t) => {
    t.regex(await exchange(request()), status)
  })

test('frames that follow their handshake at once are read', async (t) => {
  const frame = Buffer.from([0x88, 0x80, 0, 0, 0, 0]).toString('latin1')
  const answer = await exchange(`GET ${path} HTTP/1.1\r\n${lines(handshake)}\r\n${frame}`)
  t.regex(answer, /^HTTP\/1.1 101 /)
  t.regex(answer, /\r\nx-request-id: /i)
  t.regex(answer, /\r\nx-content-type-options: nosniff\r\n/i)
  t.true(answer.endsWith('\x88\x00') || answer.endsWith('\x88\x02\x03\xe8'), JSON.stringify(answer.slice(-8)))
})

test('each turn has its row in the logs, in the trace of its connection, and the connection its own', async (t) => {
  const client = new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: 'sk-own' })
  const ws = new ResponsesWS(client, { headers: { ...auth(), 'x-service-trace-id': 'rows-of-a-socket' } })
  const done = new Promise((resolve, reject) => {
    ws.once('response.completed', resolve)
    ws.once('error', reject)
  })
  ws.send({ type: 'response.create', model: 'gpt-5', input: 'hi' })
  await done
  const metrics = (await send(`${app.baseUrl}/metrics`)).text
  t.regex(metrics, /^gateway_websockets [1-9]/m)
  t.regex(metrics, /^gateway_websockets_accepted_total [1-9]/m)
  ws.close()
  interface Row {
    readonly request_method: string
    readonly response_status_code: number
    readonly cost_state: string | null
    readonly total_units: number | null
  }
  let rows: readonly Row[] = []
  const list = `${app.baseUrl}/v1/logs?trace_id=rows-of-a-socket`
  await eventually(async () => {
    const { text } = await send(list, { headers: { 'x-service-api-key': app.adminKey } })
    rows = (JSON.parse(text) as { data?: readonly Row[] }).data ?? []
    return rows.length === 2
  }, 10_000)
  t.deepEqual(
    rows
      .toSorted((one, other) => one.response_status_code - other.response_status_code)
      .map((row) => [row.request_method, row.response_status_code, row.cost_state, row.total_units]),
    [
      ['GET', 101, null, null],
      ['POST', 200, 'priced', 18],
    ],
  )
})

test('a response that Gatehouse keeps is continued on another connection, and by its owner alone', async (t) => {
  const claude = await startEmulator()
  const counts = { input: 20, cached: 0, output: 7, thought: 0 }
  claude.script({ behaviour: (received) => messagesProvider.stream({ text: 'Hello.', stop: 'stop', counts }, received) })
  const headers = { ...auth(), 'x-service-provider': 'anthropic', 'x-service-custom-host': claude.url }
  const message = { type: 'response.create', model: 'claude-sonnet-4-5', input: 'one' }
  const first = await openClient(app.baseUrl, path, headers)
  first.send(message)
  const { id } = (await first.next(ends))['response'] as { id: string }
  first.socket.close()
  const second = await openClient(app.baseUrl, path, headers)
  const asked = claude.next('/messages')
  second.send({ ...message, previous_response_id: id, input: 'two' })
  t.is(((await asked).json['messages'] as readonly unknown[]).length, 3)
  t.is((await second.next(ends)).type, 'response.completed')
  second.send({ ...message, store: false })
  const unkept = (await second.next(ends))['response'] as { id: string }
  second.socket.close()
  const third = await openClient(app.baseUrl, path, headers)
  third.send({ ...message, previous_response_id: unkept.id })
  t.like(await third.next(ends), {
    type: 'error',
    status: 400,
    error: { code: 'previous_response_not_found', param: 'previous_response_id' },
  })
  third.socket.close()
  await claude.stop()
})

test('a process that stops lets turns end, and closes its connections in order', async (t) => {
  const ending = await startApp({ env: { TERMINATION_GRACE: '6s', DRAIN_DELAY: '0s' } })
  const headers = { ...auth(), 'x-service-api-key': ending.workspaceKey }
  const resting = await openClient(ending.baseUrl, path, headers)
  const working = await openClient(ending.baseUrl, path, { ...headers, 'x-emulate': '{"frames":10,"frameEveryMs":30}' })
  working.send(create)
  await working.next(({ type }) => type === 'response.created')
  const drained = ending.app.drain()
  t.is((await resting.closed).code, 1001)
  t.is((await working.next(ends)).type, 'response.completed')
  t.is((await working.closed).code, 1001)
  await drained
  await ending.stop()
})
