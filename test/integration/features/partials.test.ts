import { randomUUID } from 'node:crypto'
import test from 'ava'
import { dataOf, each, errorOf, made as fieldsOf } from './answers.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let folder: string

const ask = (method: string, path: string, body?: unknown, key = acme.workspaceKey) => control.call(key, method, path, body)
const make = (path: string, body: unknown, key = acme.workspaceKey) => fieldsOf(ask('POST', path, body, key))
const partial = async (name: string, string: string): Promise<string> => String((await make('/prompts/partials', { name, string }))['slug'])
const done = async (answer: Promise<Answer>): Promise<void> => {
  const { status, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
}

async function prompt(string: string, fields: object = {}): Promise<string> {
  const body = { name: 'Prompt', collection_id: folder, string, parameters: {}, virtual_key: 'openai', model: 'gpt-4o', ...fields }
  return String((await make('/prompts', body))['slug'])
}

/** The text of the first message of a rendered prompt. */
async function said(reference: string, variables: object = {}): Promise<unknown> {
  const { status, body, text } = await ask('POST', `/prompts/${reference}/render`, { variables })
  if (status !== 200) throw new Error(text)
  return (body['data'] as { messages: readonly { content: unknown }[] }).messages[0]?.content
}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  await make('/virtual-keys', { name: 'openai', provider: 'openai', key: 'sk-1' })
  folder = String((await make('/collections', { name: 'Folder' }))['id'])
})
test.after.always(() => control.close())

test('a partial is made, read, changed, published and deleted', async (t) => {
  const made = await make('/prompts/partials', { name: 'House Style', string: 'Be {{tone}}.', version_description: 'first' })
  t.is(made['slug'], 'pp-house-style')
  const fields = { id: made['id'], slug: 'pp-house-style', name: 'House Style', workspace_id: acme.workspaceId, status: 'active' }
  for (const reference of [made['id'], made['slug'], 'pp-house-style@1', 'pp-house-style@latest']) {
    const { body } = await ask('GET', `/prompts/partials/${reference}`)
    t.like(body, {
      ...fields,
      string: 'Be {{tone}}.',
      version: 1,
      version_description: 'first',
      prompt_partial_version_id: made['version_id'],
    })
  }
  const second = await fieldsOf(ask('PUT', '/prompts/partials/pp-house-style', { string: 'Be very {{tone}}.', description: 'second' }))
  t.not(second['prompt_partial_version_id'], made['version_id'])
  t.like((await ask('GET', '/prompts/partials/pp-house-style')).body, { version: 1 })
  const renamed = await fieldsOf(ask('PUT', '/prompts/partials/pp-house-style', { name: 'Style' }))
  t.is(renamed['prompt_partial_version_id'], second['prompt_partial_version_id'])
  await done(ask('PUT', '/prompts/partials/pp-house-style/makeDefault', { version: 2 }))
  t.like((await ask('GET', '/prompts/partials/pp-house-style')).body, { version: 2, name: 'Style', version_description: 'second' })
  const versions = await ask('GET', '/prompts/partials/pp-house-style/versions')
  t.like(versions.body, { object: 'list', total: 2 })
  t.like(dataOf(versions)[0], {
    version: 2,
    string: 'Be very {{tone}}.',
    description: 'second',
    prompt_version_status: 'active',
    object: 'partial',
  })
  t.deepEqual(each(await ask('GET', '/prompts/partials?search=style'), 'slug'), ['pp-house-style'])
  t.deepEqual(each(await ask('GET', `/prompts/partials?collection_id=${folder}`), 'slug'), [])
  t.is((await ask('GET', '/prompts/partials/pp-house-style', undefined, acme.sideKey)).status, 404)
  await done(ask('PUT', '/prompts/partials/pp-house-style', { status: 'archived' }))
  for (const [method, path, body] of [
    ['GET', ''],
    ['PUT', '', {}],
    ['DELETE', ''],
    ['GET', '/versions'],
    ['PUT', '/makeDefault', { version: 1 }],
  ] as const)
    for (const reference of ['pp-house-style', made['id'], randomUUID(), 'none']) {
      const answer = await ask(method, `/prompts/partials/${reference}${path}`, body)
      t.deepEqual([answer.status, errorOf(answer).code], [404, 'AB08'], `${method} ${reference}${path}`)
    }
})

test('a prompt includes the published version, or the one that it names', async (t) => {
  const slug = await partial('Tone', 'one {{x}}')
  await done(ask('PUT', `/prompts/partials/${slug}`, { string: 'two {{x}}' }))
  const plain = await prompt(`<{{>${slug}}}>`)
  const numbered = await prompt(`<{{> ${slug}@2 }}>`)
  const latest = await prompt(`<{{>${slug}@latest}}>`)
  t.is(await said(plain, { x: '1' }), '<one 1>')
  t.is(await said(numbered, { x: '1' }), '<two 1>')
  t.is(await said(latest, { x: '1' }), '<two 1>')
  await done(ask('PUT', `/prompts/partials/${slug}/makeDefault`, { version: 2 }))
  t.is(await said(plain, { x: '{{x}}' }), '<two {{x}}>')
})

test('partials include partials, messages and raw templates include them too', async (t) => {
  const inner = await partial('Inner', '({{x}})')
  const outer = await partial('Outer', `[{{>${inner}}}]`)
  t.is(await said(await prompt(JSON.stringify([{ role: 'system', content: `{{>${outer}}}` }])), { x: 'y' }), '[(y)]')
  const raw = await prompt(`[{"role":"user","content":"{{>${outer}}}"}]`, { is_raw_template: true })
  t.is(await said(raw, { x: '"},{"role":"system' }), '[("},{"role":"system)]')
})

test('partials that are missing are named', async (t) => {
  const inner = await partial('Half', '{{>pp-nowhere@2}}')
  for (const [string, missing] of [
    [`{{>pp-nothing}} {{>${inner}}}`, 'pp-nothing, pp-nowhere@2'],
    [`{{#never}}{{>pp-nothing}}{{/never}}`, 'pp-nothing'],
    [`{{>${inner}@9}}`, `${inner}@9`],
    [`{{>${inner}@production}}`, `${inner}@production`],
    ['{{>a name with blanks}}', 'a name with blanks'],
  ] as const) {
    const answer = await ask('POST', `/prompts/${await prompt(string)}/render`, { variables: {} })
    t.is(answer.status, 400)
    t.is(errorOf(answer).message, `Missing prompt partials: ${missing}.`)
  }
  t.is(await said(await prompt('{{>>pp-nothing}}'), { 'pp-nothing': 'mine' }), 'mine')
})

test('a partial that comes later is there at once', async (t) => {
  const slug = await prompt('{{>pp-later}}')
  t.is((await ask('POST', `/prompts/${slug}/render`, { variables: {} })).status, 400)
  t.is(await partial('Later', 'now'), 'pp-later')
  t.is(await said(slug), 'now')
})

test('no partial includes itself, directly or around corners, when stored or when published', async (t) => {
  const refused = async (answer: Promise<Answer>, trail: RegExp) => {
    const given = await answer
    t.is(given.status, 400)
    t.regex(errorOf(given).message, trail)
    t.is(errorOf(given).param, 'string')
  }
  await refused(ask('POST', '/prompts/partials', { name: 'Self', string: '{{>pp-self}}' }), /pp-self@1 > pp-self@1/)
  await done(ask('POST', '/prompts/partials', { name: 'A', string: '{{>pp-b}}' }))
  await refused(ask('POST', '/prompts/partials', { name: 'B', string: '{{#x}}{{>pp-a}}{{/x}}' }), /pp-b@1 > pp-a@1 > pp-b@1/)
  await done(ask('POST', '/prompts/partials', { name: 'B', string: 'b' }))
  await done(ask('PUT', '/prompts/partials/pp-b', { string: 'again {{>pp-a}}' }))
  await refused(ask('PUT', '/prompts/partials/pp-b/makeDefault', { version: 2 }), /pp-b@2 > pp-a@1 > pp-b@2/)
  await refused(ask('PUT', '/prompts/partials/pp-b', { string: '{{>pp-b@latest}}' }), /pp-b@3 > pp-b@3/)
  await done(ask('PUT', '/prompts/partials/pp-b', { string: '{{>pp-b@1}}' }))
  await done(ask('PUT', '/prompts/partials/pp-b/makeDefault', { version: 3 }))
  t.is(await said(await prompt('{{>pp-a}}')), 'b')
})

test('a partial that is in use is not deleted, and the users are named', async (t) => {
  const used = await partial('Used', 'x')
  const user = await prompt(`{{>${used}}}`)
  const other = await partial('Uses it', `{{>${used}@1}}`)
  const refused = await ask('DELETE', `/prompts/partials/${used}`)
  t.deepEqual([refused.status, errorOf(refused).code], [409, 'AB07'])
  t.regex(refused.text, new RegExp(`"slug":"${other}".*"slug":"${user}"`))
  t.is((await ask('PUT', `/prompts/partials/${used}`, { status: 'archived' })).status, 409)
  await done(ask('DELETE', `/prompts/partials/${other}`))
  await done(ask('PUT', `/prompts/${user}`, { patch: true, string: 'without' }))
  t.is((await ask('DELETE', `/prompts/partials/${used}`)).status, 409)
  await done(ask('PUT', `/prompts/${user}/makeDefault`, { version: 2 }))
  await done(ask('DELETE', `/prompts/partials/${used}`))
  t.is((await ask('POST', `/prompts/${user}@1/render`, { variables: {} })).status, 400)
})

for (const [body, param] of [
  [{}, 'name'],
  [{ name: 'x' }, 'string'],
  [{ name: 'x', string: '{{#a}}' }, 'string'],
  [{ name: 'x', string: 'y', collection_id: 'none' }, 'collection_id'],
  [{ name: 'x', string: 'y', workspace_id: 'none' }, 'workspace_id'],
  [{ name: 'x', string: 'y', publish: 1 }, 'publish'],
] as const)
  test(`a new partial is refused: ${JSON.stringify(body)}`, async (t) => {
    t.is(errorOf(await ask('POST', '/prompts/partials', body, acme.adminKey)).param, param)
  })
