import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Fields that the specification bounds are checked in every format that carries them, before any call. */
let emulator: Emulator
let bed: GatewayBed

test.before(async () => {
  emulator = await startEmulator()
  bed = await startGateway({
    providers: {
      one: { provider: 'openai', customHost: emulator.url },
      few: {
        provider: 'openai',
        customHost: emulator.url,
        models: { allowAll: false, named: new Map([['ok', { enabled: true, customHost: null }]]) },
      },
      gemini: { provider: 'google', customHost: emulator.url },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
})

const chat = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
const paths = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  google: '/v1beta/models/gemini-2.5-flash:generateContent',
  images: '/v1/images/generations',
  edits: '/v1/images/edits',
} as const
const post = async (path: keyof typeof paths, body: object) => {
  const answer = await fetch(`${bed.origin}${paths[path]}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${workspaceKey}`,
      'content-type': 'application/json',
      'x-service-provider': path === 'google' ? '@gemini' : '@one',
    },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

const partOf = (name: string, value: string) => `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
/** A form of a picture, in pieces of so many bytes; `first` stands before the picture, `last` behind it. */
const form = (first: Fields, last: Fields, size = 100_000): string => {
  const all = (fields: Fields) =>
    Object.entries(fields)
      .map(([name, value]) => partOf(name, value))
      .join('')
  const picture = `--edge\r\ncontent-disposition: form-data; name="image"; filename="n"\r\n\r\nname="n"\r\n\r\n999${'x'.repeat(size)}\r\n`
  return `${all(first)}${picture}${all(last)}--edge--\r\n`
}
type Fields = Readonly<Record<string, string>>

async function upload(operation: 'edits' | 'variations', body: string, { provider = '@one', piece = body.length } = {}) {
  const pieces = Array.from({ length: Math.ceil(body.length / piece) }, (_, at) => Buffer.from(body.slice(at * piece, (at + 1) * piece)))
  const answer = await fetch(`${bed.origin}/v1/images/${operation}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${workspaceKey}`,
      'content-type': 'multipart/form-data; boundary=edge',
      ...(provider !== '' && { 'x-service-provider': provider }),
    },
    body: ReadableStream.from(pieces),
    duplex: 'half',
  })
  return { status: answer.status, text: await answer.text() }
}

const beyond: readonly (readonly [title: string, first: Fields, last: Fields, provider?: string])[] = [
  ['in front of the picture', { n: '129' }, { model: 'm' }],
  ['behind the picture', { model: 'm' }, { n: '0' }],
  ['where the model is read out of the form', { model: '@one/m' }, { n: '200' }, ''],
  ['where rules of models hold the form', { model: 'ok' }, { n: '200' }, '@few'],
]
for (const [title, first, last, provider] of beyond)
  for (const piece of [7, 64 * 1024])
    test.serial(`n of a form that passes unchanged is bounded ${title}, in pieces of ${piece} bytes`, async (t) => {
      const { status, text } = await upload('edits', form(first, last, piece === 7 ? 300 : 100_000), { provider, piece })
      t.is(status, 400, text)
      const { error } = JSON.parse(text) as { error: { message: string; param: string } }
      t.is(error.param, 'n')
      t.regex(error.message, /must be at (?:most 128|least 1)/)
      t.deepEqual(
        emulator.requests.filter(({ url }) => url.includes('/images/')),
        [],
      )
    })

test.serial('a form within its bounds passes as it came; what stands in a picture is no field', async (t) => {
  for (const [operation, body] of [
    ['edits', form({ n: '128', model: 'm' }, { prompt: 'sun' })],
    ['variations', form({ n: 'two' }, {})],
  ] as const) {
    const { status, text } = await upload(operation, body, { piece: 5000 })
    t.is(status, 200, text)
    t.is(emulator.requests.at(-1)?.body.toString(), body)
  }
  emulator.reset()
})

test.serial('n of an edit in JSON, as some providers take it, is bounded too', async (t) => {
  const { status, text } = await post('edits', { model: 'm', prompt: 'x', n: 129 })
  t.is(status, 400)
  t.like(JSON.parse(text), { error: { param: 'n' } })
})

const faults: readonly (readonly [path: keyof typeof paths, body: object, param: string, bound: string, value: string])[] = [
  ['chat', { ...chat, temperature: 3 }, 'temperature', 'must be at most 2', '3'],
  ['chat', { ...chat, top_p: -1 }, 'top_p', 'must be at least 0', '-1'],
  ['chat', { ...chat, presence_penalty: -2.5 }, 'presence_penalty', 'must be at least -2', '-2.5'],
  ['chat', { ...chat, frequency_penalty: 2.5 }, 'frequency_penalty', 'must be at most 2', '2.5'],
  ['chat', { ...chat, n: 129 }, 'n', 'must be at most 128', '129'],
  ['chat', { ...chat, n: 0 }, 'n', 'must be at least 1', '0'],
  ['chat', { ...chat, max_tokens: -1 }, 'max_tokens', 'must be at least 0', '-1'],
  ['chat', { ...chat, logit_bias: { 5: 1, 6: 101 } }, 'logit_bias.6', 'must be at most 100', '101'],
  ['chat', { ...chat, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', 'must have at most 4 items', '["a","b","c","d","e"]'],
  [
    'chat',
    { ...chat, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) },
    'metadata',
    'must have at most 16 pairs, but has 17',
    '',
  ],
  ['messages', { ...chat, max_tokens: 5, temperature: 2.1 }, 'temperature', 'must be at most 2', '2.1'],
  ['messages', { ...chat, max_tokens: 5, top_p: 1.1 }, 'top_p', 'must be at most 1', '1.1'],
  ['responses', { model: 'm', input: 'x', max_output_tokens: -1 }, 'max_output_tokens', 'must be at least 0', '-1'],
  ['responses', { model: 'm', input: 'x', truncation: 'some' }, 'truncation', 'must be one of auto, disabled', '"some"'],
  ['google', { contents: [], generationConfig: { temperature: 2.5 } }, 'generationConfig.temperature', 'must be at most 2', '2.5'],
  ['google', { contents: [], generation_config: { top_p: 2 } }, 'generation_config.top_p', 'must be at most 1', '2'],
  ['google', { contents: [], generationConfig: { candidateCount: 0 } }, 'generationConfig.candidateCount', 'must be at least 1', '0'],
  [
    'google',
    { contents: [], generationConfig: { seed: 1e20 } },
    'generationConfig.seed',
    'must be at most 9223372036854776000',
    '100000000000000000000',
  ],
  ['images', { model: 'm', prompt: 'x', n: 200 }, 'n', 'must be at most 128', '200'],
]
for (const [path, body, param, bound, value] of faults)
  test.serial(`${path}: ${param} ${bound}`, async (t) => {
    const before = emulator.requests.length
    const { status, text } = await post(path, body)
    t.is(status, 400, text)
    for (const part of [param, bound, JSON.stringify(value).slice(1, -1)]) t.true(text.includes(part), text)
    t.is(emulator.requests.length, before)
  })

test.serial("a body that is no JSON object is refused in the words of the caller's format, before any call", async (t) => {
  const before = emulator.requests.length
  const google = '/v1beta/models/@one/m'
  for (const path of [paths.chat, `${google}:generateContent`, `${google}:streamGenerateContent`, `${google}:countTokens`])
    for (const body of ['[]', 'null', '7', ''])
      for (const provider of ['@one', '@gemini']) {
        const answer = await fetch(`${bed.origin}${path.replace('@one', provider)}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${workspaceKey}`, 'content-type': 'application/json', 'x-service-provider': provider },
          body,
        })
        const text = await answer.text()
        t.is(answer.status, 400, `${path} ${body}: ${text}`)
        t.is(text.includes('INVALID_ARGUMENT'), path !== paths.chat, text)
      }
  t.is(emulator.requests.length, before)
})

test.serial('at their bounds, and of other types, they go on', async (t) => {
  const within = {
    temperature: 2,
    top_p: 0,
    frequency_penalty: -2,
    n: 128,
    max_tokens: 0,
    logit_bias: { 5: -100 },
    stop: ['a', 'b', 'c', 'd'],
    seed: 7,
    metadata: { a: 'b' },
  }
  t.is((await post('chat', { ...chat, ...within })).status, 200)
  t.not((await post('chat', { ...chat, temperature: null, stop: 'a' })).status, 400)
})
