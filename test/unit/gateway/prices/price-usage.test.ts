import test from 'ava'
import type { Counts } from '../../../../src/gateway/dialects/neutral/counts.ts'
import type { PriceEntry } from '../../../../src/gateway/prices/entry.ts'
import { entryFaults } from '../../../../src/gateway/prices/entry.ts'
import { readMultipliers } from '../../../../src/gateway/prices/multipliers.ts'
import { type CostState, type ModelPrices, priceAmount, priceUsage } from '../../../../src/gateway/prices/price-usage.ts'
import type { PriceFacts } from '../../../../src/gateway/prices/rates.ts'

const monday = Date.UTC(2026, 10, 23, 12)

const facts: PriceFacts = {
  startedAt: monday,
  mode: null,
  promptTokens: 0,
  geo: null,
  region: null,
  size: null,
  quality: null,
  hasTokens: true,
}

const sonnet: PriceEntry = {
  prices: [
    {
      rates: {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: 300_000,
        cache_write: 3_750_000,
        cache_write_1h: 6_000_000,
        web_search: 10_000_000_000,
      },
      when: [
        { mode: 'batch', rates: { input: 1_500_000, output: 7_500_000 } },
        { over: 200_000, rates: { input: 6_000_000, output: 22_500_000, cache_read: 600_000, cache_write_1h: 12_000_000 } },
        { mode: 'batch', over: 200_000, rates: { input: 3_000_000, output: 11_250_000 } },
      ],
    },
  ],
  uplift: { us: 1100 },
}

const image: PriceEntry = {
  prices: [
    {
      rates: { input: 5_000_000, output: 40_000_000 },
      when: [
        { usage: 'none', rates: { image: 167_000_000_000 } },
        { quality: 'low', usage: 'none', rates: { image: 11_000_000_000 } },
        { quality: 'low', size: '1024x1536', usage: 'none', rates: { image: 16_000_000_000 } },
      ],
    },
  ],
}

const dated: PriceEntry = {
  prices: [
    { from: null, to: '2026-11-23', rates: { input: 1 } },
    { from: '2026-11-23', to: '2026-12-01', rates: { input: 2 } },
    { from: '2026-12-01', to: null, rates: { input: 3 } },
  ],
}

const peak: PriceEntry = {
  prices: [
    {
      rates: { input: 300_000 },
      when: [
        { utc: ['00:00-00:00'], weekdays: [6, 7], rates: { input: 150_000 } },
        { utc: ['22:00-01:00', '04:00-06:00'], weekdays: [1, 2, 3, 4, 5], rates: { input: 150_001 } },
      ],
    },
  ],
}

const flat = (rates: PriceEntry['prices'][0]['rates']): PriceEntry => ({ prices: [{ rates }] })

interface Case {
  readonly counts: Counts
  readonly entry: PriceEntry
  readonly facts?: Partial<PriceFacts>
  readonly prices?: Partial<ModelPrices>
  /** Worked out by hand. */
  readonly amount: bigint | null
  readonly state?: CostState
  readonly unpriced?: readonly string[]
}

const cases: Readonly<Record<string, Case>> = {
  'tokens in and out': { counts: { input: 17, output: 5 }, entry: sonnet, amount: 126_000_000n },
  'cache read and both writes': {
    counts: { input: 10, cache_read: 1000, cache_write: 100, cache_write_1h: 7, output: 1 },
    entry: sonnet,
    // 30,000,000 + 300,000,000 + 375,000,000 + 42,000,000 + 15,000,000
    amount: 762_000_000n,
  },
  'a prompt at the threshold keeps the base rate': {
    counts: { input: 200_000 },
    entry: sonnet,
    facts: { promptTokens: 200_000 },
    amount: 600_000_000_000n,
  },
  'a prompt above the threshold re-prices all, the answer too': {
    counts: { input: 100_001, cache_read: 100_000, output: 10 },
    entry: sonnet,
    facts: { promptTokens: 200_001 },
    // 600,006,000,000 + 60,000,000,000 + 225,000,000
    amount: 660_231_000_000n,
  },
  'a write for an hour above the threshold (#18988)': {
    counts: { cache_write_1h: 3 },
    entry: sonnet,
    facts: { promptTokens: 300_000 },
    amount: 36_000_000n,
  },
  'batch, with a cache rate that batch does not name': {
    counts: { input: 2, cache_read: 3, output: 1 },
    entry: sonnet,
    facts: { mode: 'batch' },
    amount: 11_400_000n,
  },
  'batch of a long prompt: the entry with more conditions': {
    counts: { input: 1, output: 1 },
    entry: sonnet,
    facts: { mode: 'batch', promptTokens: 200_001 },
    amount: 14_250_000n,
  },
  'a geography with a surcharge, on tokens only': {
    counts: { input: 3, web_search: 2 },
    entry: sonnet,
    facts: { geo: 'us' },
    amount: 20_009_900_000n,
  },
  'a surcharge rounds half to even': {
    counts: { input: 1 },
    entry: { ...flat({ input: 5 }), uplift: { us: 1100 } },
    facts: { geo: 'us' },
    amount: 6n,
  },
  'a mode by the default of the provider': {
    counts: { input: 2, web_search: 1 },
    entry: flat({ input: 9, web_search: 100 }),
    facts: { mode: 'batch' },
    prices: { modeDefault: { batch: 500 } },
    // 4.5 rounds to 4
    amount: 108n,
  },
  'a mode that has no price costs the standard rate': {
    counts: { input: 2 },
    entry: flat({ input: 9 }),
    facts: { mode: 'priority' },
    amount: 18n,
  },
  'a cache without a rate is never free (bifrost PR 1872)': { counts: { cache_read: 4 }, entry: flat({ input: 7 }), amount: 28n },
  'reasoning without a rate of its own (langfuse#16425)': { counts: { reasoning: 4 }, entry: flat({ output: 9 }), amount: 36n },
  'a write for an hour falls back to the write, then to the input': {
    counts: { cache_write_1h: 2 },
    entry: flat({ cache_write: 5, input: 1 }),
    amount: 10n,
  },
  'audio and image tokens': {
    counts: {
      input_audio: 2,
      output_audio: 3,
      cache_read_audio: 5,
      input_image: 7,
      output_image: 11,
      cache_read_image: 13,
      input_video: 17,
    },
    entry: flat({
      input: 1,
      output: 1,
      input_audio: 10,
      output_audio: 20,
      cache_read_audio: 30,
      input_image: 40,
      output_image: 50,
      cache_read: 60,
      input_video: 70,
    }),
    // 20 + 60 + 150 + 280 + 550 + 780 + 1190
    amount: 3030n,
  },
  'seconds, to the millisecond': {
    counts: { input_audio_second: 90_501 },
    entry: flat({ input_audio_second: 100_000_000 }),
    amount: 9_050_100_000n,
  },
  'seconds at a rate a minute': {
    counts: { input_audio_second: 90_000 },
    entry: flat({ input_audio_minute: 6_000_000_000 }),
    amount: 9_000_000_000n,
  },
  'minutes at a rate an hour, half to even': { counts: { audio_minute: 1 }, entry: flat({ audio_hour: 1_800_000 }), amount: 0n },
  'megapixels from pixels': { counts: { megapixel: 1_048_576 }, entry: flat({ megapixel: 25_000_000_000 }), amount: 26_214_400_000n },
  'characters, pages, search units, requests': {
    counts: { input_character: 8, page: 2, annotated_page: 1, search_unit: 3, request: 1 },
    entry: flat({
      input_character: 15_000_000,
      page: 1_000_000_000,
      annotated_page: 3_000_000_000,
      search_unit: 2_000_000_000,
      request: 5_000_000_000,
    }),
    amount: 16_120_000_000n,
  },
  'searches of three sizes, maps, code': {
    counts: { web_search_low: 1, web_search_medium: 1, web_search_high: 1, maps: 1, code_execution: 1, file_search: 1, code_session: 1 },
    entry: flat({
      web_search_low: 1,
      web_search_medium: 2,
      web_search_high: 4,
      maps: 8,
      code_execution: 16,
      file_search: 32,
      code_session: 64,
    }),
    amount: 127n,
  },
  'an image by quality and size, for an answer without tokens': {
    counts: { image: 2 },
    entry: image,
    facts: { hasTokens: false, quality: 'low', size: '1024x1536' },
    amount: 32_000_000_000n,
  },
  'an image of a size that is not listed': {
    counts: { image: 1 },
    entry: image,
    facts: { hasTokens: false, quality: 'low', size: '512x512' },
    amount: 11_000_000_000n,
  },
  'the period of the day on which it began': { counts: { input: 1 }, entry: dated, amount: 2n },
  'the last moment of a period': {
    counts: { input: 1 },
    entry: dated,
    facts: { startedAt: Date.UTC(2026, 10, 22, 23, 59, 59, 999) },
    amount: 1n,
  },
  'the first moment of a period': { counts: { input: 1 }, entry: dated, facts: { startedAt: Date.UTC(2026, 11, 1) }, amount: 3n },
  'a weekend': { counts: { input: 1 }, entry: peak, facts: { startedAt: Date.UTC(2026, 10, 22, 12) }, amount: 150_000n },
  'a window past midnight': { counts: { input: 1 }, entry: peak, facts: { startedAt: Date.UTC(2026, 10, 23, 23) }, amount: 150_001n },
  'the end of a window is out of it': {
    counts: { input: 1 },
    entry: peak,
    facts: { startedAt: Date.UTC(2026, 10, 23, 6) },
    amount: 300_000n,
  },
  'a cached token of a cheap model keeps every digit': { counts: { cache_read: 1 }, entry: flat({ cache_read: 2800 }), amount: 2800n },
  'a sum beyond 53 bits': {
    counts: { input: 9_007_199_254_740_991 },
    entry: flat({ input: 150_000_000 }),
    amount: 1_351_079_888_211_148_650_000_000n,
  },
  'a factor of an integration': {
    counts: { input: 1, output: 1 },
    entry: flat({ input: 2_500_000, output: 10 }),
    prices: { multipliers: readMultipliers({ multiplier: { default: 0.85, response_token: 0.25 } }) },
    // 2,125,000 + 2 (2.5 to even)
    amount: 2_125_002n,
  },
  'a model that is free': { counts: { input: 5 }, entry: { prices: [{ rates: {} }], free: true }, amount: 0n },
  'a part without a rate is named': {
    counts: { input: 1, web_search: 3 },
    entry: flat({ input: 4 }),
    amount: 4n,
    state: 'partly_priced',
    unpriced: ['web_search'],
  },
  'nothing has a rate': { counts: { web_search: 3 }, entry: flat({ input: 4 }), amount: null, state: 'unpriced', unpriced: ['web_search'] },
  'nothing was counted': { counts: {}, entry: sonnet, amount: null, state: 'unpriced' },
}

for (const [name, { counts, entry, amount, state = 'priced', unpriced = [], ...given }] of Object.entries(cases)) {
  test(`a cost, by hand: ${name}`, (t) => {
    t.deepEqual(entryFaults(entry), [])
    const prices = { entry, model: 'm', source: 'catalogue', modeDefault: null, multipliers: null, ...given.prices }
    const of = { counts, facts: { ...facts, ...given.facts } }
    const cost = priceUsage({ ...of, reported: null, estimated: false }, prices)
    t.is(cost.amount, amount)
    t.is(priceAmount(of, prices), amount, 'without lines')
    t.is(cost.state, state)
    t.deepEqual(cost.unpriced, unpriced)
    t.is(
      cost.lines.reduce((sum, line) => sum + line.amount, 0n),
      amount ?? 0n,
    )
  })
}

test('a cost that the provider names goes before every list', (t) => {
  const cost = priceUsage({ counts: { input: 5 }, facts, reported: 1_234n, estimated: false }, null)
  t.is(cost.amount, 1_234n)
  t.is(cost.lines[0]?.dimension, 'provider_reported_cost')
})

test('an unknown model is unpriced, never 0 (#20412, JiRaska/open-bank-oss#3298)', (t) => {
  t.deepEqual(priceUsage({ counts: { input: 5 }, facts, reported: null, estimated: false }, null), {
    state: 'unpriced',
    amount: null,
    lines: [],
    unpriced: ['input'],
  })
})

test('a rate with a fraction, of an unknown dimension or below zero is refused', (t) => {
  t.deepEqual(entryFaults({ prices: [{ rates: { input: 0.5, tokens: 1, output: -1 } }] }), [
    'the rate of input, which is no whole number of pico-US-dollars',
    'the dimension tokens',
    'the rate of output, which is no whole number of pico-US-dollars',
  ])
  t.deepEqual(entryFaults({ prices: [{ rates: {}, when: [{ moon: 'full', rates: {} }] }] }), ['the condition moon'])
  t.deepEqual(
    entryFaults({
      prices: [
        { to: '2026-01-01', rates: {} },
        { from: '2026-01-02', rates: {} },
      ],
    }),
    ['a gap or overlap between periods'],
  )
})
