import test from 'ava'
import {
  bytes,
  count,
  distance,
  duration,
  exactMoney,
  listedCost,
  moment,
  picoOfCents,
  shortMoney,
} from '../../../console/src/api/figures.ts'
import { conversationOf } from '../../../console/src/pages/logs/conversation.ts'

test('money is exact in whole and has four digits that count in lists', (t) => {
  for (const [pico, exact, short] of [
    ['0', '$0.00', '$0.00'],
    ['6110000000', '$0.00611', '$0.006110'],
    ['1204181234567890', '$1,204.18123456789', '$1,204.18'],
    ['12300000000', '$0.0123', '$0.01230'],
    ['2800000', '$0.0000028', '$0.000002800'],
    ['1', '$0.000000000001', '$0.000000000001'],
    ['-5000000000000', '-$5.00', '-$5.00'],
    ['999999999999', '$0.999999999999', '$1.0000'],
    ['123456789012345678901', '$123,456,789.012345678901', '$123,456,789.01'],
  ] as const) {
    t.is(exactMoney(pico), exact)
    t.is(shortMoney(pico), short)
  }
})

test('cents of older fields become the same amount', (t) => {
  for (const [cents, pico] of [
    [0, '0'],
    [1, '10000000000'],
    [0.002775, '27750000'],
    [31240, '312400000000000'],
    [1e-10, '1'],
  ] as const)
    t.is(picoOfCents(cents), pico, String(cents))
})

test('a request without a price never costs nothing', (t) => {
  t.is(listedCost(null, 'unpriced'), '? Unpriced')
  t.is(listedCost('0', 'unpriced'), '? Unpriced')
  t.is(listedCost('0', 'not_charged'), '– Not charged')
  t.is(listedCost('12300000000', 'estimated'), '~ $0.01230')
  t.is(listedCost('12300000000', 'partly_priced'), '◐ $0.01230')
  t.is(listedCost(null, null), '–')
})

test('durations, counts, sizes and moments are short', (t) => {
  t.deepEqual([8, 1240, 125_000].map(duration), ['8 ms', '1.24 s', '2 m 05 s'])
  t.deepEqual([12_480, 1_250_000].map(count), ['12,480', '1.25 M'])
  t.deepEqual([12, 1_258_291].map(bytes), ['12 B', '1.2 MiB'])
  const now = new Date('2026-11-29T12:00:00Z')
  t.is(moment('2026-11-29T11:22:33.444Z', 'utc', now), '11:22:33.444')
  t.is(moment('2026-11-28T11:22:33.444Z', 'utc', now), '2026-11-28 11:22:33.444')
  t.is(distance('2026-11-29T11:00:00Z', now.getTime()), '60 min ago')
  t.is(distance('2026-12-02T12:00:00Z', now.getTime()), 'in 3 d')
})

test('a conversation is texts in each format, and pictures are named alone', (t) => {
  const picture = { type: 'image_url', image_url: { url: 'https://evil.example/x.png' } }
  t.deepEqual(
    conversationOf(
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }, picture] }] },
      { choices: [{ message: { role: 'assistant', content: 'hello' } }] },
    ),
    [
      { role: 'user', text: 'hi\n[image_url]' },
      { role: 'assistant', text: 'hello' },
    ],
  )
  t.deepEqual(
    conversationOf(
      { system: 'be brief', messages: [{ role: 'user', content: 'hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'hello' }] },
    ).map(({ text }) => text),
    ['be brief', 'hi', 'hello'],
  )
  t.deepEqual(
    conversationOf(
      { instructions: 'be brief', input: 'hi' },
      { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] }] },
    ).map(({ text }) => text),
    ['be brief', 'hi', 'hello'],
  )
  t.deepEqual(
    conversationOf(
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
      { candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] } }] },
    ),
    [
      { role: 'user', text: 'hi' },
      { role: 'model', text: 'hello' },
    ],
  )
  t.deepEqual(conversationOf('no object', null), [])
})
