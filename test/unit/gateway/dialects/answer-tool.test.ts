import test from 'ava'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

/** Models that no schema holds beside tools, and the choice of each among `f`, `g` and the tool for the answer. */
const providers: readonly (readonly [DialectId, model: string, chosen: (body: Body) => unknown])[] = [
  ['anthropic', 'claude-3-5-sonnet-20241022', ({ tool_choice, tools }) => [namesIn(tools), tool_choice]],
  ['bedrock', 'amazon.nova-pro-v1:0', ({ toolConfig }) => [namesIn(toolConfig), (toolConfig as Body)['toolChoice']]],
  ['google', 'gemini-2.5-flash', ({ tools, toolConfig }) => [namesIn(tools), (toolConfig as Body)['functionCallingConfig']]],
]
const namesIn = (tools: unknown): string =>
  [...JSON.stringify(tools).matchAll(/"name":"(f|g|final_answer)"[,}](?!})/g)].map(([, name]) => name).join(' ')

const response_format = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object', properties: { a: {} } } } }
const named = (name: string) => ({ type: 'function', function: { name } })
const some = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named('f')] } }
const asked = {
  messages: [{ role: 'user', content: 'hi' }],
  tools: ['f', 'g'].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object', properties: { b: {} } } } })),
  response_format,
}

const all = 'f g final_answer'
const alone = { type: 'tool', name: 'final_answer', disable_parallel_tool_use: true }
const rows: readonly (readonly [name: string, choice: unknown, answersByTool: boolean, told: readonly unknown[]])[] = [
  [
    'all',
    undefined,
    true,
    [
      [all, { type: 'any' }],
      [all, { any: {} }],
      [all, { mode: 'ANY' }],
    ],
  ],
  [
    'none',
    'none',
    true,
    [
      [all, alone],
      [all, { tool: { name: 'final_answer' } }],
      [all, { mode: 'ANY', allowedFunctionNames: ['final_answer'] }],
    ],
  ],
  [
    'some',
    some,
    true,
    [
      ['f final_answer', { type: 'any' }],
      ['f final_answer', { any: {} }],
      [all, { mode: 'ANY', allowedFunctionNames: ['f', 'final_answer'] }],
    ],
  ],
  [
    'one that is demanded',
    named('f'),
    false,
    [
      ['f g', { type: 'tool', name: 'f' }],
      ['f g', { tool: { name: 'f' } }],
      ['f g', { mode: 'ANY', allowedFunctionNames: ['f'] }],
    ],
  ],
  [
    'any that is demanded',
    'required',
    false,
    [
      ['f g', { type: 'any' }],
      ['f g', { any: {} }],
      ['f g', { mode: 'ANY' }],
    ],
  ],
]

for (const [name, choice, answersByTool, told] of rows)
  test(`beside the tool for an answer of a schema the caller's own may be called: ${name}`, (t) => {
    for (const [index, [to, model, chosen]] of providers.entries()) {
      const { body, memory } = translator('openai-chat', to, { ...asked, model })({ ...(choice !== undefined && { tool_choice: choice }) })
      t.deepEqual(chosen(body), told[index], `${to}: ${JSON.stringify(body)}`)
      t.is(memory.schemaTool?.name, answersByTool ? 'final_answer' : undefined, to)
    }
  })

test('a choice among some tools, which need not be called, is made by leaving the others out', (t) => {
  const { body, dropped } = translator('openai-chat', 'anthropic', { ...asked, model: 'claude-sonnet-4-5', max_tokens: 10 })({
    tool_choice: some,
  })
  t.deepEqual([namesIn(body['tools']), body['tool_choice']], ['f', { type: 'auto' }])
  t.deepEqual(dropped, ['tool_choice (the other tools were left out)'])
})

test('a host of OpenAI’s chat that knows no choice among some tools gets those alone', (t) => {
  const functionCallingConfig = { mode: 'ANY', allowedFunctionNames: ['f', 'g'] }
  const functionDeclarations = ['f', 'g', 'h'].map((name) => ({ name }))
  const told = { contents: [{ parts: [{ text: 'hi' }] }], tools: [{ functionDeclarations }], toolConfig: { functionCallingConfig } }
  const toChat = translator('google', 'openai-chat', { model: 'gpt-4o', ...told })
  const { body, dropped } = toChat({})
  t.deepEqual([namesIn(body['tools']), body['tool_choice'], dropped], ['f g', 'required', ['tool_choice (the other tools were left out)']])
  const atOpenAi = toChat({}, { traits: { allowedTools: true } })
  t.like(atOpenAi.body, { tools: { length: 3 }, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required' } } })
  t.deepEqual(atOpenAi.dropped, [])
})
