import test from 'ava'
import OpenAI from 'openai'
import { deleteExpiredResponses } from '../../../src/features/responses/responses.jobs.ts'
import { json, sse, strictly } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

/** Responses at a provider that keeps none, asked for by OpenAI's own client, in two processes. */
let control: Control
let claude: Emulator
let acme: Tenant
let other: Tenant
let beside: string

test.before(async () => {
  ;[control, claude] = await Promise.all([startControl({}, { RESPONSE_RETENTION_DAYS: '2' }), startEmulator()])
  beside = await control.openBeside()
  ;[acme, other] = [await control.createTenant('acme'), await control.createTenant('other')]
  for (const { adminKey } of [acme, other]) {
    const account = {
      name: 'claude',
      slug: 'claude',
      ai_provider_id: 'anthropic',
      key: 'sk-ant',
      configurations: { custom_host: claude.url },
    }
    const made = await control.call(adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'claude' })
    const shared = await control.call(adminKey, 'PUT', '/integrations/claude/workspaces', {
      global_workspace_access: { enabled: true },
      create_default_provider: true,
    })
    if (made.status !== 200 || shared.status !== 200) throw new Error(made.text + shared.text)
  }
  claude.script({
    behaviour(received) {
      const { stream, messages } = JSON.parse(received.body.toString()) as { stream?: boolean; messages: readonly unknown[] }
      if (received.body.includes('word word')) return json(tooLong, 413)
      if (received.url.endsWith('/count_tokens')) return json({ input_tokens: messages.length })
      return strictly('anthropic', received, stream === true ? sse(streamed) : json(message(`answer ${messages.length}`)))
    },
  })
})
test.after.always(async () => {
  await control?.close()
  await claude?.stop()
})

const tooLong = { type: 'error', error: { type: 'request_too_large', message: 'prompt is too long: 300000 tokens > 200000 maximum' } }
const usage = { input_tokens: 10, output_tokens: 7 }
const message = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
})
const streamed = [
  { type: 'message_start', message: { ...message(''), content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'In Paris ☀' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
].map((event) => [event.type, event] as const)

const client = (tenant = acme, origin = control.origin, headers: Record<string, string> = {}) =>
  new OpenAI({
    baseURL: `${origin}/v1`,
    apiKey: tenant.workspaceKey,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': '@claude', ...headers },
  })
const asked = { model: 'claude-sonnet-4-5', max_output_tokens: 100 }
const sent = (said: string) => claude.requests.find(({ body }) => body.includes(said))?.body.toString() ?? '{}'
const sentMessages = (said: string) => (JSON.parse(sent(said)) as { messages: unknown }).messages
const texts = (items: readonly unknown[]) => items.map((item) => /"text":"(\w+)"/.exec(JSON.stringify(item))?.[1])
/** A text as it is, and in base64, at any place of three bytes at which it begins. */
const spellings = (word: string): readonly string[] => [
  word,
  ...[0, 1, 2].map((at) =>
    Buffer.from('  '.slice(0, at) + word)
      .toString('base64')
      .slice(at === 0 ? 0 : 4, -4),
  ),
]
const statusOf = async (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: { readonly status?: number }) => error.status,
  )

test('a response is kept sealed, and read, paged and deleted in every process of its workspace only', async (t) => {
  const made = await client().responses.create({
    ...asked,
    metadata: { topic: 'towns' },
    input: [
      { role: 'user', content: 'one' },
      { type: 'message', role: 'assistant', content: 'two', phase: 'final_answer' },
      { role: 'user', content: [{ type: 'input_text', text: 'three' }] },
    ],
  })
  t.deepEqual([made.output_text, made.status, made.metadata], ['answer 3', 'completed', { topic: 'towns' }])
  t.true(Reflect.get(made, 'store'))
  const bare = client(acme, beside, { 'x-service-provider': '' })
  const read = await bare.responses.retrieve(made.id)
  t.deepEqual({ ...read, output_text: '' }, { ...made, output_text: '' })
  const { rows } = await control.sql.query('SELECT response, to_jsonb(stored_responses) AS row FROM stored_responses WHERE id = $1', [
    made.id,
  ])
  const [{ response, row }] = rows as [{ response: Buffer; row: object }]
  const canaries = ['answer 3', '"three"', '"towns"', 'claude-sonnet'].flatMap(spellings)
  for (const canary of canaries) t.false(response.toString('latin1').includes(canary) || JSON.stringify(row).includes(canary), canary)

  const first = await bare.responses.inputItems.list(made.id, { limit: 2 })
  t.deepEqual([texts(first.data), first.has_more], [['three', 'two'], true])
  const second = await first.getNextPage()
  t.deepEqual([texts(second.data), second.has_more], [['one'], false])
  t.deepEqual(texts((await bare.responses.inputItems.list(made.id, { order: 'asc', limit: 1 })).data), ['one'])
  t.is(await statusOf(bare.responses.inputItems.list(made.id, { limit: 101 })), 400)
  t.is(await statusOf(bare.responses.inputItems.list(made.id, { after: 'msg_none' })), 400)

  t.is(await statusOf(client(other).responses.retrieve(made.id)), 404)
  t.is(await statusOf(client(other).responses.delete(made.id)), 404)
  t.is(await statusOf(client(other).responses.create({ ...asked, input: 'x', previous_response_id: made.id })), 404)
  t.is(await statusOf(bare.responses.delete(made.id)), 200)
  t.is(await statusOf(client().responses.retrieve(made.id)), 404)
})

test('a conversation goes on from a kept response, in another process too, and its instructions do not', async (t) => {
  const first = await client().responses.create({ ...asked, instructions: 'Be brief.', input: 'Where is the Louvre?' })
  const second = await client(acme, beside).responses.create({ ...asked, input: 'And the Prado?', previous_response_id: first.id })
  t.is(second.previous_response_id, first.id)
  t.is(second.output_text, 'answer 3')
  t.deepEqual(sentMessages('Prado'), [
    { role: 'user', content: 'Where is the Louvre?' },
    { role: 'assistant', content: 'answer 1' },
    { role: 'user', content: 'And the Prado?' },
  ])
  t.false(sent('Prado').includes('Be brief'))
  await client().responses.delete(first.id)
  const third = await client().responses.create({ ...asked, input: 'Thanks.', previous_response_id: second.id })
  t.is(third.output_text, 'answer 5')
  t.is((await client().responses.inputItems.list(third.id)).data.length, 5)
})

test('a stream is kept when it is whole', async (t) => {
  const events = await Array.fromAsync(await client().responses.create({ ...asked, input: 'Where?', stream: true }))
  const last = events.at(-1)
  if (last?.type !== 'response.completed') throw new Error(String(last?.type))
  const read = await client(acme, beside).responses.retrieve(last.response.id)
  t.deepEqual([read.status, read.output], ['completed', last.response.output])
  t.regex(JSON.stringify(read.output), /In Paris ☀/)
})

test('"store": false keeps nothing, and says so', async (t) => {
  const made = await client().responses.create({ ...asked, input: 'x', store: false })
  t.false(Reflect.get(made, 'store'))
  t.is(await statusOf(client().responses.retrieve(made.id)), 404)
  t.is(await statusOf(client().responses.create({ ...asked, input: 'x', previous_response_id: made.id })), 404)
})

test('what a guardrail changed is kept as the caller got it', async (t) => {
  const { status, text } = await control.call(acme.workspaceKey, 'POST', '/guardrails', {
    name: 'words',
    checks: [{ id: 'default.regexReplace', parameters: { rule: 'answer', redactText: '[word]' } }],
    actions: { deny: false, async: false },
  })
  t.is(status, 200, text)
  const { slug } = JSON.parse(text) as { slug: string }
  const config = JSON.stringify({ provider: '@claude', output_guardrails: [slug] })
  const made = await client(acme, control.origin, { 'x-service-config': config, 'x-service-provider': '' }).responses.create({
    ...asked,
    input: 'x',
  })
  t.is(made.output_text, '[word] 1')
  t.regex(JSON.stringify((await client().responses.retrieve(made.id)).output), /\[word\] 1/)
})

test('the extra data of items comes for those who name it in include', async (t) => {
  const image_url = 'data:image/png;base64,iVBORw0KGgo='
  const made = await client().responses.create({
    ...asked,
    input: [{ role: 'user', content: [{ type: 'input_image', image_url, detail: 'auto' }] }],
  })
  const [plain, full] = await Promise.all([
    client().responses.inputItems.list(made.id),
    client().responses.inputItems.list(made.id, { include: ['message.input_image.image_url'] }),
  ])
  t.deepEqual([JSON.stringify(plain.data).includes(image_url), JSON.stringify(full.data).includes(image_url)], [false, true])
  t.is(await statusOf(client().responses.retrieve(made.id, { include: ['nothing' as 'file_search_call.results'] })), 400)
})

test('a kept response cannot be cancelled: it did not run in the background; others than its workspace know nothing of it', async (t) => {
  const made = await client().responses.create({ ...asked, input: 'x' })
  const error = await t.throwsAsync(client().responses.cancel(made.id), { instanceOf: OpenAI.BadRequestError })
  t.like(error, { param: 'response_id', type: 'invalid_request_error' })
  t.regex(error.message, /^400 Cannot cancel a synchronous response\.$/)
  t.is(await statusOf(client(other).responses.cancel(made.id)), 404)
  t.is(await statusOf(client().responses.delete(made.id)), 200)
  t.is(await statusOf(client().responses.cancel(made.id)), 404)
})

test('a kept conversation is counted whole', async (t) => {
  const made = await client().responses.create({ ...asked, input: 'Where is the Rijksmuseum?' })
  const counted = await client().responses.inputTokens.count({ model: asked.model, input: 'Is it far?', previous_response_id: made.id })
  t.is(counted.object, 'response.input_tokens')
  t.deepEqual(sentMessages('Is it far?'), [
    { role: 'user', content: 'Where is the Rijksmuseum?' },
    { role: 'assistant', content: 'answer 1' },
    { role: 'user', content: 'Is it far?' },
  ])
})

test('responses are deleted when their time is over, which the setting says in days', async (t) => {
  const made = await client().responses.create({ ...asked, input: 'old' })
  const kept = await control.sql.query(
    "SELECT expires_at - now() > interval '1.9 days' AND expires_at <= now() + interval '2 days' AS is FROM stored_responses WHERE id = $1",
    [made.id],
  )
  t.true(kept.rows[0]?.is)
  await control.sql.query("UPDATE stored_responses SET expires_at = now() - interval '1 s' WHERE id = $1", [made.id])
  t.is(await statusOf(client().responses.retrieve(made.id)), 404)
  await deleteExpiredResponses.run(control.started.deps)
  const { rowCount } = await control.sql.query('SELECT FROM stored_responses WHERE id = $1', [made.id])
  t.is(rowCount, 0)
})

test('"truncation": "auto" drops turns in the middle; "disabled" passes the refusal of a request that is too long on as 400', async (t) => {
  const long = 'word '.repeat(200_000)
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: `old ${long}` },
    { role: 'user', content: long },
    { role: 'assistant', content: 'kept' },
    { role: 'user', content: 'newest' },
  ]
  await client().responses.create({ ...asked, model: 'claude-haiku-4-5', input, truncation: 'auto' })
  t.deepEqual(sentMessages('newest'), [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'kept' },
    { role: 'user', content: 'newest' },
  ])
  const refused = await t.throwsAsync(client().responses.create({ ...asked, input, truncation: 'disabled' }), {
    instanceOf: OpenAI.BadRequestError,
  })
  t.is(refused?.code, 'context_length_exceeded')
  t.regex(refused?.message ?? '', /prompt is too long: 300000 tokens > 200000 maximum/)
})

test('a kept conversation goes on at a provider that has responses itself', async (t) => {
  const gpt = await startEmulator()
  t.teardown(() => gpt.stop())
  const account = { name: 'gpt', slug: 'gpt', ai_provider_id: 'openai', key: 'sk', configurations: { custom_host: `${gpt.origin}/v1` } }
  await control.call(acme.adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'gpt' })
  await control.call(acme.adminKey, 'PUT', '/integrations/gpt/workspaces', {
    global_workspace_access: { enabled: true },
    create_default_provider: true,
  })
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: 'Where?' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gh1:anthropic:sig' },
  ]
  const first = await client().responses.create({ ...asked, input })
  await client(acme, beside, { 'x-service-provider': '@gpt' }).responses.create({
    model: 'gpt-5',
    input: 'And?',
    previous_response_id: first.id,
  })
  const whole = {
    model: 'gpt-5',
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where?' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'answer 2', annotations: [], logprobs: [] }] },
      { type: 'message', role: 'user', content: 'And?' },
    ],
  }
  t.deepEqual(gpt.requests.at(-1)?.json, whole)
  const { input_tokens } = await client(acme, beside, { 'x-service-provider': '@gpt' }).responses.inputTokens.count({
    model: 'gpt-5',
    input: 'And?',
    previous_response_id: first.id,
  })
  t.is(input_tokens, 11)
  t.deepEqual(gpt.requests.at(-1)?.json, whole)
})
