import test from 'ava'
import OpenAI from 'openai'
import { json, sse, strictly } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** OpenAI's client searches the web at Claude by responses. */
let claude: Emulator
let bed: GatewayBed

test.before(async () => {
  claude = await startEmulator()
  bed = await startGateway({
    providers: {
      claude: { provider: 'anthropic', customHost: claude.url, credential: { key: 'sk', fields: {} } },
      bedrock: {
        provider: 'bedrock',
        customHost: claude.origin,
        credential: { key: null, fields: { aws_access_key_id: 'a', aws_secret_access_key: 'b' } },
      },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await claude?.stop()
})
test.beforeEach(() => claude.reset())

const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: headers })

const called = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'sun' } }
const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [{ type: 'web_search_result', url: 'https://sun.example/', title: 'Sun', encrypted_content: 'x', page_age: null }],
}
const citation = {
  type: 'web_search_result_location',
  url: 'https://sun.example/',
  title: 'Sun',
  cited_text: 'It is up.',
  encrypted_index: 'y',
}
const usage = { input_tokens: 10, output_tokens: 7, server_tool_use: { web_search_requests: 1 } }
const message = (content: readonly object[], stop: string | null) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage,
})
const stream = [
  { type: 'message_start', message: message([], null) },
  { type: 'content_block_start', index: 0, content_block: { ...called, input: {} } },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"sun"}' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: found },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '', citations: [] } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'It is up.' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'citations_delta', citation } },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
].map((event) => [event.type, event] as const)

const search: OpenAI.Responses.WebSearchTool = {
  type: 'web_search',
  filters: { allowed_domains: ['sun.example'] },
  search_context_size: 'low',
  user_location: { type: 'approximate', country: 'NZ', city: null },
}

test.serial('web search: that of responses is that of Claude, with its bounds, and the sources are annotations', async (t) => {
  claude.script({
    behaviour: (received) =>
      strictly(
        'anthropic',
        received,
        json(message([called, found, { type: 'text', text: 'It is up.', citations: [citation] }], 'end_turn')),
      ),
  })
  const asked = { model: '@claude/claude-sonnet-4-5', input: 'sun?', tools: [search] }
  const { data, response } = await openai().responses.create(asked).withResponse()
  t.is(data.output_text, 'It is up.')
  const item = data.output.find((one) => one.type === 'message')
  t.like(item?.content[0], { annotations: { 0: { type: 'url_citation', url: 'https://sun.example/', title: 'Sun' } } })
  t.deepEqual(claude.requests[0]?.json['tools'], [
    {
      type: 'web_search_20250305',
      name: 'web_search',
      allowed_domains: ['sun.example'],
      user_location: { type: 'approximate', country: 'NZ' },
    },
  ])
  t.true((response.headers.get('x-service-dropped-params') ?? '').split(', ').includes('tools[0].search_context_size'))
})

test.serial('web search: a stream has the text and no calls that the client would have to answer', async (t) => {
  claude.script({ behaviour: (received) => strictly('anthropic', received, sse(stream)) })
  const events = []
  const asked = { model: '@claude/claude-sonnet-4-5', input: 'sun?', tools: [{ type: 'web_search' }], stream: true } as const
  for await (const event of await openai().responses.create({ ...asked, tools: [...asked.tools] })) events.push(event)
  const last = events.at(-1)
  t.is(last?.type, 'response.completed')
  t.deepEqual(
    events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : [])),
    ['It is up.'],
  )
  t.false(events.some((event) => event.type === 'response.output_item.added' && event.item.type === 'function_call'))
})

test.serial('web search: one without the web is dropped and named; where there is none it is refused by its place', async (t) => {
  claude.script({ behaviour: (received) => strictly('anthropic', received, json(message([{ type: 'text', text: 'a' }], 'end_turn'))) })
  const kept = JSON.parse('[{"type":"web_search","external_web_access":false}]') as OpenAI.Responses.Tool[]
  const { response } = await openai().responses.create({ model: '@claude/claude-sonnet-4-5', input: 'a', tools: kept }).withResponse()
  t.true((response.headers.get('x-service-dropped-params') ?? '').split(', ').includes('tools[0]'))
  t.is(claude.requests[0]?.json['tools'], undefined)
  const model = '@bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0'
  const refused = openai().responses.create({ model, input: 'a', tools: [{ type: 'web_search' }] })
  t.is((await t.throwsAsync(refused, { instanceOf: OpenAI.BadRequestError }))?.param, 'tools[0].type')
})
