import { once } from 'node:events'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { send, sendJson } from '../../support/http.ts'

const chosen = 'a key that the operator chose, of any shape'
let emulator: Emulator
let bed: GatewayBed
let resolving = Promise.withResolvers<void>()

test.before(async () => {
  emulator = await startEmulator()
  bed = await startGateway({
    providers: { mine: { customHost: emulator.url }, slow: { customHost: 'http://slow.test' } },
    settings: { maxUploadBytes: 64 * 1024, chosenKeys: new Set([chosen]), requestTimeoutMs: 2000, streamIdleTimeoutMs: 300 },
    trustedHosts: ['127.0.0.1', 'slow.test'],
    resolve: () => {
      resolving.resolve()
      return new Promise(() => {})
    },
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

const mine = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@mine' }
const emulate = (behaviour: Behaviour) => ({ ...mine, 'x-emulate': JSON.stringify(behaviour) })
const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

test.serial('a client that leaves in an upload, before the provider is connected, harms nobody', async (t) => {
  const log = bed.nextLog()
  resolving = Promise.withResolvers()
  const socket = connect(Number(new URL(bed.origin).port), '127.0.0.1')
  socket.write(
    `POST /v1/files HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${workspaceKey}\r\nx-service-provider: @slow\r\ncontent-type: audio/wav\r\ncontent-length: 5000\r\n\r\nabc`,
  )
  await resolving.promise
  socket.destroy()
  t.is((await log).record.outcome, 'client_closed')
  t.is((await send(`${bed.origin}/v1/models`, { headers: mine })).status, 200)
})

test.serial('a chunked upload over the limit is a 413, and is logged as ours', async (t) => {
  const log = bed.nextLog()
  const answer = await send(`${bed.origin}/v1/echo`, {
    method: 'POST',
    headers: { ...mine, 'content-type': 'audio/wav', 'transfer-encoding': 'chunked' },
    body: Buffer.alloc(200_000),
  })
  t.is(answer.status, 413)
  t.is((await log).record.outcome, 'error')
})

test.serial('a provider that answers before it has read all is heard, and the connection ends in order', async (t) => {
  const socket = connect(Number(new URL(bed.origin).port), '127.0.0.1')
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => {})
  await once(socket, 'connect')
  const remove = emulator.script({ path: '/early', behaviour: { status: 401 } })
  socket.write(
    `POST /v1/early HTTP/1.1\r\nhost: x\r\nx-service-api-key: nobody\r\ncontent-type: audio/wav\r\ncontent-length: 60000\r\n\r\n`,
  )
  for (let sent = 0; sent < 60_000; sent += 1000) socket.write(Buffer.alloc(1000))
  socket.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${workspaceKey}\r\nx-service-provider: @mine\r\n\r\n`)
  while (!text.includes('"object":"list"')) await once(socket, 'data')
  remove()
  t.regex(text, /^HTTP\/1\.1 401 Unauthorized/)
  t.regex(text, /HTTP\/1\.1 200 OK/)
  socket.destroy()
})

test.serial('a provider that says nothing after its headers is told, unless it streams', async (t) => {
  const answer = await sendJson(`${bed.origin}/v1/chat/completions`, emulate({ hang: 'after-headers' }), chat)
  t.is(answer.status, 504)
  t.is((JSON.parse(answer.text) as { error: { code: string } }).error.code, 'upstream_timeout')
})

test.serial('an answer that declares trailers and a length passes', async (t) => {
  const remove = emulator.script({
    path: '/trailed',
    behaviour: { raw: 'HTTP/1.1 200 OK\r\ntrailer: x-checksum\r\ncontent-length: 2\r\n\r\nok' },
  })
  const answer = await send(`${bed.origin}/v1/trailed`, { headers: mine })
  remove()
  t.is(answer.status, 200)
  t.is(answer.text, 'ok')
})

test.serial('hints that Node does not take are lost, not the answer', async (t) => {
  const remove = emulator.script({
    path: '/hinted',
    behaviour: {
      raw: 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload, </b>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    },
  })
  const answer = await send(`${bed.origin}/v1/hinted`, { headers: mine })
  remove()
  t.is(answer.status, 200)
  t.is(answer.text, 'ok')
})

test.serial('a provider does not speak in our name', async (t) => {
  const answer = await send(`${bed.origin}/v1/models`, {
    headers: emulate({ headers: { 'x-service-provider': 'evil', 'x-portkey-cache-status': 'HIT' } }),
  })
  t.is(answer.headers['x-service-provider'], 'openai')
  t.is(answer.headers['x-portkey-cache-status'], undefined)
})

test.serial('a credential in a compressed answer does not reach the log', async (t) => {
  const log = bed.nextLog()
  const answer = await sendJson(
    `${bed.origin}/v1/chat/completions`,
    emulate({ status: 401, body: '{"error":"Incorrect API key: sk-stored-mine"}', encoding: 'gzip' }),
    chat,
  )
  t.is(answer.headers['content-encoding'], 'gzip')
  const { bodies } = await log
  t.is(gunzipSync(Buffer.from(bodies.response ?? [])).toString(), '{"error":"Incorrect API key: [removed]"}')
})

const places: readonly (readonly [name: string, headers: Record<string, string>])[] = [
  ['x-goog-api-key', { 'x-goog-api-key': workspaceKey }],
  ['a header of any name', { 'x-anything': workspaceKey }],
  ['a second bearer', { authorization: `Bearer ${workspaceKey}` }],
  ['a key that the operator chose', { authorization: `Bearer ${chosen}`, 'x-other': chosen }],
]
for (const [name, headers] of places)
  test.serial(`our key does not go upstream: ${name}`, async (t) => {
    const host = { 'x-service-api-key': workspaceKey, 'x-service-provider': 'openai', 'x-service-custom-host': emulator.url }
    const answer = await send(`${bed.origin}/v1/echo`, { headers: { ...host, ...headers } })
    t.is(answer.status, 200)
    t.false(answer.text.includes(workspaceKey))
    t.false(answer.text.includes(chosen))
  })

test.serial('our key in a query is refused', async (t) => {
  const answer = await send(`${bed.origin}/v1/models?key=${workspaceKey}`, { headers: mine })
  t.is(answer.status, 400)
  t.false(answer.text.includes(workspaceKey))
})

test.serial("a key of Google's own header is a credential", async (t) => {
  const headers = {
    'x-service-api-key': workspaceKey,
    'x-service-provider': 'google',
    'x-service-custom-host': emulator.url,
    'x-goog-api-key': 'AIza-own',
  }
  const answer = await send(`${bed.origin}/v1/echo`, { headers })
  const sent = JSON.parse(answer.text) as { url: string; rawHeaders: readonly string[] }
  t.is(sent.url, '/v1/echo')
  t.is(sent.rawHeaders[sent.rawHeaders.indexOf('x-goog-api-key') + 1], 'AIza-own')
})

test.serial('an IPv4 address in the clothes of IPv6 is reached, or refused, but no fault of ours', async (t) => {
  const headers = {
    'x-service-api-key': workspaceKey,
    'x-service-provider': 'openai',
    'x-service-custom-host': `http://[::ffff:127.0.0.1]:${emulator.port}/v1`,
    authorization: 'Bearer sk',
  }
  const answer = await send(`${bed.origin}/v1/models`, { headers })
  t.is(answer.status, 200)
})
