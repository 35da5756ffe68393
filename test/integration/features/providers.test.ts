import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let integrationId: string

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  const { body } = await control.call(acme.adminKey, 'POST', '/integrations', {
    name: 'Base',
    ai_provider_id: 'openai',
    key: 'k',
    create_default_provider: false,
  })
  integrationId = String(body['id'])
})
test.after.always(() => control.close())

type Body = Readonly<Record<string, unknown>>

async function made(body: Body, key = acme.adminKey): Promise<{ id: string; slug: string }> {
  const answer = await control.call(key, 'POST', '/providers', { integration_id: integrationId, ...body })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body as { id: string; slug: string }
}

const future = '2099-01-01T00:00:00.000Z'
const everything = {
  note: 'n',
  usage_limits: { type: 'tokens', credit_limit: 9 },
  rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
  expires_at: future,
}

test('a provider is read by slug, @slug and id', async (t) => {
  const { id, slug } = await made({ name: 'My Provider', ...everything })
  t.is(slug, 'my-provider')
  for (const reference of [slug, `@${slug}`, id]) {
    const { status, body } = await control.call(acme.adminKey, 'GET', `/providers/${reference}`)
    t.is(status, 200)
    t.like(body, {
      id,
      slug,
      name: 'My Provider',
      integration_id: integrationId,
      workspace_id: acme.workspaceId,
      status: 'active',
      note: 'n',
      usage_limits: { type: 'tokens', credit_limit: 9 },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
      expires_at: future,
      object: 'provider',
    })
  }
})

test('slugs are unique in their workspace only', async (t) => {
  t.is((await made({ name: 'x', slug: 'taken' })).slug, 'taken')
  t.is((await made({ name: 'x', slug: 'taken', workspace_id: 'side' })).slug, 'taken')
  const answer = await control.call(acme.adminKey, 'POST', '/providers', { name: 'x', slug: 'taken', integration_id: integrationId })
  t.is(answer.status, 409)
  t.like(answer.body, { error: { code: 'AB07', param: 'slug' } })
  t.regex((await made({ name: 'Taken' })).slug, /^taken-[a-z0-9]{6}$/)
  t.like((await control.call(acme.adminKey, 'GET', '/providers/taken?workspace_id=side')).body, { workspace_id: acme.sideId })
})

const make = (path: string, body: Body) => control.call(acme.adminKey, 'POST', path, body)

test('a slug that is taken is told with its holder: the provider that came with an integration, a virtual key, its account', async (t) => {
  const account = { name: 'Held', ai_provider_id: 'openai', key: 'sk-0123456789' }
  t.is((await make('/integrations', { ...account, slug: 'held' })).status, 200)
  t.is((await make('/virtual-keys', { name: 'Old Key', workspace_id: 'main', provider: 'openai', key: 'sk-0123456789' })).status, 200)
  const refusals = [
    ['/providers', { slug: 'held', name: 'x', integration_id: 'held' }, 'slug', /provider "Held".*came with its integration.*@held/],
    ['/providers', { slug: 'old-key', name: 'x', integration_id: 'held' }, 'slug', /virtual key "Old Key" of this workspace\. Call/],
    ['/integrations', { ...account, slug: 'held' }, 'slug', /the integration "Held" of the organisation: integrations share/],
    ['/integrations', { ...account, slug: 'old-key' }, 'slug', /account of the virtual key "Old Key" of a workspace/],
    ['/integrations', { ...account, default_provider_slug: 'old-key' }, 'default_provider_slug', /virtual key "Old Key"/],
  ] as const
  for (const [path, body, param, message] of refusals) {
    const answer = await make(path, body)
    t.is(answer.status, 409, answer.text)
    t.like(answer.body, { error: { code: 'AB07', param } })
    t.regex(String((answer.body['error'] as Body)['message']), message)
  }
})

test('one slug asked for by many at once is given once', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      control.call(acme.adminKey, 'POST', '/providers', { name: 'r', slug: 'race', integration_id: integrationId }),
    ),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  t.is(answers.filter(({ status }) => status === 409).length, 7)
})

const refuses = test.macro({
  async exec(t, body: Body, param: string, status: number = 400) {
    const answer = await control.call(acme.adminKey, 'POST', '/providers', { name: 'bad', integration_id: integrationId, ...body })
    t.is(answer.status, status, answer.text)
    t.regex((answer.body['error'] as { param: string }).param, new RegExp(`^${param}`))
  },
  title: (_, body) => `refuses ${JSON.stringify(body)}`,
})

test(refuses, { name: null }, 'name')
test(refuses, { name: 'x'.repeat(256) }, 'name')
test(refuses, { integration_id: '' }, 'integration_id')
test(refuses, { integration_id: 'nowhere' }, 'integration_id', 404)
test(refuses, { workspace_id: 'nowhere' }, 'workspace_id', 404)
test(refuses, { slug: 'a b' }, 'slug')
test(refuses, { slug: '' }, 'slug')
test(refuses, { note: 'a\u0000' }, 'note')
test(refuses, { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at')
test(refuses, { usage_limits: { credit_limit: -1 } }, 'usage_limits')
test(refuses, { rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }, 'rate_limits')
test(refuses, { key: 'k' }, 'key')

test('a provider of another workspace is changed by its slug with the workspace, in the query or in the body', async (t) => {
  await made({ name: 'x', slug: 'elsewhere', workspace_id: 'side' })
  const change = (query: string, body: Body) => control.call(acme.adminKey, 'PUT', `/providers/elsewhere${query}`, body)
  t.is((await change('', { note: 'lost' })).status, 404)
  t.is((await change('', { note: 'body', workspace_id: 'side' })).status, 200)
  const found = await control.call(acme.adminKey, 'GET', '/providers/elsewhere?workspace_id=side')
  t.like(found.body, { note: 'body', workspace_id: acme.sideId })
  t.is((await change('?workspace_id=side', { note: 'query' })).status, 200)
  t.is((await control.call(acme.workspaceKey, 'PUT', '/providers/elsewhere', { workspace_id: 'side' })).status, 403)
})

test('a change touches what it names; null clears; the answer says which it was', async (t) => {
  const { id, slug } = await made({ name: 'Changing', ...everything })
  const renamed = await control.call(acme.adminKey, 'PUT', `/providers/${slug}`, { name: 'Changed' })
  t.deepEqual(renamed.body, { id, slug })
  t.like((await control.call(acme.adminKey, 'GET', `/providers/${slug}`)).body, { ...everything, name: 'Changed', slug })
  await control.call(acme.adminKey, 'PUT', `/providers/${slug}`, { note: null, usage_limits: null, rate_limits: null, expires_at: null })
  t.like((await control.call(acme.adminKey, 'GET', `/providers/${slug}`)).body, {
    name: 'Changed',
    note: null,
    usage_limits: null,
    rate_limits: null,
    expires_at: null,
  })
  for (const body of [{ name: null }, { slug: 'other' }, { expires_at: '2020-01-01T00:00:00Z' }, { integration_id: 'x' }]) {
    t.is((await control.call(acme.adminKey, 'PUT', `/providers/${slug}`, body)).status, 400, JSON.stringify(body))
  }
})

test('what ran out is expired, what was used up is reset', async (t) => {
  const { id, slug } = await made({ name: 'Status' })
  const status = async () => (await control.call(acme.adminKey, 'GET', `/providers/${slug}`)).body['status']
  await control.sql.query(`UPDATE providers SET expires_at = now() - interval '1 s' WHERE id = $1`, [id])
  t.is(await status(), 'expired')
  await control.call(acme.adminKey, 'PUT', `/providers/${slug}`, { expires_at: future })
  t.is(await status(), 'active')
  await control.sql.query(`UPDATE providers SET status = 'exhausted' WHERE id = $1`, [id])
  t.is(await status(), 'exhausted')
  await control.call(acme.adminKey, 'PUT', `/providers/${slug}`, { reset_usage: true })
  t.is(await status(), 'active')
})

test('a workspace key is confined to its workspace', async (t) => {
  const mine = await made({ name: 'Mine' })
  const theirs = await made({ name: 'Theirs', workspace_id: 'side' })
  t.is((await control.call(acme.workspaceKey, 'GET', `/providers/${mine.id}`)).status, 200)
  for (const reference of [theirs.id, theirs.slug]) {
    t.is((await control.call(acme.workspaceKey, 'GET', `/providers/${reference}`)).status, 404)
    t.is((await control.call(acme.workspaceKey, 'PUT', `/providers/${reference}`, { name: 'x' })).status, 404)
    t.is((await control.call(acme.workspaceKey, 'DELETE', `/providers/${reference}`)).status, 404)
    t.is((await control.call(acme.workspaceKey, 'GET', `/providers/${reference}?workspace_id=side`)).status, 403)
  }
  t.is((await control.call(acme.workspaceKey, 'GET', '/providers?workspace_id=side')).status, 403)
  t.is(
    (await control.call(acme.workspaceKey, 'POST', '/providers', { name: 'x', integration_id: integrationId, workspace_id: 'side' }))
      .status,
    403,
  )
})

test("a workspace's integration gives providers in that workspace only", async (t) => {
  const { body } = await control.call(acme.sideKey, 'POST', '/integrations', {
    name: 'Side only',
    ai_provider_id: 'openai',
    create_default_provider: false,
  })
  const wrong = await control.call(acme.adminKey, 'POST', '/providers', { name: 'x', integration_id: body['id'], workspace_id: 'main' })
  t.is(wrong.status, 400)
  t.like(wrong.body, { error: { code: 'AB01', param: 'integration_id' } })
  const right = await made({ name: 'Right', integration_id: body['id'] })
  t.like((await control.call(acme.adminKey, 'GET', `/providers/${right.id}`)).body, { workspace_id: acme.sideId })
})

test('lists page through one workspace, newest first', async (t) => {
  const tenant = await control.createTenant('paging')
  const { body } = await control.call(tenant.adminKey, 'POST', '/integrations', {
    name: 'P',
    ai_provider_id: 'openai',
    create_default_provider: false,
  })
  for (const name of ['one', 'two', 'three']) await made({ name, integration_id: body['id'] }, tenant.adminKey)
  await made({ name: 'elsewhere', integration_id: body['id'], workspace_id: 'side' }, tenant.adminKey)
  const list = async (query: string) => {
    const { body: answer } = await control.call(tenant.adminKey, 'GET', `/providers?${query}`)
    return [(answer['data'] as { slug: string }[]).map(({ slug }) => slug), answer['total'], answer['has_more']]
  }
  t.deepEqual(await list(''), [['three', 'two', 'one'], 3, false])
  t.deepEqual(await list('page_size=2'), [['three', 'two'], 3, true])
  t.deepEqual(await list('page_size=2&current_page=1'), [['one'], 3, false])
  t.deepEqual(await list('page_size=0'), [[], 3, true])
  t.deepEqual(await list('workspace_id=side'), [['elsewhere'], 1, false])
  for (const query of ['page_size=1001', 'page_size=-1', 'current_page=x']) {
    t.is((await control.call(tenant.adminKey, 'GET', `/providers?${query}`)).status, 400)
  }
})

test('a deleted provider is gone and its slug free', async (t) => {
  const { id } = await made({ name: 'Gone', slug: 'gone' })
  t.is((await control.call(acme.adminKey, 'DELETE', '/providers/gone')).text, '{}')
  for (const reference of [id, 'gone']) {
    t.is((await control.call(acme.adminKey, 'GET', `/providers/${reference}`)).status, 404)
    t.is((await control.call(acme.adminKey, 'PUT', `/providers/${reference}`, { name: 'x' })).status, 404)
    t.is((await control.call(acme.adminKey, 'DELETE', `/providers/${reference}`)).status, 404)
  }
  t.is((await made({ name: 'Gone', slug: 'gone' })).slug, 'gone')
})
