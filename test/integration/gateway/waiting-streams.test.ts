import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { sse } from '../../support/dialects/strict.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Streams whose provider is silent for long: the client gets headers and signs of life, and all later events stand in the stream. */
const opensAfterMs = 150

interface Provider {
  readonly server: Server
  readonly origin: string
  /** The next request, whose answer the test writes. */
  next(): Promise<ServerResponse>
  count(): number
}

async function startProvider(): Promise<Provider> {
  const arrived: ServerResponse[] = []
  const waiting: ((response: ServerResponse) => void)[] = []
  let count = 0
  const server = createServer((request, response) => {
    request.resume()
    count += 1
    const wait = waiting.shift()
    if (wait === undefined) arrived.push(response)
    else wait(response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    next() {
      const response = arrived.shift()
      return response === undefined ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve(response)
    },
  }
}

let slow: Provider
let other: Provider
let bed: GatewayBed
let patient: GatewayBed

test.before(async () => {
  ;[slow, other] = await Promise.all([startProvider(), startProvider()])
  const views = (
    [
      ['slow', slow],
      ['other', other],
    ] as const
  ).flatMap(([name, { origin }]) =>
    (['openai', 'anthropic', 'google'] as const).map(
      (provider) => [`${provider}-${name}`, { provider, customHost: provider === 'google' ? origin : `${origin}/v1` }] as const,
    ),
  )
  const providers = Object.fromEntries(views)
  bed = await startGateway({ providers, settings: { streamOpensAfterMs: opensAfterMs } })
  patient = await startGateway({ providers, settings: { streamOpensAfterMs: 0 } })
})
test.after.always(async () => {
  await Promise.all([bed?.stop(), patient?.stop()])
  for (const one of [slow, other]) {
    one?.server.closeAllConnections()
    one?.server.close()
  }
})

const turn = { role: 'user', content: 'Hi' }
const clients = {
  chat: { path: '/v1/chat/completions', body: { model: 'm', messages: [turn], stream: true }, error: /data: \{"error"/ },
  completions: { path: '/v1/completions', body: { model: 'm', prompt: 'Hi', stream: true }, error: /data: \{"error"/ },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'Hi', stream: true }, error: /event: error/ },
  messages: { path: '/v1/messages', body: { model: 'm', max_tokens: 9, messages: [turn], stream: true }, error: /event: error/ },
  contents: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    error: /data: \{"error"/,
  },
} as const
type Client = keyof typeof clients

const bodyOf = (events: Parameters<typeof sse>[0]): string => sse(events).body ?? ''
const started = {
  type: 'message_start',
  message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
}
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

/** The bytes of a provider before its first content, and the content. */
const providers = {
  anthropic: {
    silence: [
      '',
      bodyOf([['message_start', started]]),
      bodyOf([
        ['message_start', started],
        ['ping', { type: 'ping' }],
      ]),
    ],
    rest: bodyOf([
      ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
      ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'At last.' } }],
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } }],
      ['message_stop', { type: 'message_stop' }],
    ]),
    error: bodyOf([['error', { type: 'error', error: { type: 'overloaded_error', message: 'Too busy.' } }]]),
  },
  openai: {
    silence: ['', ': OPENROUTER PROCESSING\n\n', bodyOf([[null, chunk({ role: 'assistant', content: '' })]])],
    rest: bodyOf([
      [null, chunk({ content: 'At last.' })],
      [null, chunk({}, 'stop')],
      [null, '[DONE]'],
    ]),
    error: bodyOf([[null, { error: { message: 'Too busy.', type: 'server_error', code: 503 } }]]),
  },
  google: {
    silence: ['', bodyOf([[null, { candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, index: 0 }] }]])],
    rest: bodyOf([[null, { candidates: [{ content: { parts: [{ text: 'At last.' }], role: 'model' }, finishReason: 'STOP', index: 0 }] }]]),
    error: bodyOf([[null, { error: { code: 503, message: 'Too busy.', status: 'UNAVAILABLE' } }]]),
  },
} as const
type Kind = keyof typeof providers

const targets = (kind: Kind, more: object = {}) => ({
  strategy: { mode: 'fallback' },
  targets: [{ provider: `@${kind}-slow`, ...more }, { provider: `@${kind}-other` }],
})
const ask = ({ origin }: GatewayBed, client: Client, config: object) =>
  fetch(`${origin}${clients[client].path}`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-config': JSON.stringify(config) },
    body: JSON.stringify(clients[client].body),
  })

const begin = (response: ServerResponse, bytes: string): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  if (bytes !== '') response.write(bytes)
}

/** Reads until a sign of life has come. Returns the bytes so far, and the reader of the rest. */
async function untilAlive({ body }: Response) {
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  const read = async (isEnough: (text: string) => boolean): Promise<string> => {
    let text = ''
    while (!isEnough(text)) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    return text
  }
  return { before: await read((text) => /^(?:: ping|event: ping)/m.test(text)), rest: () => read(() => false) }
}

const own: Readonly<Record<Client, Kind>> = {
  chat: 'openai',
  completions: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  contents: 'google',
}
interface Case {
  readonly client: Client
  readonly kind: Kind
  readonly config: object
  readonly title: string
}
/** The ways on which an answer waits: translated, with another target behind it, or both. */
const cases: readonly Case[] = (Object.keys(clients) as Client[]).flatMap((client) =>
  (Object.keys(providers) as Kind[]).flatMap((kind) => {
    const isOwn = own[client] === kind
    // Responses of OpenAI are no chat, and completions have their own form.
    if (isOwn && (client === 'responses' || client === 'completions')) return []
    const behind = { client, kind, config: targets(kind), title: 'with another target' }
    return isOwn ? [behind] : [{ client, kind, config: { provider: `@${kind}-slow` }, title: 'alone' }, behind]
  }),
)

for (const { client, kind, config, title } of cases) {
  const { silence, rest, error } = providers[kind]
  for (const [index, bytes] of silence.entries())
    test.serial(`${client} at ${kind} ${title}: headers and signs of life come before the first content (${index})`, async (t) => {
      const [logged, upstream] = [bed.nextLog(), slow.next()]
      const asked = ask(bed, client, config)
      const response = await upstream
      begin(response, bytes)
      const answer = await asked
      t.is(answer.status, 200)
      t.true(answer.headers.get('content-type')?.startsWith('text/event-stream'))
      const alive = await untilAlive(answer)
      t.false(alive.before.includes('At last.'))
      response.end((kind === 'anthropic' && bytes === '' ? silence[1] : '') + rest)
      t.regex(await alive.rest(), /At last/)
      const { record } = await logged
      t.is(record.status, 200)
      t.is(record.outcome, 'complete')
      t.true((record.attempts?.[0]?.openedMs ?? 0) > 0)
    })

  test.serial(`${client} at ${kind} ${title}: a failure behind them stands in the stream`, async (t) => {
    const asked = other.count()
    for (const end of ['error', 'cut'] as const) {
      const upstream = slow.next()
      const waiting = ask(bed, client, config)
      const response = await upstream
      begin(response, silence.at(-1) ?? '')
      const answer = await waiting
      t.is(answer.status, 200)
      const alive = await untilAlive(answer)
      if (end === 'error') response.end(error)
      else response.socket?.destroy()
      const text = await alive.rest()
      t.regex(text, clients[client].error, end)
      if (end === 'error') t.regex(text, /Too busy/)
    }
    t.is(other.count(), asked)
  })

  test.serial(`${client} at ${kind} ${title}: without the setting the headers wait, and a failure has its status`, async (t) => {
    const upstream = slow.next()
    const waiting = ask(patient, client, config)
    const response = await upstream
    begin(response, silence.at(-1) ?? '')
    response.end(error)
    if (title !== 'alone') begin(await other.next(), rest)
    const { status } = await waiting
    t.true(title === 'alone' ? status >= 500 : status === 200)
  })
}

test.serial('a wait for the first token that a config names goes first, so that another target follows', async (t) => {
  const upstream = slow.next()
  const waiting = ask(bed, 'chat', targets('anthropic', { first_token_timeout: opensAfterMs * 4 }))
  begin(await upstream, providers.anthropic.silence[1])
  const second = await other.next()
  begin(second, '')
  second.end(providers.anthropic.rest)
  const answer = await waiting
  t.is(answer.status, 200)
  t.regex(await answer.text(), /At last/)
})

test.serial('a stream that is read as one JSON array gets blank lines as signs of life', async (t) => {
  const upstream = slow.next()
  const waiting = fetch(`${bed.origin}/v1beta/models/m:streamGenerateContent`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': '@anthropic-slow' },
    body: JSON.stringify(clients.contents.body),
  })
  const response = await upstream
  begin(response, providers.anthropic.silence[1])
  const answer = await waiting
  t.is(answer.status, 200)
  response.end(providers.anthropic.rest)
  const text = await answer.text()
  t.regex(text, /^\s+\[/)
  t.regex(JSON.stringify(JSON.parse(text)), /At last/)
})

test.serial('a client that leaves while it waits ends the request, and nothing is sent on', async (t) => {
  const upstream = slow.next()
  const leaving = new AbortController()
  const waiting = fetch(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': '@anthropic-slow' },
    body: JSON.stringify(clients.chat.body),
  })
  const response = await upstream
  const closed = new Promise((resolve) => void response.once('close', resolve))
  begin(response, providers.anthropic.silence[1])
  await untilAlive(await waiting)
  const logged = bed.nextLog()
  leaving.abort()
  await closed
  t.is((await logged).record.outcome, 'client_closed')
})
