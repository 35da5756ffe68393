import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let other: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  other = await control.createTenant('other')
  await control.sql.query(
    `INSERT INTO workspaces (id, organisation_id, slug, name, status) VALUES (gen_random_uuid(), $1, 'old', 'Old', 'archived')`,
    [acme.organisationId],
  )
})
test.after.always(() => control.close())

const slugs = (body: Readonly<Record<string, unknown>>) => (body['data'] as { slug: string }[]).map(({ slug }) => slug)

test('an organisation is read by its key, by id and by slug', async (t) => {
  for (const path of ['/admin/organisation', '/organisations/acme', `/organisations/${acme.organisationId}`]) {
    const { status, body } = await control.call(acme.adminKey, 'GET', path)
    t.is(status, 200, path)
    t.like(body, { id: acme.organisationId, slug: 'acme', name: 'acme', status: 'active', object: 'organisation' })
  }
  const list = await control.call(acme.adminKey, 'GET', '/organisations')
  t.like(list.body, { object: 'list', total: 1, has_more: false })
  t.deepEqual(slugs(list.body), ['acme'])
})

test('a foreign organisation is not there', async (t) => {
  for (const reference of ['other', other.organisationId, 'nonsense', '%00', '..%2f', "a'b"]) {
    const { status, body } = await control.call(acme.adminKey, 'GET', `/organisations/${reference}`)
    t.is(status, 404, reference)
    t.like(body, { error: { code: 'AB08' } })
  }
})

test('a workspace key reads no organisation', async (t) => {
  t.is((await control.call(acme.workspaceKey, 'GET', '/admin/organisation')).status, 403)
})

const lists = test.macro({
  async exec(t, query: string, expected: string[], total: number, more: boolean) {
    for (const path of ['/admin/workspaces', '/workspaces']) {
      const { status, body } = await control.call(acme.adminKey, 'GET', `${path}?${query}`)
      t.is(status, 200)
      t.deepEqual(slugs(body), expected)
      t.like(body, { object: 'list', total, has_more: more })
    }
  },
  title: (_, ...given) => `lists ${JSON.stringify(given)}`,
})

test(lists, '', ['main', 'side'], 2, false)
test(lists, 'page_size=1', ['main'], 2, true)
test(lists, 'page_size=1&current_page=1', ['side'], 2, false)
test(lists, 'page_size=1&current_page=5', [], 2, false)
test(lists, 'page_size=0', [], 2, true)
test(lists, 'name=AI', ['main'], 1, false)
test(lists, 'name=%25', [], 0, false)
test(lists, 'name=_ain', [], 0, false)
test(lists, 'exact_name=Side', ['side'], 1, false)
test(lists, 'exact_name=side', [], 0, false)
test(lists, 'status=archived', ['old'], 1, false)
test(lists, 'status=active,archived', ['main', 'side', 'old'], 3, false)

const refuses = test.macro({
  async exec(t, query: string, field: string) {
    const { status, body } = await control.call(acme.adminKey, 'GET', `/workspaces?${query}`)
    t.is(status, 400)
    t.like(body, { error: { code: 'AB01' } })
    t.regex((body['error'] as { param: string }).param, new RegExp(`^${field}`))
  },
  title: (_, ...given) => `refuses ${JSON.stringify(given)}`,
})

test(refuses, 'page_size=1001', 'page_size')
test(refuses, 'page_size=-1', 'page_size')
test(refuses, 'current_page=-1', 'current_page')
test(refuses, 'current_page=x', 'current_page')
test(refuses, 'status=gone', 'status')
test(refuses, 'name=%00', 'name')

test('a workspace is read by id or slug, on both paths', async (t) => {
  for (const reference of ['side', acme.sideId, acme.sideId.toUpperCase()]) {
    for (const path of ['/admin/workspaces', '/workspaces']) {
      const { status, body } = await control.call(acme.adminKey, 'GET', `${path}/${reference}`)
      t.is(status, 200)
      t.like(body, { id: acme.sideId, slug: 'side', name: 'Side', is_default: 0, users: [], object: 'workspace' })
    }
  }
})

test('archived, foreign and unknown workspaces are the same 404', async (t) => {
  const answers = await Promise.all(
    ['old', other.workspaceId, 'nonsense'].map((reference) => control.call(acme.adminKey, 'GET', `/workspaces/${reference}`)),
  )
  for (const { status, body } of answers) {
    t.is(status, 404)
    t.like(body, { error: { code: 'AB08', param: 'workspaceId' } })
  }
})

test('a workspace key sees its own workspace only', async (t) => {
  t.deepEqual(slugs((await control.call(acme.sideKey, 'GET', '/workspaces')).body), ['side'])
  t.is((await control.call(acme.sideKey, 'GET', '/workspaces/side')).status, 200)
  t.is((await control.call(acme.sideKey, 'GET', '/workspaces/main')).status, 404)
  t.is((await control.call(acme.sideKey, 'GET', '/workspaces?status=archived')).status, 403)
})
