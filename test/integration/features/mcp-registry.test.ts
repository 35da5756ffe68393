// Where MCP servers are, how one signs in there, and which workspaces may use them; and the view of it that the data plane reads.
import test from 'ava'
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

const secret = 'canary-of-a-header'
const integration = {
  name: 'Issue Tracker',
  url: 'http://127.0.0.1:8080/mcp',
  auth_type: 'headers',
  transport: 'http',
  configurations: { custom_headers: { 'X-Token': secret }, passthrough_header: { 'x-person': 'x-user-email' } },
}
const open = { ...integration, auth_type: 'none', configurations: null }

const post = (path: string, body: object, key = acme.adminKey): Promise<Answer> => control.call(key, 'POST', path, body)
async function made(path: string, body: object, key = acme.adminKey): Promise<{ id: string; slug: string }> {
  const answer = await post(path, body, key)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body as { id: string; slug: string }
}

test('an integration is stored, read by id and slug, listed, changed and deleted, and its headers are never shown', async (t) => {
  const { id, slug } = await made('/mcp-integrations', { ...integration, description: 'Our issues' })
  t.is(slug, 'issue-tracker')
  for (const reference of [id, slug]) {
    const { status, body, text } = await control.call(acme.adminKey, 'GET', `/mcp-integrations/${reference}`)
    t.is(status, 200)
    t.like(body, {
      id,
      slug,
      name: 'Issue Tracker',
      description: 'Our issues',
      type: 'organisation',
      workspace_id: null,
      url: integration.url,
      auth_type: 'headers',
      transport: 'http',
      status: 'active',
      configurations: { custom_header_names: ['X-Token'], passthrough_header: { 'x-person': 'x-user-email' } },
      secret_fields: ['custom_headers'],
      global_workspace_access: null,
    })
    t.false(text.includes(secret))
  }
  const list = await control.call(acme.adminKey, 'GET', '/mcp-integrations?search=issue')
  t.like(list.body, { total: 1, has_more: false })
  t.false(list.text.includes(secret))
  t.false((await control.dump()).includes(secret))

  const path = `/mcp-integrations/${slug}`
  t.is((await control.call(acme.adminKey, 'PUT', path, { name: 'Tracker', description: null })).status, 200)
  t.like((await control.call(acme.adminKey, 'GET', path)).body, { name: 'Tracker', description: null })
  const moved = await control.call(acme.adminKey, 'PUT', path, { url: 'http://127.0.0.1:8081/mcp' })
  t.is(moved.status, 400)
  t.like(moved.body['error'], { param: 'configurations.custom_headers' })
  const again = { url: 'http://127.0.0.1:8081/mcp', configurations: { custom_headers: { 'X-Token': 'n' } } }
  t.is((await control.call(acme.adminKey, 'PUT', path, again)).status, 200)

  await made('/mcp-servers', { name: 'User of it', mcp_integration_id: slug })
  const refused = await control.call(acme.adminKey, 'DELETE', path)
  t.is(refused.status, 409)
  t.regex(refused.text, /User of it/)
  t.is((await control.call(acme.adminKey, 'DELETE', '/mcp-servers/user-of-it')).status, 200)
  t.is((await control.call(acme.adminKey, 'DELETE', path)).status, 200)
  t.is((await control.call(acme.adminKey, 'GET', path)).status, 404)
})

const bad: Readonly<Record<string, readonly [body: object, param: string]>> = {
  'no name': [{ ...open, name: undefined }, 'name'],
  'no address': [{ ...open, url: undefined }, 'url'],
  'an address that is none': [{ ...open, url: 'mcp.example.com' }, 'url'],
  'a scheme of files': [{ ...open, url: 'file:///etc/passwd' }, 'url'],
  'a user in the address': [{ ...open, url: 'https://u:p@mcp.example.com/mcp' }, 'url'],
  'a query in the address': [{ ...open, url: 'https://mcp.example.com/mcp?token=t' }, 'url'],
  'the metadata service': [{ ...open, url: 'http://169.254.169.254/mcp' }, 'url'],
  'an unknown sign-in': [{ ...open, auth_type: 'basic' }, 'auth_type'],
  'an unknown transport': [{ ...open, transport: 'stdio' }, 'transport'],
  'headers that are missing': [{ ...open, auth_type: 'headers' }, 'configurations.custom_headers'],
  'a header that is none': [{ ...open, configurations: { custom_headers: { 'a b': 'c' } } }, 'configurations.custom_headers.a b'],
  'a header of the protocol': [
    { ...open, configurations: { custom_headers: { 'Mcp-Session-Id': 'c' } } },
    'configurations.custom_headers.Mcp-Session-Id',
  ],
  'a header with a line break': [{ ...open, configurations: { custom_headers: { a: 'b\r\nc: d' } } }, 'configurations.custom_headers.a'],
  "the caller's own credential": [
    { ...open, configurations: { passthrough_header: { a: 'x-service-api-key' } } },
    'configurations.passthrough_header.a',
  ],
  'an unknown field': [{ ...open, colour: 'red' }, 'colour'],
  'another organisation': [{ ...open, organisation_id: '00000000-0000-4000-8000-000000000000' }, 'organisation_id'],
  'a workspace that is none': [{ ...open, workspace_id: 'nowhere' }, 'workspace_id'],
  'a slug with a blank': [{ ...open, slug: 'a b' }, 'slug'],
}

for (const [what, [body, param]] of Object.entries(bad))
  test(`an integration with ${what} is refused by the name of the field`, async (t) => {
    const { status, body: answer, text } = await post('/mcp-integrations', body)
    t.true(status >= 400 && status < 500, text)
    t.is((answer['error'] as { param: string }).param, param, text)
    t.false(text.includes('u:p@') || text.includes('token=t'), text)
  })

const badServers: Readonly<Record<string, readonly [body: object, param: string]>> = {
  'no name': [{ mcp_integration_id: 'base' }, 'name'],
  'no integration': [{ name: 'x' }, 'mcp_integration_id'],
  'an integration that is none': [{ name: 'x', mcp_integration_id: 'nothing' }, 'mcp_integration_id'],
  'a short slug': [{ name: 'x', mcp_integration_id: 'base', slug: 'ab' }, 'slug'],
  'a long slug': [{ name: 'x', mcp_integration_id: 'base', slug: 'a'.repeat(51) }, 'slug'],
  'a long description': [{ name: 'x', mcp_integration_id: 'base', description: 'a'.repeat(501) }, 'description'],
  'an unknown access': [{ name: 'x', mcp_integration_id: 'base', default_access: 'some' }, 'default_access'],
  'an unknown pinning': [{ name: 'x', mcp_integration_id: 'base', pinning: 'on' }, 'pinning'],
  'a workspace that is none': [{ name: 'x', mcp_integration_id: 'base', workspace_id: 'nowhere' }, 'workspace_id'],
}

test.serial('a server with bad input is refused by the name of the field', async (t) => {
  await made('/mcp-integrations', { ...open, name: 'Base', slug: 'base' })
  for (const [what, [body, param]] of Object.entries(badServers)) {
    const { status, body: answer, text } = await post('/mcp-servers', body)
    t.true(status >= 400 && status < 500, `${what}: ${text}`)
    t.is((answer['error'] as { param: string }).param, param, `${what}: ${text}`)
  }
})

test('a server is stored, read, listed, changed and deleted, and lets no tool be called until somebody allows it', async (t) => {
  const { slug: of } = await made('/mcp-integrations', { ...open, name: 'Wiki' })
  const { id, slug } = await made('/mcp-servers', { name: 'Our wiki', mcp_integration_id: of })
  t.is(slug, 'our-wiki')
  const { body } = await control.call(acme.adminKey, 'GET', `/mcp-servers/${id}`)
  t.like(body, {
    id,
    slug,
    name: 'Our wiki',
    workspace_id: acme.workspaceId,
    default_access: 'deny',
    default_user_access: 'allow',
    pinning: 'flag',
    mcp_integration_details: { slug: of, url: open.url, transport: 'http', auth_type: 'none', status: 'active' },
  })
  t.regex(String(body['url']), /\/main\/our-wiki\/mcp$/)
  const change = { default_access: 'allow', pinning: 'hold', description: 'd' }
  t.is((await control.call(acme.adminKey, 'PUT', `/mcp-servers/${slug}`, change)).status, 200)
  t.like((await control.call(acme.adminKey, 'GET', `/mcp-servers/${slug}`)).body, change)
  const list = await control.call(acme.workspaceKey, 'GET', `/mcp-servers?id=${slug}`)
  t.like((list.body['data'] as object[])[0], { id, mcp_integration_slug: of, workspace_slug: 'main', auth_type: 'none' })
  t.is((await control.call(acme.adminKey, 'DELETE', `/mcp-servers/${slug}`)).status, 200)
  t.is((await control.call(acme.adminKey, 'GET', `/mcp-servers/${slug}`)).status, 404)
})

test('slugs of servers are unique in their workspace only, and are made within their bounds', async (t) => {
  await made('/mcp-integrations', { ...open, name: 'Shared', slug: 'shared' })
  await made('/mcp-servers', { name: 'x', slug: 'taken', mcp_integration_id: 'shared' })
  t.is((await post('/mcp-servers', { name: 'x', slug: 'taken', mcp_integration_id: 'shared' })).status, 409)
  t.is((await post('/mcp-servers', { name: 'x', slug: 'taken', mcp_integration_id: 'shared', workspace_id: 'side' })).status, 200)
  const long = 'a long name '.repeat(20)
  for (const name of ['x', long, long]) {
    const { slug } = await made('/mcp-servers', { name, mcp_integration_id: 'shared' })
    t.true(slug.length >= 3 && slug.length <= 50, slug)
  }
})

test('a workspace uses the integrations that it was given, and no others', async (t) => {
  const { slug } = await made('/mcp-integrations', { ...open, name: 'Granted' })
  const server = { name: 'Granted', mcp_integration_id: slug }
  t.is((await post('/mcp-servers', server, acme.sideKey)).status, 404)
  const path = `/mcp-integrations/${slug}/workspaces`
  t.is((await control.call(acme.adminKey, 'PUT', path, { workspaces: [{ id: 'side', enabled: true }] })).status, 200)
  t.is((await post('/mcp-servers', server, acme.sideKey)).status, 200)
  const { body } = await control.call(acme.adminKey, 'GET', path)
  t.like(body, { total: 1, global_workspace_access: null })
  t.like((body['data'] as object[])[0], { id: acme.sideId, slug: 'side', enabled: true, status: 'active' })
  t.deepEqual(body['workspaces'], body['data'])

  const scope = { organisationId: acme.organisationId, workspace: 'side' }
  await control.refresh()
  t.truthy(await control.started.snapshot.mcpServer(scope, 'granted'))
  const shut = { workspaces: [{ id: acme.sideId, enabled: false }], global_workspace_access: { enabled: true } }
  t.is((await control.call(acme.adminKey, 'PUT', path, shut)).status, 200)
  await control.refresh()
  t.is(await control.started.snapshot.mcpServer(scope, 'granted'), null)
  t.is((await control.call(acme.sideKey, 'GET', `/mcp-integrations/${slug}`)).status, 404)
  t.is((await control.call(acme.workspaceKey, 'GET', `/mcp-integrations/${slug}`)).status, 200)
  t.is((await control.call(acme.workspaceKey, 'PUT', `/mcp-integrations/${slug}`, { name: 'x' })).status, 403)
  for (const [workspaces, param] of [
    [[{ id: 'nowhere', enabled: true }], 'workspaces[0].id'],
    [
      [
        { id: 'main', enabled: true },
        { id: acme.workspaceId, enabled: true },
      ],
      'workspaces[1].id',
    ],
  ] as const)
    t.like((await control.call(acme.adminKey, 'PUT', path, { workspaces })).body['error'], { param })
})

test('the data plane finds a server by workspace and slug, with its headers opened, and learns of changes', async (t) => {
  const { slug: of } = await made('/mcp-integrations', { ...integration, name: 'Read by the gateway' })
  const { id, slug } = await made('/mcp-servers', { name: 'Read by the gateway', slug: 'gateway-reads', mcp_integration_id: of })
  const { snapshot } = control.started
  const find = (workspace: string | null, reference = slug) =>
    snapshot.mcpServer({ organisationId: acme.organisationId, workspace }, reference)
  await control.refresh()
  for (const workspace of [null, 'main', acme.workspaceId]) t.is((await find(workspace))?.id, id)
  const server = await find(null, id)
  t.like(server, {
    slug,
    workspaceSlug: 'main',
    url: integration.url,
    transport: 'http',
    auth: { type: 'headers', headers: { 'X-Token': secret } },
    headers: {},
    passthroughHeaders: { 'x-person': 'x-user-email' },
    era: null,
  })
  t.false(find('main') instanceof Promise)
  t.is(await find('side'), null)
  t.is(await snapshot.mcpServer({ organisationId: rival.organisationId, workspace: null }, id), null)

  const caller = { workspaceId: acme.workspaceId, userId: null, scopes: new Set(['mcp.invoke']) }
  t.is(server?.decide('tool', 'search', caller), 'not_allowed')
  await control.call(acme.adminKey, 'PUT', `/mcp-servers/${slug}`, { default_access: 'allow' })
  await control.refresh()
  const later = await find(null)
  t.is(later?.decide('tool', 'search', caller), 'allowed')
  t.is(later?.decide('tool', 'search', { ...caller, scopes: new Set() }), 'not_allowed')
  t.is(later?.decide('tool', 'search', { ...caller, workspaceId: acme.sideId }), 'not_allowed')

  await control.call(acme.adminKey, 'DELETE', `/mcp-servers/${slug}`)
  await control.refresh()
  t.is(await find(null), null)
})

test('an organisation reaches nothing of another', async (t) => {
  const { id } = await made('/mcp-integrations', { ...open, name: 'Mine' })
  const { id: server } = await made('/mcp-servers', { name: 'Mine too', mcp_integration_id: id })
  for (const [method, path, body] of [
    ['GET', `/mcp-integrations/${id}`],
    ['PUT', `/mcp-integrations/${id}`, { name: 'x' }],
    ['DELETE', `/mcp-integrations/${id}`],
    ['GET', `/mcp-integrations/${id}/workspaces`],
    ['PUT', `/mcp-integrations/${id}/workspaces`, { workspaces: [] }],
    ['GET', `/mcp-servers/${server}`],
    ['PUT', `/mcp-servers/${server}`, { name: 'x' }],
    ['DELETE', `/mcp-servers/${server}`],
    ['POST', '/mcp-servers', { name: 'x', mcp_integration_id: id }],
  ] as const)
    for (const key of [rival.adminKey, rival.workspaceKey]) t.is((await control.call(key, method, path, body)).status, 404, path)
  t.is((await control.call(rival.adminKey, 'GET', '/mcp-integrations')).body['total'], 0)
  t.is((await control.call(rival.adminKey, 'GET', '/mcp-servers')).body['total'], 0)
})

test('a workspace that is deleted takes its servers and the headers of its integrations with it', async (t) => {
  const { id } = await made('/admin/workspaces', { name: 'Short lived', slug: 'short' })
  const own = await made('/mcp-integrations', { ...integration, name: 'Of the workspace', workspace_id: id })
  await made('/mcp-servers', { name: 'Goes too', slug: 'goes-too', mcp_integration_id: own.id, workspace_id: id })
  const { id: shared } = await made('/mcp-integrations', { ...open, name: 'Shared with it' })
  const grants = { workspaces: [{ id, enabled: true }] }
  t.is((await control.call(acme.adminKey, 'PUT', `/mcp-integrations/${shared}/workspaces`, grants)).status, 200)
  await control.refresh()
  t.truthy(await control.started.snapshot.mcpServer({ organisationId: acme.organisationId, workspace: 'short' }, 'goes-too'))
  const full = await control.call(acme.adminKey, 'DELETE', `/admin/workspaces/${id}`)
  t.is(full.status, 409, full.text)
  t.is((await control.call(acme.adminKey, 'DELETE', `/admin/workspaces/${id}`, { force_delete: true })).status, 200)
  await control.refresh()
  t.is(await control.started.snapshot.mcpServer({ organisationId: acme.organisationId, workspace: 'short' }, 'goes-too'), null)
  const { rows } = await control.sql.query('SELECT status, custom_headers FROM mcp_integrations WHERE id = $1', [own.id])
  t.deepEqual(rows, [{ status: 'archived', custom_headers: null }])
  t.deepEqual((await control.call(acme.adminKey, 'GET', `/mcp-integrations/${shared}/workspaces`)).body['data'], [])
})

test('the register is there from 1.3.0 on, and the facts about servers from 1.9.0 on', async (t) => {
  const early = await startControl({}, { RELEASE_LEVEL: '1.3.0' })
  try {
    const tenant = await early.createTenant('early')
    const call = (method: string, path: string, body?: object) => early.call(tenant.adminKey, method, path, body)
    t.is((await call('POST', '/mcp-integrations', { ...open, slug: 'early' })).status, 200)
    t.is((await call('POST', '/mcp-servers', { name: 'Early', mcp_integration_id: 'early' })).status, 200)
    for (const path of ['/mcp-integrations', '/mcp-servers']) {
      const [item = {}] = (await call('GET', path)).body['data'] as object[]
      for (const field of ['title', 'icons', 'server_name', 'server_version', 'protocol_version', 'sync_status'])
        t.false(field in item, field)
    }
    for (const path of ['/mcp-integrations/early/metadata', '/mcp-servers/early/metadata'])
      t.like((await call('GET', path)).body['error'], { code: 'feature_unavailable', feature: { release: '1.9.0' } })
  } finally {
    await early.close()
  }
})

test('a workspace key may hold mcp.invoke, and a role does not take it away', async (t) => {
  const key = { name: 'caller', scopes: ['mcp.invoke'], workspace_id: 'main' }
  const answer = await post('/api-keys/workspace/service', key)
  t.is(answer.status, 200, answer.text)
  await control.refresh()
  const view = await control.started.snapshot.key(String(answer.body['key']))
  t.true(view?.scopes.has('mcp.invoke'))
  const refused = await post('/api-keys/organisation/service', { name: 'caller', scopes: ['mcp.invoke'] })
  t.is(refused.status, 400, refused.text)
})
