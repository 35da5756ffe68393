import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { json, sse } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Google's own client with the version `v1`, so that its paths lie beside those of OpenAI's clients, or `v1alpha`. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  bed = await startGateway({
    providers: {
      gemini: { provider: 'google', customHost: cloud.origin, credential },
      few: { provider: 'google', customHost: cloud.origin, credential, models: onlyFlash },
      claude: { provider: 'anthropic', customHost: cloud.url, credential },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

const onlyFlash = { allowAll: false, named: new Map([['gemini-2.5-flash', { enabled: true, customHost: null }]]) }
const client = (provider: string | null, apiVersion = 'v1') =>
  new GoogleGenAI({
    apiKey: workspaceKey,
    httpOptions: { baseUrl: bed.origin, apiVersion, headers: provider === null ? {} : { 'x-service-provider': provider } },
  })
const said = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Sun.' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
}
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Sun.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
}

for (const [version, asked] of [
  ['v1', 'v1beta'],
  ['v1alpha', 'v1alpha'],
] as const)
  test.serial(`${version}: a conversation, a stream, a count and vectors of Gemini, and a conversation with Claude`, async (t) => {
    cloud.script({
      behaviour: ({ url }) => {
        if (url.includes(':stream')) return sse([[null, said]])
        if (url.includes('countTokens')) return json({ totalTokens: 7 })
        if (url.includes('batchEmbedContents')) return json({ embeddings: [{ values: [1, 2] }] })
        return json(url.endsWith('/messages') ? message : said)
      },
    })
    const { models } = client('@gemini', version)
    const question = { model: 'gemini-2.5-flash', contents: 'Weather?' }
    t.is((await models.generateContent(question)).text, 'Sun.')
    const pieces: string[] = []
    for await (const { text = '' } of await models.generateContentStream(question)) pieces.push(text)
    t.deepEqual(pieces, ['Sun.'])
    t.is((await models.countTokens(question)).totalTokens, 7)
    t.deepEqual((await models.embedContent({ model: 'gemini-embedding-001', contents: ['a'] })).embeddings?.[0]?.values, [1, 2])
    t.is((await client('@claude', version).models.generateContent({ model: 'claude-sonnet-4-5', contents: 'Weather?' })).text, 'Sun.')
    t.is((await client(null, version).models.generateContent({ model: '@claude/claude-sonnet-4-5', contents: 'Weather?' })).text, 'Sun.')
    t.deepEqual(
      cloud.requests.map(({ url }) => url.split('?', 1)[0]),
      [
        `/${asked}/models/gemini-2.5-flash:generateContent`,
        `/${asked}/models/gemini-2.5-flash:streamGenerateContent`,
        `/${asked}/models/gemini-2.5-flash:countTokens`,
        `/${asked}/models/gemini-embedding-001:batchEmbedContents`,
        '/v1/messages',
        '/v1/messages',
      ],
    )
  })

for (const version of ['v1', 'v1alpha'])
  test.serial(`${version}: refusals and the list of models are in the words of its API`, async (t) => {
    const refused = await t.throwsAsync(
      client('@claude', version).models.generateContent({ model: 'm', contents: 'x', config: { candidateCount: 200 } }),
    )
    t.regex(refused.message, /INVALID_ARGUMENT/)
    cloud.script({
      behaviour: ({ url }) => json(url.startsWith('/v1beta/') ? { models: [{ name: 'models/gemini-2.5-flash' }] } : { data: [] }),
    })
    const names: (string | undefined)[] = []
    for await (const { name } of await client(null, version).models.list()) names.push(name)
    t.deepEqual(names, ['models/@gemini/gemini-2.5-flash'])
    const openai = await new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 }).models.list()
    t.deepEqual(
      openai.data.map(({ id }) => id),
      ['@gemini/gemini-2.5-flash'],
    )
  })

test.serial('v1alpha: the model of the path must be enabled, a config names another, and the key may stand in the query', async (t) => {
  cloud.script({ behaviour: json(said) })
  const refused = await t.throwsAsync(client('@few', 'v1alpha').models.generateContent({ model: 'gemini-2.5-pro', contents: 'x' }))
  t.regex(refused.message, /PERMISSION_DENIED/)
  t.is(cloud.requests.length, 0)
  const config = { provider: '@few', override_params: { model: 'gemini-2.5-flash' } }
  const answer = await fetch(`${bed.origin}/v1alpha/models/gemini-2.5-pro:generateContent?key=${workspaceKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-config': JSON.stringify(config) },
    body: JSON.stringify({ contents: [{ parts: [{ text: 'x' }] }] }),
  })
  t.is(answer.status, 200, await answer.text())
  t.is(cloud.requests.at(-1)?.url.split('?', 1)[0], '/v1alpha/models/gemini-2.5-flash:generateContent')
  t.false(cloud.requests.at(-1)?.url.includes(workspaceKey))
})

test.serial(
  'the time to wait that Gemini names in the body of an error comes in the header, for conversations and for vectors',
  async (t) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '16.2s' }]
    cloud.script({ behaviour: json({ error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } }, 429) })
    const openai = new OpenAI({
      baseURL: `${bed.origin}/v1`,
      apiKey: workspaceKey,
      maxRetries: 0,
      defaultHeaders: { 'x-service-provider': '@gemini' },
    })
    const messages = [{ role: 'user' as const, content: 'x' }]
    for (const call of [
      openai.chat.completions.create({ model: 'gemini-2.5-flash', messages }),
      openai.embeddings.create({ model: 'gemini-embedding-001', input: 'a' }),
    ]) {
      const error = await t.throwsAsync(call, { instanceOf: OpenAI.RateLimitError })
      t.is(error.headers.get('retry-after'), '17')
      t.regex(error.message, /quota/)
    }
  },
)
