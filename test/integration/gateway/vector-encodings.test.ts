import test from 'ava'
import OpenAI from 'openai'
import { json } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

/** Vectors have the encoding that the client asked for, even if the provider ignores the wish, also in untranslated answers. */
let cloud: Emulator
let bed: GatewayBed

/** Providers that are asked in OpenAI's own words, and some that are not. */
const kinds = [
  'openai',
  'azure-openai',
  'together-ai',
  'deepinfra',
  'fireworks-ai',
  'x-ai',
  'ollama',
  'mistral-ai',
  'voyage',
  'jina',
] as const
const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'azure-openai': { azure_resource_name: 'r', azure_deployment_name: 'm' },
}

test.before(async () => {
  cloud = await startEmulator()
  bed = await startGateway({
    providers: Object.fromEntries(
      kinds.map((provider) => [
        provider,
        { provider, customHost: `${cloud.origin}/v1`, credential: { key: 'sk-upstream', fields: fields[provider] ?? {} } },
      ]),
    ),
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const vectors = [
  [0.25, -0.5, 1],
  [2, 0, -8.125],
]
const bytes = (vector: readonly number[]): string => {
  const list = Buffer.alloc(vector.length * 4)
  for (const [at, number] of vector.entries()) list.writeFloatLE(number, at * 4)
  return list.toString('base64')
}
const answer = (encoding: 'float' | 'base64', rest: object = {}): object => ({
  object: 'list',
  data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoding === 'float' ? vector : bytes(vector) })),
  model: 'm "embedding": [nothing]',
  usage: { prompt_tokens: 4, total_tokens: 4 },
  ...rest,
})

/** How the bytes arrive. */
const ways: Readonly<Record<string, (given: Behaviour) => Behaviour>> = {
  'at once': (given) => given,
  'in small pieces': (given) => ({ ...given, drip: { bytes: 7, everyMs: 0 } }),
  'in pieces of unknown length': (given) => ({ ...given, chunked: true }),
  'with blanks': (given) => ({ ...given, body: JSON.stringify(JSON.parse(given.body ?? ''), null, 2) }),
}

const client = (provider: string) =>
  new OpenAI({
    baseURL: `${bed.origin}/v1`,
    apiKey: workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': `@${provider}` },
  })
const read = (list: OpenAI.CreateEmbeddingResponse) => list.data.map(({ embedding }) => [...embedding])

for (const provider of kinds)
  for (const encoding of ['float', 'base64'] as const)
    test.serial(`${provider} answers with ${encoding}: OpenAI's client reads the numbers, whatever it asked for`, async (t) => {
      for (const [way, change] of Object.entries(ways)) {
        cloud.reset()
        cloud.script({ behaviour: change(json(answer(encoding))) })
        const asked = { model: 'm', input: ['a', 'b'] }
        t.deepEqual(read(await client(provider).embeddings.create(asked)), vectors, `${way}, as it likes`)
        t.deepEqual(read(await client(provider).embeddings.create({ ...asked, encoding_format: 'float' })), vectors, `${way}, numbers`)
        const told = await client(provider).embeddings.create({ ...asked, encoding_format: 'base64' })
        t.deepEqual(told.data.map(({ embedding }) => embedding) as unknown, vectors.map(bytes), `${way}, bytes`)
      }
    })

const ask = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  send(`${bed.origin}/v1/embeddings`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': '@openai', ...headers },
    body: JSON.stringify({ model: 'm', input: ['a', 'b'], ...body }),
  })

test.serial('an answer that has the encoding stays byte for byte, with its length', async (t) => {
  const given = json(answer('float'))
  cloud.script({ behaviour: given })
  const got = await ask({})
  t.is(got.text, given.body ?? '')
  t.is(got.headers['content-length'], String(Buffer.byteLength(given.body ?? '')))
})

test.serial('all else of an answer stays as it came, and the tokens are counted', async (t) => {
  const given = json(answer('float', { big: 1, note: 'ä "quoted"' }))
  cloud.script({ behaviour: { ...given, body: (given.body ?? '').replace('"big":1', '"big":9007199254740993') } })
  const logged = bed.nextLog()
  const got = await ask({ encoding_format: 'base64' })
  t.true(got.text.includes('"big":9007199254740993'))
  t.true(got.text.includes('ä \\"quoted\\"'))
  t.true(got.text.includes('m \\"embedding\\": [nothing]'))
  t.is((await logged).record.usage?.inputTokens, 4)
})

test.serial('a client that takes compressed answers gets the encoding too; a wish of a vendor stays with it', async (t) => {
  cloud.script({ behaviour: json(answer('float')) })
  await ask({ encoding_format: 'base64' }, { 'accept-encoding': 'gzip' })
  t.is(cloud.requests.at(-1)?.headers['accept-encoding'], 'identity')
  const got = await ask({ encoding_format: 'ubinary' })
  t.deepEqual((JSON.parse(got.text) as OpenAI.CreateEmbeddingResponse).data[0]?.embedding, [0.25, -0.5, 1])
})

test.serial('vectors of vectors, errors and a vector without an end', async (t) => {
  const nested = json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [[0.5], [1]] }], model: 'm' })
  cloud.script({ behaviour: nested })
  t.is((await ask({ encoding_format: 'base64' })).text, nested.body ?? '')
  cloud.reset()
  cloud.script({ behaviour: json({ error: { message: 'No.' } }, 400) })
  t.is((await ask({ encoding_format: 'base64' })).status, 400)
  cloud.reset()
  cloud.script({ behaviour: { ...json({}), body: `{"data":[{"embedding":[${'1,'.repeat(4 * 1024 * 1024)}`, chunked: true } })
  await t.throwsAsync(ask({ encoding_format: 'base64' }))
})
