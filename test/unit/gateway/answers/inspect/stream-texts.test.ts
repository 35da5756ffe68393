import test from 'ava'
import type { DialectId } from '../../../../../src/gateway/dialects/dialect.ts'
import { StreamWindow } from '../../../../../src/gateway/answers/inspect/stream-window.ts'
import { operations } from '../../../../../src/gateway/operations/operations.ts'

const framed = (value: object | string): Buffer => Buffer.from(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)

function windowOf(frames: readonly (object | string)[], dialect: DialectId | null = null): StreamWindow {
  const window = new StreamWindow(dialect)
  for (const frame of frames) window.add(framed(frame))
  return window
}

const delta = (value: object, index = 0) => ({ id: 'c-1', object: 'chat.completion.chunk', model: 'm', choices: [{ index, delta: value }] })
const call = (index: number, text: string) => delta({ tool_calls: [{ index, id: 'call_1', function: { name: 'f', arguments: text } }] })
const block = (value: object, index = 0) => ({ type: 'content_block_delta', index, delta: value })
const response = (type: string, more: object) => ({ type: `response.${type}`, item_id: 'i', output_index: 0, sequence_number: 1, ...more })
const at = { content_index: 0 }
const gemini = (...parts: readonly object[]) => ({ candidates: [{ content: { role: 'model', parts } }], modelVersion: 'g-1' })
const item = (value: object) => ({ id: 'i', status: 'completed', ...value })

/** The texts of streams, each once: frames -> texts. */
const said: readonly (readonly [name: string, frames: readonly (object | string)[], texts: readonly string[]])[] = [
  ['a chat', [delta({ role: 'assistant', content: '' }), delta({ content: 'one ' }), delta({ content: 'two' }), '[DONE]'], ['one two']],
  ['two choices', [delta({ content: 'a' }), delta({ content: 'x' }, 1), delta({ content: 'b' })], ['ab', 'x']],
  ['thoughts', [delta({ reasoning_content: 'hm' }), delta({ reasoning: 'so' }), delta({ refusal: 'no' })], ['hm', 'so', 'no']],
  ['calls of tools', [call(0, 'a'), call(1, 'x'), call(0, 'b')], ['ab', 'x']],
  ['a call of a custom tool', [delta({ tool_calls: [{ index: 0, type: 'custom', custom: { name: 'f', input: 'a b' } }] })], ['a b']],
  ['a name that is a sentence', [delta({ tool_calls: [{ index: 0, function: { name: 'a b' } }] })], ['a b']],
  ['an older call', [delta({ function_call: { name: 'f', arguments: 'a' } }), delta({ function_call: { arguments: 'b' } })], ['ab']],
  ['a voice', [delta({ audio: { id: 'a', transcript: 'he', data: 'UklGRg==' } }), delta({ audio: { transcript: 'y' } })], ['hey']],
  [
    'a list',
    [
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      delta({ content: [{ type: 'text', text: 'a' }] }),
      delta({ content: 'b' }),
    ],
    ['hm', 'ab'],
  ],
  ['a whole message in pieces', ['a', 'a', 'b'].map((content) => ({ choices: [{ message: { content } }] })), ['aab']],
  ['a message at the end', [delta({ content: 'a' }), delta({ content: 'b' }), { choices: [{ message: { content: 'ab' } }] }], ['ab']],
  ['a message at the end that is another', [delta({ content: 'a' }), { choices: [{ message: { content: 'c' } }] }], ['a', 'c']],
  ['what stands beside the choices', [{ choices: [], provider: 'x', answer: 'a' }], ['a']],
  ['completions', [{ choices: [{ text: 'a', index: 0, logprobs: { tokens: ['a'] } }] }, { choices: [{ text: 'b', index: 0 }] }], ['ab']],
  ['gemini', [gemini({ text: 'a' }), gemini({ text: 'b' }, { functionCall: { name: 'f', args: { q: 'c' } } })], ['ab', 'c']],
  ['code of gemini', [gemini({ executableCode: { language: 'PYTHON', code: 'a' } }, { codeExecutionResult: { output: 'b' } })], ['a', 'b']],
  ['what a tool is called with', [gemini({ functionCall: { name: 'f', args: { name: 'a', usage: { id: 'b' } } } })], ['a', 'b']],
  [
    'a message of blocks',
    [
      { type: 'message_start', message: { id: 'm', role: 'assistant', model: 'c', content: [], usage: { service_tier: 'standard' } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 'a', signature: 's s' } },
      block({ type: 'thinking_delta', thinking: 'b' }),
      block({ type: 'signature_delta', signature: 'x y' }),
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } },
      block({ type: 'input_json_delta', partial_json: '{}' }, 1),
      { type: 'content_block_start', index: 2, content_block: { type: 'redacted_thinking', data: 'a b' } },
      block({ type: 'citations_delta', citation: { type: 'char_location', cited_text: 'c' } }, 3),
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: '\n\nHuman:' } },
    ],
    ['ab', '{}', 'c'],
  ],
  [
    'a response, and all of it again',
    [
      response('created', { response: { instructions: 'mine', tools: [{ description: 'mine' }], output: [] } }),
      response('reasoning_summary_text.delta', { summary_index: 0, delta: 'hm' }),
      response('reasoning_summary_part.done', { summary_index: 0, part: { type: 'summary_text', text: 'hm' } }),
      response('output_text.delta', { ...at, output_index: 1, delta: 'a', obfuscation: 'x y' }),
      response('output_text.delta', { ...at, output_index: 1, delta: 'b' }),
      response('output_text.done', { ...at, output_index: 1, text: 'ab' }),
      response('content_part.done', { ...at, output_index: 1, part: { type: 'output_text', text: 'ab', annotations: [{ title: 'x y' }] } }),
      response('function_call_arguments.delta', { output_index: 2, delta: '{}' }),
      response('function_call_arguments.done', { output_index: 2, arguments: '{}', name: 'f' }),
      {
        type: 'response.completed',
        response: {
          instructions: 'mine',
          output: [
            item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'a b' }),
            item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ab' }] }),
            item({ type: 'function_call', name: 'f', call_id: 'c', arguments: '{}' }),
          ],
        },
      },
    ],
    ['hm', 'ab', '{}'],
  ],
  [
    'the end of a part that is another than its pieces',
    [
      response('output_text.delta', { ...at, delta: 'a' }),
      response('output_text.done', { ...at, text: 'c' }),
      response('content_part.done', { ...at, part: { type: 'output_text', text: 'c' } }),
    ],
    ['a', 'c'],
  ],
  [
    'items that are only whole',
    [
      response('output_item.done', { item: item({ type: 'custom_tool_call', name: 'f', input: 'a b' }) }),
      response('code_interpreter_call_code.delta', { output_index: 1, delta: 'c' }),
      response('output_item.done', {
        output_index: 1,
        item: item({ type: 'code_interpreter_call', code: 'c', outputs: [{ type: 'logs', logs: 'd' }] }),
      }),
    ],
    ['a b', 'c', 'd'],
  ],
  [
    'other things where items, parts and outputs are',
    [
      response('x.done', { item: 'a' }),
      response('y.done', { part: ['b'] }),
      response('completed', { response: 'c' }),
      response('failed', { response: { output: { z: 'd' } } }),
    ],
    ['ac', 'b', 'd'],
  ],
  ['choices that are texts', [{ choices: ['a'] }, { choices: 'b' }], ['a', 'b']],
  [
    'events of an unknown type',
    [
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'a' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'b' } } } },
      { type: 'tool-plan-delta', delta: { message: { tool_plan: 'c' } } },
    ],
    ['ab', 'c'],
  ],
  ['frames of no type', [{ model: 'm', message: { role: 'assistant', content: 'a' } }, { message: { content: 'b' } }], ['ab']],
  ['a list of texts', [['a'], ['b']], ['ab']],
  ['no JSON', ['a', 'b'], ['ab']],
]

for (const [name, frames, texts] of said)
  test(`what a stream says: ${name}`, (t) => {
    // A provider may answer in another dialect than that of the operation: no text is skipped for that.
    for (const dialect of [null, ...new Set(Object.values(operations).map((spec) => spec.dialect))])
      t.deepEqual(
        windowOf(frames, dialect)
          .parts()
          .map(({ text }) => text),
        texts,
        String(dialect),
      )
  })

const long = 'w '.repeat(50)
const thought = delta({ reasoning_content: long })
const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

/** How many frames may go when all text so far passed, and a failure may reach ten characters back. */
const held: readonly (readonly [name: string, frames: readonly object[], go: number])[] = [
  ['nothing goes before the first text', [delta({ role: 'assistant' }), delta({ content: 'a' })], 0],
  ['the end of a text waits', [delta({ content: 'a' }), delta({ content: long }), delta({ content: 'b' })], 1],
  ['each choice is on its own', [delta({ content: 'a' }), delta({ content: long }, 1), delta({ content: long }, 1)], 0],
  ['each call is on its own', [call(0, 'a'), call(1, long), call(1, long)], 0],
  ['who has ended says no more', [delta({ content: 'a' }), stop, delta({ content: 'b' }, 1)], 2],
  ['who answers has thought', [thought, delta({ content: long }), delta({ content: long })], 2],
  ['who thinks again may do so once more', [thought, delta({ content: long }), thought, delta({ content: long })], 2],
  ['a block that is closed', [block({ text: 'a' }), { type: 'content_block_stop', index: 0 }, block({ text: 'b' }, 1)], 2],
  ['a part that is done', [response('output_text.delta', { ...at, delta: 'a' }), response('output_text.done', { ...at, text: 'a' })], 2],
  ['what is not known has no end', [{ type: 'a', note: 'a' }, delta({ content: long }), delta({ content: long })], 0],
]

for (const [name, frames, go] of held)
  test(`what is held back: ${name}`, (t) => {
    const window = windowOf(frames)
    const taken = window.take(window.moment(), 10)?.toString() ?? ''
    t.is(taken, frames.slice(0, go).map(framed).join(''))
  })

test('a text that is replaced is replaced wherever it is said', (t) => {
  const window = windowOf([
    response('output_text.delta', { ...at, delta: 'se' }),
    response('output_text.delta', { ...at, delta: 'cret' }),
    response('output_text.done', { ...at, text: 'secret' }),
    response('output_item.done', { item: item({ type: 'message', content: [{ type: 'output_text', text: 'secret' }] }) }),
    response('completed', { response: { output: [item({ type: 'message', content: [{ type: 'output_text', text: 'other' }] })] } }),
  ])
  window.rewrite(window.parts().map(({ path, text }) => ({ path, value: `new ${text}` })))
  const texts = [
    ...window
      .rest()
      .toString()
      .matchAll(/"(?:delta|text)":"([^"]*)"/g),
  ].map(([, text]) => text)
  t.deepEqual(texts, ['new secret', '', 'new secret', 'new secret', 'new other'])
})
