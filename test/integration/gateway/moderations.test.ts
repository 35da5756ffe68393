import test from 'ava'
import OpenAI from 'openai'
import { judgesStrictly } from '../../support/dialects/strict-moderations.ts'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** OpenAI's client has texts judged by OpenAI and Mistral. */
let cloud: Emulator
let bed: GatewayBed

const at = (provider: string) => ({ provider, customHost: cloud.url, credential: { key: 'sk-upstream', fields: {} } })

test.before(async () => {
  cloud = await startEmulator()
  bed = await startGateway({ providers: { gpt: at('openai'), mistral: at('mistral-ai'), claude: at('anthropic'), gemini: at('google') } })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  cloud.script({ behaviour: judgesStrictly })
})

const openai = (provider: string) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: { 'x-service-provider': provider } })

test.serial("moderations: Mistral's answer has OpenAI's words, and a verdict", async (t) => {
  const entry = bed.nextLog()
  const { data, response } = await openai('@mistral')
    .moderations.create({ input: ['good', 'bad'] })
    .withResponse()
  t.deepEqual(
    data.results.map(({ flagged }) => flagged),
    [false, true],
  )
  t.like(data.results[1], { categories: { hate: true, sexual: false, pii: false }, category_scores: { hate: 0.9 } })
  t.is(response.headers.get('x-service-dropped-params'), 'model=mistral-moderation-latest')
  t.is((await entry).record.operation, 'moderate')
  const parts = await openai('@mistral').moderations.create({ model: 'm', input: [{ type: 'text', text: 'bad' }] })
  t.true(parts.results[0]?.flagged)
})

test.serial('moderations: an image is refused by its place, and a provider that judges nothing with those that do', async (t) => {
  const image = { type: 'image_url' as const, image_url: { url: 'https://a.example/a.png' } }
  const refused = await t.throwsAsync(openai('@mistral').moderations.create({ input: [image] }), { instanceOf: OpenAI.BadRequestError })
  t.is(refused?.param, 'input[0]')
  for (const provider of ['@claude', '@gemini']) {
    const error = await t.throwsAsync(openai(provider).moderations.create({ input: 'x' }), { instanceOf: OpenAI.BadRequestError })
    t.is(error?.code, 'unsupported_operation')
    t.regex(error?.message ?? '', /does not serve \/moderations.*These do: openai, 302ai, mistral-ai, zhipu\./)
  }
  t.is(cloud.requests.length, 0)
})

test.serial('moderations: OpenAI gets the request as it is', async (t) => {
  cloud.script({ behaviour: json({ id: 'modr-1', model: 'omni-moderation-latest', results: [] }) })
  await openai('@gpt').moderations.create({ model: 'omni-moderation-latest', input: 'x' })
  t.deepEqual(cloud.requests[0]?.json, { model: 'omni-moderation-latest', input: 'x' })
})
