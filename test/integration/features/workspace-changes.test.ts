import test from 'ava'
import { userScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  const guardrail = {
    name: 'A',
    slug: 'guard-a',
    checks: [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }],
    actions: { onFail: 'warn' },
  }
  const { status, text } = await admin('POST', '/guardrails', guardrail)
  if (status !== 200) throw new Error(text)
})
test.after.always(() => control.close())

const admin = (method: string, path: string, body?: unknown) => control.call(acme.adminKey, method, path, body)
const create = async (fields: Readonly<Record<string, unknown>>) => (await admin('POST', '/admin/workspaces', fields)).body
const errorOf = ({ body }: Answer) => body['error'] as { code: string; param: string; message: string }

test('a workspace is created with all its fields, read, changed field by field, and cleared by null', async (t) => {
  const fields = {
    name: 'Research & Development',
    description: 'ours',
    defaults: { metadata: { team: 'rd' }, input_guardrails: ['guard-a'], output_guardrails: [] },
    usage_limits: [{ type: 'cost', credit_limit: 100, alert_threshold: 80, periodic_reset_days: 30 }],
    rate_limits: [{ type: 'requests', unit: 'rpm', value: 10 }],
  }
  const made = await create(fields)
  t.like(made, { slug: 'ws-research-development', status: 'active', is_default: 0, object: 'workspace' })
  const path = `/admin/workspaces/${String(made['slug'])}`
  const { body } = await admin('GET', path)
  t.like(body, { ...fields, users: [], usage_limits: [{ credit_limit: 100, periodic_reset_days: 30, periodic_reset: null }] } as never)
  t.is((await admin('PUT', path, { description: null, defaults: { metadata: { team: 'x' } }, rate_limits: null })).status, 200)
  const changed = (await admin('GET', path)).body
  t.like(changed, { name: fields.name, description: null, rate_limits: [], usage_limits: [{ credit_limit: 100 }] })
  t.like(changed['defaults'], { metadata: { team: 'x' }, input_guardrails: ['guard-a'] })
})

const refused: readonly (readonly [param: string, body: Readonly<Record<string, unknown>>])[] = [
  ['name', {}],
  ['name', { name: 'x'.repeat(256) }],
  ['name', { name: ' ' }],
  ['slug', { name: 'x', slug: 'a b' }],
  ['usage_limits', { name: 'x', usage_limits: [{ credit_limit: 1 }, { credit_limit: 2 }] }],
  ['usage_limits[0].credit_limit', { name: 'x', usage_limits: [{ credit_limit: 0 }] }],
  ['usage_limits[0].periodic_reset_days', { name: 'x', usage_limits: [{ credit_limit: 1, periodic_reset_days: 366 }] }],
  [
    'usage_limits[0].periodic_reset_days',
    { name: 'x', usage_limits: [{ credit_limit: 1, periodic_reset_days: 3, periodic_reset: 'weekly' }] },
  ],
  ['usage_limits[0].next_usage_reset_at', { name: 'x', usage_limits: [{ credit_limit: 1, next_usage_reset_at: 'tomorrow' }] }],
  ['usage_limits[0].budget', { name: 'x', usage_limits: [{ budget: 1 }] }],
  ['rate_limits[0].unit', { name: 'x', rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }],
  ['defaults.metadata.a', { name: 'x', defaults: { metadata: { a: 1 } } }],
  ['defaults.config', { name: 'x', defaults: { config: 'x' } }],
  [
    'access_overrides.data_visibility.membersViewAllDatas',
    { name: 'x', access_overrides: { data_visibility: { membersViewAllDatas: true } } },
  ],
  ['access_overrides.data', { name: 'x', access_overrides: { data: {} } }],
  ['users[0]', { name: 'x', users: ['nobody@example.com'] }],
]
for (const [param, body] of refused)
  test(`refused for ${param}: ${JSON.stringify(body).slice(0, 80)}`, async (t) => {
    const answer = await admin('POST', '/admin/workspaces', body)
    t.true([400, 404].includes(answer.status), answer.text)
    t.is(errorOf(answer).param, param)
  })

test('slugs: chosen, made, and made free', async (t) => {
  t.is((await create({ name: 'Chosen', slug: 'my-own' }))['slug'], 'my-own')
  const taken = await admin('POST', '/admin/workspaces', { name: 'Chosen', slug: 'my-own' })
  t.is(taken.status, 409)
  t.like(errorOf(taken), { code: 'AB07', param: 'slug' })
  t.is((await create({ name: 'Twice' }))['slug'], 'ws-twice')
  t.regex(String((await create({ name: 'Twice' }))['slug']), /^ws-twice-[a-z0-9]{6}$/)
})

test('a workspace that is not empty stays, is emptied by force, and comes back empty', async (t) => {
  const made = await create({ name: 'Full' })
  const id = String(made['id'])
  const key = await control.createKey(acme, { workspaceId: id, scopes: workspaceScopes })
  const integration = await control.call(key, 'POST', '/integrations', {
    name: 'Inner',
    ai_provider_id: 'openai',
    key: 'sk-inner-0123456789',
  })
  t.is(integration.status, 200, integration.text)
  const stays = await admin('DELETE', `/admin/workspaces/${id}`)
  t.is(stays.status, 409)
  t.is(errorOf(stays).code, 'AB07')
  for (const name of ['api keys (test)', 'integrations (inner)']) t.true(errorOf(stays).message.includes(name), name)
  t.is((await admin('DELETE', `/admin/workspaces/${id}`, { name: 'Other', force_delete: true })).status, 400)
  t.is((await control.call(key, 'GET', '/workspaces')).status, 200)
  t.is((await admin('DELETE', `/admin/workspaces/${id}`, { name: 'Full', force_delete: true })).status, 200)
  t.is((await admin('GET', `/admin/workspaces/${id}`)).status, 404)
  t.is((await admin('DELETE', `/admin/workspaces/${id}`)).status, 404)
  await control.refresh()
  t.is((await control.call(key, 'GET', '/workspaces')).status, 401)
  const kept = await control.sql.query('SELECT credential, status FROM integrations WHERE workspace_id = $1', [id])
  t.deepEqual(kept.rows, [{ credential: null, status: 'archived' }])
  const listed = await admin('GET', `/workspaces?status=archived&exact_name=Full`)
  t.is(listed.body['total'], 1)
  t.like((await admin('POST', `/admin/workspaces/${id}/restore`)).body, { id, status: 'active' })
  t.is((await admin('POST', `/admin/workspaces/${id}/restore`)).status, 404)
  t.is((await admin('GET', `/admin/workspaces/${id}`)).status, 200)
  await control.refresh()
  t.is((await control.call(key, 'GET', '/workspaces')).status, 401)
})

test('a workspace that was just made is deleted without force, and has its default collection again when it comes back', async (t) => {
  const id = String((await create({ name: 'Brief' }))['id'])
  t.is((await admin('DELETE', `/admin/workspaces/${id}`)).status, 200)
  t.is((await admin('POST', `/admin/workspaces/${id}/restore`)).status, 200)
  const { body } = await admin('GET', `/collections?workspace_id=${id}`)
  t.deepEqual(
    (body['data'] as { name: string }[]).map(({ name }) => name),
    ['Default'],
  )
})

test('the default workspace stays', async (t) => {
  const answer = await admin('DELETE', '/admin/workspaces/main', { force_delete: true })
  t.is(answer.status, 409)
})

test('a workspace key changes its own workspace, and makes, deletes and restores none', async (t) => {
  t.is((await control.call(acme.sideKey, 'PUT', '/admin/workspaces/side', { description: 'by ourselves' })).status, 200)
  t.is((await control.call(acme.sideKey, 'PUT', '/admin/workspaces/main', { description: 'by others' })).status, 404)
  t.is((await control.call(acme.sideKey, 'POST', '/admin/workspaces', { name: 'x' })).status, 403)
  t.is((await control.call(acme.sideKey, 'DELETE', '/admin/workspaces/side')).status, 403)
  const loosened = await control.call(acme.sideKey, 'PUT', '/admin/workspaces/side', {
    access_overrides: { prompt_access: { membersWritePrompts: true } },
  })
  t.is(loosened.status, 403)
  t.is(errorOf(loosened).param, 'access_overrides')
})

const rolesOf = ({ body }: Answer) =>
  (body['data'] as { email: string; role: string }[]).map(({ email, role }) => `${email[0] ?? ''} ${role}`)

test('members: added, listed, filtered, changed, removed with their keys', async (t) => {
  const ids = await Promise.all(['a', 'b', 'c'].map((name) => control.createUser(acme, { email: `${name}@members.example` })))
  const { id } = await create({ name: 'Team', users: ['a@members.example'] })
  const path = `/admin/workspaces/${String(id)}/users`
  const added = await admin('POST', path, {
    users: [
      { id: ids[1], role: 'manager' },
      { id: ids[2]?.toUpperCase(), role: 'admin' },
    ],
  })
  t.is(added.status, 200, added.text)
  const again = await admin('POST', path, { users: [{ id: ids[1], role: 'member' }] })
  t.like(errorOf(again), { code: 'AB07', param: 'users[0].id' })
  t.is((await admin('POST', path, { users: [{ id: acme.workspaceId, role: 'member' }] })).status, 404)
  const listed = await admin('GET', path)
  t.like(listed.body, { total: 3, has_more: false })
  t.deepEqual(rolesOf(listed).toSorted(), ['a member', 'b manager', 'c admin'])
  t.deepEqual(rolesOf(await admin('GET', `${path}?role=manager`)), ['b manager'])
  t.deepEqual(rolesOf(await admin('GET', `${path}?email=C@members.example`)), ['c admin'])
  t.deepEqual(rolesOf(await admin('GET', `${path}?email=d@members.example`)), [])
  t.is((await admin('GET', `${path}?role=owner`)).status, 400)
  const one = await admin('GET', `${path}/${ids[0] ?? ''}`)
  t.like(one.body, {
    id: ids[0],
    org_role: 'member',
    role: 'member',
    workspace_id: id,
    status: 'active',
    settings: null,
    object: 'workspace-user',
  })
  t.false((one.body['scopes'] as string[]).includes('prompts.create'))
  t.true((one.body['scopes'] as string[]).includes('prompts.render'))
  const key = await control.createKey(acme, { workspaceId: String(id), userId: ids[0] ?? '', scopes: userScopes })
  t.is((await control.call(key, 'POST', '/configs', { name: 'x', config: {} })).status, 403)
  t.is((await admin('PUT', `${path}/${ids[0] ?? ''}`, { role: 'manager' })).status, 200)
  await control.refresh()
  t.is((await control.call(key, 'POST', '/configs', { name: 'x', config: { request_timeout: 5 } })).status, 200)
  t.is((await admin('DELETE', `${path}/${ids[0] ?? ''}`)).status, 200)
  t.is((await admin('GET', `${path}/${ids[0] ?? ''}`)).status, 404)
  await control.refresh()
  t.is((await control.call(key, 'GET', '/configs')).status, 401)
  t.is(((await admin('GET', `/admin/workspaces/${String(id)}`)).body['users'] as unknown[]).length, 2)
})

const managing: readonly (readonly [does: string, method: string, who: 'boss' | 'peer' | 'new', body: unknown, status: number])[] = [
  ['adds an admin', 'POST', 'new', { role: 'admin' }, 403],
  ['adds a manager', 'POST', 'new', { role: 'manager' }, 200],
  ['makes a manager an admin', 'PUT', 'peer', { role: 'admin' }, 403],
  ['makes a manager a member', 'PUT', 'peer', { role: 'member' }, 200],
  ['makes an admin a member', 'PUT', 'boss', { role: 'member' }, 403],
  ['removes an admin', 'DELETE', 'boss', undefined, 403],
  ['removes a member', 'DELETE', 'peer', undefined, 200],
]
test('a manager gives and takes no role above their own', async (t) => {
  const workspace = String((await create({ name: 'Managed' }))['id'])
  const user = (name: string, role?: 'admin' | 'manager') =>
    control.createUser(acme, { email: `${name}@managed.example`, ...(role !== undefined && { workspaces: { [workspace]: role } }) })
  const people = {
    me: await user('me', 'manager'),
    boss: await user('boss', 'admin'),
    peer: await user('peer', 'manager'),
    new: await user('new'),
  }
  const key = await control.createKey(acme, { workspaceId: workspace, userId: people.me, scopes: userScopes })
  const path = `/admin/workspaces/${workspace}/users`
  for (const [does, method, who, body, status] of managing) {
    const id = people[who]
    const answer =
      method === 'POST'
        ? await control.call(key, method, path, { users: [{ id, ...(body as object) }] })
        : await control.call(key, method, `${path}/${id}`, body)
    t.is(answer.status, status, `${does}: ${answer.text}`)
  }
})

test.serial('users: listed with their workspaces, filtered, paged by either name, changed and removed', async (t) => {
  const owner = await control.createUser(acme, { email: 'owner@people.example', role: 'owner' })
  const id = await control.createUser(acme, { email: 'one@people.example', workspaces: { [acme.sideId]: 'member' } })
  t.like((await admin('GET', `/admin/users/${id}`)).body, {
    email: 'one@people.example',
    role: 'member',
    workspace_ids: [acme.sideId],
    object: 'user',
  })
  t.like((await admin('GET', '/admin/users?email=ONE@people.example')).body, { total: 1 })
  t.like((await admin('GET', '/admin/users?role=owner')).body, { total: 1 })
  const pages = await Promise.all(
    ['pageSize=1&currentPage=1', 'page_size=1&current_page=1'].map((query) => admin('GET', `/admin/users?${query}`)),
  )
  t.is(pages[0]?.text, pages[1]?.text)
  t.like(pages[0]?.body, { total: 2, has_more: false })
  t.like(errorOf(await admin('GET', '/admin/users?pageSize=1001')), { code: 'AB01', param: 'page_size' })
  t.is((await admin('PUT', `/admin/users/${id}`, { role: 'owner' })).status, 400)
  t.is((await admin('PUT', `/admin/users/${id}`, { role: 'admin', first_name: 'Ada' })).status, 200)
  t.like((await admin('GET', `/admin/users/${id}`)).body, { role: 'admin', first_name: 'Ada', last_name: null })
  for (const [method, body] of [
    ['PUT', { role: 'member' }],
    ['DELETE', undefined],
  ] as const)
    t.is((await admin(method, `/admin/users/${owner}`, body)).status, 403, method)
  const key = await control.createKey(acme, { workspaceId: acme.sideId, userId: id, scopes: userScopes })
  t.is((await control.call(key, 'GET', '/workspaces')).status, 200)
  t.is((await admin('DELETE', `/admin/users/${id}`)).status, 200)
  t.is((await admin('GET', `/admin/users/${id}`)).status, 404)
  await control.refresh()
  t.is((await control.call(key, 'GET', '/workspaces')).status, 401)
})
