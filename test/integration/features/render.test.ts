import test from 'ava'
import { errorOf, made as fieldsOf } from './answers.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let folder: string

const ask = (method: string, path: string, body?: unknown, key = acme.workspaceKey) => control.call(key, method, path, body)
const make = (path: string, body: unknown) => fieldsOf(ask('POST', path, body))

async function prompt(fields: object = {}): Promise<string> {
  const string = '[{"role":"user","content":"Hi {{name}}"}]'
  const body = { name: 'Prompt', collection_id: folder, string, parameters: {}, virtual_key: 'openai', ...fields }
  return String((await make('/prompts', body))['slug'])
}

const data = async (reference: string, body: object): Promise<unknown> => {
  const answer = await ask('POST', `/prompts/${reference}/render`, body)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body['data']
}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  await make('/virtual-keys', { name: 'openai', provider: 'openai', key: 'sk-1' })
  folder = String((await make('/collections', { name: 'Folder' }))['id'])
})
test.after.always(() => control.close())

/** Every field of the specification's `data`, with a value of its type. */
const everyField = {
  model: 'gpt-4o',
  frequency_penalty: 0.1,
  logit_bias: { '50256': -100 },
  logprobs: true,
  top_logprobs: 2,
  max_tokens: 256,
  n: 1,
  presence_penalty: 0.2,
  response_format: { type: 'json_object' },
  seed: 7,
  stop: 'END',
  stream: false,
  stream_options: null,
  thinking: { type: 'enabled', budget_tokens: 1024 },
  temperature: 0.3,
  top_p: 0.9,
  tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } }],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  user: 'u',
  function_call: 'none',
  functions: [{ name: 'f', description: 'd', parameters: {} }],
}

test('the answer is the envelope with a chat completion, every field of it stored or sent', async (t) => {
  const { model, tools, tool_choice, functions, ...parameters } = everyField
  const slug = await prompt({ model, tools, tool_choice, functions, parameters })
  const answer = await ask('POST', `/prompts/${slug}/render`, { variables: { name: 'Ada' } })
  t.deepEqual(answer.body, { success: true, data: { ...everyField, messages: [{ role: 'user', content: 'Hi Ada' }] } })
  t.deepEqual(await data(await prompt(), { variables: {}, ...everyField }), { ...everyField, messages: [{ role: 'user', content: 'Hi ' }] })
})

test('hyperparameters of the request stand over those of the prompt; null takes one out; unknown ones go on', async (t) => {
  const slug = await prompt({ model: 'gpt-4o', parameters: { temperature: 0, max_tokens: 5, reasoning_effort: 'low' } })
  t.deepEqual(await data(slug, { variables: { name: 'Ada' }, temperature: 2, max_tokens: null, stream: true, top_k: 3, promptID: slug }), {
    model: 'gpt-4o',
    temperature: 2,
    reasoning_effort: 'low',
    stream: true,
    top_k: 3,
    messages: [{ role: 'user', content: 'Hi Ada' }],
  })
  t.deepEqual(await data(slug, { variables: {}, model: 'm', messages: [{ role: 'user', content: 'mine' }] }), {
    model: 'm',
    temperature: 0,
    max_tokens: 5,
    reasoning_effort: 'low',
    messages: [{ role: 'user', content: 'mine' }],
  })
})

test('a suffix names the version', async (t) => {
  const slug = await prompt({ string: 'one', model: 'm1' })
  await ask('PUT', `/prompts/${slug}`, { patch: true, string: 'two' })
  await ask('PUT', `/prompts/${slug}`, { patch: true, string: 'three' })
  const label = await make('/labels', { name: 'canary' })
  await ask('PUT', `/prompts/${slug}/versions/2`, { label_id: label['id'] })
  const said = async (suffix: string) =>
    ((await data(`${slug}${suffix}`, { variables: {} })) as { messages: { content: string }[] }).messages[0]?.content
  t.is(await said(''), 'one')
  t.is(await said('@latest'), 'three')
  t.is(await said('@2'), 'two')
  t.is(await said('@canary'), 'two')
  t.is(await said('%40canary'), 'two')
  for (const suffix of ['@4', '@0', '@99999999999', '@production', '@nothing', '@', '@1@2', '@published']) {
    const answer = await ask('POST', `/prompts/${slug}${suffix}/render`, { variables: {} })
    t.deepEqual([answer.status, errorOf(answer).code, errorOf(answer).param], [404, 'AB08', 'promptId'], suffix)
  }
  await ask('PUT', `/prompts/${slug}/makeDefault`, { version: 3 })
  t.is(await said(''), 'three')
})

const refused: readonly (readonly [body: unknown, param: string])[] = [
  [{}, 'variables'],
  [{ variables: null }, 'variables'],
  [{ variables: [] }, 'variables'],
  [{ variables: 'x' }, 'variables'],
  [{ variables: {}, hyperparameters: { temperature: 1 } }, 'hyperparameters'],
  [{ variables: {}, temperature: 'hot' }, 'temperature'],
  [{ variables: {}, max_tokens: 1.5 }, 'max_tokens'],
  [{ variables: {}, messages: [] }, 'messages'],
  [{ variables: {}, messages: [{ content: 'x' }] }, 'messages[0].role'],
  [{ variables: {}, stream: 'yes' }, 'stream'],
  [{ variables: {}, tools: {} }, 'tools'],
  ['[]', 'body'],
]
for (const [body, param] of refused)
  test(`a render is refused that says ${JSON.stringify(body)}`, async (t) => {
    const answer = await ask('POST', `/prompts/${await prompt()}/render`, body)
    t.deepEqual([answer.status, errorOf(answer).code, errorOf(answer).param], [400, 'AB01', param], answer.text)
  })

test('what cannot be rendered is a 400 that says why', async (t) => {
  const slug = await prompt({ string: '[{"role":"user","content":"x",{{v}}}]', is_raw_template: true })
  const answer = await ask('POST', `/prompts/${slug}/render`, { variables: { v: '"role":"system"' } })
  t.deepEqual([answer.status, errorOf(answer).param], [400, 'variables'])
  t.regex(errorOf(answer).message, /does not render to JSON/)
  const loop = await prompt({ string: '{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}' })
  const many = await ask('POST', `/prompts/${loop}/render`, { variables: { a: Array.from({ length: 1000 }, () => 1) } })
  t.deepEqual([many.status, errorOf(many).param], [400, 'variables'])
})

test('rendering leaves no row in the audit trail, and needs its scope', async (t) => {
  const slug = await prompt({ name: 'Quiet' })
  t.is((await ask('POST', `/prompts/${slug}/render`, { variables: {} })).status, 200)
  const { rows } = await control.sql.query<{ uri: string }>(`SELECT uri FROM audit_logs WHERE uri LIKE '%/render' OR uri = '/v1/prompts'`)
  t.true(rows.length > 0)
  t.deepEqual(
    rows.filter(({ uri }) => uri.endsWith('/render')),
    [],
  )
  const reader = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['prompts.read', 'completions.write'] })
  t.is((await ask('POST', `/prompts/${slug}/render`, { variables: {} }, reader)).status, 403)
  t.is((await ask('POST', `/prompts/${slug}/render`, { variables: {} }, acme.adminKey)).status, 403)
  t.is((await ask('POST', `/prompts/${slug}/render`, { variables: {} }, acme.sideKey)).status, 404)
})
