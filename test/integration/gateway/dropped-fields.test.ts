import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Names of dropped fields are chosen by callers, and they are told in an answer header and in messages. */
let claude: Emulator
let bed: GatewayBed

test.before(async () => {
  claude = await startEmulator()
  bed = await startGateway({
    providers: { claude: { provider: 'anthropic', customHost: claude.url, credential: { key: 'sk-upstream', fields: {} } } },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await claude?.stop()
})
test.beforeEach(() => {
  claude.reset()
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [{ type: 'text', text: 'Hi' }] }
  claude.script({ behaviour: { body: JSON.stringify({ ...message, stop_reason: 'end_turn', stop_sequence: null, usage }) } })
})

const ask = (fields: object, headers: Record<string, string> = {}) =>
  fetch(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@claude', ...headers },
    body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }], ...fields }),
  })

const names: readonly (readonly [title: string, name: string, told: string])[] = [
  ['a line break', 'a\r\nset-cookie: b', 'a set-cookie: b'],
  ['a NUL', 'a\0b', 'a b'],
  ['a long one', 'x'.repeat(1_000_000), 'x'.repeat(80)],
  ['letters beyond ASCII', 'größe', 'größe'],
  ['half a pair', 'a\ud83d', 'a\ufffd'],
]
for (const [title, name, told] of names) {
  test.serial(`a dropped field whose name holds ${title} is told in a header that clients can read`, async (t) => {
    const answer = await ask({ [name]: 1 })
    t.is(answer.status, 200, await answer.text())
    t.is(Buffer.from(answer.headers.get('x-service-dropped-params') ?? '', 'latin1').toString(), told)
    const refused = await ask({ [name]: 1 }, { 'x-service-strict-translation': 'true' })
    const { error } = (await refused.json()) as { readonly error: { readonly message: string; readonly param: string } }
    t.is(refused.status, 400)
    t.is(error.param, told)
    t.true(error.message.length < 300 && error.message.startsWith(told))
  })
}

test.serial('fifty thousand dropped fields make a header of some kilobytes', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field${index}${'y'.repeat(100)}`, 1]))
  const answer = await ask(many)
  t.is(answer.status, 200, await answer.text())
  t.true((answer.headers.get('x-service-dropped-params') ?? '').length < 5000)
})

test.serial('what a user says in content that nobody else knows is refused by its place; what a model said in it is dropped', async (t) => {
  const hello = { type: 'text', text: 'Hello' }
  const clip = { type: 'hologram', hologram: { url: 'https://example.com/h' } }
  const refused = await ask({ messages: [{ role: 'user', content: [hello, clip] }] })
  const { error } = (await refused.json()) as { readonly error: { readonly message: string; readonly param: string } }
  t.deepEqual([refused.status, error.param], [400, 'messages[0].content[1]'])
  t.regex(error.message, /it is hologram, which has no counterpart there/)
  t.is(claude.requests.length, 0)
  const said = { role: 'assistant', content: 'Hi', audio: { id: 'audio_1' } }
  const answer = await ask({ messages: [{ role: 'user', content: 'Hello' }, said, { role: 'user', content: 'Again' }] })
  t.is(answer.status, 200, await answer.text())
  t.is(answer.headers.get('x-service-dropped-params'), 'messages[1].audio')
})

test.serial('a choice among tools in a request that has none is told', async (t) => {
  const answer = await ask({ tool_choice: 'required' })
  t.is(answer.status, 200, await answer.text())
  t.is(answer.headers.get('x-service-dropped-params'), 'tool_choice')
})

const respond = (item: object) =>
  fetch(`${bed.origin}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@claude' },
    body: JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_output_tokens: 10,
      input: [{ role: 'user', content: 'Hello' }, item, { role: 'user', content: 'Again' }],
    }),
  })

for (const [type, status, dropped] of [
  ['computer_call_output', 400, null],
  ['local_shell_call_output', 400, null],
  ['shell_call_output', 400, null],
  ['apply_patch_call_output', 400, null],
  ['mcp_approval_response', 400, null],
  ['compaction', 400, null],
  ['image_generation_call', 400, null],
  ['tool_search_output', 400, null],
  ['context_compaction', 400, null],
  ['an_item_of_a_later_client', 400, null],
  ['web_search_call', 200, 'input[1]'],
  ['local_shell_call', 200, 'input[1]'],
  ['mcp_list_tools', 200, 'input[1]'],
] as const)
  test.serial(`an item that tells something alone is refused elsewhere, and one that did its work is dropped: ${type}`, async (t) => {
    const answer = await respond({ type, id: 'it_1' })
    const said = await answer.text()
    t.is(answer.status, status, said)
    if (status === 400) t.like(JSON.parse(said), { error: { param: 'input[1]' } })
    t.is(answer.headers.get('x-service-dropped-params')?.split(',')[0] ?? null, dropped)
  })

const generate = (generationConfig: object) =>
  fetch(`${bed.origin}/v1beta/models/claude-sonnet-4-5:generateContent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': workspaceKey, 'x-service-provider': '@claude' },
    body: JSON.stringify({ contents: [{ parts: [{ text: 'Hello' }] }], generationConfig: { maxOutputTokens: 5, ...generationConfig } }),
  })

test.serial('what only Gemini has is refused and told with the object that holds it, as Google names it', async (t) => {
  const refused = await generate({ responseFormat: [{ text: { mimeType: 'application/json' } }] })
  t.is(refused.status, 400)
  t.regex(await refused.text(), /"generationConfig\.responseFormat cannot be translated for anthropic/)
  const answer = await generate({ mediaResolution: 'MEDIA_RESOLUTION_LOW' })
  t.is(answer.status, 200, await answer.text())
  t.is(answer.headers.get('x-service-dropped-params'), 'generationConfig.mediaResolution')
})
