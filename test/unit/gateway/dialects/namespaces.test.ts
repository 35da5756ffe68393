import test from 'ava'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import { type NeutralEvent, plainEnd } from '../../../../src/gateway/dialects/neutral/events.ts'
import { finishOf } from '../../../../src/gateway/dialects/neutral/finish.ts'
import { responsesCodec } from '../../../../src/gateway/dialects/openai-responses/codec.ts'
import { contextFor, writeStream } from '../../../support/dialects/laws.ts'
import { translator } from '../../../support/dialects/translated.ts'

const close = { type: 'function', name: 'close', description: 'Closes.', parameters: { type: 'object' }, strict: false }
const base = {
  model: 'claude-sonnet-4-5',
  tools: [{ type: 'namespace', name: 'agents', description: 'Agents.', tools: [close] }],
  input: [
    { role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'c1', name: 'close', namespace: 'agents', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'closed' },
  ],
}

test('the tools of a group, as Codex sends them, are functions whose name begins with it; calls come back with their group', (t) => {
  const { body, dropped, request } = translator('openai-responses', 'anthropic', base)({})
  t.like(body['tools'], { 0: { name: 'agents__close', description: 'Closes.' } })
  t.like(body['messages'], { 1: { content: { 0: { type: 'tool_use', id: 'c1', name: 'agents__close' } } } })
  t.deepEqual(
    dropped.filter((name) => name.includes('namespace')),
    [],
  )
  const context = contextFor('openai-responses', { request })
  const events: readonly NeutralEvent[] = [
    { type: 'start', id: 'r', model: 'm', created: 1 },
    { type: 'block-start', choice: 0, block: { kind: 'tool-call', id: 'c2', name: 'agents__close', custom: false } },
    { type: 'delta', choice: 0, text: '{}' },
    { type: 'block-end', choice: 0, end: plainEnd },
    { type: 'finish', choice: 0, finish: finishOf('tool-calls') },
    { type: 'end' },
  ]
  const called = { type: 'function_call', call_id: 'c2', name: 'close', namespace: 'agents' }
  t.like(responsesCodec.answer.encode(foldEvents(events), context), { output: { 0: called } })
  const done = writeStream(responsesCodec, events, context).find(({ name }) => name === 'response.output_item.done')
  t.like(JSON.parse(done?.data ?? ''), { item: called })
})

const named = (name: string) => ({ tools: [{ type: 'namespace', name, description: 'Agents.', tools: [close] }] })
test('the name of a group, which stands before that of each of its tools, is bounded', (t) => {
  const ask = translator('openai-responses', 'anthropic', base)
  t.notThrows(() => ask(named('n'.repeat(256))))
  t.like(
    t.throws(() => ask(named('n'.repeat(257)))),
    { param: 'tools[0].name' },
  )
})
