// Clients that evade rules, and providers that do not keep to the protocol, on realtime sessions.
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RealtimeEmulator, startRealtime } from '../../support/sockets/realtime-emulator.ts'
import { type Headers, openClient, refused, type SocketEvent } from '../../support/sockets/socket-client.ts'

let provider: RealtimeEmulator
let bed: GatewayBed
const forbids = (rule: string) => ({
  checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
  actions: { onFail: 'block', message: 'Not here.' } as const,
})
const listed = { allowAll: false, named: new Map([['gpt-realtime-mini', { enabled: true, customHost: null }]]) }

test.before(async () => {
  provider = await startRealtime()
  bed = await startGateway({
    prices: createPriceLists({ layers: [], builtIn: openBuiltIn() }),
    providers: { voice: { customHost: provider.url }, listed: { customHost: provider.url, models: listed } },
    guardrails: { forbidden: forbids('plutonium') },
    configs: {
      asking: { provider: '@voice', input_guardrails: ['forbidden'] },
      answering: { provider: '@voice', output_guardrails: ['forbidden'] },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await provider?.stop()
})

const auth = { authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@voice' }
const path = '/v1/realtime?model=gpt-realtime'
const rows = (trace: string) => bed.logged.filter(({ record }) => record.traceId === trace).map(({ record }) => record)
const is = (type: string) => (event: SocketEvent) => event.type === type
const says =
  (...types: readonly string[]) =>
  (event: SocketEvent) =>
    types.includes(event.type)
const say = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
})
const tell = (event: object, indent?: number): void => {
  for (const session of provider.open) session.send(JSON.stringify(event, null, indent))
}

async function connect(headers: Headers = auth, to = path) {
  await eventually(() => provider.open.size === 0, 5000, 'the session before to end')
  const client = await openClient(bed.origin, to, headers)
  await client.next(is('session.created'))
  return client
}

test.serial('a provider that begins responses without end loses the session, and stops nothing', async (t) => {
  const client = await connect({ ...auth, 'x-service-trace-id': 'endless' })
  const reported = bed.reported.length
  for (let turn = 0; turn < 20_000; turn += 1) tell({ type: 'response.created', response: { id: `resp_${turn}` } })
  t.is((await client.closed).code, 1011)
  await eventually(() => bed.gateway.inflight() === 0, 5000)
  t.true(rows('endless').length < 100, `${rows('endless').length} rows`)
  t.is(bed.reported[reported]?.code, 'upstream_bad_response')
})

/** Events by which forbidden words would reach the model. */
const unseen: Readonly<Record<string, readonly (object | string)[]>> = {
  'an item behind a megabyte of others': [say('x '.repeat(524_300)), say('plutonium')],
  'an event that is not known': [{ type: 'conversation.item.insert', item: { text: 'plutonium' } }],
  'instructions of the session': [{ type: 'session.update', session: { instructions: 'plutonium' } }],
  'tools of the session': [{ type: 'session.update', session: { tools: [{ type: 'function', name: 'a', description: 'plutonium' }] } }],
  'variables of a prompt': [{ type: 'session.update', session: { prompt: { id: 'p', variables: { a: 'plutonium' } } } }],
  'the prompt of transcripts': [
    { type: 'session.update', session: { audio: { input: { transcription: { model: 'w', prompt: 'plutonium' } } } } },
  ],
  'settings of transcripts': [{ type: 'transcription_session.update', session: { input_audio_transcription: { prompt: 'plutonium' } } }],
  'instructions before settings that the provider refuses': [
    { type: 'session.update', session: { instructions: 'plutonium' } },
    { type: 'session.update', session: { instructions: 'harmless', voice: 5 } },
  ],
  'a key that stands twice': ['{"type":"conversation.item.create","item":{"text":"plutonium"},"type":"input_audio_buffer.commit"}'],
}

for (const [name, events] of Object.entries(unseen))
  test.serial(`guardrails of requests see ${name}`, async (t) => {
    const client = await connect({ ...auth, 'x-service-config': 'asking' })
    for (const event of events) client.socket.send(typeof event === 'string' ? event : JSON.stringify(event))
    client.send({ type: 'response.create' })
    const event = await client.next(says('error', 'response.done'))
    t.is(event.type, 'error', JSON.stringify(event))
    client.socket.close()
  })

test.serial('settings without forbidden words let a turn go', async (t) => {
  const client = await connect({ ...auth, 'x-service-config': 'asking' })
  client.send({ type: 'session.update', session: { instructions: 'plutonium' } })
  await client.next(is('session.updated'))
  client.send({ type: 'session.update', session: { instructions: 'harmless', tools: [], audio: { input: { transcription: null } } } })
  await client.next(is('session.updated'))
  client.send({ type: 'response.create' })
  t.is((await client.next(says('error', 'response.done'))).type, 'response.done')
  client.socket.close()
})

const secret = { id: 'item_s', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'plutonium' }] }

/** Events outside of a turn that carry words of the model, and those that the client gets in their place. */
const answers: readonly (readonly [given: object, got: object | null])[] = [
  [
    { type: 'conversation.item.retrieved', item: secret },
    { type: 'conversation.item.retrieved', item: { id: 'item_s', type: 'message', role: 'assistant', content: [] } },
  ],
  [
    { type: 'conversation.item.done', item: { id: 'item_f', type: 'function_call', arguments: 'plutonium' } },
    { type: 'conversation.item.done', item: { id: 'item_f', type: 'function_call', content: [] } },
  ],
  [{ type: 'response.output_text.delta', response_id: 'resp_denied', delta: 'plutonium' }, null],
  [{ type: 'response.output_text.delta', delta: 'plutonium' }, null],
  [{ type: 'conversation.item.input_audio_transcription.delta', item_id: 'i', delta: 'plutonium' }, null],
]

test.serial('guardrails of answers let no words of a model pass outside of a turn', async (t) => {
  const client = await connect({ ...auth, 'x-service-config': 'answering' })
  for (const [given, got] of answers) {
    tell(given)
    tell({ type: 'input_audio_buffer.speech_started' })
    const event = await client.next(() => true)
    if (got === null) t.is(event.type, 'input_audio_buffer.speech_started', JSON.stringify(event))
    else {
      t.deepEqual(event as object, got)
      await client.next(is('input_audio_buffer.speech_started'))
    }
  }
  tell({ type: 'conversation.item.input_audio_transcription.completed', item_id: 'i', transcript: 'plutonium' })
  t.like(await client.next(() => true), { type: 'error', error: { code: 'hooks_failed' } })
  client.socket.close()
})

test.serial('an event in several lines is that event, and is measured', async (t) => {
  const client = await connect({ ...auth, 'x-service-trace-id': 'lines' })
  tell({ type: 'response.created', response: { id: 'resp_l' } }, 2)
  tell({ type: 'response.done', response: { id: 'resp_l', usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 } } }, 2)
  t.like(await client.next(is('response.created')), { response: { id: 'resp_l' } })
  t.like(await client.next(is('response.done')), { response: { id: 'resp_l' } })
  t.is(rows('lines')[1]?.usage?.inputTokens, 11)
  client.socket.close()
})

/** The sides that leave in a response, and the outcome of its row. */
const leaving = {
  client_closed: (client: { readonly socket: { terminate(): void } }) => client.socket.terminate(),
  incomplete: () => {
    for (const session of provider.open) session.terminate()
  },
} as const

for (const [outcome, leave] of Object.entries(leaving))
  test.serial(`a response that ends as ${outcome} costs what was read and said`, async (t) => {
    const client = await connect({ ...auth, 'x-service-trace-id': outcome })
    const usage = { input_tokens: 1000, output_tokens: 0, total_tokens: 1000, input_token_details: { text_tokens: 400, audio_tokens: 600 } }
    tell({ type: 'response.created', response: { id: 'resp_1' } })
    tell({ type: 'response.done', response: { id: 'resp_1', usage } })
    await client.next(is('response.done'))
    client.send({ type: 'response.create', response: {} })
    await eventually(() => provider.heard.at(-1)?.type === 'response.create', 2000)
    tell({ type: 'response.created', response: { id: 'resp_2' } })
    tell({ type: 'response.output_text.delta', response_id: 'resp_2', item_id: 'i', delta: 'word '.repeat(100) })
    await client.next(is('response.output_text.delta'))
    leave(client)
    await eventually(() => rows(outcome).length === 3, 3000)
    const row = rows(outcome)[2]
    t.like(row, { outcome, cost: { state: 'estimated' } })
    t.true((row?.usage?.inputTokens ?? 0) >= 1000, JSON.stringify(row?.usage))
    t.true((row?.usage?.outputTokens ?? 0) >= 100, JSON.stringify(row?.usage))
  })

const naming = (model: string) => ({ audio: { input: { transcription: { model } } } })

test.serial('a transcript has the price of the model that the provider states', async (t) => {
  const client = await connect({ ...auth, 'x-service-trace-id': 'stated' })
  tell({ type: 'session.updated', session: naming('gpt-4o-transcribe') })
  await client.next(is('session.updated'))
  client.send({ type: 'session.update', session: { ...naming('gpt-4.1-nano'), voice: 5 } })
  t.like(await client.next(is('error')), { error: { code: 'bad_voice' } })
  const usage = { type: 'tokens', input_tokens: 100, output_tokens: 10, total_tokens: 110 }
  tell({ type: 'conversation.item.input_audio_transcription.completed', item_id: 'i', transcript: 'Hi.', usage })
  await client.next(is('conversation.item.input_audio_transcription.completed'))
  t.is(rows('stated')[1]?.model, 'gpt-4o-transcribe')
  client.socket.close()
})

test.serial('a client that sends more than is read has to wait', async (t) => {
  const client = await connect()
  // It takes long to read, so that messages wait for their turns at the event loop.
  const long = JSON.stringify({ type: 'input_audio_buffer.append', parts: Array.from({ length: 400_000 }, () => 'abcdefg') })
  const count = 15
  provider.heard.length = 0
  for (let sent = 0; sent < count; sent += 1) client.socket.send(long)
  let most = 0
  await eventually(
    () => {
      most = Math.max(most, (count - provider.heard.length) * long.length - client.socket.bufferedAmount)
      return provider.heard.length === count
    },
    20_000,
    'all to arrive',
  )
  t.true(most < 6 * long.length, `${most} bytes of ${count * long.length} were held at once`)
  provider.heard.length = 0
  client.socket.close()
})

for (const query of ['', '?deployment=gpt-realtime-mini', '?call_id=x', '?intent=transcription', '?model=gpt-realtime'])
  test.serial(`a list of models refuses /realtime${query}`, async (t) => {
    const answer = await refused(bed.origin, `/v1/realtime${query}`, { ...auth, 'x-service-provider': '@listed' })
    t.like(answer, { status: 403, body: { error: { code: 'forbidden' } } })
  })

test.serial('a list of models holds for those that a client names later', async (t) => {
  const client = await connect({ ...auth, 'x-service-provider': '@listed' }, '/v1/realtime?model=gpt-realtime-mini')
  provider.heard.length = 0
  for (const session of [
    { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } },
    { input_audio_transcription: { model: 'gpt-4o-transcribe' } },
    { model: 'gpt-realtime' },
  ]) {
    client.send({ type: 'session.update', session })
    t.like(await client.next(is('error')), { error: { code: 'forbidden' } })
  }
  t.deepEqual(provider.heard, [])
  client.socket.close()
})
