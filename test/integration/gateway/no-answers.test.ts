import test from 'ava'
import { gzipSync } from 'node:zlib'
import { json, sse } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

/** Answers with the status of a success that are none: another target follows, in every format of the client, and none of them is cached. */
let broken: Emulator
let sound: Emulator
let bed: GatewayBed

const kinds = ['openai', 'anthropic', 'google'] as const
type Kind = (typeof kinds)[number]

test.before(async () => {
  ;[broken, sound] = await Promise.all([startEmulator(), startEmulator()])
  const views = kinds.flatMap((provider) => [
    [`${provider}-broken`, { provider, customHost: baseOf(broken, provider) }] as const,
    [`${provider}-sound`, { provider, customHost: baseOf(sound, provider) }] as const,
  ])
  bed = await startGateway({ providers: Object.fromEntries(views) })
})
test.after.always(async () => {
  await bed?.stop()
  await Promise.all([broken, sound].map((one) => one?.stop()))
})
test.beforeEach(() => {
  broken.reset()
  sound.reset()
})

const baseOf = ({ origin }: Emulator, provider: Kind): string => (provider === 'google' ? origin : `${origin}/v1`)

interface Asked {
  readonly kind: Kind
  readonly path: string
  readonly body: object
  readonly stream: boolean
}

const turn = { role: 'user', content: 'Hi' }
const asks = {
  chat: { kind: 'openai', path: '/v1/chat/completions', body: { model: 'm', messages: [turn] }, stream: false },
  'a stream of chat': { kind: 'openai', path: '/v1/chat/completions', body: { model: 'm', messages: [turn], stream: true }, stream: true },
  completions: { kind: 'openai', path: '/v1/completions', body: { model: 'm', prompt: 'Hi' }, stream: false },
  embeddings: { kind: 'openai', path: '/v1/embeddings', body: { model: 'm', input: 'Hi' }, stream: false },
  images: { kind: 'openai', path: '/v1/images/generations', body: { model: 'm', prompt: 'Hi' }, stream: false },
  moderations: { kind: 'openai', path: '/v1/moderations', body: { model: 'm', input: 'Hi' }, stream: false },
  responses: { kind: 'openai', path: '/v1/responses', body: { model: 'm', input: 'Hi' }, stream: false },
  'a stream of responses': { kind: 'openai', path: '/v1/responses', body: { model: 'm', input: 'Hi', stream: true }, stream: true },
  messages: { kind: 'anthropic', path: '/v1/messages', body: { model: 'm', max_tokens: 9, messages: [turn] }, stream: false },
  'a stream of messages': {
    kind: 'anthropic',
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 9, messages: [turn], stream: true },
    stream: true,
  },
  contents: {
    kind: 'google',
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    stream: false,
  },
  'a stream of contents': {
    kind: 'google',
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    stream: true,
  },
} as const satisfies Readonly<Record<string, Asked>>
type Operation = keyof typeof asks

const everywhere: Readonly<Record<string, Behaviour>> = {
  'an error': json({ error: { message: 'The upstream is gone.', type: 'server_error' } }),
  'an error that is a text': json({ error: 'The upstream is gone.' }),
  'an error behind other fields': json({ id: 'x', model: 'm', error: { code: 502, message: 'Provider returned error' } }),
  'a page': { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<!DOCTYPE html><html>Sign in</html>' },
  'a page that is said to be JSON': { status: 200, headers: { 'content-type': 'application/json' }, body: '\n<html>Sign in</html>' },
  'half of a JSON': { status: 200, headers: { 'content-type': 'application/json' }, body: '{"id":"x","choi' },
  nothing: { status: 200, headers: { 'content-type': 'application/json' }, body: '' },
  blanks: { status: 200, headers: { 'content-type': 'application/json' }, body: ' \n\n ' },
  'an empty object': json({}),
  'a packed error': {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    bodyBase64: gzipSync('{"error":{"message":"The upstream is gone."}}').toString('base64'),
  },
}
const streams: Readonly<Record<string, Behaviour>> = {
  'a stream without an event': { status: 200, headers: { 'content-type': 'text/event-stream' }, body: '' },
  'a stream of comments': { status: 200, headers: { 'content-type': 'text/event-stream' }, body: ': ping\n\n: ping\n\n' },
  'a stream that begins with an error': sse([[null, { error: { message: 'The upstream is gone.', code: 502 } }]]),
}

const chunk = (choices: readonly object[]) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })
const message = { role: 'assistant', content: '' }
const chat = (choices: readonly object[]) => json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices })
const response = (rest: object) => ({ id: 'r', object: 'response', created_at: 1, model: 'm', output: [], ...rest })
const failed = response({ status: 'failed', error: { code: 'server_error', message: 'It broke.' } })
/** The kinds that one format has. */
const own: Readonly<Partial<Record<Operation, Readonly<Record<string, Behaviour>>>>> = {
  chat: {
    'no choice': chat([]),
    'a choice that failed': chat([{ index: 0, message, finish_reason: 'error' }]),
    'a choice that failed in its midst': chat([{ index: 0, message: { ...message, content: 'Half an' }, finish_reason: 'error' }]),
  },
  'a stream of chat': {
    'no choice': sse([
      [null, chunk([])],
      [null, '[DONE]'],
    ]),
    'a choice that failed': sse([
      [null, chunk([{ index: 0, delta: message, finish_reason: null }])],
      [null, chunk([{ index: 0, delta: {}, finish_reason: 'error' }])],
      [null, '[DONE]'],
    ]),
    'the end alone': sse([[null, '[DONE]']]),
    'a role, and no more': sse([[null, chunk([{ index: 0, delta: message, finish_reason: null }])]]),
  },
  completions: { 'no choice': json({ id: 'c', object: 'text_completion', created: 1, model: 'm', choices: [] }) },
  embeddings: { 'no vector': json({ object: 'list', data: [], model: 'm' }) },
  images: { 'no picture': json({ created: 1, data: [] }) },
  moderations: { 'no result': json({ id: 'm', model: 'm', results: [] }) },
  responses: { 'a response that failed': json(failed) },
  'a stream of responses': {
    'a response that failed': sse([
      ['response.created', { type: 'response.created', response: response({ status: 'in_progress' }) }],
      ['response.failed', { type: 'response.failed', response: failed }],
    ]),
  },
  messages: { 'a message without content': json({ id: 'm', type: 'message', role: 'assistant', model: 'm' }) },
  'a stream of messages': {
    'a beginning, and no more': sse([
      ['message_start', { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] } }],
      ['ping', { type: 'ping' }],
    ]),
  },
  contents: {
    'no candidate': json({ usageMetadata: { promptTokenCount: 3 }, modelVersion: 'm' }),
    'a call that cannot be read': json({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }] }),
  },
  'a stream of contents': {
    'a call that cannot be read': sse([[null, { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }] }]]),
  },
}

const isOperation = (name: string): name is Operation => Object.hasOwn(asks, name)
const faultsOf = (operation: Operation) => Object.entries({ ...everywhere, ...(asks[operation].stream && streams), ...own[operation] })

const words = 'the sound one'
/** The answer of a sound provider, in the format of the request. */
const soundAnswers: Readonly<Record<Operation, Behaviour>> = {
  chat: chat([{ index: 0, message: { ...message, content: words }, finish_reason: 'stop' }]),
  'a stream of chat': sse([
    [null, chunk([{ index: 0, delta: { content: words }, finish_reason: 'stop' }])],
    [null, '[DONE]'],
  ]),
  completions: json({
    id: 'c',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, text: words, finish_reason: 'stop' }],
  }),
  embeddings: json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: words }),
  images: json({ created: 1, data: [{ url: words }] }),
  moderations: json({ id: words, model: 'm', results: [{ flagged: false }] }),
  responses: json(response({ status: 'completed', output: [], id: words })),
  'a stream of responses': sse([
    ['response.created', { type: 'response.created', response: response({ status: 'in_progress' }) }],
    ['response.completed', { type: 'response.completed', response: response({ status: 'completed', id: words }) }],
  ]),
  messages: json({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: words }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  'a stream of messages': sse([
    ['message_start', { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] } }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }],
    ['message_stop', { type: 'message_stop' }],
  ]),
  contents: json({ candidates: [{ content: { parts: [{ text: words }], role: 'model' }, finishReason: 'STOP', index: 0 }] }),
  'a stream of contents': sse([
    [null, { candidates: [{ content: { parts: [{ text: words }], role: 'model' }, finishReason: 'STOP', index: 0 }] }],
  ]),
}

const ask = ({ path, body }: Asked, headers: Readonly<Record<string, string>>) =>
  send(`${bed.origin}${path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const fallback = (kind: Kind, more: object = {}) => ({
  'x-service-config': JSON.stringify({
    strategy: { mode: 'fallback', ...more },
    targets: [{ provider: `@${kind}-broken` }, { provider: `@${kind}-sound` }],
  }),
})

for (const operation of Object.keys(asks).filter(isOperation))
  for (const [title, behaviour] of faultsOf(operation)) {
    test.serial(`${operation}, ${title}: the second target is asked`, async (t) => {
      broken.script({ behaviour })
      sound.script({ behaviour: soundAnswers[operation] })
      const logged = bed.nextLog()
      const answer = await ask(asks[operation], fallback(asks[operation].kind))
      t.is(answer.status, 200)
      t.true(answer.text.includes(words), answer.text)
      t.deepEqual([broken.requests.length, sound.requests.length], [1, 1])
      const { record } = await logged
      t.is(record.attempts?.length, 2)
      t.true((record.attempts?.[0]?.status ?? 200) >= 400)
    })

    test.serial(`${operation}, ${title}: it is passed on where no target follows, and not cached`, async (t) => {
      broken.script({ behaviour })
      const headers = { 'x-service-config': JSON.stringify({ provider: `@${asks[operation].kind}-broken`, cache: { mode: 'simple' } }) }
      const first = await ask(asks[operation], headers)
      const second = await ask(asks[operation], headers)
      t.deepEqual([first.status, second.status], [200, 200])
      t.is(second.text, first.text)
      t.is(broken.requests.length, 2)
    })
  }

for (const operation of Object.keys(asks).filter(isOperation)) {
  test.serial(`${operation}: a sound answer is the first target's, byte for byte`, async (t) => {
    broken.script({ behaviour: soundAnswers[operation] })
    const answer = await ask(asks[operation], fallback(asks[operation].kind))
    t.is(answer.text, soundAnswers[operation].body ?? '')
    t.is(sound.requests.length, 0)
  })
}

test.serial('a code in the error decides on what follows', async (t) => {
  broken.script({ behaviour: json({ error: { message: 'Slow down.', code: 429 } }) })
  sound.script({ behaviour: soundAnswers.chat })
  t.true((await ask(asks.chat, fallback('openai', { on_status_codes: [429] }))).text.includes(words))
  const passed = await ask(asks.chat, fallback('openai', { on_status_codes: [500] }))
  t.is(passed.status, 200)
  t.true(passed.text.includes('Slow down.'))
})

test.serial('sound goes on as it comes, with another target behind', async (t) => {
  const bytes = Buffer.from([0xff, 0xfb, 0x3c, 0x68])
  broken.script({ behaviour: { status: 200, headers: { 'content-type': 'audio/mpeg' }, bodyBase64: bytes.toString('base64') } })
  const speech: Asked = { kind: 'openai', path: '/v1/audio/speech', body: { model: 'm', input: 'Hi', voice: 'alloy' }, stream: false }
  const answer = await ask(speech, fallback('openai'))
  t.deepEqual([...answer.body], [...bytes])
  t.is(sound.requests.length, 0)
})
