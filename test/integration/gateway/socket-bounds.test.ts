// Clients that do not read, and providers that send too much: what is held of a connection is bounded.
import { runInNewContext } from 'node:vm'
import { setFlagsFromString } from 'node:v8'
import test from 'ava'
import type { WebSocket } from 'ws'
import { longTurns } from '../../../src/lib/shares/long-turns.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RealtimeEmulator, startRealtime } from '../../support/sockets/realtime-emulator.ts'
import { type Headers, openClient, type SocketEvent } from '../../support/sockets/socket-client.ts'

let provider: RealtimeEmulator
let emulator: Emulator
let bed: GatewayBed
const otherKey = 'gh-test-key-of-another-organisation-00'
const explanation = 'No. '.repeat(25_000)

test.before(async () => {
  ;[provider, emulator] = await Promise.all([startRealtime(), startEmulator()])
  bed = await startGateway({
    settings: { maxSockets: 400 },
    keys: { [otherKey]: { organisationId: '00000000-0000-7000-8000-0000000000aa' } },
    providers: { voice: { customHost: provider.url }, mine: { customHost: emulator.url } },
    guardrails: {
      denied: {
        checks: [{ id: 'default.regexMatch', parameters: { rule: 'plutonium', not: true } }],
        actions: { onFail: 'block', message: explanation },
      },
    },
    configs: {
      voice: { provider: '@voice', input_guardrails: ['denied'] },
      mine: { provider: '@mine', input_guardrails: ['denied'] },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await provider?.stop()
  await emulator?.stop()
})

const realtime = { path: '/v1/realtime?model=gpt-realtime', slug: 'voice' } as const
const responses = { path: '/v1/responses', slug: 'mine' } as const
type Protocol = typeof realtime | typeof responses

const auth = { authorization: `Bearer ${workspaceKey}` }
const plain = ({ slug }: Protocol): Headers => ({ ...auth, 'x-service-provider': `@${slug}` })
const guarded = ({ slug }: Protocol): Headers => ({ ...auth, 'x-service-config': slug })
const is = (type: string) => (event: SocketEvent) => event.type === type

async function connect(protocol: Protocol, headers: Headers = plain(protocol), at: GatewayBed = bed) {
  await eventually(() => provider.open.size === 0 && bed.gateway.inflight() === 0, 10_000, 'the session before to end')
  const client = await openClient(at.origin, protocol.path, headers)
  if (protocol === realtime) await client.next(is('session.created'))
  return client
}

const onlySession = (): WebSocket => {
  const [session] = provider.open
  if (session === undefined) throw new Error('no session is open')
  return session
}

/** Returns a number above 0 once it has not changed for half a second. */
async function settled(read: () => number): Promise<number> {
  let [last, looks] = [0, 0]
  await eventually(
    () => {
      looks = read() === last ? looks + 1 : 0
      last = read()
      return last > 0 && looks >= 25
    },
    30_000,
    'the number to stay',
  )
  return last
}

const denied = 'plutonium'

/** Messages whose replies are long, by the number that a client sends of them. */
const floods: readonly (readonly [title: string, protocol: Protocol, headers: Headers, message: object, count: number, reply: string])[] = [
  ['steers', responses, plain(responses), { type: 'response.steer', input: 'x'.repeat(15_000) }, 4000, 'response.steer.failed'],
  ['turns that are refused', responses, guarded(responses), { type: 'response.create', model: 'm', input: denied }, 600, 'error'],
]

for (const [title, protocol, headers, message, count, reply] of floods)
  test.serial(`${protocol.path}: a client that sends ${title} and does not read has to wait`, async (t) => {
    const client = await connect(protocol, headers)
    const rowsBefore = bed.logged.length
    const { length } = JSON.stringify(message)
    client.socket.pause()
    for (let sent = 0; sent < count; sent += 1) client.send(message)
    /** The replies that were made: each has a row, or took its message. */
    const made = () => (reply === 'error' ? bed.logged.length - rowsBefore : count - client.socket.bufferedAmount / length)
    const most = await settled(made)
    t.true(most > 0 && most < count * 0.7, `${most} of ${count} were answered without a reader`)
    client.socket.resume()
    await client.next(is(reply))
    if (reply !== 'error') for (let more = 1; more < count; more += 1) await client.next(is(reply))
    client.socket.terminate()
  })

/** A message that is read, behind which malformed ones are counted anew, and the end of its turn. */
const good = { type: 'response.create', model: 'gpt-5', input: 'hi' }
const ends = ({ type }: SocketEvent): boolean => type === 'response.completed' || type === 'response.done'

for (const protocol of [responses, realtime]) {
  test.serial(`${protocol.path}: a hundred malformed messages in a row end the connection, and fewer do not`, async (t) => {
    const client = await connect(protocol)
    for (const count of [99, 100]) {
      for (let sent = 0; sent < count; sent += 1) {
        client.send({})
        t.like(await client.next(is('error')), { error: { code: 'invalid_request' } })
      }
      if (count === 100) break
      client.send(good)
      await client.next(ends)
    }
    t.is((await client.closed).code, 1008)
  })

  test.serial(`${protocol.path}: a message with too many values gets an error, and the connection goes on`, async (t) => {
    const client = await connect(protocol)
    client.socket.send(`{"type":"response.create","a":[${'0,'.repeat(1_000_001)}0]}`)
    t.like(await client.next(is('error')), { error: { code: 'invalid_request', param: 'body' } })
    client.send(good)
    await client.next(ends)
    client.socket.terminate()
  })
}

test.serial('what the refusal of a steer repeats is short', async (t) => {
  const client = await connect(responses)
  for (const [input, repeated] of [
    ['stop', 'stop'],
    ['x'.repeat(100_000), null],
  ]) {
    client.send({ type: 'response.steer', input })
    t.like(await client.next(is('response.steer.failed')), { steer: { input: repeated } })
  }
  client.socket.terminate()
})

for (const protocol of [responses, realtime])
  test.serial(`${protocol.path}: a client that gives signs of life and takes nothing is cut off`, async (t) => {
    const impatient = await startGateway({
      providers: { voice: { customHost: provider.url }, mine: { customHost: emulator.url } },
      settings: { socketIdleMs: 2000, socketPingMs: 100 },
    })
    t.teardown(() => impatient.stop())
    const many = { ...plain(protocol), 'x-emulate': JSON.stringify({ frames: 400_000 }) }
    const client = await connect(protocol, many, impatient)
    client.socket.pause()
    client.send({ type: 'response.create', model: 'gpt-5', input: 'hi' })
    if (protocol === realtime)
      for (let sent = 0; sent < 600; sent += 1) onlySession().send(JSON.stringify({ type: 'x', delta: 'A'.repeat(100_000) }))
    const alive = setInterval(() => client.socket.pong(), 30)
    t.teardown(() => clearInterval(alive))
    await eventually(() => impatient.gateway.sockets.open() === 0, 20_000, 'the client to be cut off')
    client.socket.terminate()
    t.pass()
  })

test.serial('a client that pings and does not read is cut off', async (t) => {
  const client = await connect(responses)
  client.socket.pause()
  for (let sent = 0; sent < 100_000; sent += 1) client.socket.ping()
  await eventually(() => bed.gateway.sockets.open() === 0, 10_000, 'the client to be cut off')
  client.socket.terminate()
  t.pass()
})

const stating = (name: string, value: unknown) => JSON.stringify({ type: 'session.updated', session: { [name]: value } })

/** Messages of a provider after which it is let go. */
const excesses: readonly (readonly [title: string, headers: Headers, messages: readonly string[]])[] = [
  ['settings that guardrails read and that grow', guarded(realtime), ['a', 'b', 'c'].map((name) => stating(name, 'x'.repeat(500_000)))],
  ['settings with more and more names', guarded(realtime), Array.from({ length: 300 }, (_, at) => stating(`s${at}`, 1))],
  ['instructions that are too long', plain(realtime), [stating('instructions', 'x'.repeat(1_100_000))]],
  ['a message with too many values', plain(realtime), [`{"type":"x","a":[${'{},'.repeat(1_000_001)}{}]}`]],
  ['a response whose id is too long', plain(realtime), [JSON.stringify({ type: 'response.created', response: { id: 'r'.repeat(2000) } })]],
]

for (const [title, headers, messages] of excesses)
  test.serial(`a provider that sends ${title} loses the session`, async (t) => {
    const client = await connect(realtime, headers)
    const reported = bed.reported.length
    for (const message of messages) onlySession().send(message)
    t.is((await client.closed).code, 1011)
    t.is(bed.reported[reported]?.code, 'upstream_bad_response')
  })

/** Returns the bytes of the heap that are in use. */
function heap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

test.serial('settings that no turn shares are not kept', async (t) => {
  const client = await connect(realtime)
  let came = 0
  client.socket.removeAllListeners('message')
  client.socket.on('message', () => (came += 1))
  const before = heap()
  for (let at = 0; at < 10; at += 1) onlySession().send(stating(`s${at}`, 'x'.repeat(10_000_000)))
  await eventually(() => came === 10, 60_000, 'the settings to go on')
  const more = heap() - before
  t.true(more < 50_000_000, `${more} bytes of 100 MB are kept`)
  client.socket.close()
})

test.serial('a long message of a provider waits for its turn, and others of the session behind it, up to its close', async (t) => {
  const client = await connect(realtime)
  const others = await openClient(bed.origin, realtime.path, plain(realtime))
  await others.next(is('session.created'))
  const [first, second] = [...provider.open]
  const came: string[] = []
  const note = (name: string) => (data: Buffer) => void came.push(`${name} ${(JSON.parse(data.toString()) as SocketEvent).type}`)
  client.socket.on('message', note('first'))
  others.socket.on('message', note('second'))
  // The loop is free for a second after a turn of a second.
  await longTurns.take('another organisation')
  for (const until = performance.now() + 1100; performance.now() < until;);
  await new Promise<void>((resolve) => first?.send(JSON.stringify({ type: 'long', delta: 'x'.repeat(500_000) }), () => resolve()))
  first?.send('{"type":"short"}')
  first?.close(1000)
  second?.send('{"type":"short"}')
  await client.closed
  t.deepEqual(came, ['second short', 'first long', 'first short'])
  others.socket.close()
})

const megabyte = 'x'.repeat(1_000_000)
const turn = { type: 'response.create', model: 'm', input: megabyte }

/** Messages that wait for a turn: so many of one connection, and the refusal of one for which the organisation has no room. */
const waits: readonly (readonly [protocol: Protocol, more: Headers, message: object, count: number, code: string])[] = [
  [
    realtime,
    {},
    { type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: megabyte }] } },
    7,
    'payload_too_large',
  ],
  [responses, { 'x-emulate': JSON.stringify({ hang: 'before-headers' }) }, turn, 2, 'rate_limited'],
]

for (const [protocol, more, message, count, code] of waits)
  test.serial(
    `${protocol.path}: the messages of an organisation that wait have a bound, and those of another do not wait for it`,
    async (t) => {
      const headers = { ...guarded(protocol), ...more }
      const others = await connect(protocol, { ...headers, authorization: `Bearer ${otherKey}` })
      const clients = [others]
      const open = async () => {
        const client = await openClient(bed.origin, protocol.path, headers)
        clients.push(client)
        return client
      }
      const isRefusal = (event: SocketEvent) => is('error')(event) && (event['error'] as Record<string, unknown>)['code'] === code
      let refusals = 0
      for (let at = 0; at < 100; at += 1) {
        const client = await open()
        for (let sent = 0; sent < count; sent += 1) client.send(message)
        client.socket.send('{')
        await client.next((event) => {
          if (isRefusal(event)) refusals += 1
          return event.type === 'error' && !isRefusal(event)
        })
        if (refusals > 0) break
      }
      t.true(refusals > 0)
      t.true(clients.length > 9, `not before the organisation has its share: ${clients.length}`)
      for (let sent = 0; sent < count; sent += 1) others.send(message)
      others.socket.send('{')
      t.false(isRefusal(await others.next(is('error'))))
      for (const { socket } of clients) socket.close()
      await eventually(() => bed.gateway.sockets.open() === 0, 10_000, 'the connections to end')
      const again = await open()
      for (let sent = 0; sent < count; sent += 1) again.send(message)
      again.socket.send('{')
      t.false(isRefusal(await again.next(is('error'))), 'the room comes back')
      again.socket.close()
      await eventually(() => bed.gateway.inflight() === 0, 10_000, 'the turns to end')
    },
  )
