import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as zlib from 'node:zlib'
import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type RawAnswer, sendJson } from '../../support/http.ts'

/** Streams that come compressed although they were asked for as they are: they are read all the same. */
interface Scene {
  readonly encoding: string
  readonly pieces: readonly Buffer[]
}

let server: Server
let bed: GatewayBed
/** By the model that is asked for. */
const scenes = new Map<string, Scene>()
const asked: IncomingHttpHeaders[] = []

test.before(async () => {
  server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      asked.push(incoming.headers)
      const { model } = JSON.parse(Buffer.concat(chunks).toString()) as { model: string }
      const { encoding, pieces } = scenes.get(model) ?? { encoding: 'identity', pieces: [] }
      outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding })
      for (const piece of pieces) outgoing.write(piece)
      outgoing.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const customHost = `http://127.0.0.1:${port}/v1`
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: {
      claude: { provider: 'anthropic', customHost, credential },
      gpt: { provider: 'openai', customHost, credential },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  server?.closeAllConnections()
  server?.close()
})

const claude = (words: readonly string[]): string =>
  [
    [
      'message_start',
      { message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } },
    ],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ...words.map((text): [string, object] => ['content_block_delta', { index: 0, delta: { type: 'text_delta', text } }]),
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } }],
    ['message_stop', {}],
  ]
    .map(([name, data]) => `event: ${JSON.stringify(name).slice(1, -1)}\ndata: ${JSON.stringify({ type: name, ...(data as object) })}\n\n`)
    .join('')

const gpt = (words: readonly string[]): string =>
  [
    ...words.map((content, at) => ({
      choices: [{ index: 0, delta: { ...(at === 0 && { role: 'assistant' }), content }, finish_reason: null }],
    })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 } },
  ]
    .map((chunk) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...chunk })}\n\n`)
    .join('') + 'data: [DONE]\n\n'

const codings: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: (text) => zlib.gzipSync(text),
  'x-gzip': (text) => zlib.gzipSync(text),
  GZIP: (text) => zlib.gzipSync(text),
  br: (text) => zlib.brotliCompressSync(text),
  zstd: (text) => zlib.zstdCompressSync(text),
  deflate: (text) => zlib.deflateSync(text),
  'deflate, raw': (text) => zlib.deflateRawSync(text),
}

/** Pieces of a few bytes, so that each event comes in several. */
const cut = (bytes: Buffer, size = 7): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))

const words = ['Grüße', ', ', '世界', '.']
let count = 0
async function ask(provider: string, scene: Scene, config: object = {}): Promise<RawAnswer> {
  const model = `m-${(count += 1)}`
  scenes.set(model, scene)
  return sendJson(
    `${bed.origin}/v1/chat/completions`,
    {
      'x-service-api-key': workspaceKey,
      'x-service-config': JSON.stringify({ provider, ...config }),
      'accept-encoding': 'gzip, br',
    },
    { model, stream: true, messages: [{ role: 'user', content: 'Hi' }] },
  )
}

const textOf = ({ text }: RawAnswer): string =>
  text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as { choices?: { delta?: { content?: string } }[] }] : []))
    .map(({ choices }) => choices?.[0]?.delta?.content ?? '')
    .join('')

const held = { output_guardrails: [{ 'default.contains': { words: ['never'], operator: 'none' }, deny: true, async: false }] }

for (const [name, compress] of Object.entries(codings)) {
  const encoding = name.split(',')[0] ?? name
  test(`${name}: a translated stream is read`, async (t) => {
    const answer = await ask('@claude', { encoding, pieces: cut(compress(claude(words))) })
    t.is(answer.status, 200, answer.text)
    t.is(textOf(answer), words.join(''))
    t.is(answer.headers['content-encoding'], undefined)
    t.regex(answer.text, /data: \[DONE\]\n\n$/)
  })
  test(`${name}: a stream that guardrails hold is read`, async (t) => {
    const answer = await ask('@gpt', { encoding, pieces: cut(compress(gpt(words))) }, held)
    t.is(answer.status, 200, answer.text)
    t.is(textOf(answer), words.join(''))
    t.is(answer.headers['content-encoding'], undefined)
  })
}

test('what passes through unread keeps its encoding', async (t) => {
  const bytes = zlib.gzipSync(gpt(words))
  const answer = await ask('@gpt', { encoding: 'gzip', pieces: [bytes] })
  t.is(answer.headers['content-encoding'], 'gzip')
  t.deepEqual(answer.body, bytes)
})

const broken: readonly (readonly [what: string, scene: Scene])[] = [
  ['bytes that are not compressed', { encoding: 'gzip', pieces: [Buffer.from(claude(words))] }],
  ['an encoding that nothing unfolds', { encoding: 'compress', pieces: [Buffer.from('x')] }],
  ['two encodings', { encoding: 'gzip, br', pieces: [zlib.brotliCompressSync(zlib.gzipSync(claude(words)))] }],
]
for (const [what, scene] of broken)
  test(`502: ${what}`, async (t) => {
    const { status, text } = await ask('@claude', scene)
    t.is(status, 502, text)
    t.regex(text, /compressed stream/)
  })

test('a stream that breaks off within its compression gives what came, and then an error', async (t) => {
  const bytes = zlib.gzipSync(claude(Array.from({ length: 4000 }, (_, at) => `word ${(at * 7919) % 10_007} `)))
  const answer = await ask('@claude', { encoding: 'gzip', pieces: [bytes.subarray(0, bytes.length / 2)] })
  t.true(textOf(answer).startsWith('word 0 word 7919 '))
  t.regex(answer.text, /compressed stream that is broken|broke off/)
  t.notRegex(answer.text, /"finish_reason":"stop"/)
})

test('a stream that unfolds to much more than models write is ended, with little memory', async (t) => {
  const line = `: ${'0'.repeat(1_000_000)}\n\n`
  const bytes = zlib.brotliCompressSync(line.repeat(100), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } })
  t.true(bytes.length < 100_000)
  const before = process.memoryUsage().rss
  const answer = await ask('@claude', { encoding: 'br', pieces: [bytes] })
  t.regex(answer.text, /unfolds to too many bytes|larger than/)
  t.true(process.memoryUsage().rss - before < 150 * 1024 * 1024)
})

test('it is asked for without compression', async (t) => {
  await ask('@claude', { encoding: 'gzip', pieces: [zlib.gzipSync(claude(words))] })
  t.true(asked.some((headers) => headers['accept-encoding'] === 'identity'))
})
