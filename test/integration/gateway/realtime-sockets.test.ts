import { connect as connectTcp } from 'node:net'
import test from 'ava'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RealtimeEmulator, startRealtime, textUsage } from '../../support/sockets/realtime-emulator.ts'
import { type Headers, openClient, refused, type SocketEvent } from '../../support/sockets/socket-client.ts'

let provider: RealtimeEmulator
let bed: GatewayBed
const revocable = 'gh-test-key-that-is-revoked-0000000'
const forbids = (rule: string) => ({
  checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
  actions: { onFail: 'block', message: 'Not here.' } as const,
})

test.before(async () => {
  provider = await startRealtime()
  bed = await startGateway({
    prices: createPriceLists({ layers: [], builtIn: openBuiltIn() }),
    providers: { voice: { customHost: provider.url } },
    keys: { [revocable]: {} },
    guardrails: { asked: forbids('plutonium') },
    configs: {
      guarded: { provider: '@voice', input_guardrails: ['asked'] },
      several: { strategy: { mode: 'fallback' }, targets: [{ provider: '@voice' }, { provider: '@voice' }] },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await provider?.stop()
})

const auth = { authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@voice' }
const path = '/v1/realtime?model=gpt-realtime'
const connect = (headers: Headers = auth) => openClient(bed.origin, path, headers)
const rows = (trace: string) => bed.logged.filter(({ record }) => record.traceId === trace).map(({ record }) => record)
const say = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
})
const is = (type: string) => (event: SocketEvent) => event.type === type

test.serial("OpenAI's own client holds a session, of which each response is a logged, metered turn", async (t) => {
  const client = new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey })
  // It speaks TLS to every host; the gateway of the test does not.
  const inTheClear = () => connectTcp(Number(new URL(bed.origin).port), '127.0.0.1')
  const ws = new OpenAIRealtimeWS(
    { model: '@voice/gpt-realtime', options: { headers: { 'x-service-trace-id': 'voice' }, createConnection: inTheClear } },
    client,
  )
  const types: string[] = []
  ws.on('event', (event) => void types.push(event.type))
  await new Promise((resolve) => ws.once('session.created', resolve))
  for (const text of ['one', 'two']) {
    const done = new Promise((resolve, reject) => {
      ws.once('response.done', resolve)
      ws.once('error', reject)
    })
    ws.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } })
    ws.send({ type: 'response.create' })
    await done
  }
  const one = [
    'response.created',
    'response.output_text.delta',
    'response.output_text.delta',
    'rate_limits.updated',
    'response.output_text.done',
    'response.done',
  ]
  t.deepEqual(types, ['session.created', 'conversation.item.added', ...one, 'conversation.item.added', ...one])
  const handshake = provider.handshakes.at(-1)
  t.is(handshake?.url, '/v1/realtime?model=gpt-realtime')
  t.is(handshake?.headers.authorization, 'Bearer sk-stored-voice')
  ws.close()
  await eventually(() => provider.open.size === 0, 2000, 'the session of the provider to end')
  const logged = rows('voice')
  t.deepEqual(
    logged.map(({ method, path: at, status, outcome, provider: by, model, usage }) => [
      method,
      at,
      status,
      outcome,
      by,
      model,
      usage?.inputTokens,
      usage?.outputTokens,
      usage?.cacheReadTokens,
    ]),
    [
      ['GET', '/realtime?model=gpt-realtime', 101, 'complete', 'openai', null, undefined, undefined, undefined],
      ['POST', '/realtime', 200, 'complete', 'openai', 'gpt-realtime', 120, 30, 20],
      ['POST', '/realtime', 200, 'complete', 'openai', 'gpt-realtime', 120, 30, 20],
    ],
  )
})

test.serial('a response that the provider begins by itself is a turn', async (t) => {
  const client = await connect({ ...auth, 'x-service-trace-id': 'vad' })
  await client.next(is('session.created'))
  client.send({ type: 'input_audio_buffer.append', audio: 'AAAA' })
  const [session] = provider.open
  if (session !== undefined) provider.respond(session)
  await client.next(is('response.done'))
  t.is(rows('vad').length, 2)
  t.is(rows('vad')[1]?.usage?.inputTokens, 120)
  client.socket.close(4001, 'bye')
  await eventually(() => provider.closes.includes(4001), 2000, 'the code of the client at the provider')
})

test.serial('the end of the provider is that of the client, with its code', async (t) => {
  for (const [code, told] of [
    [1000, 1000],
    [4005, 4005],
    [1013, 1013],
  ] as const) {
    const client = await connect()
    await client.next(is('session.created'))
    for (const session of provider.open) session.close(code, 'over')
    t.like(await client.closed, { code: told, reason: 'over' })
  }
  const client = await connect()
  await client.next(is('session.created'))
  for (const session of provider.open) session.terminate()
  t.is((await client.closed).code, 1011)
  await eventually(() => bed.gateway.sockets.open() === 0, 2000)
})

test.serial('a refusal of the provider is an answer over HTTP, and no connection', async (t) => {
  provider.refusal = 404
  t.like(await refused(bed.origin, path, auth), { status: 404, body: { error: { code: 'model_not_found' } } })
  provider.refusal = 0
  t.like(await refused(bed.origin, path, { ...auth, 'x-service-config': 'several' }), { status: 400 })
  t.like(await refused(bed.origin, path, { ...auth, 'x-service-provider': '@nobody' }), { status: 400 })
  t.like(await refused(bed.origin, path, {}), { status: 401 })
  t.is(bed.gateway.sockets.open(), 0)
})

test.serial('guardrails read what a turn asks before the provider gets it', async (t) => {
  const client = await connect({ ...auth, 'x-service-config': 'guarded', 'x-service-trace-id': 'guarded' })
  await client.next(is('session.created'))
  provider.heard.length = 0
  client.send(say('how to enrich plutonium'))
  client.send({ type: 'response.create' })
  const event = await client.next(is('error'))
  t.like(event, { error: { code: 'hooks_failed' } })
  t.deepEqual(provider.heard, [])
  client.send(say('how to bake bread'))
  client.send({ type: 'response.create' })
  await client.next(is('response.done'))
  t.deepEqual(
    provider.heard.map(({ type }) => type),
    ['conversation.item.create', 'response.create'],
  )
  t.deepEqual(
    rows('guarded').map(({ status }) => status),
    [101, 446, 200],
  )
  client.socket.close()
})

test.serial('a revoked key ends the session', async (t) => {
  const client = await connect({ ...auth, authorization: `Bearer ${revocable}` })
  await client.next(is('session.created'))
  bed.revoke(revocable)
  provider.heard.length = 0
  client.send({ type: 'response.create' })
  t.like(await client.next(is('error')), { error: { code: 'unauthorized' } })
  t.is((await client.closed).code, 1008)
  t.deepEqual(provider.heard, [])
})

test.serial('messages that are none get an error, and the session goes on', async (t) => {
  const client = await connect()
  await client.next(is('session.created'))
  for (const message of ['{', '[]', '{"type":7}']) {
    client.socket.send(message)
    t.like(await client.next(is('error')), { error: { code: 'invalid_request' } })
  }
  client.send({ type: 'test.error' })
  t.like(await client.next(is('error')), { error: { code: 'bad' } })
  client.send({ type: 'response.create' })
  await client.next(is('response.done'))
  client.socket.close()
})

/** Dollars for a million tokens, in micro-dollars for a token; and for a second of sound, in nano-dollars. */
const rates = { text: 4, cachedText: 0.4, audio: 32, cachedAudio: 0.4, output: 16, outputAudio: 64 }
const usageOf = (given: {
  readonly text: number
  readonly audio: number
  readonly cachedText: number
  readonly cachedAudio: number
  readonly outText: number
  readonly outAudio: number
}) => ({
  total_tokens: given.text + given.audio + given.outText + given.outAudio,
  input_tokens: given.text + given.audio,
  output_tokens: given.outText + given.outAudio,
  input_token_details: {
    text_tokens: given.text,
    audio_tokens: given.audio,
    cached_tokens: given.cachedText + given.cachedAudio,
    cached_tokens_details: { text_tokens: given.cachedText, audio_tokens: given.cachedAudio },
  },
  output_token_details: { text_tokens: given.outText, audio_tokens: given.outAudio },
})

/** What a turn uses. The cost is computed here, apart from the product. */
const uses = [
  { text: 1000, audio: 0, cachedText: 0, cachedAudio: 0, outText: 200, outAudio: 0 },
  { text: 1000, audio: 0, cachedText: 600, cachedAudio: 0, outText: 200, outAudio: 0 },
  { text: 100, audio: 900, cachedText: 0, cachedAudio: 0, outText: 10, outAudio: 300 },
  { text: 100, audio: 900, cachedText: 40, cachedAudio: 500, outText: 10, outAudio: 300 },
]

test.serial('turns cost what their tokens of text and sound cost, cached ones less', async (t) => {
  for (const used of uses) {
    provider.usage = usageOf(used)
    const client = await connect({ ...auth, 'x-service-trace-id': `cost ${JSON.stringify(used)}` })
    client.send({ type: 'response.create' })
    await client.next(is('response.done'))
    client.socket.close()
    const micro =
      (used.text - used.cachedText) * rates.text +
      used.cachedText * rates.cachedText +
      (used.audio - used.cachedAudio) * rates.audio +
      used.cachedAudio * rates.cachedAudio +
      used.outText * rates.output +
      used.outAudio * rates.outputAudio
    const [, turn] = rows(`cost ${JSON.stringify(used)}`)
    t.is(turn?.cost?.state, 'priced')
    t.is(turn?.cost?.amount, String(Math.round(micro * 1e6)), JSON.stringify(used))
  }
  provider.usage = textUsage
})

/** Usages of transcripts, and their costs in pico-dollars. */
const transcripts: readonly (readonly [model: string, usage: object, amount: string])[] = [
  ['whisper-1', { type: 'duration', seconds: 12.5 }, String(12.5 * 100_000_000)],
  [
    'gpt-4o-transcribe',
    { type: 'tokens', total_tokens: 130, input_tokens: 100, output_tokens: 30, input_token_details: { text_tokens: 10, audio_tokens: 90 } },
    String((10 * 2.5 + 90 * 6 + 30 * 10) * 1e6),
  ],
]

test.serial('transcripts cost what their time or their tokens cost, apart from the turn', async (t) => {
  for (const [model, usage, amount] of transcripts) {
    const client = await connect({ ...auth, 'x-service-trace-id': model })
    client.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { transcription: { model } } } } })
    await client.next(is('session.updated'))
    for (const session of provider.open)
      session.send(
        JSON.stringify({
          type: 'conversation.item.input_audio_transcription.completed',
          event_id: 'e',
          item_id: 'i',
          content_index: 0,
          transcript: 'Hi.',
          usage,
        }),
      )
    t.like(await client.next(is('conversation.item.input_audio_transcription.completed')), { transcript: 'Hi.' })
    client.socket.close()
    await eventually(() => rows(model).length === 2, 2000)
    const [, turn] = rows(model)
    t.is(turn?.model, model)
    t.is(turn?.cost?.amount, amount, model)
  }
})

test.serial('a session that breaks in a turn is logged, and told to the client', async (t) => {
  const client = await connect({ ...auth, 'x-service-trace-id': 'broken' })
  await client.next(is('session.created'))
  for (const session of provider.open) session.send(JSON.stringify({ type: 'response.created', response: { id: 'resp_x' } }))
  await client.next(is('response.created'))
  for (const session of provider.open) session.terminate()
  t.like(await client.next(is('error')), { error: { code: 'upstream_bad_response' } })
  t.is((await client.closed).code, 1011)
  const [, turn] = rows('broken')
  t.is(turn?.outcome, 'incomplete')
  t.is(turn?.errorCode, 'upstream_bad_response')
})

test.serial('neither side reads more than the other one takes', async (t) => {
  const client = await connect()
  await client.next(is('session.created'))
  const [session] = provider.open
  const big = JSON.stringify({ type: 'response.output_audio.delta', delta: 'A'.repeat(100_000) })
  client.socket.pause()
  for (let sent = 0; sent < 400; sent += 1) session?.send(big)
  await eventually(() => (session?.bufferedAmount ?? 0) > 20_000_000, 3000, 'the provider to wait').catch((error: unknown) =>
    t.fail(String(error)),
  )
  client.socket.resume()
  await eventually(() => session?.bufferedAmount === 0, 10_000, 'the rest to go on')
  session?.pause()
  for (let sent = 0; sent < 400; sent += 1)
    client.socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio: 'A'.repeat(100_000) }))
  await eventually(() => client.socket.bufferedAmount > 20_000_000, 3000, 'the client to wait').catch((error: unknown) =>
    t.fail(String(error)),
  )
  client.socket.terminate()
  session?.resume()
  await eventually(() => provider.open.size === 0, 10_000, 'the session of the provider to end')
  t.pass()
})

test.serial('a client that asks without waiting, or only adds items, is told to stop', async (t) => {
  const many = await connect()
  await many.next(is('session.created'))
  // The provider of the test begins none of these.
  for (let turn = 0; turn < 17; turn += 1) many.send({ type: 'response.create', response: {} })
  t.like(await many.next(is('error')), { error: { code: 'rate_limited' } })
  t.is(bed.gateway.inflight(), 16)
  many.socket.close()
  await eventually(() => bed.gateway.inflight() === 0, 2000)
  const adding = await connect({ ...auth, 'x-service-config': 'guarded' })
  await adding.next(is('session.created'))
  for (let item = 0; item < 9; item += 1) adding.send(say('x'.repeat(1_000_000)))
  t.like(await adding.next(is('error')), { error: { code: 'payload_too_large', param: 'item' } })
  adding.socket.close()
  await eventually(() => provider.open.size === 0, 10_000, 'the session of the provider to end')
})

test.serial('a drain ends a session between its turns, on both sides', async (t) => {
  const draining = await startGateway({ providers: { voice: { customHost: provider.url } } })
  t.teardown(() => draining.stop())
  const client = await openClient(draining.origin, path, auth)
  await client.next(is('session.created'))
  t.is(provider.open.size, 1)
  t.is(await draining.gateway.drain(5000), 0)
  t.is((await client.closed).code, 1001)
  await eventually(() => provider.open.size === 0, 2000, 'the session of the provider to end')
})
