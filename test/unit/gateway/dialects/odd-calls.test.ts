// Calls of tools as the streams of servers that are only like OpenAI's have them.
import test from 'ava'
import type { Frame } from '../../../../src/gateway/dialects/codec.ts'
import { codecOf } from '../../../../src/gateway/dialects/codecs.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import { assertOrder, contextFor, readStream } from '../../../support/dialects/laws.ts'

type Body = Record<string, unknown>

const chunk = (delta: Body, finish: string | null = null): Frame => ({
  name: null,
  data: JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] }),
})
const piece = (fields: Body) => chunk({ tool_calls: [fields] })
const callsOf = (frames: readonly Frame[]) => {
  const chat = codecOf('openai-chat')
  if (chat === null) throw new Error('no codec')
  const events = readStream(chat, frames, contextFor('anthropic'))
  assertOrder(events)
  const [choice] = foldEvents(events).choices
  return {
    finish: choice?.finish?.reason,
    calls: choice?.blocks.map(({ block, text }) => [block.kind === 'tool-call' ? block.name : block.kind, text]),
  }
}

const oddCalls: readonly (readonly [name: string, frames: readonly Frame[], calls: readonly (readonly [string, string])[]])[] = [
  [
    'vercel#7238, #12901: no index and no type',
    [piece({ id: 'a', function: { name: 'f', arguments: '{"x":1}' } }), piece({ id: 'b', function: { name: 'g', arguments: '{}' } })],
    [
      ['f', '{"x":1}'],
      ['g', '{}'],
    ],
  ],
  [
    'vercel#14722, #14760: the name after the arguments',
    [piece({ index: 0, id: 'a', function: { arguments: '{"x"' } }), piece({ index: 0, function: { name: 'f', arguments: ':1}' } })],
    [['f', '{"x":1}']],
  ],
  [
    'vercel#5350: a type that comes late',
    [
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      piece({ index: 0, type: 'function', function: { arguments: ':1}' } }),
    ],
    [['f', '{"x":1}']],
  ],
  ['vercel#14968: a call without arguments', [piece({ index: 0, id: 'a', function: { name: 'f', arguments: '' } })], [['f', '{}']]],
  [
    'parallel calls whose pieces mix',
    [
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
      piece({ index: 1, id: 'b', function: { name: 'g', arguments: '{"y":' } }),
      piece({ index: 0, function: { arguments: '1}' } }),
      piece({ index: 1, function: { arguments: '2}' } }),
    ],
    [
      ['f', '{"x":1}'],
      ['g', '{"y":2}'],
    ],
  ],
  [
    'a new id under an old index',
    [
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      piece({ index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }),
    ],
    [
      ['f', '{}'],
      ['g', '{}'],
    ],
  ],
  [
    'an id in every piece',
    [
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      piece({ index: 0, id: 'a', function: { arguments: ':1}' } }),
    ],
    [['f', '{"x":1}']],
  ],
  ['arguments as an object', [piece({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })], [['f', '{"x":1}']]],
  [
    'litellm#30765: text, then a call',
    [chunk({ content: 'a' }), chunk({ content: 'b', tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] })],
    [
      ['text', 'ab'],
      ['f', '{}'],
    ],
  ],
]
for (const [name, frames, calls] of oddCalls)
  test(`calls in a stream: ${name}`, (t) => {
    t.deepEqual(callsOf([...frames, chunk({}, 'stop'), { name: null, data: '[DONE]' }]), {
      finish: 'tool-calls',
      calls: [...calls],
    })
  })
