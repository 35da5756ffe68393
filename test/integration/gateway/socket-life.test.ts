import { createConnection } from 'node:net'
import { once } from 'node:events'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, type GatewayBedOptions, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'
import { type Headers, openClient, refused, type SocketEvent } from '../../support/sockets/socket-client.ts'
import type { GatewaySettings } from '../../../src/gateway/settings.ts'

let emulator: Emulator
test.before(async () => void (emulator = await startEmulator()))
test.after.always(async () => {
  await emulator?.stop()
})

const auth = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@mine' }
const other = 'gh-test-key-of-another-tenant-00000'
const unscoped = 'gh-test-key-without-its-scope-00000'
const expired = 'gh-test-key-that-has-expired-000000'

const bedWith = (settings: Partial<GatewaySettings>, keys: GatewayBedOptions['keys'] = {}) =>
  startGateway({
    providers: { mine: { customHost: emulator.url } },
    keys: {
      [other]: { organisationId: '00000000-0000-7000-8000-0000000000aa' },
      [unscoped]: { scopes: new Set() },
      [expired]: { expiresAt: 1 },
      ...keys,
    },
    settings,
  })

const open = (bed: GatewayBed, headers: Headers = auth) => openClient(bed.origin, '/v1/responses', headers)
const ends = ({ type }: SocketEvent): boolean => type === 'response.completed' || type === 'error'
const create = { type: 'response.create', model: 'gpt-5', input: 'hi' }
const slow = (frames: number) => ({ ...auth, 'x-emulate': JSON.stringify({ frames, frameEveryMs: 20 }) })

/** Requests for a connection that are refused, as requests over HTTP are. */
const refusals: readonly (readonly [title: string, headers: Headers, status: number, code: string])[] = [
  ['no key', {}, 401, 'unauthorized'],
  ['an unknown key', { 'x-service-api-key': 'gh-no-such-key-00000000000000000000' }, 401, 'unauthorized'],
  ['an expired key', { 'x-service-api-key': expired }, 401, 'expired_key'],
  ['a key without the scope', { 'x-service-api-key': unscoped }, 403, 'forbidden'],
  ['an unknown config', { ...auth, 'x-service-config': 'pc-nothing' }, 400, 'invalid_request'],
  ['metadata that is no JSON', { ...auth, 'x-service-metadata': '{' }, 400, 'invalid_request'],
]

for (const [title, headers, status, code] of refusals)
  test.serial(`${title}: refused before the connection is accepted`, async (t) => {
    const bed = await bedWith({})
    const answer = await refused(bed.origin, '/v1/responses', headers)
    t.is(answer.status, status, JSON.stringify(answer))
    t.is((answer.body as { error: { code: string } }).error.code, code)
    t.truthy(answer.headers['x-request-id'])
    t.is(bed.gateway.sockets.open(), 0)
    await bed.stop()
  })

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Handshakes that are none. */
const malformed: readonly (readonly [title: string, headers: Headers, status: number, code: string])[] = [
  ['no upgrade', { connection: 'close' }, 426, 'upgrade_required'],
  ['another version', { ...handshake, 'sec-websocket-version': '8' }, 426, 'upgrade_required'],
  ['a key of another length', { ...handshake, 'sec-websocket-key': 'short' }, 400, 'invalid_request'],
]

for (const [title, headers, status, code] of malformed)
  test.serial(`${title}: a refusal over HTTP that tells what to do`, async (t) => {
    const bed = await bedWith({})
    const { port } = new URL(bed.origin)
    const socket = createConnection(Number(port), '127.0.0.1')
    const lines = Object.entries({ host: 'h', ...auth, ...headers }).map(([name, value]) => `${name}: ${value}`)
    socket.write(`GET /v1/responses HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    let text = ''
    socket.on('data', (bytes) => (text += bytes.toString()))
    await once(socket, 'end')
    t.regex(text, new RegExp(`^HTTP/1.1 ${status} `))
    t.true(text.includes(`"code":"${code}"`), text)
    if (status === 426) t.regex(text, /\r\n(?:upgrade: websocket|sec-websocket-version: 13)\r\n/i)
    await bed.stop()
  })

test.serial('one organisation gets half of the connections, and its own come back when they end', async (t) => {
  const bed = await bedWith({ maxSockets: 4 })
  const own = [await open(bed), await open(bed)]
  t.like(await refused(bed.origin, '/v1/responses', auth), { status: 429, body: { error: { code: 'rate_limited' } } })
  const others = { ...auth, 'x-service-api-key': other }
  const theirs = [await open(bed, others), await open(bed, others)]
  t.like(await refused(bed.origin, '/v1/responses', auth), { status: 503, body: { error: { code: 'overloaded' } } })
  t.is(bed.gateway.sockets.open(), 4)
  for (const { socket } of [...own, ...theirs]) socket.close()
  await eventually(() => bed.gateway.sockets.open() === 0, 2000)
  const again = await open(bed)
  again.socket.close()
  await bed.stop()
})

test.serial('a connection ends with its key: at the next turn, and without one at the next look', async (t) => {
  const revocable = 'gh-test-key-that-is-revoked-0000000'
  for (const asks of [true, false]) {
    const bed = await bedWith({ socketPingMs: asks ? 60_000 : 30 }, { [revocable]: {} })
    const client = await open(bed, { ...auth, 'x-service-api-key': revocable })
    client.send(create)
    t.is((await client.next(ends)).type, 'response.completed')
    bed.revoke(revocable)
    if (asks) client.send(create)
    const event = await client.next(ends)
    t.like(event, { type: 'error', status: 401 })
    const { code, reason } = await client.closed
    t.is(code, 1008)
    t.regex(reason, /revoked/)
    await bed.stop()
  }
})

test.serial('a connection without turns ends when it is idle, one with a turn when it is too old and the turn is done', async (t) => {
  const idle = await bedWith({ socketIdleMs: 150, socketPingMs: 100 })
  const resting = await open(idle)
  const working = await open(idle, slow(40))
  working.send(create)
  t.is((await resting.closed).code, 1000)
  t.is((await working.next(ends)).type, 'response.completed', 'a turn is no rest')
  t.is((await working.closed).code, 1000)
  await idle.stop()

  const old = await bedWith({ socketMaxMs: 50, socketPingMs: 100 })
  const client = await open(old, slow(40))
  client.send(create)
  t.is((await client.next(({ type }) => type === 'error'))['status'], 400)
  client.send(create)
  t.like(await client.next(({ type }) => type === 'error'), { status: 503 }, 'no other turn begins')
  t.is((await client.next(ends)).type, 'response.completed')
  t.is((await client.closed).code, 1000)
  await old.stop()
})

test.serial('a client that has gone without a word is found by its silence', async (t) => {
  const bed = await bedWith({ socketPingMs: 100 })
  const { port } = new URL(bed.origin)
  const socket = createConnection(Number(port), '127.0.0.1')
  const lines = Object.entries({ host: 'h', ...auth, ...handshake }).map(([name, value]) => `${name}: ${value}`)
  socket.write(`GET /v1/responses HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  const live = await open(bed)
  t.is(bed.gateway.sockets.open(), 2)
  await Promise.race([once(socket, 'close'), once(socket, 'end')])
  await eventually(() => bed.gateway.sockets.open() === 1, 1000, 'the silent one to be let go')
  t.is(live.socket.readyState, live.socket.OPEN, 'the one that answers pings stays')
  live.socket.close()
  socket.destroy()
  await bed.stop()
})

test.serial('a drain ends connections without turns at once, and others after their turns', async (t) => {
  const bed = await bedWith({})
  const resting = await open(bed)
  const working = await open(bed, slow(20))
  working.send(create)
  await working.next(({ type }) => type === 'response.created')
  const drained = bed.gateway.drain(10_000)
  t.is((await resting.closed).code, 1001)
  working.send(create)
  t.like(await working.next(({ type }) => type === 'error'), { status: 503, error: { code: 'draining' } })
  t.is((await working.next(ends)).type, 'response.completed')
  t.is((await working.closed).code, 1001)
  t.is(await drained, 0)
  t.is((await send(`${bed.origin}/v1/models`, { headers: auth })).status, 200)
  t.like(await refused(bed.origin, '/v1/responses', auth), { status: 503, body: { error: { code: 'draining' } } })
  await bed.stop()
})

test.serial('a drain without time cuts turns, which are logged', async (t) => {
  const bed = await bedWith({})
  const client = await open(bed, slow(1000))
  client.send(create)
  await client.next(({ type }) => type === 'response.output_text.delta')
  t.is(await bed.gateway.drain(50), 1)
  t.is((await client.closed).code, 1001)
  t.true(client.events.some(({ type }) => type === 'error'))
  t.is(bed.logged.length, 2)
  t.is(bed.logged[1]?.record.errorCode, 'draining')
  await bed.stop()
})
