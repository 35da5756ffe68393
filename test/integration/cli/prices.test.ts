import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { gatehouseHere } from '../../support/cli.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-price-files-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

const prices = (...args: readonly string[]) => gatehouseHere(['prices', ...args])
const at = (name: string) => path.join(folder, name)

/** The same model in each public format, with a factor on all prices that stands for a wrong unit. */
const files: Readonly<Record<string, (factor: number) => unknown>> = {
  litellm: (factor) => ({
    sample_spec: { litellm_provider: 'one of', input_cost_per_token: 0 },
    'gpt-4o': {
      litellm_provider: 'openai',
      mode: 'chat',
      max_input_tokens: 128_000,
      input_cost_per_token: 2.5e-6 * factor,
      output_cost_per_token: 1e-5 * factor,
      cache_read_input_token_cost: 1.25e-6 * factor,
      input_cost_per_token_batches: 1.25e-6 * factor,
    },
    'gemini/free': { litellm_provider: 'gemini', input_cost_per_token: 0 },
  }),
  'models-dev': (factor) => ({
    openai: { models: { 'gpt-4o': { cost: { input: 2.5 * factor, output: 10 * factor, cache_read: 1.25 * factor } } } },
  }),
  'genai-prices': (factor) => [
    {
      id: 'openai',
      models: [{ id: 'gpt-4o', prices: { input_mtok: 2.5 * factor, output_mtok: 10 * factor, cache_read_mtok: 1.25 * factor } }],
    },
    {
      id: 'google',
      models: [{ id: 'gemini-2.5-pro', prices: { input_mtok: { base: 1.25 * factor, tiers: [{ start: 200_000, price: 2.5 * factor }] } } }],
    },
  ],
  cents: (factor) => ({
    default: {},
    'gpt-4o': {
      pricing_config: {
        pay_as_you_go: {
          request_token: { price: 0.000_25 * factor },
          response_token: { price: 0.001 * factor },
          cache_read_input_token: { price: 0.000_125 * factor },
        },
        batch_config: { request_token: { price: 0.000_125 * factor } },
      },
    },
  }),
}

const providerOf = (format: string) => (format === 'cents' ? ['--provider', 'openai'] : [])
interface List {
  readonly models: Record<string, { prices: { rates: Record<string, number>; when?: unknown }[] }>
}
const readList = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as List

for (const [format, make] of Object.entries(files)) {
  test(`a file of ${format} becomes lists in whole pico-dollars, and one in another unit is refused (bifrost#5243)`, async (t) => {
    const [file, out] = [at(`${format}.json`), at(`out-${format}`)]
    writeFileSync(file, JSON.stringify(make(1)))
    const { status, stdout, stderr } = await prices('import', format, file, '--out', out, '--as-of', '2026-12-01', ...providerOf(format))
    t.is(status, 0, stderr)
    t.regex(stdout, /^\d models of \d providers are in |^1 models of 1 providers/)
    const [period] = readList(path.join(out, 'openai.json')).models['gpt-4o']?.prices ?? []
    t.deepEqual(period?.rates, { input: 2_500_000, output: 10_000_000, cache_read: 1_250_000 })
    if (format === 'litellm' || format === 'cents') t.deepEqual(period?.when, [{ mode: 'batch', rates: { input: 1_250_000 } }])
    t.is((await prices('check', out)).status, 0)

    for (const factor of [100, 0.01, 1e6]) {
      writeFileSync(file, JSON.stringify(make(factor)))
      const refused = await prices('import', format, file, '--out', at('wrong'), ...providerOf(format))
      t.is(refused.status, 1)
      t.regex(refused.stderr, /gpt-4o.*unit of the (?:file|list) is another/)
    }
    writeFileSync(file, JSON.stringify(make(1)).slice(0, -40))
    t.is((await prices('import', format, file, '--out', at('wrong'), ...providerOf(format))).status, 1)
    t.false(existsSync(at('wrong')))
  })
}

test('tiers of genai-prices become conditions', async (t) => {
  writeFileSync(at('genai.json'), JSON.stringify(files['genai-prices']?.(1)))
  await prices('import', 'genai-prices', at('genai.json'), '--out', at('tiers'))
  t.deepEqual(readList(at('tiers/google.json')).models['gemini-2.5-pro']?.prices, [
    { rates: { input: 1_250_000 }, when: [{ over: 200_000, rates: { input: 2_500_000 } }] },
  ])
})

const inCents = (input: number) => ({ pay_as_you_go: { request_token: { price: input }, response_token: { price: input * 4 } } })

test('LiteLLM joins a mode and a length, folds the names of places, and a picture beside tokens is for answers without counts', async (t) => {
  const file = {
    'global.maker.model': {
      litellm_provider: 'bedrock_converse',
      mode: 'chat',
      input_cost_per_token: 1e-6,
      input_cost_per_token_flex: 5e-7,
    },
    'maker.model': {
      litellm_provider: 'bedrock',
      mode: 'chat',
      input_cost_per_token: 1.1e-6,
      input_cost_per_token_above_200k_tokens: 2.2e-6,
    },
    'us.maker.model': { litellm_provider: 'bedrock_converse', mode: 'chat', input_cost_per_token: 1.1e-6 },
    'bedrock/us-gov-west-1/maker.model': { litellm_provider: 'bedrock', mode: 'chat', input_cost_per_token: 1.2e-6 },
    'gemini/joint': {
      litellm_provider: 'gemini',
      mode: 'chat',
      input_cost_per_token: 1.25e-6,
      input_cost_per_token_flex: 6.25e-7,
      input_cost_per_token_above_200k_tokens: 2.5e-6,
      input_cost_per_token_priority: 2e-6,
      input_cost_per_token_above_200k_tokens_priority: 5e-6,
      search_context_cost_per_query: { search_context_size_low: 0.01, search_context_size_medium: 0.01, search_context_size_high: 0.01 },
    },
    'painter-1': {
      litellm_provider: 'openai',
      mode: 'image_generation',
      input_cost_per_token: 5e-6,
      output_cost_per_image_token: 4e-5,
      input_cost_per_image: 0.001,
    },
    'high/1024-x-1024/painter-1': { litellm_provider: 'openai', mode: 'image_generation', input_cost_per_pixel: 1.59e-7 },
    'slip-1': {
      litellm_provider: 'openai',
      mode: 'chat',
      input_cost_per_token: 2e-6,
      cache_creation_input_token_cost: 1e-6,
      cache_read_input_token_cost: 9e-6,
      input_cost_per_token_above_200k_tokens: 1e-6,
    },
  }
  writeFileSync(at('many.json'), JSON.stringify(file))
  const { status, stderr } = await prices('import', 'litellm', at('many.json'), '--out', at('many'))
  t.is(status, 0, stderr)
  const pricesOf = (provider: string, model: string) => readList(at(`many/${provider}.json`)).models[model]?.prices
  t.deepEqual(pricesOf('bedrock', 'maker.model'), [
    {
      rates: { input: 1_000_000 },
      when: [
        { geo: ['in-region'], rates: { input: 1_100_000 } },
        { geo: ['us'], rates: { input: 1_100_000 } },
        { mode: 'flex', rates: { input: 500_000 } },
        { region: ['us-gov-west-1'], rates: { input: 1_200_000 } },
        { geo: ['in-region'], mode: 'flex', rates: { input: 550_000 } },
        { geo: ['us'], mode: 'flex', rates: { input: 550_000 } },
        { mode: 'flex', region: ['us-gov-west-1'], rates: { input: 600_000 } },
        { geo: ['in-region'], over: 200_000, rates: { input: 2_200_000 } },
        { geo: ['in-region'], mode: 'flex', over: 200_000, rates: { input: 1_100_000 } },
      ],
    },
  ] as never)
  t.deepEqual(pricesOf('google', 'joint'), [
    {
      rates: { input: 1_250_000, web_search: 10_000_000_000 },
      when: [
        { mode: 'flex', rates: { input: 625_000 } },
        { mode: 'priority', rates: { input: 2_000_000 } },
        { over: 200_000, rates: { input: 2_500_000 } },
        { mode: 'flex', over: 200_000, rates: { input: 1_250_000 } },
        { mode: 'priority', over: 200_000, rates: { input: 5_000_000 } },
      ],
    },
  ] as never)
  t.deepEqual(pricesOf('openai', 'painter-1'), [
    {
      rates: { input: 5_000_000, output_image: 40_000_000 },
      when: [{ quality: 'high', size: '1024x1024', usage: 'none', rates: { image: 167_000_000_000 } }],
    },
  ] as never)
  t.deepEqual(pricesOf('openai', 'slip-1'), [{ rates: { input: 2_000_000 } }])
})

test('a file in cents that names a mode and a length one by one has a rate for both', async (t) => {
  const file = {
    'gpt-4o': {
      pricing_config: { ...inCents(0.000_25), batch_config: { request_token: { price: 0.000_125 } } },
      custom_pricing: {
        context_tier_map: { 200_000: 'long' },
        regions: { default: { execution_modes: { standard: { context_tiers: { long: { pricing_config: inCents(0.0005) } } } } } },
      },
    },
  }
  writeFileSync(at('joint.json'), JSON.stringify(file))
  await prices('import', 'cents', at('joint.json'), '--provider', 'openai', '--out', at('joint'))
  const [period] = readList(at('joint/openai.json')).models['gpt-4o']?.prices ?? []
  t.deepEqual((period?.when as unknown[] | undefined)?.at(-1), { mode: 'batch', over: 200_000, rates: { input: 2_500_000 } })
})

test('a file in cents keeps its prices by image, unit, region, mode and length of the prompt; another currency is no price', async (t) => {
  const file = {
    default: {},
    'gpt-4o': { pricing_config: inCents(0.000_25) },
    painter: {
      pricing_config: {
        pay_as_you_go: {
          request_token: { price: 0.0005 },
          image: { default: { default: { price: 4 } }, high: { '1024x1024': { price: 17 }, default: { price: 20 } } },
          additional_units: { video_seconds: { price: 10 }, nobody_knows: { price: 1 } },
        },
      },
    },
    placed: {
      pricing_config: inCents(0.0001),
      custom_pricing: {
        context_tier_map: { 0: 'short', 200_000: 'long' },
        regions: {
          default: {
            execution_modes: {
              standard: { context_tiers: { short: { pricing_config: inCents(0.0002) }, long: { pricing_config: inCents(0.0004) } } },
            },
          },
          eu: { execution_modes: { priority: { pricing_config: inCents(0.001) } } },
          'eu-west-2': { execution_modes: { standard: { pricing_config: inCents(0.003) } } },
        },
      },
    },
    foreign: { pricing_config: { ...inCents(1), currency: 'EUR' } },
  }
  writeFileSync(at('custom.json'), JSON.stringify(file))
  const { status, stderr } = await prices('import', 'cents', at('custom.json'), '--provider', 'openai', '--out', at('custom'))
  t.is(status, 0, stderr)
  const { models } = readList(at('custom/openai.json'))
  t.deepEqual(models['painter']?.prices, [
    {
      rates: { input: 5_000_000, image: 40_000_000_000, video_second: 100_000_000_000 },
      when: [
        { quality: 'high', size: '1024x1024', rates: { image: 170_000_000_000 } },
        { quality: 'high', rates: { image: 200_000_000_000 } },
      ],
    },
  ] as never)
  t.deepEqual(models['placed']?.prices, [
    {
      rates: { input: 2_000_000, output: 8_000_000 },
      when: [
        { over: 200_000, rates: { input: 4_000_000, output: 16_000_000 } },
        { geo: ['eu'], mode: 'priority', rates: { input: 10_000_000, output: 40_000_000 } },
        { region: ['eu-west-2'], rates: { input: 30_000_000, output: 120_000_000 } },
      ],
    },
  ] as never)
  t.is(models['foreign'], undefined)
})

test('prices of genai-prices that begin on a day become periods: a price cut is no price of before', async (t) => {
  const prices_ = [
    { prices: { input_mtok: 10, output_mtok: 40 } },
    { constraint: { start_date: '2025-06-10' }, prices: { input_mtok: 2, output_mtok: 8 } },
  ]
  writeFileSync(at('dated.json'), JSON.stringify([{ id: 'openai', models: [{ id: 'o3', prices: prices_ }] }]))
  const { status, stderr } = await prices('import', 'genai-prices', at('dated.json'), '--out', at('dated'))
  t.is(status, 0, stderr)
  t.deepEqual(readList(at('dated/openai.json')).models['o3']?.prices, [
    { from: null, to: '2025-06-10', rates: { input: 10_000_000, output: 40_000_000 } },
    { from: '2025-06-10', to: null, rates: { input: 2_000_000, output: 8_000_000 } },
  ] as never)
})

/** Two models with these rates: one that all lists have, and one that this list alone has. */
const listOfRates = (rates: object) =>
  JSON.stringify({
    schema: 1,
    provider: 'groq',
    unit: 'pUSD',
    models: { voted: { prices: [{ rates }] }, [`of-${JSON.stringify(rates).length}`]: { prices: [{ rates }] } },
  })

test('lists that differ are decided by majority: for the main rates first, then for each lesser one among those that won', async (t) => {
  const votes = [
    { input: 1_000_000, output: 2_000_000, cache_read: 500_000 },
    { input: 1_005_000, output: 2_000_000, cache_read: 100_000 },
    { input: 1_000_000, output: 2_000_000, cache_read: 100_500 },
    { input: 9_000_000, output: 2_000_000, cache_read: 1, reasoning: 3 },
  ]
  for (const [number, rates] of votes.entries()) {
    writeFileSync(at('vote.json'), listOfRates(rates))
    await prices('import', 'ours', at('vote.json'), '--provider', 'groq', '--out', at(`vote-${number}`))
  }
  const folders = votes.map((_, number) => at(`vote-${number}`))
  const { status, stderr } = await prices('build', '--vote', '--with', ...folders, '--out', at('elected'))
  t.is(status, 0, stderr)
  const elected = readList(at('elected/groq.json')).models
  t.deepEqual(elected['voted']?.prices, [{ rates: { input: 1_000_000, output: 2_000_000, cache_read: 100_500 } }])
  t.is((elected['voted'] as unknown as { confidence: string }).confidence, 'majority')
  t.truthy(elected[`of-${JSON.stringify(votes[3]).length}`], 'what one list alone has is there')
  const last = await prices('build', '--with', ...folders, '--out', at('last'))
  t.is(last.status, 0, last.stderr)
  t.is(readList(at('last/groq.json')).models['voted']?.prices[0]?.rates['input'], 9_000_000)
})

test('a catalogue is built, checked by its digest and compared', async (t) => {
  writeFileSync(
    at('groq.json'),
    JSON.stringify({ schema: 1, provider: 'groq', unit: 'pUSD', models: { 'house-model': { prices: [{ rates: { input: 7 } }] } } }),
  )
  await prices('import', 'ours', at('groq.json'), '--provider', 'groq', '--out', at('own'), '--as-of', '2026-12-01')
  const built = await prices('build', '--with', at('own'), '--out', at('catalogue'), '--as-of', '2026-12-01')
  t.is(built.status, 0, built.stderr)
  t.regex(built.stdout, /6486 models of 63 providers, as of 2026-12-01, digest [0-9a-f]{16}/)
  const again = await prices('build', '--with', at('own'), '--out', at('again'), '--as-of', '2026-12-01')
  t.is(again.stdout.replace('again', 'catalogue'), built.stdout)
  t.is((await prices('check', at('catalogue'))).status, 0)
  for (const given of ['catalogue', 'own']) t.is((await prices('diff', at(given))).stdout.trim(), 'added   groq/house-model', given)
  t.regex((await prices('diff', at('catalogue'), at('own'))).stdout, /^removed 302ai\/\S+$/m)
  writeFileSync(at('catalogue/groq.json'), readFileSync(at('catalogue/groq.json'), 'utf8').replace('"input":7}', '"input":8}'))
  const broken = await prices('check', at('catalogue'))
  t.is(broken.status, 1)
  t.regex(broken.stdout, /index\.json: the digest is/)
  const explained = await prices('explain', 'groq', 'house-model', '--lists', at('own'))
  t.regex(explained.stdout, /Found: groq\/house-model in the list local/)
})

test('the catalogue of the installation holds, and its prices can be explained', async (t) => {
  t.regex((await prices('check')).stdout, /6485 models of 63 providers, as of 2026-11-29, digest [0-9a-f]{16}: nothing is wrong/)
  const { stdout } = await prices('explain', 'bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0')
  t.regex(stdout, /The name tells: geography us\./)
  t.regex(stdout, /input +3000000 pico-US-dollars/)
  const unknown = await prices('explain', 'openai', 'gpt-of-tomorrow')
  t.is(unknown.status, 1)
  t.regex(unknown.stderr, /its requests are unpriced/)
})

test('a full disk leaves the list that was there, whole', async (t) => {
  const out = at('full')
  writeFileSync(at('small.json'), JSON.stringify(files['models-dev']?.(1)))
  await prices('import', 'models-dev', at('small.json'), '--out', out)
  const before = readFileSync(path.join(out, 'openai.json'), 'utf8')
  symlinkSync('/dev/full', path.join(out, 'openai.json.part'))
  const { status, stderr } = await prices('import', 'models-dev', at('small.json'), '--out', out)
  t.is(status, 1)
  t.regex(stderr, /ENOSPC/)
  t.is(readFileSync(path.join(out, 'openai.json'), 'utf8'), before)
  t.deepEqual(readdirSync(out), ['openai.json'])
})

test('what cannot be is said with what to do', async (t) => {
  writeFileSync(at('any.json'), '{}')
  t.regex((await prices('import', 'csv', at('any.json'), '--out', at('x'))).stderr, /write one of ours, cents, litellm/)
  t.regex((await prices('import', 'cents', at('any.json'), '--out', at('x'))).stderr, /name it with --provider/)
  t.regex((await prices('import', 'litellm', at('any.json'), '--out', at('x'))).stderr, /no model with a price/)
  t.regex((await prices('diff', at('nowhere'))).stderr, /nowhere: ENOENT/)
})
