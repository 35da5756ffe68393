import test from 'ava'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Clients of Anthropic's write fields, betas and blocks that Anthropic's own API alone takes: they leave the request for every other host. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const at = (provider: string, fields: Readonly<Record<string, string>> = {}) => ({
    provider,
    customHost: cloud.origin,
    credential: { key: 'k', fields },
  })
  bed = await startGateway({
    providers: {
      bedrock: {
        ...at('bedrock'),
        credential: { key: null, fields: { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' } },
      },
      vertex: at('vertex-ai', { vertex_project_id: 'project', vertex_region: 'europe-west1' }),
      azure: at('azure-ai'),
      other: at('anthropic'),
      openai: at('openai'),
      google: at('google'),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

type Body = Readonly<Record<string, unknown>>
const models: Readonly<Record<string, string>> = {
  bedrock: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  vertex: 'claude-sonnet-4-5@20250929',
  azure: 'claude-sonnet-4-5',
  other: 'claude-sonnet-4-5',
  openai: 'gpt-5.1',
  google: 'gemini-2.5-flash',
}
const billing = 'x-anthropic-billing-header: cc_version=2.1.197.7b4; cc_entrypoint=cli; cch=eb6c6;'

interface Asked {
  readonly betas?: string
  readonly strict?: boolean
  readonly path?: string
}

/** Returns the part of a request that a host gets, and the report to the caller. */
async function ask(host: string, body: Body, { betas, strict, path = '/v1/messages' }: Asked = {}) {
  cloud.script({ behaviour: json({}) })
  const answer = await fetch(bed.origin + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${workspaceKey}`,
      'anthropic-version': '2023-06-01',
      'x-service-provider': `@${host}`,
      ...(betas !== undefined && { 'anthropic-beta': betas }),
      ...(strict === true && { 'x-service-strict-translation': 'true' }),
    },
    body: JSON.stringify({ model: models[host], max_tokens: 50, messages: [{ role: 'user', content: 'hi' }], ...body }),
  })
  const sent = cloud.requests.at(-1)
  const got: Body = sent?.json ?? {}
  const named = sent?.headers['anthropic-beta']
  return {
    status: answer.status,
    text: await answer.text(),
    dropped: (answer.headers.get('x-service-dropped-params') ?? '').split(', ').filter((name) => name !== ''),
    body: got,
    betas: [...((got['anthropic_beta'] as string[] | undefined) ?? []), ...String(named ?? '').split(',')].filter((name) => name !== ''),
  }
}

const systems: readonly (readonly [name: string, system: unknown])[] = [
  [
    'a block of its own',
    [
      { type: 'text', text: billing },
      { type: 'text', text: 'You are Claude Code.' },
    ],
  ],
  [
    'a block of its own that is marked',
    [
      { type: 'text', text: billing, cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'You are Claude Code.' },
    ],
  ],
  ['the first line of a block', [{ type: 'text', text: `${billing}\nYou are Claude Code.` }]],
  ['the first line of a text', `${billing}\n\nYou are Claude Code.`],
]
for (const host of Object.keys(models))
  for (const [name, system] of systems)
    test.serial(`the line for Anthropic's billing stays at Anthropic: to ${host}, as ${name}`, async (t) => {
      const { body, dropped } = await ask(host, { system }, { strict: true })
      const text = JSON.stringify(body)
      t.false(text.includes('billing-header'), text)
      t.true(text.includes('You are Claude Code.'), text)
      t.deepEqual(dropped, [])
    })

test.serial('a prompt of nothing else is none, and what only speaks of the line stays', async (t) => {
  const alone = await ask('bedrock', { system: [{ type: 'text', text: billing }] })
  t.false('system' in alone.body)
  const inside = { system: 'Say x-anthropic-billing-header: twice.', messages: [{ role: 'user', content: billing }] }
  t.like((await ask('bedrock', inside)).body, inside)
})

test.serial('the line leaves counts of tokens too', async (t) => {
  const { body } = await ask('vertex', { system: `${billing}\nBe brief.` }, { path: '/v1/messages/count_tokens' })
  t.is(body['system'], 'Be brief.')
})

const tool = (fields: Body = {}) => ({ name: 'f', input_schema: { type: 'object', properties: {} }, ...fields })
const marked = { type: 'ephemeral', scope: 'global' }
const clouds = ['bedrock', 'vertex'] as const

interface Row {
  readonly name: string
  readonly beta: string
  readonly body: Body
  /** The beta under which each cloud supports the field, which then stays; `only`: the beta alone stays; null: both are removed. */
  readonly at: Readonly<Record<(typeof clouds)[number], { readonly beta: string; readonly field: boolean } | null>>
  readonly field: (body: Body) => unknown
}
const first = (list: unknown): Body => (list as readonly Body[])[0] ?? {}
const rows: readonly Row[] = [
  {
    name: 'scope of a mark in the system prompt',
    beta: 'prompt-caching-scope-2026-01-05',
    body: { system: [{ type: 'text', text: 'x', cache_control: marked }] },
    at: { bedrock: null, vertex: null },
    field: ({ system }) => (first(system)['cache_control'] as Body)['scope'],
  },
  {
    name: 'scope of a mark in a result of a tool',
    beta: 'prompt-caching-scope-2026-01-05',
    body: {
      tools: [tool()],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'x', cache_control: marked }] }],
        },
      ],
    },
    at: { bedrock: null, vertex: null },
    field: ({ messages }) => (JSON.stringify(messages).includes('scope') ? true : undefined),
  },
  {
    name: 'scope of a mark of a tool',
    beta: 'prompt-caching-scope-2026-01-05',
    body: { tools: [tool({ cache_control: marked })] },
    at: { bedrock: null, vertex: null },
    field: ({ tools }) => (first(tools)['cache_control'] as Body)['scope'],
  },
  {
    name: 'eager_input_streaming',
    beta: 'fine-grained-tool-streaming-2025-05-14',
    body: { tools: [tool({ eager_input_streaming: true })] },
    at: { bedrock: { beta: 'fine-grained-tool-streaming-2025-05-14', field: false }, vertex: null },
    field: ({ tools }) => first(tools)['eager_input_streaming'],
  },
  {
    name: 'defer_loading',
    beta: 'advanced-tool-use-2025-11-20',
    body: { tools: [tool({ defer_loading: true })] },
    at: { bedrock: { beta: 'tool-search-tool-2025-10-19', field: true }, vertex: { beta: 'tool-search-tool-2025-10-19', field: true } },
    field: ({ tools }) => first(tools)['defer_loading'],
  },
  {
    name: 'input_examples',
    beta: 'advanced-tool-use-2025-11-20',
    body: { tools: [tool({ input_examples: [{}] })] },
    at: { bedrock: null, vertex: null },
    field: ({ tools }) => first(tools)['input_examples'],
  },
  {
    name: 'input_examples for which the beta of the clouds is named',
    beta: 'tool-examples-2025-10-29',
    body: { tools: [tool({ input_examples: [{}] })] },
    at: { bedrock: { beta: 'tool-examples-2025-10-29', field: true }, vertex: { beta: 'tool-examples-2025-10-29', field: true } },
    field: ({ tools }) => first(tools)['input_examples'],
  },
  {
    name: 'allowed_callers',
    beta: 'advanced-tool-use-2025-11-20',
    body: { tools: [tool({ allowed_callers: ['code_execution_20250825'] })] },
    at: { bedrock: null, vertex: null },
    field: ({ tools }) => first(tools)['allowed_callers'],
  },
  {
    name: 'context_management',
    beta: 'claude-code-20250219',
    body: { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
    at: { bedrock: { beta: 'context-management-2025-06-27', field: true }, vertex: { beta: 'context-management-2025-06-27', field: true } },
    field: ({ context_management: field }) => field,
  },
  {
    name: 'speed',
    beta: 'fast-mode-2026-02-01',
    body: { speed: 'fast' },
    at: { bedrock: null, vertex: null },
    field: ({ speed }) => speed,
  },
  {
    name: 'task_budget',
    beta: 'task-budgets-2026-03-13',
    body: { output_config: { effort: 'low', task_budget: { type: 'tokens', total: 20_000 } } },
    at: { bedrock: null, vertex: null },
    field: ({ output_config: output }) => (output as Body)['task_budget'],
  },
]
for (const { name, beta, body: asked, at, field } of rows)
  for (const host of clouds)
    test.serial(`a beta of Anthropic's and the fields that it unlocks leave together: ${name} to ${host}`, async (t) => {
      const known = at[host]
      const { body, betas, dropped, status, text } = await ask(host, asked, { betas: `${beta},interleaved-thinking-2025-05-14` })
      t.is(status, 200, text)
      t.deepEqual(betas.toSorted(), [...(known === null ? [] : [known.beta]), 'interleaved-thinking-2025-05-14'].toSorted())
      t.is(field(body) !== undefined, known?.field === true, JSON.stringify(body))
      t.is(dropped.length > 0, known === null || known.beta !== beta, String(dropped))
      const strict = await ask(host, asked, { betas: beta, strict: true })
      t.is(strict.status, known === null ? 400 : 200, strict.text)
    })

test.serial('the form of an answer stands where all hosts take it, and not where its beta had it', async (t) => {
  const format = { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } }
  for (const host of clouds) {
    const asked = { output_format: format, output_config: { effort: 'low' } }
    const { body, status, text } = await ask(host, asked, { betas: 'structured-outputs-2025-11-13', strict: true })
    t.is(status, 200, text)
    t.false('output_format' in body)
    t.deepEqual(body['output_config'], { format, effort: 'low' })
  }
})

const textBlock = (text: string) => ({ type: 'text', text })
test.serial('instructions among the messages leave with the beta that lets them stand there', async (t) => {
  const betas = 'mid-conversation-system-2026-04-07'
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'system', content: 'Be quick.' },
    { role: 'user', content: [{ type: 'text', text: 'b' }] },
  ]
  for (const host of clouds) {
    const { body, dropped } = await ask(host, { system: 'Be brief.', messages }, { betas })
    t.deepEqual(body['system'], [textBlock('Be brief.'), textBlock('Be quick.')])
    t.deepEqual(body['messages'], [{ role: 'user', content: [textBlock('a'), textBlock('b')] }])
    t.deepEqual(dropped, ['messages[1]', `anthropic-beta: ${betas}`])
    t.is((await ask(host, { messages }, { betas, strict: true })).status, 400)
    t.like((await ask(host, { messages })).body, { messages })
  }
})

test.serial('a mark of the whole request stands at its end at clouds, which know marks of blocks alone', async (t) => {
  const mark = { type: 'ephemeral', ttl: '1h' }
  const four = Array.from({ length: 4 }, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }))
  for (const host of clouds) {
    const { body, dropped } = await ask(host, { cache_control: mark, system: four.slice(1) }, { strict: true })
    t.false('cache_control' in body)
    t.deepEqual(body['messages'], [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: mark }] }])
    t.deepEqual(dropped, [])
    const full = await ask(host, { cache_control: mark, system: four })
    t.deepEqual([full.dropped, full.body['messages']], [['cache_control'], [{ role: 'user', content: 'hi' }]])
  }
})

test.serial('what the caller itself writes into the body for a cloud goes on with its fields', async (t) => {
  for (const host of clouds) {
    const asked = { anthropic_beta: ['prompt-caching-scope-2026-01-05'], system: [{ type: 'text', text: 'x', cache_control: marked }] }
    t.like((await ask(host, asked)).body, asked)
  }
})

test.serial('fields that a request is about are a 400 that names them at clouds which lack them', async (t) => {
  for (const host of clouds)
    for (const [name, value] of Object.entries({ mcp_servers: [{ type: 'url' }], container: 'c1', inference_geo: 'us' })) {
      const { status, text } = await ask(host, { [name]: value })
      t.is(status, 400)
      t.true(text.includes(`${name} cannot be translated`), text)
      const empty = await ask(host, { [name]: null })
      t.is(empty.status, 200)
      t.false(name in empty.body)
    }
})

test.serial('a request for Anthropic itself, or one without such fields, goes on as it came', async (t) => {
  const asked = { tools: [tool({ cache_control: { type: 'ephemeral', ttl: '1h' } })], output_config: { effort: 'low' } }
  for (const host of clouds) t.like((await ask(host, asked)).body, asked)
  const own = { ...asked, cache_control: { type: 'ephemeral' }, speed: 'fast', tools: [tool({ eager_input_streaming: true })] }
  const { body, betas } = await ask('other', own, { betas: 'fast-mode-2026-02-01' })
  t.like(body, own)
  t.deepEqual(betas, ['fast-mode-2026-02-01'])
})
