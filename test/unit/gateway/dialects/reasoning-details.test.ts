import test from 'ava'
import { chatCodec } from '../../../../src/gateway/dialects/openai-chat/codec.ts'
import { writeDetails } from '../../../../src/gateway/dialects/openai-chat/reasoning-details.ts'
import { plainTraits } from '../../../../src/gateway/dialects/traits.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import { assertCuts, contextFor, readStream } from '../../../support/dialects/laws.ts'

type Detail = Readonly<Record<string, unknown>>

const context = contextFor('anthropic', { traits: { ...plainTraits, reasoningField: 'reasoning', reasoningDetails: true } })
const chunk = (delta: object, finish: string | null = null) => ({
  name: null,
  data: JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] }),
})
const framesOf = (deltas: readonly object[]) => [...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), { name: null, data: '[DONE]' }]

/** Returns the reasoning of an answer: each block with its text, and the pieces that OpenRouter would get back of it. */
const thoughtsOf = (deltas: readonly object[], at = context): readonly (readonly [text: string, back: readonly Detail[] | null])[] =>
  (foldEvents(readStream(chatCodec, framesOf(deltas), at)).choices[0]?.blocks ?? []).flatMap(({ block, text, end }) =>
    block.kind === 'reasoning'
      ? [[text, writeDetails({ kind: 'reasoning', text, at: '', cache: null, bag: null, ...end })?.details ?? null] as const]
      : [],
  )

const said = (text: string, rest: object = {}) => ({ type: 'reasoning.text', format: 'f', index: 0, text, ...rest })
const sealed = (data: string, index = 0) => ({ type: 'reasoning.encrypted', format: 'f', index, data })
const summed = (summary: string) => ({ type: 'reasoning.summary', format: 'f', index: 0, summary })

const cases: readonly (readonly [what: string, deltas: readonly object[], thoughts: ReturnType<typeof thoughtsOf>])[] = [
  [
    'a text that comes in pieces, and its signature behind it',
    [
      { reasoning: 'a', reasoning_details: [said('a')] },
      { reasoning_details: [said('b')] },
      { reasoning_details: [said('', { signature: 's' })] },
      { content: 'x' },
    ],
    [['ab', [said('ab', { signature: 's' })]]],
  ],
  ['a text that nobody signed goes back as a text', [{ reasoning: 'a', reasoning_details: [said('a')] }, { content: 'x' }], [['a', null]]],
  [
    'a summary with what was sealed of it',
    [{ reasoning: 'a', reasoning_details: [summed('a')] }, { reasoning_details: [sealed('d')] }, { content: 'x' }],
    [['a', [summed('a'), sealed('d')]]],
  ],
  ['sealed pieces alone', [{ reasoning_details: [sealed('d')] }, { content: 'x' }], [['', [sealed('d')]]]],
  ['sealed pieces behind the text of the answer', [{ content: 'x' }, { reasoning_details: [sealed('d')] }], [['', [sealed('d')]]]],
  [
    'a text that is told beside what is sealed',
    [{ reasoning: 'a' }, { reasoning_details: [sealed('d')] }, { content: 'x' }],
    [['a', [sealed('d')]]],
  ],
  [
    'two texts, each with its own signature',
    [{ reasoning: 'ab', reasoning_details: [said('a', { signature: 's' }), said('b', { signature: 't', index: 1 })] }],
    [
      ['a', [said('a', { signature: 's' })]],
      ['b', [said('b', { signature: 't', index: 1 })]],
    ],
  ],
]
for (const [what, deltas, thoughts] of cases)
  test(`reasoning_details: ${what}`, (t) => {
    t.deepEqual(thoughtsOf(deltas), thoughts)
    const frames = framesOf(deltas)
    t.notThrows(() => assertCuts(chatCodec, frames, context, frames.length - 1))
  })

test('those of providers that are not OpenRouter are not taken for its own', (t) => {
  const plain = contextFor('anthropic', { traits: { ...plainTraits, reasoningField: 'reasoning' } })
  t.deepEqual(thoughtsOf([{ reasoning: 'a', reasoning_details: [said('a', { signature: 's' })] }, { content: 'x' }], plain), [['a', null]])
})
