// The requests of agents such as Codex to Responses, at providers of other dialects.
import test from 'ava'
import { responsesCodec } from '../../../../src/gateway/dialects/openai-responses/codec.ts'
import { noMemory } from '../../../../src/gateway/dialects/codec.ts'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { BlockStart, NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { plainEnd } from '../../../../src/gateway/dialects/neutral/events.ts'
import { wayBack } from '../../../../src/gateway/dialects/way-back.ts'
import { ApiError } from '../../../../src/lib/errors.ts'
import { contextFor, writeStream } from '../../../support/dialects/laws.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const models: Readonly<Partial<Record<DialectId, string>>> = {
  'openai-chat': 'gpt-4o',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  cohere: 'command-a-03-2025',
  ollama: 'llama3.2',
}
const others = Object.keys(models) as DialectId[]
const respond = (to: DialectId, body: Body, strict = false) =>
  translator('openai-responses', to, { model: models[to] ?? 'm' })(body, { strict })

const schema = { type: 'object', properties: { path: { type: 'string' } } }
const ls = { type: 'function', name: 'ls', description: 'Lists a folder.', parameters: schema }
const go = { role: 'user', content: 'go' }

for (const to of others) {
  test(`tools that stand among the items are tools of the request at ${to}`, (t) => {
    const more = { type: 'additional_tools', role: 'developer', tools: [ls] }
    const plain = respond(to, { input: [go], tools: [ls] })
    for (const input of [
      [more, go],
      [go, more],
    ]) {
      const found = respond(to, { input }, true)
      t.deepEqual([found.body, found.dropped], [plain.body, plain.dropped])
    }
    const later = { type: 'additional_tools', tools: [{ ...ls, description: 'Shows a folder.' }] }
    t.deepEqual(
      respond(to, { input: [more, later, go] }).body,
      respond(to, { input: [go], tools: [{ ...ls, description: 'Shows a folder.' }] }).body,
    )
    const vendors = { type: 'additional_tools', tools: [{ type: 'file_search' }] }
    t.is(t.throws(() => respond(to, { input: [go, vendors] }), { instanceOf: ApiError }).param, 'input[1].tools[0].type')
    t.is(t.throws(() => respond(to, { input: [{ type: 'additional_tools', tools: 1 }] }), { instanceOf: ApiError }).param, 'input[0].tools')
  })

  test(`a grammar for a tool is told in its description at ${to}, and named`, (t) => {
    const patch = {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    }
    const { body, dropped } = respond(to, { input: [go], tools: [patch] })
    t.true(
      JSON.stringify(body).includes(String.raw`Edits files.\n\nThe text of ${'`input`'} must match this grammar (lark):\nstart: \"x\"`),
      JSON.stringify(body),
    )
    t.true(dropped.includes('tools[0].format'), String(dropped))
    t.is(t.throws(() => respond(to, { input: [go], tools: [patch] }, true), { instanceOf: ApiError }).param, 'tools[0].format')
    const { type: _type, ...grammar } = patch.format
    const chat = { type: 'custom', custom: { name: 'apply_patch', description: 'Edits files.', format: { type: 'grammar', grammar } } }
    if (to === 'openai-chat') return
    const asked = translator('openai-chat', to, { model: models[to] ?? 'm', messages: [go] })({ tools: [chat] })
    t.true(JSON.stringify(asked.body).includes(String.raw`(lark):\nstart: \"x\"`))
    t.true(asked.dropped.includes('tools[0].custom.format'))
  })
}

/** The order of a provider's input: `call c1`, `result c1`, or a text. */
function orderOf(body: Body): readonly string[] {
  const found: string[] = []
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) look(one)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    const fields = value as Body
    const text = JSON.stringify(fields)
    if (fields['role'] === 'tool' || fields['type'] === 'tool_result' || 'functionResponse' in fields || 'toolResult' in fields) {
      found.push(`result ${/result of (c\d)/.exec(text)?.[1]}`)
      return
    }
    if (
      fields['type'] === 'tool_use' ||
      'functionCall' in fields ||
      'toolUse' in fields ||
      fields['type'] === 'function' ||
      'function' in fields
    ) {
      found.push(`call ${/(c\d) is called/.exec(text)?.[1]}`)
      return
    }
    for (const name of ['content', 'parts', 'tool_calls'])
      if (typeof fields[name] === 'string' && fields[name] !== '') found.push(fields[name])
      else look(fields[name])
    if (typeof fields['text'] === 'string') found.push(fields['text'])
  }
  look(body['messages'] ?? body['contents'])
  return found
}
const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'ls', arguments: `{"path":"${id} is called"}` })
const result = (id: string) => ({ type: 'function_call_output', call_id: id, output: `result of ${id}` })
const quick = { role: 'user', content: 'be quick' }
const orders: readonly (readonly [name: string, input: readonly object[], order: readonly string[]])[] = [
  ['a user who speaks in between', [go, call('c1'), quick, result('c1')], ['go', 'call c1', 'result c1', 'be quick']],
  [
    'results that come one by one',
    [go, call('c1'), call('c2'), result('c1'), quick, result('c2')],
    ['go', 'call c1', 'call c2', 'result c1', 'result c2', 'be quick'],
  ],
  [
    'calls of two turns that are answered together',
    [go, call('c1'), quick, call('c2'), result('c2'), result('c1')],
    ['go', 'call c1', 'result c1', 'be quick', 'call c2', 'result c2'],
  ],
  ['an order that is right', [go, call('c1'), result('c1'), quick], ['go', 'call c1', 'result c1', 'be quick']],
]
for (const to of others)
  for (const [name, input, order] of orders)
    test(`results stand directly behind their calls at ${to}: ${name}`, (t) => {
      const { body, dropped } = respond(to, { input, tools: [ls] })
      t.deepEqual(orderOf(body), order, JSON.stringify(body))
      t.false(dropped.some((place) => place.startsWith('input')))
    })

const said = (block: BlockStart, text: string): readonly NeutralEvent[] => [
  { type: 'start', id: null, model: null, created: null },
  { type: 'block-start', choice: 0, block },
  { type: 'delta', choice: 0, text },
  { type: 'block-end', choice: 0, end: plainEnd },
  { type: 'finish', choice: 0, finish: { reason: 'tool-calls', raw: null, stopSequence: null, explanation: null } },
  { type: 'end' },
]
const inputs: readonly (readonly [written: string, input: string])[] = [
  ['{"input":"*** Begin Patch"}', '*** Begin Patch'],
  ['{"patch":"*** Begin Patch"}', '*** Begin Patch'],
  ['{"patch":"*** Begin Patch","dry_run":true}', '*** Begin Patch'],
  ['{"command":"apply","patch":"x"}', '{"command":"apply","patch":"x"}'],
  ['"*** Begin Patch"', '*** Begin Patch'],
  ['*** Begin Patch', '*** Begin Patch'],
  ['["a"]', '["a"]'],
  ['{}', '{}'],
  ['{"input":{"n":1.0}}', '{"n":1.0}'],
  ['7', '7'],
]
for (const [written, input] of inputs)
  test(`the text of a custom tool is what the model wrote for it: ${written}`, (t) => {
    const back = wayBack({ ...noMemory, customTools: new Set(['apply_patch']) })
    if (back === null) throw new Error('nothing is turned')
    const events = said({ kind: 'tool-call', id: 'c1', name: 'apply_patch', custom: false }, written).flatMap((event) => back(event))
    const { output } = responsesCodec.answer.encode(foldEvents(events), contextFor('openai-responses')) as { output: readonly Body[] }
    t.like(output[0], { type: 'custom_tool_call', input })
  })

const prefixes: readonly (readonly [block: BlockStart, type: string, prefix: RegExp])[] = [
  [{ kind: 'text' }, 'message', /^msg_/],
  [{ kind: 'refusal' }, 'message', /^msg_/],
  [{ kind: 'reasoning' }, 'reasoning', /^rs_/],
  [{ kind: 'tool-call', id: 'c1', name: 'f', custom: false }, 'function_call', /^fc_/],
  [{ kind: 'tool-call', id: 'c1', name: 'f', custom: true }, 'custom_tool_call', /^ctc_/],
  [{ kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } }, 'image_generation_call', /^ig_/],
]
for (const [block, type, prefix] of prefixes)
  test(`the id of an item begins as OpenAI demands it of its type: ${type} of ${block.kind}`, (t) => {
    const events = said(block, block.kind === 'media' ? '' : 'x')
    const { output } = responsesCodec.answer.encode(foldEvents(events), contextFor('openai-responses')) as { output: readonly Body[] }
    t.is(output[0]?.['type'], type)
    t.regex(String(output[0]?.['id']), prefix)
    const frames = writeStream(responsesCodec, events, contextFor('openai-responses')).map(({ data }) => JSON.parse(data ?? '{}') as Body)
    const ids = frames
      .flatMap((frame) => [frame['item_id'], (frame['item'] as Body | undefined)?.['id']])
      .filter((id) => typeof id === 'string')
    t.true(ids.length > 1)
    for (const id of ids) t.regex(id, prefix)
  })
