import test from 'ava'
import { ApiError } from '../../../../src/lib/errors.ts'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { finishOf } from '../../../../src/gateway/dialects/neutral/finish.ts'
import { plainTraits, type Traits } from '../../../../src/gateway/dialects/traits.ts'
import { translate } from '../../../../src/gateway/dialects/translate.ts'
import { wayBack } from '../../../../src/gateway/dialects/way-back.ts'

type Body = Record<string, unknown>

interface Told {
  readonly traits?: Partial<Traits>
  readonly model?: string
  readonly strict?: boolean
}

function translated(from: DialectId, to: DialectId, body: Body, { traits, model = String(body['model']), strict = false }: Told = {}) {
  const frozen = JSON.stringify(body)
  const found = translate(
    { dialect: from, body, model, stream: null, requestId: 'request-1', strict },
    { dialect: to, provider: 'provider', traits: { ...plainTraits, ...traits } },
  )
  if (found === null) throw new Error('nothing was translated')
  if (JSON.stringify(body) !== frozen) throw new Error('the input was changed')
  return { body: found.encoded.body as Body, dropped: found.loss.dropped, memory: found.encoded.memory }
}

const chatToClaude = (body: Body, told?: Told) =>
  translated('openai-chat', 'anthropic', { model: 'claude-sonnet-4-5', max_tokens: 4000, messages: [user('hi')], ...body }, told)
const claudeToChat = (body: Body, told?: Told) =>
  translated('anthropic', 'openai-chat', { model: 'gpt-4o', max_tokens: 100, messages: [user('hi')], ...body }, told)
const user = (content: unknown) => ({ role: 'user', content })
const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}
const call = (id: string, city: string) => ({ id, type: 'function', function: { name: 'weather', arguments: JSON.stringify({ city }) } })

test('a request of a dialect to itself is none', (t) => {
  const asked = { dialect: 'anthropic', body: {}, model: 'm', stream: null, requestId: 'r', strict: false } as const
  t.is(translate(asked, { dialect: 'anthropic', provider: 'p', traits: plainTraits }), null)
})

test('the fields of a chat, as Anthropic names them', (t) => {
  const { body, dropped } = chatToClaude({
    messages: [{ role: 'system', content: 'a' }, { role: 'developer', content: 'b' }, user('hi')],
    stop: 'x',
    temperature: 0.5,
    top_k: 3,
    user: 'u1',
    service_tier: 'default',
    stream: true,
    stream_options: { include_usage: true },
  })
  t.deepEqual(body, {
    model: 'claude-sonnet-4-5',
    max_tokens: 4000,
    system: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
    messages: [user('hi')],
    stop_sequences: ['x'],
    temperature: 0.5,
    top_k: 3,
    metadata: { user_id: 'u1' },
    service_tier: 'standard_only',
    stream: true,
  })
  t.deepEqual(dropped, [])
})

const steering: readonly (readonly [body: Body, dropped: readonly string[]])[] = [
  [{ seed: 1, logit_bias: { 5: 1 }, frequency_penalty: 1, verbosity: 'low' }, ['seed', 'frequency_penalty', 'logit_bias', 'verbosity']],
  [{ temperature: 1.7 }, ['temperature']],
  [{ temperature: 0.2, top_p: 0.5 }, ['top_p']],
  [{ stop: ['a', ' '] }, ['stop']],
  [{ prediction: { type: 'content' }, unheard_of: 1 }, ['prediction', 'unheard_of']],
  [{ service_tier: 'flex' }, ['service_tier']],
  [{ response_format: { type: 'json_object' } }, ['response_format']],
  [{ max_tokens: null }, ['max_tokens=64000']],
  [{ messages: [user('a'), { role: 'system', content: 'later' }, user('b')] }, ['messages[1]']],
  [{ messages: [{ ...user('a'), name: 'ann', tags: [] }] }, ['messages[0].name']],
]
for (const [body, dropped] of steering)
  test(`what only steers is dropped and named: ${JSON.stringify(body)}`, (t) => {
    t.deepEqual(chatToClaude(body).dropped, dropped)
    if (body['max_tokens'] === null) return
    const [first = ''] = dropped
    t.is(t.throws(() => chatToClaude(body, { strict: true }), { instanceOf: ApiError }).param, first)
  })

const meaning: readonly (readonly [body: Body, param: string])[] = [
  [{ n: 2 }, 'n'],
  [{ logprobs: true }, 'logprobs'],
  [{ modalities: ['text', 'audio'] }, 'modalities'],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  [{ messages: [user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }])] }, 'messages[0].content[0]'],
  [{ messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] }, 'messages[0].content[0]'],
  [{ reasoning_effort: 'high', tools: [weather], tool_choice: 'required' }, 'tool_choice'],
  [{ messages: 'hi' }, 'messages'],
  [{ messages: [{ role: 'nobody', content: 'x' }] }, 'messages[0].role'],
  [{ temperature: 'hot' }, 'temperature'],
  [{ provider_options: { anthropic: 5 } }, 'provider_options.anthropic'],
  [{ provider_options: { anthropic: { model: 'claude-opus-4-8' } } }, 'provider_options.anthropic.model'],
  [{ provider_options: { anthropic: { messages: [] } } }, 'provider_options.anthropic.messages'],
  [{ provider_options: { anthropic: { stream_options: null } } }, 'provider_options.anthropic.stream_options'],
]
for (const [body, param] of meaning)
  test(`what would mean something else is refused by its name: ${JSON.stringify(body)}`, (t) => {
    const error = t.throws(() => chatToClaude(body), { instanceOf: ApiError })
    t.is(error.param, param)
    t.is(error.status, 400)
  })

test('results of parallel tools are one message, before what the user says, images with them', (t) => {
  const png = 'data:image/jpeg;base64,iVBORw0KGgoAAAA'
  const { body, dropped } = chatToClaude({
    tools: [weather],
    parallel_tool_calls: false,
    messages: [
      user('hi'),
      { role: 'assistant', content: null, tool_calls: [call('call_1', 'Paris'), { ...call('call.2', 'Rome') }] },
      { role: 'tool', tool_call_id: 'call.2', content: '' },
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: [
          { type: 'text', text: 'sun' },
          { type: 'image_url', image_url: { url: png } },
        ],
      },
      user('and?'),
    ],
  })
  const messages = body['messages'] as readonly { readonly role: string; readonly content: readonly Body[] }[]
  t.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  )
  const renamed = messages[1]?.content[1]?.['id']
  t.regex(String(renamed), /^[A-Za-z0-9]{24}$/)
  t.deepEqual(messages[2]?.content, [
    { type: 'tool_result', tool_use_id: renamed },
    {
      type: 'tool_result',
      tool_use_id: 'call_1',
      content: [
        { type: 'text', text: 'sun' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoAAAA' } },
      ],
    },
    { type: 'text', text: 'and?' },
  ])
  t.deepEqual(body['tool_choice'], { type: 'auto', disable_parallel_tool_use: true })
  t.deepEqual(dropped, [])
})

test('vercel#16643, #16561: broken arguments in the history do not end a conversation', (t) => {
  const broken = { ...call('c1', 'x'), function: { name: 'weather', arguments: '{"city":' } }
  const { body, dropped } = chatToClaude({
    messages: [user('a'), { role: 'assistant', tool_calls: [broken] }, { role: 'tool', tool_call_id: 'c1', content: 'x' }],
  })
  t.like(body, { messages: { 1: { content: { 0: { input: { _raw: '{"city":' } } } } } })
  t.deepEqual(dropped, ['messages[1].tool_calls[0]'])
})

test('a schema is native where the model knows it, else a tool whose arguments are the answer', (t) => {
  const schema = { type: 'array', items: { type: 'string' } }
  const asked = { response_format: { type: 'json_schema', json_schema: { name: 'list', schema } } }
  t.deepEqual(chatToClaude(asked).body['output_config'], { format: { type: 'json_schema', schema } })
  const { body, memory } = chatToClaude(asked, { model: 'claude-3-5-sonnet-20241022' })
  t.like(body, { tool_choice: { type: 'tool', name: 'final_answer' }, tools: { 0: { input_schema: { properties: { value: schema } } } } })
  const back = wayBack(memory)
  const events: NeutralEvent[] = [
    { type: 'block-start', choice: 0, block: { kind: 'tool-call', id: 't', name: 'final_answer', custom: false } },
    { type: 'delta', choice: 0, text: '{"value":' },
    { type: 'delta', choice: 0, text: '["a"]}' },
    { type: 'block-end', choice: 0, end: { signature: null, redacted: false } },
    { type: 'finish', choice: 0, finish: finishOf('tool-calls') },
  ]
  const { choices } = foldEvents(events.flatMap((event) => back?.(event) ?? []))
  t.like(choices[0], { blocks: { 0: { block: { kind: 'text' }, text: '["a"]' } }, finish: { reason: 'stop' } })
})

test('effort becomes what each generation of Claude takes', (t) => {
  const asked = (model: string, effort: string) => chatToClaude({ reasoning_effort: effort, max_tokens: 10_000 }, { model }).body
  t.like(asked('claude-sonnet-4-5', 'medium'), { thinking: { type: 'enabled', budget_tokens: 3000 } })
  t.like(asked('claude-opus-4-6', 'minimal'), { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } })
  t.deepEqual(asked('claude-opus-4-6', 'none')['thinking'], { type: 'disabled' })
  t.deepEqual(chatToClaude({ reasoning_effort: 'high', max_tokens: 1000 }).dropped, ['reasoning_effort'])
})

test('litellm#15601, #8961: reasoning comes back with its signature, before the calls; what another vendor signed stays away', (t) => {
  const blocks = [
    { type: 'thinking', thinking: 'hm', signature: 'sig' },
    { type: 'redacted_thinking', data: 'sealed' },
    { type: 'thinking', thinking: 'other', signature: 'gh1:google:abc' },
  ]
  const { body, dropped } = chatToClaude({
    reasoning_effort: 'high',
    tools: [weather],
    messages: [
      user('a'),
      { role: 'assistant', content: 'let me see', thinking_blocks: blocks, tool_calls: [call('c1', 'x')] },
      { role: 'tool', tool_call_id: 'c1', content: 'sun' },
    ],
  })
  const messages = body['messages'] as readonly { readonly content: readonly Body[] }[]
  t.deepEqual(
    messages[1]?.content.map(({ type }) => type),
    ['thinking', 'redacted_thinking', 'text', 'tool_use'],
  )
  t.truthy(body['thinking'])
  t.deepEqual(dropped, ['messages[1].thinking_blocks[2]'])
})

test('thinking is switched off where the reasoning of the turn did not come back', (t) => {
  const { body, dropped } = chatToClaude({
    reasoning_effort: 'high',
    messages: [user('a'), { role: 'assistant', tool_calls: [call('c1', 'x')] }, { role: 'tool', tool_call_id: 'c1', content: 'sun' }],
  })
  t.is(body['thinking'], undefined)
  t.deepEqual(dropped, ['reasoning_effort'])
})

test('what Claude Code sends, for a chat model', (t) => {
  const { body, dropped } = claudeToChat(
    {
      system: [
        { type: 'text', text: 'You are', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'a coder' },
      ],
      metadata: { user_id: 'u' },
      tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object', $defs: { a: {} }, properties: {} } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [
        user([{ type: 'text', text: 'look' }]),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'Reading.' },
            { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} },
          ],
        },
        user([
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            is_error: true,
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo' } }],
          },
          { type: 'text', text: 'go on' },
        ]),
      ],
      stream: true,
    },
    { traits: { developerRole: true, cap: 'max_completion_tokens' } },
  )
  t.deepEqual(body, {
    model: 'gpt-4o',
    max_completion_tokens: 100,
    messages: [
      { role: 'developer', content: 'You are\n\na coder' },
      { role: 'user', content: 'look' },
      {
        role: 'assistant',
        content: 'Reading.',
        tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'Read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: '(The image of this result follows.)' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The image that the call toolu_1 returned:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo' } },
        ],
      },
      { role: 'user', content: 'go on' },
    ],
    user: 'u',
    tools: [
      {
        type: 'function',
        function: { name: 'Read', description: 'reads', parameters: { type: 'object', $defs: { a: {} }, properties: {} } },
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    stream: true,
    stream_options: { include_usage: true },
  })
  t.deepEqual(dropped, ['messages[1].content[0]', 'cache_control'])
})

test('files and sounds go to a provider with words of its own for them, as addresses and as their bytes', (t) => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' }
  const { body } = claudeToChat({ messages: [user([{ type: 'document', source, title: 'plan.pdf' }])] }, { traits: { documentUrls: true } })
  t.like(body, {
    messages: [
      {
        content: [{ type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0x', document_name: 'plan.pdf' }],
      },
    ],
  })
  const sound = translated(
    'google',
    'openai-chat',
    { model: 'm', contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }] }] },
    { traits: { documentUrls: true } },
  )
  t.like(sound.body, { messages: [{ content: [{ type: 'input_audio', input_audio: 'UklGRg==' }] }] })
})

test('models that think take an effort, their own cap, and no temperature', (t) => {
  const { body, dropped } = claudeToChat(
    { thinking: { type: 'enabled', budget_tokens: 1900 }, max_tokens: 4000, temperature: 0.3, top_k: 5 },
    { model: 'gpt-5' },
  )
  t.like(body, { max_completion_tokens: 4000, reasoning_effort: 'medium', temperature: undefined })
  t.deepEqual(dropped, ['temperature', 'top_k'])
  t.deepEqual(claudeToChat({ thinking: { type: 'enabled', budget_tokens: 2000 } }).dropped, ['thinking'])
})

test('envoy#2467: tools that run at Anthropic are refused by name', (t) => {
  const error = t.throws(() => claudeToChat({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }), { instanceOf: ApiError })
  t.is(error.param, 'tools[0].type')
  t.regex(error.message, /web_search_20250305/)
})

test('fields of the provider are given under its name', (t) => {
  const { body, dropped } = chatToClaude({ provider_options: { anthropic: { inference_geo: 'eu' }, google: { labels: {} } } })
  t.is(body['inference_geo'], 'eu')
  t.is(body['provider_options'], undefined)
  t.deepEqual(dropped, [])
})

test('vercel#11863: ids of calls have nine characters where the provider wants them so, in results too', (t) => {
  const messages = [
    user('a'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01', name: 'f', input: {} }] },
    user([{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'x' }]),
  ]
  const { body } = claudeToChat({ messages }, { traits: { toolIds: 'nine-characters' } })
  const written = body['messages'] as readonly {
    readonly tool_calls?: readonly { readonly id: string }[]
    readonly tool_call_id?: string
  }[]
  t.regex(written[1]?.tool_calls?.[0]?.id ?? '', /^[A-Za-z0-9]{9}$/)
  t.is(written[2]?.tool_call_id, written[1]?.tool_calls?.[0]?.id)
})
