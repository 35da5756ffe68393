// A client that asks the same large thing over and over, on many connections, in a process of its own: `flood.ts ORIGIN KEY SHAPE`. It is its own provider, too.
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'

const [origin = '', key = '', shape = ''] = process.argv.slice(2)
const connections = 20
const MiB = 1024 * 1024

const provider = createServer((asked, answer) => {
  asked.resume()
  asked.once('end', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    answer.setHeader('content-type', 'application/json')
    answer.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  })
}).listen(0, '127.0.0.1')
await once(provider, 'listening')
const host = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`

interface Ask {
  readonly path: string
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

const text = (length: number): string => 'The quick brown fox, "jumps" over the lazy dog.\n'.repeat(length / 49)
const json = (path: string, body: unknown, headers: Ask['headers'] = {}): Ask => ({
  path,
  body: Buffer.from(JSON.stringify(body)),
  headers: { 'content-type': 'application/json', ...headers },
})
const to = (providerName: string) => ({
  'x-service-provider': providerName,
  'x-service-custom-host': host,
  authorization: 'Bearer sk-hostile',
})
const chat = (each: number, bytes = 3 * MiB) => ({
  model: 'm',
  max_tokens: 10,
  messages: Array.from({ length: bytes / each }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: text(each) })),
})
const readers = {
  input_guardrails: [{ 'default.contains': { operator: 'none', words: ['zebra'] }, deny: true }, { 'default.wordCount': {} }],
}
const span = (at: number) => ({
  traceId: 'a'.repeat(32),
  spanId: (at + 1).toString(16).padStart(16, '0'),
  name: 'chat',
  startTimeUnixNano: '1700000000000000000',
  endTimeUnixNano: '1700000000500000000',
  attributes: [{ key: 'gen_ai.prompt', value: { stringValue: text(800) } }],
})
const spans = Array.from({ length: 1500 }, (_, at) => span(at))

/** The requests with which one organisation may keep a process busy. */
const shapes: Readonly<Record<string, () => Ask>> = {
  'a chat': () => json('/v1/chat/completions', chat(4000), to('openai')),
  'a chat for a provider of another format': () => json('/v1/chat/completions', chat(4000), to('anthropic')),
  'a chat that guardrails read': () =>
    json('/v1/chat/completions', chat(4000, 900_000), { ...to('openai'), 'x-service-config': JSON.stringify(readers) }),
  'texts for vectors': () => json('/v1/embeddings', { model: 'm', input: Array.from({ length: 60_000 }, () => text(49)) }, to('google')),
  'an upload': () => ({
    path: '/v1/files',
    body: Buffer.concat([
      Buffer.from(
        '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n',
      ),
      Buffer.alloc(10 * MiB, text(490)),
      Buffer.from('\r\n--b--\r\n'),
    ]),
    headers: { 'content-type': 'multipart/form-data; boundary=b', ...to('openai') },
  }),
  spans: () => json('/v1/otel/v1/traces', { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans }] }] }),
  'a config that is refused': () =>
    json('/v1/configs', {
      name: 'c',
      config: { targets: Array.from({ length: 20_000 }, () => ({ provider: 'openai', override_params: { model: 'm' } })) },
    }),
}

const { path, body, headers } = shapes[shape]?.() ?? { path: '/', body: Buffer.alloc(0), headers: {} }
const agent = new Agent({ keepAlive: true, maxSockets: connections })

async function askOnce(): Promise<void> {
  const sent = request(origin + path, {
    method: 'POST',
    agent,
    headers: { 'x-service-api-key': key, 'content-length': String(body.length), ...headers },
  })
  sent.end(body)
  // Reported when all of it is on its way.
  sent.once('finish', () => process.stdout.write('sent\n'))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
}

for (let at = 0; at < connections; at += 1)
  void (async () => {
    for (;;) await askOnce().catch(() => {})
  })()
process.stdin.resume().once('end', () => process.exit(0))
