import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import test from 'ava'
import OpenAI from 'openai'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** The list of models shows their limits, abilities and prices in the format of each client. */
let emulator: Emulator
let bed: GatewayBed

const entry = {
  kind: 'chat',
  prices: [{ rates: { input: 3_000_000, output: 15_000_000, cache_read: 300_000, web_search: 10_000_000_000 } }],
  limits: { context: 200_000, output: 64_000 },
  in: ['text', 'image', 'pdf'],
  out: ['text'],
  can: ['tools', 'reasoning', 'json_schema'],
}

test.before(async () => {
  emulator = await startEmulator()
  const named = new Map(['known', 'unknown'].map((name) => [name, { enabled: true, customHost: null }]))
  bed = await startGateway({
    providers: { one: { provider: 'openai', customHost: emulator.url, models: { allowAll: false, named } } },
    enabledModels: { one: ['known', 'unknown'] },
    configs: {
      all: { provider: '@one', fetch_integrated_models: true },
      spread: { strategy: { mode: 'fallback' }, targets: [{ provider: '@one', fetch_integrated_models: true }, { provider: '@one' }] },
    },
    prices: {
      find: (provider, model) => (provider === 'openai' && model === 'known' ? { entry, source: 'built_in', catalogue: 'c' } : null),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
})

const pricing = {
  currency: 'USD',
  source: 'built_in',
  per_million_tokens: { input: 3, output: 15, cache_read: 0.3 },
  per_unit: { web_search: 0.01 },
}

test("in OpenAI's format", async (t) => {
  const client = new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0 })
  const { data } = await client.models.list()
  t.deepEqual(JSON.parse(JSON.stringify(data)) as unknown, [
    {
      id: '@one/known',
      object: 'model',
      created: 0,
      owned_by: 'openai',
      listed_by: 'provider',
      context_window: 200_000,
      max_output_tokens: 64_000,
      input_modalities: entry.in,
      output_modalities: entry.out,
      capabilities: entry.can,
      pricing,
    },
    {
      id: '@one/unknown',
      object: 'model',
      created: 0,
      owned_by: 'openai',
      listed_by: 'provider',
      context_window: null,
      max_output_tokens: null,
      input_modalities: null,
      output_modalities: null,
      capabilities: null,
      pricing: null,
    },
  ])
})

const idsOf = async (query: string) => {
  const response = await fetch(`${bed.origin}/v1/models?${query}`, { headers: { authorization: `Bearer ${workspaceKey}` } })
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
}

test('a search narrows the list to ids and names that have a text', async (t) => {
  t.deepEqual(await idsOf('search=UNK'), ['@one/unknown'])
  t.deepEqual(await idsOf('search=nothing'), [])
  t.is((await idsOf('search=')).length, 2)
})

test("in Anthropic's format", async (t) => {
  const client = new Anthropic({ baseURL: bed.origin, apiKey: workspaceKey, maxRetries: 0 })
  const [known, unknown] = await Array.fromAsync(client.models.list())
  t.like(known, { max_input_tokens: 200_000, max_tokens: 64_000, lifecycle: 'active', pricing })
  t.like(known?.capabilities, {
    thinking: { supported: true },
    image_input: { supported: true },
    structured_outputs: { supported: true },
    citations: { supported: false },
  })
  t.like(unknown, { max_input_tokens: null, capabilities: null })
})

test("in Google's format", async (t) => {
  const client = new GoogleGenAI({ apiKey: workspaceKey, httpOptions: { baseUrl: bed.origin } })
  const [known] = await Array.fromAsync(await client.models.list())
  t.like(known, { name: 'models/@one/known', inputTokenLimit: 200_000, outputTokenLimit: 64_000, thinking: true })
})

for (const config of ['all', 'spread'])
  test(`a config can ask for this list: ${config}`, async (t) => {
    const client = new OpenAI({
      baseURL: `${bed.origin}/v1`,
      apiKey: workspaceKey,
      maxRetries: 0,
      defaultHeaders: { 'x-service-config': config },
    })
    t.deepEqual(
      (await client.models.list()).data.map(({ id }) => id),
      ['@one/known', '@one/unknown'],
    )
    t.is((await client.models.retrieve('@one/known')).id, '@one/known')
  })
