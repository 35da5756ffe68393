import test from 'ava'
import { each, errorOf, made as fieldsOf } from './answers.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
})
test.after.always(() => control.close())

const ask = (method: string, path: string, body?: unknown, key = acme.adminKey) => control.call(key, method, path, body)

const make = (path: string, body: unknown, key = acme.adminKey) => fieldsOf(ask('POST', path, body, key))
const names = (answer: Answer) => each(answer, 'name')
const as = (key: string) => (method: string, path: string, body?: unknown) => ask(method, path, body, key)

test('every workspace has a default collection, which stays', async (t) => {
  for (const key of [acme.workspaceKey, acme.sideKey]) {
    const { body } = await ask('GET', '/collections?search=default', undefined, key)
    t.like(body, { object: 'list', total: 1, has_more: false })
    const [found] = body['data'] as { id: string; is_default: number; slug: string }[]
    t.is(found?.is_default, 1)
    t.is(errorOf(await ask('DELETE', `/collections/${found?.slug}`)).code, 'AB03')
    t.is((await ask('PUT', `/collections/${found?.id}`, { name: 'Default' })).status, 200)
  }
})

test('a collection is made, read by id and slug, renamed, filled, emptied and deleted', async (t) => {
  const made = await make('/collections', { name: 'My Ünïque folder', workspace_id: 'side' })
  t.is(made['slug'], 'my-unique-folder')
  const again = await make('/collections', { name: 'My Ünïque folder', workspace_id: 'side' })
  t.not(again['slug'], made['slug'])
  const child = await make('/collections', { name: 'Child', parent_collection_id: 'my-unique-folder' })
  for (const reference of [made['id'], made['slug']]) {
    const { status, body } = await ask('GET', `/collections/${reference}`)
    t.is(status, 200)
    t.like(body, { id: made['id'], workspace_id: acme.sideId, name: 'My Ünïque folder', is_default: 0, object: 'collection' })
    t.like(body['collection_details'], { child_collections_count: 1, prompts_count: 0, prompts_last_updated_at: null })
    t.like(body['child_collections'], [{ id: child['id'], name: 'Child' }])
  }
  t.deepEqual((await ask('PUT', `/collections/${made['id']}`, { name: 'Renamed' })).body, {})
  t.like((await ask('GET', `/collections/${made['slug']}`)).body, { name: 'Renamed', slug: 'my-unique-folder' })
  const refused = await ask('DELETE', `/collections/${made['id']}`)
  t.is(refused.status, 409)
  t.is(errorOf(refused).code, 'AB07')
  t.regex(refused.text, /"slug":"child"/)
  t.is((await ask('DELETE', `/collections/${child['id']}`)).status, 200)
  t.is((await ask('DELETE', `/collections/${made['id']}`)).status, 200)
  const gone = await Promise.all(
    [made['id'], made['slug'], rival.workspaceId, 'no-such', '%00'].map((reference) => ask('GET', `/collections/${reference}`)),
  )
  for (const answer of gone) t.deepEqual([answer.status, errorOf(answer).code], [404, 'AB08'])
  t.is((await make('/collections', { name: 'My Ünïque folder' }))['slug'], 'my-unique-folder')
})

test('pages of collections', async (t) => {
  const tenant = await control.createTenant('pages')
  for (const name of ['b%', 'a_', 'c']) await make('/collections', { name }, tenant.workspaceKey)
  const list = (query: string) => ask('GET', `/collections?${query}`, undefined, tenant.workspaceKey)
  t.deepEqual(names(await list('')), ['Default', 'b%', 'a_', 'c'])
  t.deepEqual(names(await list('page_size=2&current_page=1')), ['a_', 'c'])
  t.deepEqual(names(await list('search=%25')), ['b%'])
  t.deepEqual(names(await list('search=_')), ['a_'])
  t.like((await list('page_size=0')).body, { data: [], total: 4, has_more: true })
  t.deepEqual(names(await ask('GET', '/collections?workspace_id=side', undefined, tenant.adminKey)), ['Default'])
})

const refuses = test.macro({
  async exec(t, [method, path, body]: [method: string, path: string, body?: unknown], code: string, param: string) {
    const answer = await ask(method, path, body)
    t.deepEqual([errorOf(answer).code, errorOf(answer).param], [code, param], answer.text)
  },
  title: (_, ...given) => `refused: ${JSON.stringify(given).slice(0, 120)}`,
})

test(refuses, ['POST', '/collections', {}], 'AB01', 'name')
test(refuses, ['POST', '/collections', { name: 'x'.repeat(256) }], 'AB01', 'name')
test(refuses, ['POST', '/collections', { name: 'a\u0000' }], 'AB01', 'name')
test(refuses, ['POST', '/collections', { name: 'a', color: 1 }], 'AB01', 'color')
test(refuses, ['POST', '/collections', { name: 'a', workspace_id: 'none' }], 'AB08', 'workspace_id')
test(refuses, ['POST', '/collections', { name: 'a', parent_collection_id: 'none' }], 'AB08', 'parent_collection_id')
test(refuses, ['GET', '/collections?page_size=1001'], 'AB01', 'page_size')
test(refuses, ['GET', '/collections?current_page=-1'], 'AB01', 'current_page')
test(refuses, ['POST', '/labels', {}], 'AB01', 'name')
for (const name of ['latest', 'default', '12', 'a@b', 'a b', 'a/b', '', 'é!x', 'x'.repeat(256)])
  test(refuses, ['POST', '/labels', { name }], 'AB01', 'name')
test(refuses, ['POST', '/labels', { name: 'l', organisation_id: '00000000-0000-4000-8000-000000000000' }], 'AB03', 'organisation_id')
test(refuses, ['POST', '/labels', { name: 'l', color_code: '<script>' }], 'AB01', 'color_code')
test(refuses, ['POST', '/labels', { name: 'production' }], 'AB07', 'name')
test(refuses, ['POST', '/labels', { name: 'production', workspace_id: 'side' }], 'AB07', 'name')
test(refuses, ['GET', '/labels?workspace_id=none'], 'AB08', 'workspace_id')

test('a parent of another workspace is refused', async (t) => {
  const parent = await make('/collections', { name: 'Parent', workspace_id: 'main' })
  const answer = await ask('POST', '/collections', { name: 'x', workspace_id: 'side', parent_collection_id: parent['id'] })
  t.deepEqual([answer.status, errorOf(answer).param], [400, 'parent_collection_id'])
  t.is((await ask('POST', '/collections', { name: 'x', parent_collection_id: parent['id'] }, acme.sideKey)).status, 404)
})

test('three labels serve everywhere and stay; others are a workspace’s or the organisation’s', async (t) => {
  const tenant = await control.createTenant('labelled')
  const [admin, main, side] = [as(tenant.adminKey), as(tenant.workspaceKey), as(tenant.sideKey)]
  const builtIn = ['development', 'production', 'staging']
  t.deepEqual(names(await main('GET', '/labels')), builtIn)
  const own = await make('/labels', { name: 'canary', description: 'd', color_code: '#ff8800' }, tenant.workspaceKey)
  const shared = await make('/labels', { name: 'v1.2' }, tenant.adminKey)
  t.deepEqual(names(await main('GET', '/labels')), ['canary', ...builtIn, 'v1.2'])
  t.deepEqual(names(await side('GET', '/labels')), [...builtIn, 'v1.2'])
  t.deepEqual(names(await admin('GET', '/labels')), ['canary', ...builtIn, 'v1.2'])
  t.deepEqual(names(await admin('GET', '/labels?workspace_id=side')), [...builtIn, 'v1.2'])
  t.deepEqual(names(await admin('GET', '/labels?search=CAN')), ['canary'])
  const read = await main('GET', `/labels/${own['id']}`)
  t.like(read.body, { name: 'canary', description: 'd', color_code: '#ff8800', workspace_id: tenant.workspaceId, is_universal: false })
  t.like((await side('GET', `/labels/${shared['id']}`)).body, { is_universal: true, workspace_id: null, status: 'active', object: 'label' })
  t.is((await side('GET', `/labels/${own['id']}`)).status, 404)
  t.is((await main('PUT', `/labels/${shared['id']}`, { name: 'taken' })).status, 403)
  t.is((await main('PUT', `/labels/${own['id']}`, { description: null })).status, 200)
  t.like((await main('GET', `/labels/${own['id']}`)).body, { name: 'canary', description: null, color_code: '#ff8800' })
  t.is((await main('PUT', `/labels/${own['id']}`, { name: 'v1.2' })).status, 409)
  const universal = String(each(await admin('GET', '/labels?search=staging'), 'id')[0])
  for (const method of ['PUT', 'DELETE']) t.is((await admin(method, `/labels/${universal}`, method === 'PUT' ? {} : undefined)).status, 403)
  t.is((await main('DELETE', `/labels/${own['id']}`)).status, 200)
  t.is((await main('GET', `/labels/${own['id']}`)).status, 404)
  t.truthy(await make('/labels', { name: 'canary' }, tenant.sideKey))
})

test('of 20 who make one name at once, each gets a slug of its own, and one gets the label', async (t) => {
  const made = await Promise.all(Array.from({ length: 20 }, () => make('/collections', { name: 'Race' })))
  t.is(new Set(made.map(({ slug }) => slug)).size, 20)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => ask('POST', '/labels', { name: 'race', ...(at % 2 === 0 && { workspace_id: 'side' }) })),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  t.is(answers.filter(({ status }) => status === 409).length, 19)
})
