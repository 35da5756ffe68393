import test from 'ava'
import type { ListedProvider } from '../../../../src/cli/prices/catalogue-files.ts'
import { elect, type Source } from '../../../../src/cli/prices/elect.ts'
import type { Fields } from '../../../../src/lib/json/fields.ts'

const today = '2026-11-29'

const listOf = (model: Fields, provider = 'groq'): readonly ListedProvider[] => [{ provider, models: { voted: model } }]
const rated = (rates: Fields, when?: readonly Fields[]): Fields => ({ prices: [{ rates, ...(when === undefined ? {} : { when }) }] })
const said = (asOf: string, rates: Fields, when?: readonly Fields[]): Source => ({ asOf, lists: listOf(rated(rates, when)) })

const elected = (...sources: readonly Source[]): Fields => {
  const [list] = elect(sources, today)
  const model = list?.models['voted']
  return { prices: model?.['prices'], confidence: model?.['confidence'] }
}

const [old, young] = [
  { input: 1_000_000, output: 2_000_000 },
  { input: 3_000_000, output: 6_000_000 },
]

test('a list of today outvotes two of last spring, in any order', (t) => {
  const spring = [said('2026-05-01', old), said('2026-06-01', old)]
  for (const sources of [
    [said(today, young), ...spring],
    [...spring, said(today, young)],
  ])
    t.deepEqual(elected(...sources), { prices: [{ rates: young }], confidence: 'majority' })
})

test('among lists of one day the majority wins, and between equals the last', (t) => {
  t.deepEqual(elected(said(today, old), said(today, old), said(today, young)), { prices: [{ rates: old }], confidence: 'majority' })
  t.deepEqual(elected(said(today, old), said(today, young)), { prices: [{ rates: young }], confidence: 'disputed' })
})

test('the catalogue of before decides between two that are equal, and never against the newer of two', (t) => {
  const former: Source = { asOf: '2026-11-22', former: true, lists: listOf(rated(old)) }
  t.deepEqual(elected(former, said('2026-11-22', old), said('2026-11-22', young))['prices'], [{ rates: old }])
  t.deepEqual(elected(former, said('2026-11-22', old), said('2026-11-28', young))['prices'], [{ rates: young }])
})

test('a figure of the catalogue of before stays where lists differ by a rounding', (t) => {
  const former: Source = { asOf: '2026-11-22', former: true, lists: listOf(rated({ input: 125_000 })) }
  t.deepEqual(elected(former, said(today, { input: 124_000 }))['prices'], [{ rates: { input: 125_000 } }])
  t.deepEqual(elected(former, said(today, { input: 120_000 }))['prices'], [{ rates: { input: 120_000 } }])
})

test('a lone list that is five times off what the model costs elsewhere has a wrong unit, however new it is', (t) => {
  const others = ['a', 'b', 'c'].map((provider): Source => ({ asOf: today, lists: listOf(rated({ input: 1_000_000 }), provider) }))
  const slipped = [...others, said('2026-09-01', { input: 1_100_000 }), said(today, { input: 1_000_000_000 })]
  const rateAt = (sources: readonly Source[]) =>
    elect(sources, today).find(({ provider }) => provider === 'groq')?.models['voted']?.['prices']
  t.deepEqual(rateAt(slipped), [{ rates: { input: 1_100_000 } }])
  t.deepEqual(rateAt([...others, said('2026-09-01', { input: 1_100_000 }), said(today, { input: 2_000_000 })]), [
    { rates: { input: 2_000_000 } },
  ])
})

test('past and announced prices do not vote: only those of today do', (t) => {
  const periods = [
    { from: null, to: '2026-06-01', rates: { input: 9_000_000 } },
    { from: '2026-06-01', to: '2027-01-01', rates: { input: 1_000_000 } },
    { from: '2027-01-01', to: null, rates: { input: 7_000_000 } },
  ]
  const dated: Source = { asOf: today, lists: listOf({ prices: periods }) }
  t.deepEqual(elected(dated, said(today, { input: 1_000_000, cache_read: 100_000 }))['prices'], [
    periods[0],
    { from: '2026-06-01', to: '2027-01-01', rates: { input: 1_000_000, cache_read: 100_000 } },
    periods[2],
  ])
})

test('a list that lost gives no lesser rate, and one that only knows what differs under a condition is heard', (t) => {
  const loser = said('2026-05-01', { ...old, reasoning: 5 }, [{ mode: 'batch', rates: { input: 1 } }])
  const extra: Source = { asOf: today, lists: listOf(rated({}, [{ geo: ['us'], rates: { input: 3_300_000 } }])) }
  t.deepEqual(elected(loser, said(today, young), extra)['prices'], [{ rates: young, when: [{ geo: ['us'], rates: { input: 3_300_000 } }] }])
})

test('one rate is left of a sound by the minute and by the second', (t) => {
  const former: Source = { asOf: '2026-11-22', former: true, lists: listOf(rated({ input_audio_minute: 6_000_000_000 })) }
  t.deepEqual(elected(former, said(today, { input_audio_second: 100_000_000 }))['prices'], [
    { rates: { input_audio_minute: 6_000_000_000 } },
  ])
})

/** The rates that lists name one by one, and the rates under both conditions. */
const joints: readonly (readonly [what: string, rates: Fields, when: readonly Fields[], joint: Fields])[] = [
  [
    'a mode and a length',
    { input: 1_250_000, output: 10_000_000, cache_read: 125_000 },
    [
      { mode: 'flex', rates: { input: 625_000, output: 5_000_000 } },
      { over: 200_000, rates: { input: 2_500_000, output: 15_000_000, cache_read: 250_000 } },
    ],
    { mode: 'flex', over: 200_000, rates: { input: 1_250_000, output: 7_500_000 } },
  ],
  [
    'a mode and a place',
    { input: 10 },
    [
      { mode: 'priority', rates: { input: 20 } },
      { geo: ['eu'], rates: { input: 11 } },
    ],
    { geo: ['eu'], mode: 'priority', rates: { input: 22 } },
  ],
  [
    'a region and a length, half to even',
    { input: 2 },
    [
      { over: 128_000, rates: { input: 3 } },
      { region: ['eu-west-1'], rates: { input: 3 } },
    ],
    { over: 128_000, region: ['eu-west-1'], rates: { input: 4 } },
  ],
]

for (const [what, rates, when, joint] of joints) {
  test(`conditions that a list names one by one have a rate together: ${what}`, (t) => {
    const [period] = elected(said(today, rates, when))['prices'] as readonly { readonly when: readonly Fields[] }[]
    t.deepEqual(period?.when.at(-1), joint)
    t.is(period?.when.length, 3)
  })
}

test('three conditions have a rate together; one that the list itself names stays', (t) => {
  const when = [
    { mode: 'batch', rates: { input: 50 } },
    { over: 200_000, rates: { input: 200 } },
    { geo: ['us'], rates: { input: 110 } },
    { mode: 'batch', over: 200_000, rates: { input: 90 } },
  ]
  const [period] = elected(said(today, { input: 100 }, when))['prices'] as readonly { readonly when: readonly Fields[] }[]
  const under = (...names: readonly string[]) =>
    period?.when.find((one) => Object.keys(one).length === names.length + 1 && names.every((name) => one[name] !== undefined))?.['rates']
  t.deepEqual(under('mode', 'over'), { input: 90 })
  t.deepEqual(under('geo', 'mode'), { input: 55 })
  t.deepEqual(under('geo', 'over'), { input: 220 })
  t.deepEqual(under('geo', 'mode', 'over'), { input: 99 })
})

test('reasoning that costs what the answer costs has no rate of its own, and else keeps its factor in every mode', (t) => {
  const batch = [{ mode: 'batch', rates: { output: 20 } }]
  t.deepEqual(elected(said(today, { output: 40, reasoning: 40 }, batch))['prices'], [{ rates: { output: 40 }, when: batch }])
  t.deepEqual(elected(said(today, { output: 40, reasoning: 60 }, batch))['prices'], [
    { rates: { output: 40, reasoning: 60 }, when: [{ mode: 'batch', rates: { output: 20, reasoning: 30 } }] },
  ])
})

test('pictures and sounds that cost what their side costs follow its modes; others keep their own rate', (t) => {
  const batch = [{ mode: 'batch', rates: { input: 5, output: 20 } }]
  t.deepEqual(elected(said(today, { input: 10, output: 40, input_audio: 10, output_image: 40 }, batch))['prices'], [
    { rates: { input: 10, output: 40 }, when: batch },
  ])
  t.deepEqual(elected(said(today, { input: 10, output: 40, input_audio: 30 }, batch))['prices'], [
    { rates: { input: 10, output: 40, input_audio: 30 }, when: batch },
  ])
})

test('a rounded price of a cache is made exact by the factor of the mode', (t) => {
  const when = [{ mode: 'batch', rates: { input: 1_250_000, cache_read: 130_000 } }]
  const [period] = elected(said(today, { input: 2_500_000, cache_read: 250_000 }, when))['prices'] as readonly Fields[]
  t.deepEqual(period?.['when'], [{ mode: 'batch', rates: { input: 1_250_000, cache_read: 125_000 } }])
})
