import { randomUUID } from 'node:crypto'
import test from 'ava'
import { dataOf, each, errorOf, made as fieldsOf } from './answers.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant
let folder: string

const messages = JSON.stringify([
  { role: 'system', content: 'You are terse.' },
  { role: 'user', content: 'Hi {{name}}' },
])
const prompt = (fields: object = {}) => ({
  name: 'Greeting',
  collection_id: folder,
  string: messages,
  parameters: { temperature: 0.2, max_tokens: 50 },
  virtual_key: 'openai-main',
  model: 'gpt-4o',
  ...fields,
})

const ask = (method: string, path: string, body?: unknown, key = acme.workspaceKey) => control.call(key, method, path, body)
const make = (path: string, body: unknown, key = acme.workspaceKey) => fieldsOf(ask('POST', path, body, key))
const read = async (reference: string) => (await ask('GET', `/prompts/${reference}`)).body
const done = async (answer: Promise<Answer>): Promise<void> => {
  const { status, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
  for (const [name, key] of [
    ['openai main', acme.workspaceKey],
    ['openai side', acme.sideKey],
  ] as const)
    await make('/virtual-keys', { name, provider: 'openai', key: 'sk-1' }, key)
  folder = String((await make('/collections', { name: 'Folder' }))['id'])
})
test.after.always(() => control.close())

test('a prompt is made with its first version, published', async (t) => {
  const made = await make('/prompts', prompt({ name: 'My Prompt', version_description: 'first', template_metadata: { owner: 'x' } }))
  t.is(made['slug'], 'pp-my-prompt')
  t.is(made['object'], 'prompt')
  for (const reference of ['pp-my-prompt', made['id'], 'pp-my-prompt@latest', 'pp-my-prompt@1', `${made['id']}@1`]) {
    t.like(await read(String(reference)), {
      id: made['id'],
      slug: 'pp-my-prompt',
      name: 'My Prompt',
      collection_id: folder,
      workspace_id: acme.workspaceId,
      string: messages,
      parameters: { temperature: 0.2, max_tokens: 50 },
      prompt_version: 1,
      prompt_version_id: made['version_id'],
      prompt_version_status: 'active',
      prompt_version_description: 'first',
      prompt_version_label_id: null,
      virtual_key: 'openai-main',
      model: 'gpt-4o',
      functions: null,
      tools: null,
      tool_choice: null,
      template_metadata: { owner: 'x' },
      is_raw_template: 0,
      status: 'active',
      object: 'prompt',
    })
  }
  const again = await make('/prompts', prompt({ name: 'My Prompt' }))
  t.regex(String(again['slug']), /^pp-my-prompt-[a-z0-9]{6}$/)
})

const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, at]))
const toolWith = (count: number) => [{ type: 'function', function: { name: 'f', parameters: fields(count) } }]

test('a prompt has a bounded number of values in its JSON', async (t) => {
  for (const [given, param] of [
    [{ parameters: fields(20_000) }, 'parameters'],
    [{ parameters: {}, tools: toolWith(20_000) }, 'tools'],
    [{ parameters: fields(10_000), functions: toolWith(10_000) }, 'functions'],
  ] as const) {
    const refused = await ask('POST', '/prompts', prompt({ name: 'Large', ...given }))
    t.is(refused.status, 400)
    t.like(errorOf(refused), { code: 'AB01', param })
  }
  const { slug } = await make('/prompts', prompt({ name: 'Large', tools: toolWith(5000) }))
  t.is((await ask('PUT', `/prompts/${slug}`, { patch: true, tools: toolWith(20_000) })).status, 400)
})

test('the keys of schemas, tools and metadata keep the order in which they were sent', async (t) => {
  const schema = { type: 'object', properties: { zebra: { type: 'string' }, apple: { type: 'number' }, b: {} }, required: ['zebra'] }
  const given = {
    parameters: { max_tokens: 5, response_format: { type: 'json_schema', json_schema: { strict: true, name: 'x', schema } } },
    tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    functions: [{ name: 'f', parameters: schema }],
    tool_choice: { type: 'function', function: { name: 'f' }, also: 1, a: 2 },
    template_metadata: { z: 1, aa: { y: 1, bbb: 2 } },
  }
  const { slug, version_id } = await make('/prompts', prompt({ name: 'Ordered', ...given }))
  const same = (found: Readonly<Record<string, unknown>>, message: string) => {
    for (const [field, value] of Object.entries(given)) t.is(JSON.stringify(found[field]), JSON.stringify(value), `${field}, ${message}`)
  }
  same(await read(String(slug)), 'read')
  const [listed] = dataOf(await ask('GET', `/prompts/${slug}/versions`))
  same(listed?.['prompt_template'] as Readonly<Record<string, unknown>>, 'in the list of versions')
  const { data } = (await ask('POST', `/prompts/${slug}/render`, { variables: {} })).body as { data: Readonly<Record<string, unknown>> }
  for (const [field, value] of Object.entries({ ...given.parameters, tools: given.tools, tool_choice: given.tool_choice }))
    t.is(JSON.stringify(data[field]), JSON.stringify(value), `${field}, rendered`)
  await done(ask('PUT', `/prompts/${slug}`, { patch: true, string: 'again' }))
  same(await read(`${slug}@latest`), 'carried over')

  const columns =
    'organisation_id, workspace_id, prompt_id, string, virtual_key, parameters, tools, functions, tool_choice, template_metadata'
  await control.sql.query(
    `INSERT INTO prompt_versions (id, version, ${columns}) SELECT gen_random_uuid(), 9, ${columns} FROM prompt_versions WHERE id = $1`,
    [version_id],
  )
  t.like(await read(`${slug}@9`), given, 'stored by an earlier release')
  t.like((await ask('POST', `/prompts/${slug}@9/render`, { variables: {} })).body, { data: { tools: given.tools } })
})

test('a change of the text makes a version, which is published by makeDefault and not before', async (t) => {
  const { slug, version_id: first } = await make('/prompts', prompt({ name: 'Versions' }))
  const second = await fieldsOf(ask('PUT', `/prompts/${slug}`, { string: 'Second {{x}}', parameters: {}, version_description: 'd' }))
  t.is(second['slug'], slug)
  t.like(await read(`${slug}`), { prompt_version: 1, prompt_version_id: first, string: messages })
  t.like(await read(`${slug}@latest`), {
    prompt_version: 2,
    prompt_version_id: second['prompt_version_id'],
    string: 'Second {{x}}',
    parameters: {},
    prompt_version_description: 'd',
    // Without `patch` a version is whole; the callers of the model stay.
    model: null,
    virtual_key: 'openai-main',
  })
  await done(ask('PUT', `/prompts/${slug}/makeDefault`, { version: 2 }))
  t.like(await read(`${slug}`), { prompt_version: 2 })
  await done(ask('PUT', `/prompts/${slug}/makeDefault`, { version: 1 }))
  t.like(await read(`${slug}`), { prompt_version: 1 })
  const absent = await ask('PUT', `/prompts/${slug}/makeDefault`, { version: 3 })
  t.deepEqual([absent.status, errorOf(absent).param], [404, 'version'])

  const versions = await ask('GET', `/prompts/${slug}/versions`)
  t.like(versions.body, { object: 'list', total: 2, has_more: false })
  t.deepEqual(each(versions, 'prompt_version'), [2, 1])
  t.like(dataOf(versions)[1], { id: first, prompt_template: { string: messages, model: 'gpt-4o' }, status: 'active', object: 'prompt' })
  t.deepEqual(each(await ask('GET', `/prompts/${slug}/versions?page_size=1&current_page=1`), 'prompt_version'), [1])
  for (const reference of [first, '1']) t.like((await ask('GET', `/prompts/${slug}/versions/${reference}`)).body, { prompt_version: 1 })
  t.like((await ask('GET', `/prompts/${slug}/versions/latest`)).body, { prompt_version: 2 })
  for (const reference of ['3', '0', randomUUID(), 'x'])
    t.is((await ask('GET', `/prompts/${slug}/versions/${reference}`)).status, 404, reference)
})

test('name and collection are the prompt’s own; null clears, absent leaves', async (t) => {
  const other = await make('/collections', { name: 'Other' })
  const { slug } = await make(
    '/prompts',
    prompt({ name: 'Own', tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'auto' }),
  )
  await done(ask('PUT', `/prompts/${slug}`, { name: 'Renamed', collection_id: other['slug'] }))
  t.like(await read(`${slug}@latest`), { name: 'Renamed', slug, collection_id: other['id'], prompt_version: 1 })
  await done(ask('PUT', `/prompts/${slug}`, { patch: true, model: 'gpt-5' }))
  t.like(await read(`${slug}@2`), {
    model: 'gpt-5',
    string: messages,
    parameters: { temperature: 0.2 },
    tools: [{ type: 'function' }],
    tool_choice: 'auto',
  })
  await done(ask('PUT', `/prompts/${slug}`, { patch: true, tools: null, tool_choice: null, prompt_metadata: { a: 1 } }))
  t.like(await read(`${slug}@3`), { model: 'gpt-5', tools: null, tool_choice: null, template_metadata: { a: 1 } })
  await done(ask('PUT', `/prompts/${slug}`, { patch: true }))
  t.like(await read(`${slug}@latest`), { prompt_version: 3 })
})

test('a label is on one version of a prompt at a time', async (t) => {
  const label = await make('/labels', { name: 'blue.green' })
  const { slug } = await make('/prompts', prompt({ name: 'Labelled' }))
  await done(ask('PUT', `/prompts/${slug}`, { patch: true, string: 'two' }))
  const put = (version: string, label_id: unknown) => ask('PUT', `/prompts/${slug}/versions/${version}`, { label_id })
  t.is((await ask('GET', `/prompts/${slug}@blue.green`)).status, 404)
  await done(put('1', label['id']))
  t.like(await read(`${slug}@blue.green`), { prompt_version: 1, prompt_version_label_id: label['id'] })
  await done(put('2', label['id']))
  t.like(await read(`${slug}@blue.green`), { prompt_version: 2 })
  t.like(await read(`${slug}@1`), { prompt_version_label_id: null })
  const refused = await ask('DELETE', `/labels/${label['id']}`)
  t.is(refused.status, 409)
  t.like(JSON.parse(refused.text).error.used_by, [{ kind: 'prompt', slug: `${slug}@2`, name: 'Labelled' }])
  await done(put('2', null))
  t.is((await ask('GET', `/prompts/${slug}@blue.green`)).status, 404)
  await done(put('1', label['id']))
  const foreign = await make('/labels', { name: 'side-only' }, acme.sideKey)
  t.is(errorOf(await put('1', foreign['id'])).param, 'label_id')
  t.is((await put('1', randomUUID())).status, 404)
  t.is((await put('1', 'blue.green')).status, 400)
  await done(ask('DELETE', `/prompts/${slug}`))
  await done(ask('DELETE', `/labels/${label['id']}`))
  const builtIn = each(await ask('GET', '/labels?search=production'), 'id')[0]
  const again = await make('/prompts', prompt({ name: 'Labelled' }))
  await done(ask('PUT', `/prompts/${again['slug']}/versions/1`, { label_id: builtIn }))
  t.like(await read(`${again['slug']}@production`), { prompt_version: 1 })
})

test('lists of prompts filter and page', async (t) => {
  const tenant = await control.createTenant('lists')
  await make('/virtual-keys', { name: 'openai main', provider: 'openai', key: 'sk-1' }, tenant.workspaceKey)
  const [one, two] = [
    await make('/collections', { name: 'One' }, tenant.workspaceKey),
    await make('/collections', { name: 'Two' }, tenant.workspaceKey),
  ]
  for (const [name, collection] of [
    ['alpha', one],
    ['beta', one],
    ['gamma', two],
  ] as const)
    await make('/prompts', prompt({ name, collection_id: collection['id'], model: name }), tenant.workspaceKey)
  const names = async (query: string, key = tenant.workspaceKey) => each(await ask('GET', `/prompts?${query}`, undefined, key), 'name')
  t.deepEqual(await names(''), ['gamma', 'beta', 'alpha'])
  t.deepEqual(await names(`collection_id=${one['slug']}`), ['beta', 'alpha'])
  t.deepEqual(await names('search=ALP'), ['alpha'])
  t.deepEqual(await names('page_size=1&current_page=1'), ['beta'])
  t.deepEqual(await names('workspace_id=side', tenant.adminKey), [])
  t.deepEqual(await names('', tenant.adminKey), ['gamma', 'beta', 'alpha'])
  t.deepEqual(await names('', tenant.sideKey), [])
  t.like(dataOf(await ask('GET', '/prompts?search=beta', undefined, tenant.adminKey))[0], {
    model: 'beta',
    status: 'active',
    object: 'prompt',
  })
  const collection = (await ask('GET', `/collections/${one['id']}`, undefined, tenant.adminKey)).body
  t.like(collection['collection_details'], { prompts_count: 2 })
  const refused = await ask('DELETE', `/collections/${one['id']}`, undefined, tenant.adminKey)
  t.is(refused.status, 409)
  t.like(JSON.parse(refused.text).error, {
    message: 'These still depend on this collection: prompt "alpha", prompt "beta". Change or delete them first.',
    used_by: [{ slug: 'pp-alpha' }, { slug: 'pp-beta' }],
  })
})

test('what is deleted is not there', async (t) => {
  const { id, slug } = await make('/prompts', prompt({ name: 'Gone' }))
  await done(ask('DELETE', `/prompts/${slug}`))
  for (const [method, path, body] of [
    ['GET', ''],
    ['PUT', '', {}],
    ['DELETE', ''],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
    ['PUT', '/versions/1', {}],
    ['PUT', '/makeDefault', { version: 1 }],
    ['POST', '/render', { variables: {} }],
  ] as const) {
    for (const reference of [id, slug, randomUUID(), 'pp-never', 'a@b@c', '%00']) {
      const answer = await ask(method, `/prompts/${reference}${path}`, body)
      t.deepEqual([answer.status, errorOf(answer).code], [404, 'AB08'], `${method} ${reference}${path}: ${answer.text}`)
    }
  }
  t.is((await make('/prompts', prompt({ name: 'Gone' })))['slug'], slug)
})

test('versions cannot be changed, not even in the database', async (t) => {
  const { version_id: id } = await make('/prompts', prompt({ name: 'Fixed' }))
  for (const change of [`string = 'other'`, `parameters = '{"n":2}'`, 'version = 7', `virtual_key = 'x'`])
    await t.throwsAsync(control.sql.query(`UPDATE prompt_versions SET ${change} WHERE id = $1`, [id]), {
      message: 'versions are immutable',
    })
})

const refuses = test.macro({
  async exec(t, [method, path, body]: [method: string, path: string, body?: object], code: string, param: string) {
    const { slug } = await make('/prompts', prompt({ name: 'Refusals' }))
    const answer = await ask(method, path.replace(':slug', String(slug)), method === 'POST' ? prompt(body) : body)
    t.deepEqual([errorOf(answer).code, errorOf(answer).param], [code, param], answer.text)
  },
  title: (_, ...given) => `refused: ${JSON.stringify(given).slice(0, 140)}`,
})

const create = (body: object) => ['POST', '/prompts', body] as [string, string, object]
test(refuses, create({ name: '' }), 'AB01', 'name')
test(refuses, create({ name: 'x'.repeat(256) }), 'AB01', 'name')
test(refuses, create({ collection_id: 'none' }), 'AB08', 'collection_id')
test(refuses, create({ virtual_key: 'none' }), 'AB08', 'virtual_key')
test(refuses, create({ virtual_key: 'openai-side' }), 'AB08', 'virtual_key')
test(refuses, create({ virtual_key: undefined }), 'AB01', 'virtual_key')
test(refuses, create({ string: undefined }), 'AB01', 'string')
test(refuses, create({ string: '' }), 'AB01', 'string')
test(refuses, create({ string: 'Hi {{#name}}' }), 'AB01', 'string')
test(refuses, create({ string: '[{"role":"user","content":"{{"}]' }), 'AB01', 'string')
test(refuses, create({ string: '[{"content":"no role"}]' }), 'AB01', 'string')
test(refuses, create({ string: '{{{v}}}', is_raw_template: 1 }), 'AB01', 'string')
test(refuses, create({ string: 'a\u0000' }), 'AB01', 'string')
test(refuses, create({ parameters: undefined }), 'AB01', 'parameters')
test(refuses, create({ parameters: { temperature: 'hot' } }), 'AB01', 'parameters.temperature')
test(refuses, create({ parameters: { messages: [] } }), 'AB01', 'parameters')
test(refuses, create({ parameters: { x: ['\u0000'] } }), 'AB01', 'parameters')
test(refuses, create({ tools: [1] }), 'AB01', 'tools[0]')
test(refuses, create({ is_raw_template: 2 }), 'AB01', 'is_raw_template')
test(refuses, create({ template_metadata: { json_variables: 'x' } }), 'AB01', 'template_metadata.json_variables')
test(refuses, create({ publish: true }), 'AB01', 'publish')
test(refuses, ['PUT', '/prompts/:slug', { model: 'gpt-5' }], 'AB01', 'string')
test(refuses, ['PUT', '/prompts/:slug', { string: 'x' }], 'AB01', 'parameters')
test(refuses, ['PUT', '/prompts/:slug', { patch: 'yes' }], 'AB01', 'patch')
test(refuses, ['PUT', '/prompts/:slug', { patch: true, string: '{{' }], 'AB01', 'string')
test(refuses, ['PUT', '/prompts/:slug', { collection_id: 'none' }], 'AB08', 'collection_id')
test(refuses, ['PUT', '/prompts/:slug/makeDefault', {}], 'AB01', 'version')
test(refuses, ['PUT', '/prompts/:slug/makeDefault', { version: 0 }], 'AB01', 'version')
test(refuses, ['PUT', '/prompts/:slug/versions/9', {}], 'AB08', 'versionId')

test('a prompt moves within its workspace only', async (t) => {
  const side = await make('/collections', { name: 'Side' }, acme.sideKey)
  const { slug } = await make('/prompts', prompt({ name: 'Settled' }))
  t.is((await ask('PUT', `/prompts/${slug}`, { collection_id: side['id'] })).status, 404)
  const answer = await ask('PUT', `/prompts/${slug}`, { collection_id: side['id'] }, acme.adminKey)
  t.deepEqual([answer.status, errorOf(answer).param], [400, 'collection_id'])
  t.is((await ask('GET', `/prompts/${slug}`, undefined, acme.sideKey)).status, 404)
  t.is((await ask('GET', `/prompts/${slug}`, undefined, rival.adminKey)).status, 404)
})

test('of editors who write at once, each makes a version of its own', async (t) => {
  const { slug } = await make('/prompts', prompt({ name: 'Race' }))
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => ask('PUT', `/prompts/${slug}`, { patch: true, string: `v${at}` })),
  )
  t.true(answers.every(({ status }) => status === 200))
  t.deepEqual(each(await ask('GET', `/prompts/${slug}/versions`), 'prompt_version'), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
})
