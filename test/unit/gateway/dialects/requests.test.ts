// Rules that hold for requests to every dialect.
import test from 'ava'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import { type NeutralEvent, plainEnd } from '../../../../src/gateway/dialects/neutral/events.ts'
import { wayBack } from '../../../../src/gateway/dialects/way-back.ts'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import { ApiError } from '../../../../src/lib/errors.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

const models: Readonly<Partial<Record<DialectId, string>>> = {
  'openai-chat': 'gpt-4o',
  'openai-responses': 'gpt-5-pro',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  cohere: 'command-a-03-2025',
  ollama: 'llama3.2',
  oracle: 'meta.llama-3.3-70b-instruct',
}
const providers = Object.keys(models) as DialectId[]
const clients = ['openai-chat', 'openai-responses'] as const

const ask = (from: (typeof clients)[number], to: DialectId, body: Body, strict = false) =>
  translator(from, to, { model: models[to] ?? 'm' })(body, { strict })

const schema = { type: 'object', properties: { a: { type: 'string' } } }
const weather = { type: 'function', function: { name: 'f', description: 'd', parameters: schema } }
const chat = (text: string) => ({
  temperature: 0.5,
  tools: [weather],
  tool_choice: 'auto',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: text },
  ],
})
const conversations = new Set(['messages', 'input', 'contents', 'chatHistory', 'message'])

/** Returns the part of a request before its conversation. */
function prefixOf(body: Body): string {
  const inner = body['chatRequest']
  const fields = Object.entries((inner ?? body) as Body)
  const at = fields.findIndex(([name]) => conversations.has(name))
  return JSON.stringify(Object.fromEntries(fields.slice(0, at)))
}
for (const to of providers.filter((one) => one !== 'openai-chat'))
  test(`tools stand before the conversation, so that caches of beginnings hit, at ${to}`, (t) => {
    const [one, other] = ['a', 'b'].map((text) => prefixOf(ask('openai-chat', to, chat(text)).body))
    t.is(one, other)
    t.regex(one ?? '', /"tools|"toolConfig/)
    if (['anthropic', 'bedrock', 'google', 'openai-responses'].includes(to)) t.regex(one ?? '', /Be brief/)
  })

const broken: readonly (readonly [given: string, sent: string, isNamed: boolean])[] = [
  ['{"a":', '{"_raw":"{\\"a\\":"}', true],
  ['[1]', '{"_raw":"[1]"}', true],
  ['"x"', '{"_raw":"\\"x\\""}', true],
  ['', '{}', false],
  [' ', '{}', false],
  ['{"a": 1.0}', '{"a": 1.0}', false],
]
const textual: readonly DialectId[] = ['openai-chat', 'cohere', 'oracle']
for (const to of textual)
  for (const [given, sent, isNamed] of broken)
    test(`arguments in a conversation are a JSON object for ${to}, which takes them as a text: ${JSON.stringify(given)}`, (t) => {
      const input = [
        { role: 'user', content: 'hi' },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: given },
        { type: 'function_call_output', call_id: 'c1', output: 'x' },
      ]
      const { body, dropped } = ask('openai-responses', to, { input })
      const written = JSON.stringify(given === '' ? '{}' : sent)
      t.true(JSON.stringify(body).includes(`"arguments":${written}`), JSON.stringify(body))
      t.is(dropped.includes('input[1]'), isNamed)
      if (isNamed) t.is(t.throws(() => ask('openai-responses', to, { input }, true), { instanceOf: ApiError }).param, 'input[1]')
    })

const near = { type: 'approximate', approximate: { city: 'Bonn', country: 'DE' } }
const place = { city: 'Bonn', country: 'DE', type: 'approximate' }
test("a search in the web that a chat asks for is Claude's own, with its place", (t) => {
  const messages = [{ role: 'user', content: 'hi' }]
  const found = ask('openai-chat', 'anthropic', { messages, web_search_options: { user_location: near, search_context_size: 'low' } })
  t.deepEqual(found.body['tools'], [
    { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', city: 'Bonn', country: 'DE' } },
  ])
  t.deepEqual(found.dropped, ['max_tokens=64000', 'web_search_options.search_context_size'])
  const beside = ask('openai-chat', 'anthropic', { messages, tools: [weather], web_search_options: {} })
  t.like(beside.body['tools'], { 0: { name: 'f' }, 1: { name: 'web_search' } })
  const bad = { messages, web_search_options: { user_location: 'Bonn' } }
  t.is(t.throws(() => ask('openai-chat', 'anthropic', bad), { instanceOf: ApiError }).param, 'web_search_options.user_location')
})
test('it is a tool of responses, with all that it says', (t) => {
  const options = { user_location: near, search_context_size: 'low' }
  const { body, dropped } = ask('openai-chat', 'openai-responses', {
    messages: [{ role: 'user', content: 'hi' }],
    web_search_options: options,
  })
  t.deepEqual(body['tools'], [{ type: 'web_search', user_location: place, search_context_size: 'low' }])
  t.deepEqual(dropped, [])
})
test('it is refused by its name where there is none', (t) => {
  for (const to of ['bedrock', 'cohere', 'ollama'] as const)
    t.is(
      t.throws(() => ask('openai-chat', to, { messages: [{ role: 'user', content: 'hi' }], web_search_options: {} }), {
        instanceOf: ApiError,
      }).param,
      'web_search_options',
    )
})

const list = { type: 'array', items: { $ref: '#/$defs/x' } }
const $defs = { x: { type: 'string' } }
const answers: readonly (readonly [name: string, schema: Body, written: Body | null])[] = [
  ['a list', { ...list, $defs }, { type: 'object', properties: { value: list }, required: ['value'], additionalProperties: false, $defs }],
  [
    'a number',
    { type: 'number' },
    { type: 'object', properties: { value: { type: 'number' } }, required: ['value'], additionalProperties: false },
  ],
  [
    'a choice',
    { anyOf: [schema, { type: 'null' }] },
    { type: 'object', properties: { value: { anyOf: [schema, { type: 'null' }] } }, required: ['value'], additionalProperties: false },
  ],
  ['an object', schema, null],
  ['fields', { properties: { a: {} } }, null],
  ['a schema that refers to its top', { type: 'array', items: { $ref: '#' } }, null],
]
const formatOf = (to: DialectId, body: Body): unknown =>
  to === 'openai-chat'
    ? (body['response_format'] as { json_schema: Body }).json_schema['schema']
    : (body['text'] as { format: Body }).format['schema']
for (const to of ['openai-chat', 'openai-responses'] as const)
  for (const [name, given, written] of answers)
    test(`the schema of an answer is an object for ${to}, which takes no other: ${name}`, (t) => {
      const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
      const found = translator('google', to, { model: models[to] ?? 'm', contents })({
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: given },
      })
      t.deepEqual(formatOf(to, found.body), written ?? given)
      t.is(found.memory.wrapsAnswer, written !== null)
    })

const say = (choice: number, text: string): NeutralEvent => ({ type: 'delta', choice, text })
const begin = (choice: number): NeutralEvent => ({ type: 'block-start', choice, block: { kind: 'text' } })
const close = (choice: number): NeutralEvent => ({ type: 'block-end', choice, end: plainEnd })

test('an answer that stood in an object is what the caller asked for, in each of several choices whose pieces mix', (t) => {
  const found = translator('google', 'openai-chat', { model: 'gpt-4o', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })({
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'array' }, candidateCount: 2 },
  })
  const back = wayBack(found.memory)
  if (back === null) throw new Error('nothing is turned')
  const events = [
    begin(0),
    begin(1),
    say(0, '{"value":'),
    say(1, '{"value":[1.0'),
    say(0, '["a"]}'),
    close(0),
    say(1, ',2]'),
    close(1),
    { type: 'end' } as const,
  ]
  const { choices } = foldEvents(events.flatMap((event) => back(event)))
  t.deepEqual(
    choices.map(({ blocks }) => blocks.map(({ text }) => text)),
    [['["a"]'], ['{"value":[1.0,2]']],
  )
})
