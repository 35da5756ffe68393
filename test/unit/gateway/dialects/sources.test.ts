// The sources of an answer, and the places of a text that they name.
import test from 'ava'
import { CountedText } from '../../../../src/gateway/dialects/google/counted-text.ts'
import { googleCodec } from '../../../../src/gateway/dialects/google/codec.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { Citation, NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { fitAnswer } from '../../../../src/gateway/dialects/neutral/fit-answer.ts'
import { contextFor } from '../../../support/dialects/laws.ts'

const texts: readonly (readonly [name: string, pieces: readonly string[]])[] = [
  ['plain letters', ['a'.repeat(700)]],
  ['letters of two bytes in pieces', ['é', 'aé'.repeat(300), 'b', 'é'.repeat(255)]],
  ['pictures, one of them cut between two pieces', ['😀'.repeat(200), 'a\ud83d', '\ude00b', '😀é'.repeat(150)]],
]
for (const [name, pieces] of texts)
  test(`places of a text are counted in bytes and in characters: ${name}`, (t) => {
    const whole = pieces.join('')
    const counted = new CountedText()
    for (const piece of pieces) counted.add(piece)
    t.is(counted.length, whole.length)
    let bytes = 0
    const letters = Array.from(whole)
    for (const [at, letter] of letters.entries()) {
      const units = letters.slice(0, at).join('').length
      if (at % 13 === 0) t.is(counted.unitsAt(bytes), units)
      if (at % 13 === 0) t.is(counted.bytesAt(units), bytes)
      bytes += Buffer.byteLength(letter)
    }
    t.is(counted.unitsAt(bytes), whole.length)
    t.is(counted.bytesAt(whole.length), bytes)
  })

test('a place behind the end of a text with long letters is its end', (t) => {
  t.is(new CountedText('é').unitsAt(9), 1)
  t.is(new CountedText('é').bytesAt(9), 2)
  t.is(new CountedText().unitsAt(3), 3)
})

const cited = (source: Partial<Citation>): NeutralEvent => ({
  type: 'citation',
  choice: 0,
  citation: { url: 'https://a.example', title: 't', quote: null, start: null, end: null, bag: null, ...source },
})
const sourcesOf = (events: readonly NeutralEvent[]): number =>
  [...events, { type: 'block-end', choice: 0, end: { signature: null, redacted: false } } as const]
    .flatMap(fitAnswer())
    .filter(({ type }) => type === 'citation').length

test('sources are left out when an answer has too many, or too long ones', (t) => {
  t.is(sourcesOf(Array.from({ length: 5000 }, () => cited({}))), 4096)
  t.is(sourcesOf(Array.from({ length: 100 }, () => cited({ title: 't'.repeat(100_000) }))), 10)
  t.is(sourcesOf([cited({ quote: 'q'.repeat(2_000_000) }), cited({})]), 1)
})

const support = (endIndex: number) => ({ segment: { endIndex }, groundingChunkIndices: [0, 1, 0] })
test('one page at many places of an answer of Google is told at each of them once', (t) => {
  const chunks = [{ web: { uri: 'https://a.example', title: 'A' } }, { web: { uri: 'https://a.example', title: 'A' } }]
  const json = {
    candidates: [
      {
        content: { parts: [{ text: 'Grüße' }] },
        finishReason: 'STOP',
        groundingMetadata: { groundingChunks: chunks, groundingSupports: [support(4), support(7), support(4)] },
      },
    ],
  }
  const [choice] = foldEvents(googleCodec.answer.decode(json, contextFor('openai-chat'))).choices
  t.deepEqual(
    choice?.blocks[0]?.citations.map(({ title, start, end }) => [title, start, end]),
    [
      ['A', 0, 3],
      ['A', 0, 5],
    ],
  )
})
