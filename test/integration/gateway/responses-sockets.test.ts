import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { messagesProvider } from '../../conformance/sides/anthropic.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'
import { type Headers, openClient, type SocketEvent } from '../../support/sockets/socket-client.ts'

let emulator: Emulator
let claude: Emulator
let bed: GatewayBed

const counts = { input: 20, cached: 0, output: 7, thought: 0 }
const forbids = (rule: string) => ({
  checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
  actions: { onFail: 'block', message: 'Not here.' } as const,
})

test.before(async () => {
  emulator = await startEmulator()
  claude = await startEmulator()
  claude.script({ behaviour: (received) => messagesProvider.stream({ text: 'I am Claude.', stop: 'stop', counts }, received) })
  bed = await startGateway({
    providers: { mine: { customHost: emulator.url }, claude: { provider: 'anthropic', customHost: claude.url } },
    guardrails: { asked: forbids('plutonium') },
    configs: {
      guarded: { provider: '@mine', input_guardrails: ['asked'] },
      fallback: {
        strategy: { mode: 'fallback' },
        targets: [{ provider: '@mine', override_params: { model: 'emulate:unavailable' } }, { provider: '@claude' }],
      },
    },
    settings: { maxJsonBytes: 400_000 },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
  await claude?.stop()
})

const auth = { authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@mine' }
const connect = (headers: Headers = auth, protocols: readonly string[] = []) => openClient(bed.origin, '/v1/responses', headers, protocols)
const ends = ({ type }: SocketEvent): boolean => type === 'response.completed' || type === 'error'
const errorOf = (event: SocketEvent) => event['error'] as Readonly<Record<string, unknown>>
const responseOf = (event: SocketEvent) => event['response'] as Readonly<Record<string, unknown>> & { readonly id: string }
const kindsOf = (events: readonly SocketEvent[]) => [...new Set(events.map(({ type }) => type))]
const create = (more: object = {}) => ({ type: 'response.create', model: 'gpt-5', input: 'hi', ...more })
const traced = (id: string) => bed.logged.filter(({ record }) => record.traceId === id).map(({ record }) => record)

test.serial("OpenAI's own client gets responses over a WebSocket, each a logged, metered request of its own", async (t) => {
  const client = new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey })
  const ws = new ResponsesWS(client, { headers: { 'x-service-provider': '@mine', 'x-service-trace-id': 'trace-of-ws' } })
  const types: string[] = []
  ws.on('event', (event) => void types.push(event.type))
  for (const input of ['one', 'two']) {
    const done = new Promise((resolve, reject) => {
      ws.once('response.completed', resolve)
      ws.once('error', reject)
    })
    ws.send({ type: 'response.create', model: 'gpt-5', input })
    await done
  }
  ws.close()
  t.is(types.filter((type) => type === 'response.created').length, 2)
  t.true(types.includes('response.output_text.delta'))
  const rows = traced('trace-of-ws')
  t.deepEqual(
    rows.map(({ operation, method, path, status, outcome }) => ({ operation, method, path, status, outcome })),
    [
      { operation: 'connectResponses', method: 'GET', path: '/responses', status: 101, outcome: 'complete' },
      ...[1, 2].map(() => ({ operation: 'createModelResponse', method: 'POST', path: '/responses', status: 200, outcome: 'complete' })),
    ],
  )
  t.deepEqual(
    rows.slice(1).map(({ usage, model, provider }) => [usage?.inputTokens, usage?.outputTokens, model, provider]),
    [1, 2].map(() => [11, 7, 'gpt-5', 'openai']),
  )
  t.is(new Set(rows.map(({ parentSpanId }) => parentSpanId)).size, 2, 'turns are spans below that of their connection')
})

test.serial('the events of a turn are those of the stream over HTTP', async (t) => {
  const client = await connect()
  client.send(create({ stream: false, background: undefined }))
  const seen: SocketEvent[] = []
  await client.next((event) => {
    seen.push(event)
    return ends(event)
  })
  const http = await send(`${bed.origin}/v1/responses`, {
    method: 'POST',
    headers: { ...auth, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5', input: 'hi', stream: true }),
  })
  const streamed = http.text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as SocketEvent] : []))

  t.deepEqual(kindsOf(seen), kindsOf(streamed))
  client.socket.close()
})

test.serial('a coding agent warms up, and continues a conversation that no provider stores, turn by turn', async (t) => {
  const client = await connect({ ...auth, 'openai-beta': 'responses_websockets=2026-02-06', 'x-service-trace-id': 'agent' })
  const base = { store: false, instructions: 'Be brief.', tools: [] }
  client.send(create({ ...base, input: [{ type: 'message', role: 'user', content: 'task' }], generate: false }))
  let last = responseOf(await client.next(ends))
  t.deepEqual([last['status'], last['output'], (last['usage'] as { total_tokens: number }).total_tokens], ['completed', [], 0])
  t.false(
    emulator.requests.some(({ body }) => body.includes('"task"')),
    'nothing was asked of the provider',
  )

  for (let turn = 1; turn <= 20; turn += 1) {
    const asked = emulator.next('/responses')
    const input =
      turn === 1 ? [] : [{ type: 'function_call_output', call_id: `call_${turn}`, output: `result ${turn} of 12345678901234567890` }]
    client.send(create({ ...base, previous_response_id: last.id, input }))
    const received = await asked
    const items = received.json['input'] as readonly Readonly<Record<string, unknown>>[]
    t.is(received.json['previous_response_id'], undefined)
    t.is(received.json['generate'], undefined)
    t.is(received.headers['openai-beta'], undefined)
    t.deepEqual(items[0], { type: 'message', role: 'user', content: 'task' })
    t.is(items.filter(({ type }) => type === 'function_call_output').length, turn - 1)
    t.is(items.filter(({ role }) => role === 'assistant').length, turn - 1)
    t.true(items.every((item) => !('id' in item)))
    last = responseOf(await client.next(ends))
  }
  t.deepEqual(
    traced('agent').map(({ status, operation }) => `${status} ${operation}`),
    ['101 connectResponses', ...Array.from({ length: 21 }, () => '200 createModelResponse')],
  )
  client.socket.close()
})

test.serial('lanes run beside each other, and each in order', async (t) => {
  const client = await connect()
  const slow = { 'x-emulate': JSON.stringify({ frames: 4, frameEveryMs: 30 }) }
  const paced = await connect({ ...auth, ...slow })
  for (const lane of ['a', 'b']) for (const input of ['1', '2']) paced.send(create({ stream_id: lane, input: `${lane}${input}` }))
  const seen: string[] = []
  let ended = 0
  await paced.next((event) => {
    if (event.type === 'response.created' || ends(event)) seen.push(`${String(event['stream_id'])} ${event.type.slice(9)}`)
    if (ends(event)) ended += 1
    return ended === 4
  })
  t.deepEqual(new Set(seen.slice(0, 2)), new Set(['a created', 'b created']), 'both lanes run at once')
  for (const lane of ['a', 'b'])
    t.deepEqual(
      seen.filter((line) => line.startsWith(lane)),
      [`${lane} created`, `${lane} completed`, `${lane} created`, `${lane} completed`],
    )
  client.send(create())
  t.false('stream_id' in (await client.next(ends)))
  paced.socket.close()

  const many = await connect({ ...auth, 'x-emulate': JSON.stringify({ hang: 'before-headers' }) })
  for (let lane = 0; lane < 33; lane += 1) many.send(create({ stream_id: `lane ${lane}` }))
  const refusal = await many.next(ends)
  t.like(refusal, { status: 400, stream_id: 'lane 32' })
  t.is(errorOf(refusal)['code'], 'websocket_stream_limit_reached')
  t.true(bed.gateway.inflight() >= 16 && bed.gateway.inflight() < 20, 'and 16 turns run at once')
  many.socket.close()
  client.socket.close()
  await eventually(() => bed.gateway.inflight() === 0, 3000, 'turns to end with their connection')
})

test.serial('any provider serves, in its own format, and another follows a failure', async (t) => {
  for (const [headers, option] of [
    [{ ...auth, 'x-service-provider': '@claude' }, null],
    [{ authorization: auth.authorization, 'x-service-config': 'fallback' }, 'config.targets[1]'],
  ] as const) {
    const client = await connect(headers)
    client.send(create({ model: 'claude-sonnet-4-5', store: false, max_output_tokens: 64 }))
    const first = await client.next(ends)
    t.is(first.type, 'response.completed', JSON.stringify(first))
    t.regex(JSON.stringify(first), /I am Claude\./)
    const { record } = bed.logged.at(-1) ?? t.fail()
    t.is(record.provider, 'anthropic')
    if (option !== null) t.is(record.lastUsedOption, option)

    const asked = claude.next('/messages')
    client.send(create({ model: 'claude-sonnet-4-5', store: false, previous_response_id: responseOf(first).id, input: 'again' }))
    const { json } = await asked
    t.deepEqual(
      (json['messages'] as readonly { role: string }[]).map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
    await client.next(ends)
    client.socket.close()
  }
})

/** A message, and the error event that it gets. */
const faults: readonly (readonly [
  title: string,
  message: unknown,
  status: number,
  code: string,
  param: string | null,
  headers?: Headers,
])[] = [
  ['no JSON', '{', 400, 'invalid_request', 'body'],
  ['no object', '[]', 400, 'invalid_request', 'type'],
  ['too deep', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, 400, 'invalid_request', 'body'],
  ['no type', { model: 'm' }, 400, 'invalid_request', 'type'],
  ['another type', { type: 'session.update' }, 400, 'invalid_request', 'type'],
  ['a lane that is no text', create({ stream_id: 7 }), 400, 'invalid_request', 'stream_id'],
  ['a lane without letters', create({ stream_id: '' }), 400, 'invalid_request', 'stream_id'],
  ['a field out of bounds', create({ temperature: 3 }), 400, 'invalid_request', 'temperature'],
  [
    'a response that is not kept',
    create({ previous_response_id: `resp_gw${'a'.repeat(32)}` }),
    400,
    'previous_response_not_found',
    'previous_response_id',
  ],
  ['a guardrail that denies', create({ input: 'plutonium' }), 446, 'hooks_failed', null, { ...auth, 'x-service-config': 'guarded' }],
  [
    'a provider that is busy',
    create(),
    429,
    '',
    null,
    { ...auth, 'x-emulate': JSON.stringify({ status: 429, headers: { 'retry-after': '1' } }) },
  ],
  ['a provider that fails', create(), 500, '', null, { ...auth, 'x-emulate': JSON.stringify({ status: 500 }) }],
  ['no provider', create(), 400, 'missing_provider', null, { authorization: auth.authorization }],
  ['an unknown provider', create(), 400, 'unknown_provider', null, { ...auth, 'x-service-provider': '@nobody' }],
]

for (const [title, message, status, code, param, headers] of faults)
  test.serial(`${title}: an error event, and the connection goes on`, async (t) => {
    const client = await connect(headers)
    client.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
    const event = await client.next(ends)
    t.is(event.type, 'error')
    t.is(event['status'], status, JSON.stringify(event))
    const error = errorOf(event)
    if (code !== '') t.is(error['code'], code)
    if (param !== null) t.is(error['param'], param)
    for (const name of ['message', 'type']) t.is(typeof error[name], 'string', name)
    if (status === 429) t.is((error['headers'] as Headers)['retry-after'], '1')

    client.send({ type: 'response.steer', previous_response_id: 'resp_1', input: 'stop' })
    const steered = await client.next(({ type }) => type === 'response.steer.failed')
    t.like(steered, { steer: { previous_response_id: 'resp_1', input: 'stop' } })
    t.is(errorOf(steered)['code'], 'steering_not_supported')
    client.socket.close()
    t.is((await client.closed).code, 1005)
  })

test.serial('an answer that breaks off ends with an error event', async (t) => {
  for (const behaviour of [{ cutAt: 900 }, { cutAt: 900, cutWith: 'reset' }]) {
    const client = await connect({ ...auth, 'x-emulate': JSON.stringify(behaviour) })
    client.send(create({ stream_id: 'l' }))
    const event = await client.next(ends)
    t.is(event.type, 'error')
    t.is(event['stream_id'], 'l')
    client.socket.close()
  }
})

test.serial('messages that are too long, or no texts, end the connection with their codes', async (t) => {
  const long = await connect()
  long.socket.send(JSON.stringify(create({ input: 'x'.repeat(500_000) })))
  t.is((await long.closed).code, 1009)
  const binary = await connect()
  binary.socket.send(Buffer.from('{}'), { binary: true })
  t.is((await binary.closed).code, 1003)
})

test.serial('a client that leaves ends its turn at the provider', async (t) => {
  const client = await connect({ ...auth, 'x-emulate': JSON.stringify({ frames: 1000, frameEveryMs: 20 }), 'x-service-trace-id': 'leaves' })
  const left = emulator.onClose('/responses')
  client.send(create())
  await client.next(({ type }) => type === 'response.output_text.delta')
  client.socket.terminate()
  t.false((await (await left).closed).complete)
  await eventually(() => traced('leaves').length === 2, 3000, 'the record of the turn')
  t.is(traced('leaves')[1]?.outcome, 'client_closed')
})

test.serial('a client that does not read makes the provider wait', async (t) => {
  const client = await connect({ ...auth, 'x-emulate': JSON.stringify({ frames: 400_000 }) })
  const asked = emulator.next('/responses')
  client.send(create())
  await client.next(({ type }) => type === 'response.output_text.delta')
  client.socket.pause()
  const received = await asked
  let before = -1
  await eventually(() => before === (before = received.sent), 10_000, 'the provider to stop')
  t.true(received.sent < 60_000_000, `${received.sent} bytes were read from the provider`)
  t.false((await Promise.race([received.closed, Promise.resolve({ complete: false })])).complete)
  client.socket.resume()
  client.socket.terminate()
  await received.closed
})

test.serial('a key among the subprotocols is the bearer token of a page, and no subprotocol', async (t) => {
  const { authorization: _, ...headers } = auth
  const client = await connect(headers, ['realtime', `openai-insecure-api-key.${workspaceKey}`])
  t.is(client.socket.protocol, 'realtime')
  client.send(create())
  t.is((await client.next(ends)).type, 'response.completed')
  client.socket.close()
})

/** A stream that ends a response, and goes on behind it up to so many bytes. */
const endless = 'data: {"type":"response.completed","response":{"id":"resp_e","object":"response","status":"completed","output":[]}}\n\n'
const behind = `data: {"type":"x","delta":"${'y'.repeat(60_000)}"}\n\n`
const mostBehind = 200_000_000

test.serial('a provider that goes on behind the end of a response is let go, and nothing of that is held', async (t) => {
  let sent = 0
  const server = createServer((_req, res) => {
    const more = (): void => {
      do sent += behind.length
      while (!res.destroyed && sent < mostBehind && res.write(behind))
      if (sent >= mostBehind) res.end()
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(endless)
    res.on('drain', more)
    more()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const going = await startGateway({ providers: { mine: { customHost: host } } })
  const client = await openClient(going.origin, '/v1/responses', auth)
  client.send(create())
  t.is((await client.next(ends)).type, 'response.completed')
  t.deepEqual(client.events, [])
  t.true(sent < mostBehind, `${sent} bytes`)
  client.socket.close()
  server.closeAllConnections()
  server.close()
  await going.stop()
})
