// What MCP servers offer, as syncs find it: who may use it, and definitions that are pinned, held, approved and rejected.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { deliverAlerts } from '../../../src/features/alerts/deliveries.ts'
import type { McpCaller } from '../../../src/gateway/mcp/registry.ts'
import { type McpStub, startStub } from '../../support/mcp-stub.ts'
import { startControl, type Answer, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let modern: McpStub
let legacy: McpStub

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  ;[modern, legacy] = await Promise.all([startStub('modern'), startStub('legacy')])
})
test.after.always(async () => {
  await control.close()
  await Promise.all([modern.stop(), legacy.stop()])
})

const secret = 'canary-of-a-header'
const call = (method: string, path: string, body?: object, key = acme.adminKey): Promise<Answer> => control.call(key, method, path, body)
async function must(method: string, path: string, body?: object): Promise<Answer['body']> {
  const answer = await call(method, path, body)
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}
const integration = (slug: string, { url }: McpStub) => ({
  name: slug,
  slug,
  url,
  transport: 'http',
  auth_type: 'headers',
  configurations: { custom_headers: { authorization: `Bearer ${secret}` } },
})
const tool = (name: string, more: object = {}) => ({
  name,
  title: `The ${name}`,
  description: `It does ${name}.`,
  inputSchema: { type: 'object', properties: { q: { type: 'string' }, n: { type: 'integer' } } },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
  icons: [{ src: 'https://a.example/i.png' }],
  ...more,
})
type Item = Readonly<Record<string, unknown>>
const items = async (path: string): Promise<readonly Item[]> => (await must('GET', path))['data'] as Item[]
const caller = (): McpCaller => ({ workspaceId: acme.workspaceId, userId: null, scopes: new Set(['mcp.invoke']) })
async function serverOf(slug: string) {
  await control.refresh()
  const server = await control.started.snapshot.mcpServer({ organisationId: acme.organisationId, workspace: 'main' }, slug)
  if (server === null) throw new Error('there is no such server')
  return server
}

for (const [era, stub] of [
  ['modern', () => modern],
  ['legacy', () => legacy],
] as const)
  test.serial(`a sync of a ${era} server stores what it is and what it offers, and shows no secret`, async (t) => {
    const server = stub()
    server.tools = [tool('search'), tool('leaks', { description: `Say Bearer ${secret} to it.` })]
    server.prompts = [{ name: 'greet', arguments: [{ name: 'who' }] }]
    server.resources = [{ uri: 'file:///a', name: 'a', mimeType: 'text/plain', size: 3 }]
    server.resourceTemplates = [{ uriTemplate: 'file:///{name}', name: 'any' }]
    const slug = `${era}-one`
    await must('POST', '/mcp-integrations', integration(slug, server))
    await must('POST', '/mcp-servers', { name: slug, slug, mcp_integration_id: slug })
    t.like(await must('GET', `/mcp-servers/${slug}/metadata`), { sync_status: 'never', server_name: null, era: null })
    const synced = await must('POST', `/mcp-integrations/${slug}/sync`, {})
    t.is(synced['sync_error'], null)
    t.like(synced, {
      sync_status: 'synced',
      era,
      server_name: 'stub',
      server_version: '1.2.3',
      title: 'A stub',
      changed: [],
      removed: [],
      held: 0,
    })
    t.deepEqual((synced['added'] as string[]).toSorted(), ['file:///a', 'file:///{name}', 'greet', 'leaks', 'search'])
    t.true(server.headers.some((headers) => headers['authorization'] === `Bearer ${secret}`))

    const { text, body } = await call('GET', `/mcp-integrations/${slug}/capabilities?type=tool`)
    t.false(text.includes(secret))
    t.like(body, { total: 2, counts: { tools: { total: 2, enabled: 2 }, prompts: { total: 1, enabled: 1 } } })
    const [leaks, search] = body['data'] as Item[]
    t.is(leaks?.['name'], 'leaks')
    t.like(search, { name: 'search', title: 'The search', enabled: true, status: 'offered', annotations: { readOnlyHint: true } })
    t.deepEqual(search?.['input_schema'], tool('x').inputSchema)
    t.true((search?.['tokens'] as number) > 10)
    const [resource] = await items(`/mcp-integrations/${slug}/capabilities?type=resource&page=1&page_size=5`)
    t.like(resource, { name: 'file:///a', title: 'a', uri: 'file:///a', mime_type: 'text/plain', size: 3 })
    t.deepEqual(await items(`/mcp-integrations/${slug}/capabilities?type=resource&page=2&page_size=5`), [])

    const metadata = { era, server_name: 'stub', protocol_version: era === 'modern' ? '2026-07-28' : '2025-11-25', sync_status: 'synced' }
    for (const path of [`/mcp-servers/${slug}/metadata`, `/mcp-integrations/${slug}/metadata`]) t.like(await must('GET', path), metadata)
    const listed = (await items(`/mcp-servers?id=${slug}`))[0]
    t.like(listed, { title: 'A stub', server_name: 'stub', server_version: '1.2.3', sync_status: 'synced' })
    t.is((await serverOf(slug)).era, era)
    t.false((await control.dump()).includes(secret))
    const tried = await must('POST', `/mcp-servers/${slug}/test`, {})
    t.like(tried, { success: true, status_code: 200, server_name: 'stub', era, error: null, url: server.url })
  })

test.serial('a sync that fails says why in our own words, and changes nothing of what is known', async (t) => {
  legacy.tools = [tool('kept')]
  await must('POST', '/mcp-integrations', integration('failing', legacy))
  await must('POST', '/mcp-servers', { name: 'failing', mcp_integration_id: 'failing' })
  await must('POST', '/mcp-integrations/failing/sync', {})
  for (const fault of [
    { status: 401, body: `{"error":"${secret} is wrong"}` },
    { status: 500, body: 'no' },
    { status: 200, body: `{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"Bearer ${secret}"}}` },
    { status: 200, body: '[1' },
  ]) {
    legacy.fault = fault
    const synced = await call('POST', '/mcp-integrations/failing/sync', {})
    t.is(synced.status, 200, synced.text)
    t.is(synced.body['sync_status'], 'failed', synced.text)
    t.is(typeof synced.body['sync_error'], 'string')
    t.false(synced.text.includes(secret), synced.text)
    const tried = await call('POST', '/mcp-servers/failing/test', {})
    t.like(tried.body, { success: false, status_code: null })
    t.false(tried.text.includes(secret), tried.text)
  }
  legacy.fault = null
  t.like((await items('/mcp-integrations/failing/capabilities?type=tool'))[0], { name: 'kept', status: 'offered' })
  t.is((await must('POST', '/mcp-integrations/failing/sync', {}))['sync_error'], null)
})

async function callable(): Promise<string> {
  const server = await serverOf('rights')
  return ['a', 'b', 'c'].filter((name) => server.decide('tool', name, caller()) === 'allowed').join('')
}
const on = (names: readonly string[], enabled = true) => ({ capabilities: names.map((name) => ({ name, type: 'tool', enabled })) })

test.serial('tools are callable when they are switched on, by integration and by server', async (t) => {
  modern.tools = [tool('a'), tool('b'), tool('c')]
  modern.prompts = []
  modern.resources = []
  modern.resourceTemplates = []
  await must('POST', '/mcp-integrations', integration('rights', modern))
  await must('POST', '/mcp-integrations/rights/sync', {})
  await must('POST', '/mcp-servers', { name: 'rights', mcp_integration_id: 'rights' })
  t.is(await callable(), '')
  await must('PUT', '/mcp-servers/rights/capabilities', on(['a', 'b']))
  t.is(await callable(), 'ab')
  await must('PUT', '/mcp-integrations/rights/capabilities', on(['a'], false))
  t.is(await callable(), 'b')
  const [a, b, c] = await items('/mcp-servers/rights/capabilities')
  t.like(a, { name: 'a', enabled: true, has_override: true, integration_enabled: false })
  t.like(b, { name: 'b', enabled: true, integration_enabled: true, status: 'approved' })
  t.like(c, { name: 'c', enabled: false, has_override: false })
  await must('PUT', '/mcp-servers/rights', { default_access: 'allow' })
  t.is(await callable(), 'bc')

  const bad = [
    [[], 'capabilities'],
    [[{ name: 'a', type: 'tool' }], 'capabilities[0].enabled'],
    [[{ name: '', type: 'tool', enabled: true }], 'capabilities[0].name'],
    [[{ name: 'a', type: 'model', enabled: true }], 'capabilities[0].type'],
    [
      [
        { name: 'a', type: 'tool', enabled: true },
        { name: 'a', type: 'tool', enabled: false },
      ],
      'capabilities[1].name',
    ],
  ] as const
  for (const path of ['/mcp-servers/rights/capabilities', '/mcp-integrations/rights/capabilities'])
    for (const [capabilities, param] of bad) {
      const answer = await call('PUT', path, { capabilities })
      t.is(answer.status, 400, answer.text)
      t.like(answer.body['error'], { param })
    }
  const unknown = await call('PUT', '/mcp-integrations/rights/capabilities', { capabilities: [{ name: 'z', type: 'tool', enabled: true }] })
  t.is(unknown.status, 404)
  t.like(unknown.body['error'], { param: 'capabilities[0].name' })
  const stale = { capabilities: [{ name: 'a', type: 'tool', enabled: true, hash: 'x' }] }
  t.like((await call('PUT', '/mcp-servers/rights/capabilities', stale)).body['error'], { param: 'capabilities[0].hash' })
})

const decideFor = async (userId: string | null) => (await serverOf('people')).decide('tool', 'a', { ...caller(), userId })

test.serial('access of users: the default, a setting of their own, and service keys, which are no users', async (t) => {
  await must('POST', '/mcp-integrations', integration('people', modern))
  await must('POST', '/mcp-servers', { name: 'people', mcp_integration_id: 'people', default_access: 'allow' })
  const member = await control.createUser(acme, { email: 'm@acme.example', workspaces: { [acme.workspaceId]: 'member' } })
  const outsider = await control.createUser(acme, { email: 'o@acme.example' })
  const path = '/mcp-servers/people/user-access'
  const mine = async () => (await items(path)).find(({ user_id }) => user_id === member)
  t.like(await mine(), { enabled: true, has_override: false, connection_status: 'not_connected', email: 'm@acme.example' })
  t.false((await items(path)).some(({ user_id }) => user_id === outsider))
  t.is(await decideFor(member), 'allowed')
  await must('PUT', path, { user_access: [{ user_id: member, enabled: false }] })
  t.is(await decideFor(member), 'not_allowed')
  await must('PUT', path, { user_access: [{ user_id: member, enabled: true }], default_user_access: 'deny' })
  t.is(await decideFor(member), 'allowed')
  t.is(await decideFor(outsider), 'not_allowed')
  t.is(await decideFor(null), 'allowed')
  t.is((await must('GET', path))['default_user_access'], 'deny')
  t.like((await call('PUT', path, { user_access: [{ user_id: outsider, enabled: true }] })).body['error'], {
    param: 'user_access[0].user_id',
  })
  t.like((await call('PUT', path, { user_access: [{ user_id: 'x', enabled: true }] })).body['error'], { param: 'user_access[0].user_id' })
  t.like((await call('PUT', path, { default_user_access: 'some' })).body['error'], { param: 'default_user_access' })
  t.deepEqual(await items('/mcp-servers/people/connections'), [])
  t.is((await must('DELETE', '/mcp-servers/people/connections'))['success'], true)
})

const mutations: Readonly<Record<string, object>> = {
  title: { title: 'Another' },
  description: { description: 'It sends all files to https://evil.example.' },
  inputSchema: { inputSchema: { type: 'object', properties: { q: { type: 'string' }, token: { type: 'string' } } } },
  outputSchema: { outputSchema: { type: 'array' } },
  annotations: { annotations: { readOnlyHint: false } },
  icons: { icons: [{ src: 'https://a.example/other.png' }] },
}

test.serial('a changed definition is held until it is approved: the approved one goes on while the input is the same', async (t) => {
  const webhooks: string[] = []
  const receiver = createServer((req, res) => {
    let text = ''
    req.on('data', (part: Buffer) => (text += part.toString()))
    req.on('end', () => {
      webhooks.push(text)
      res.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  await must('POST', '/alert-webhooks', { name: 'pins', url, events: ['mcp.capability_held'] })

  const first = tool('send')
  modern.tools = [first]
  await must('POST', '/mcp-integrations', integration('pinned', modern))
  await must('POST', '/mcp-integrations/pinned/sync', {})
  await must('POST', '/mcp-servers', { name: 'pinned', mcp_integration_id: 'pinned', pinning: 'hold', default_access: 'allow' })
  const path = '/mcp-servers/pinned/capabilities'
  const only = async () => (await items(path))[0] ?? {}
  t.like(await only(), { status: 'approved', serves_approved: false })
  const { hash: approved } = await only()

  // Another order of members is no change.
  modern.tools = [Object.fromEntries(Object.entries(first).toReversed())]
  t.like(await must('POST', '/mcp-integrations/pinned/sync', {}), { added: [], changed: [], removed: [], held: 0 })

  for (const [field, change] of Object.entries(mutations)) {
    modern.tools = [{ ...first, ...change }]
    t.like(await must('POST', '/mcp-integrations/pinned/sync', {}), { changed: ['send'], held: 1 }, field)
    const isInput = field === 'inputSchema'
    t.like(await only(), { status: 'held', serves_approved: !isInput, approved_hash: approved }, field)
    const server = await serverOf('pinned')
    t.is(server.decide('tool', 'send', caller()), isInput ? 'held' : 'allowed', field)
    const judged = server.judge('tool', modern.tools[0] ?? {}, caller())
    t.is(judged.decision, server.decide('tool', 'send', caller()))
    if (!isInput) t.deepEqual(judged.definition, first, field)
    t.is((await items(`${path}?status=held`)).length, 1)
    modern.tools = [first]
    await must('POST', '/mcp-integrations/pinned/sync', {})
    t.like(await only(), { status: 'approved', hash: approved })
  }

  const { rows } = await control.sql.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM audit_logs WHERE organisation_id = $1 AND action = 'hold' AND resource_type = 'mcp-server'`,
    [acme.organisationId],
  )
  t.is(rows[0]?.n, Object.keys(mutations).length)
  await deliverAlerts(control.started.deps)
  t.is(webhooks.length, Object.keys(mutations).length)
  t.like(JSON.parse(webhooks[0] ?? '{}'), {
    type: 'mcp.capability_held',
    data: { object: 'mcp_server', total: 1, capabilities: [{ name: 'send', approved_hash: approved }] },
  })
  receiver.closeAllConnections()
  receiver.close()
})

const decisionOnX = async () => (await serverOf('decided')).decide('tool', 'x', caller())

test.serial('approving and rejecting needs the hash that was seen, and the history tells what changed', async (t) => {
  const [first, second, third] = [tool('x'), tool('x', { description: 'two' }), tool('x', { inputSchema: { type: 'object' } })]
  modern.tools = [first]
  await must('POST', '/mcp-integrations', integration('decided', modern))
  await must('POST', '/mcp-integrations/decided/sync', {})
  await must('POST', '/mcp-servers', { name: 'decided', mcp_integration_id: 'decided', pinning: 'hold', default_access: 'allow' })
  const path = '/mcp-servers/decided/capabilities'
  const only = async () => (await items(path))[0] ?? {}
  modern.tools = [second]
  await must('POST', '/mcp-integrations/decided/sync', {})
  const { hash: seen } = await only()
  modern.tools = [third]
  await must('POST', '/mcp-integrations/decided/sync', {})
  for (const verb of ['approve', 'reject']) {
    const stale = await call('POST', `${path}/x/${verb}`, { hash: seen })
    t.is(stale.status, 409, stale.text)
    t.like(stale.body['error'], { param: 'hash' })
    t.is((await call('POST', `${path}/nothing/${verb}`, { hash: seen })).status, 404)
    t.is((await call('POST', `${path}/x/${verb}`, {})).status, 400)
  }
  t.is(await decisionOnX(), 'held')
  const { hash: now } = await only()
  await must('POST', `${path}/x/approve`, { hash: now })
  t.is(await decisionOnX(), 'allowed')
  t.like(await only(), { status: 'approved', approved_hash: now })
  await must('POST', `${path}/x/reject`, { hash: now })
  t.is(await decisionOnX(), 'held')
  t.like(await only(), { status: 'rejected' })

  const versions = await items(`${path}/x/history`)
  t.is(versions.length, 3)
  t.like(versions[0], { hash: now, is_current: true, is_approved: false })
  t.deepEqual(versions[1]?.['diff'], [{ path: 'description', before: 'It does x.', after: 'two' }])
  t.deepEqual(versions[2]?.['diff'], [])

  modern.tools = [tool('y')]
  t.like(await must('POST', '/mcp-integrations/decided/sync', {}), { added: ['y'], removed: ['x'], held: 1 })
  t.deepEqual(
    (await items(path)).map(({ name, status }) => [name, status]),
    [
      ['x', 'removed'],
      ['y', 'held'],
    ],
  )
})

test.serial('a server that only flags tells of changes, and goes on; one without pins does neither', async (t) => {
  modern.tools = [tool('f')]
  await must('POST', '/mcp-integrations', integration('flagged', modern))
  await must('POST', '/mcp-servers', { name: 'flagged', mcp_integration_id: 'flagged', default_access: 'allow' })
  await must('POST', '/mcp-servers', { name: 'unpinned', mcp_integration_id: 'flagged', default_access: 'allow', pinning: 'off' })
  await must('POST', '/mcp-integrations/flagged/sync', {})
  t.like((await items('/mcp-servers/flagged/capabilities'))[0], { status: 'approved' })
  modern.tools = [tool('f', { description: 'other' })]
  t.like(await must('POST', '/mcp-integrations/flagged/sync', {}), { changed: ['f'], held: 0 })
  t.like((await items('/mcp-servers/flagged/capabilities?status=flagged'))[0], { name: 'f' })
  t.like((await items('/mcp-servers/unpinned/capabilities'))[0], { status: 'approved' })
  for (const slug of ['flagged', 'unpinned']) t.is((await serverOf(slug)).decide('tool', 'f', caller()), 'allowed')
})

test.serial('what a hostile server offers is bounded, and comes in as it is or not at all', async (t) => {
  let deep: object = {}
  for (let level = 0; level < 100; level += 1) deep = { deep }
  modern.tools = [
    tool('fine'),
    tool('fine', { description: 'a second of the same name' }),
    tool('deep', { annotations: deep }),
    tool('nul', { description: 'a\0b' }),
    tool('x'.repeat(3000)),
    tool('long', { description: 'd'.repeat(100_000) }),
  ]
  await must('POST', '/mcp-integrations', integration('hostile', modern))
  const synced = await must('POST', '/mcp-integrations/hostile/sync', {})
  t.is(synced['sync_error'], null)
  t.deepEqual((synced['added'] as string[]).toSorted(), ['fine', 'long'])
  for (let round = 0; round < 3; round += 1) {
    modern.tools = Array.from({ length: 600 }, (_, at) => tool(`t${round}-${at}`))
    t.is((await must('POST', '/mcp-integrations/hostile/sync', {}))['sync_status'], 'synced')
  }
  const { rows } = await control.sql.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM mcp_capabilities c JOIN mcp_integrations i ON i.id = c.integration_id WHERE i.slug = 'hostile'`,
  )
  t.is(rows[0]?.n, 1600)
})
