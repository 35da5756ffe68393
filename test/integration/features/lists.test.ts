import test from 'ava'
import { z } from 'zod'
import { features } from '../../../src/features/index.ts'
import type { Route } from '../../../src/app/route.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

type Fields = Readonly<Record<string, unknown>>

const shapeOf = (schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> => (schema instanceof z.ZodObject ? schema.shape : {})

const isList = ({ method, response }: Route) => {
  const { object } = shapeOf(response)
  return method === 'GET' && object instanceof z.ZodLiteral && object.value === 'list'
}

/**
 * Logs are paged by time, and groups by their size; both have filters and bounds of their own. Sessions and passkeys are listed whole, for the
 * signed-in person. People connect MCP servers by a browser (`mcp-connections.test.ts`).
 */
const elsewhere: ReadonlySet<string> = new Set([
  '/logs',
  '/traces',
  '/logs/groups/:groupBy',
  '/analytics/groups/:groupBy',
  '/alerts',
  '/auth/sessions',
  '/mcp-servers/:mcpServerId/connections',
  '/auth/passkeys',
  '/limits',
  '/policies/rate-limits/:rateLimitsPolicyId/entities',
  '/analytics/groups/workspaces',
  '/analytics/groups/users',
  '/analytics/groups/ai-models',
  '/analytics/groups/metadata/:metadataKey',
])

const lists = features.flatMap(({ routes }) => routes.filter((route) => isList(route) && !elsewhere.has(route.path)))

const many = ['one', 'two', 'three', 'four']
const partners = ['mistral', 'pillar', 'sydelabs', 'walledai']

async function made(path: string, body: Fields, key = acme.adminKey): Promise<Fields> {
  const answer = await control.call(key, 'POST', path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

/** The values of the parameters of paths. */
const named: Record<string, string> = {}

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
  for (const [at, path] of [
    '/collections',
    '/labels',
    '/prompts/partials',
    '/saved-filters',
    '/logs/exports',
    '/plugins',
    '/alert-webhooks',
    '/guardrails',
    '/configs',
    '/integrations',
    '/providers',
    '/virtual-keys',
    '/api-keys/workspace/service',
    '/admin/workspaces',
    '/policies/rate-limits',
    '/policies/usage-limits',
    '/admin/users/invites',
    '/scim/tokens',
    '/secret-references',
    '/mcp-integrations',
    '/mcp-servers',
  ].entries())
    for (const name of many) await made(path, bodies(name, path), at < 4 ? acme.workspaceKey : acme.adminKey)
  for (const name of many) await control.createUser(acme, { email: `${name}@example.com`, workspaces: { [acme.workspaceId]: 'member' } })
  await fillVersions()
  await control.sql.query(
    `INSERT INTO usage_limit_policy_entities (id, organisation_id, workspace_id, policy_id, value_key)
     SELECT gen_random_uuid(), organisation_id, workspace_id, id, 'api_key:' || n FROM usage_limit_policies, generate_series(1, 4) n`,
  )
  for (const name of many)
    await control.sql.query(
      'INSERT INTO scim_groups (id, organisation_id, display_name) SELECT gen_random_uuid(), organisation_id, $2 FROM workspaces WHERE id = $1',
      [acme.workspaceId, name],
    )
  await control.sql.query(
    `INSERT INTO scim_activity (id, organisation_id, token_id, token_name, operation, resource_type, status, request_id, created_at)
     SELECT gen_random_uuid(), organisation_id, gen_random_uuid(), 'idp', 'create', 'User', 201, n::text, now() - n * interval '1 minute'
       FROM workspaces, generate_series(1, 4) n WHERE id = $1`,
    [acme.workspaceId],
  )
  const { rows } = await control.sql.query<{ id: string }>('SELECT id FROM usage_limit_policies LIMIT 1')
  named['policyUsageLimitsId'] = rows[0]?.id ?? ''
  named['workspaceId'] = acme.workspaceId
  for (const name of many)
    await control.sql.query(
      `INSERT INTO breakers (id, organisation_id, workspace_id, config, option, provider, opened_at, until)
       SELECT gen_random_uuid(), organisation_id, id, $2, 'config', 'openai', clock_timestamp(), now() + interval '1 minute' FROM workspaces WHERE id = $1`,
      [acme.workspaceId, name],
    )
})
test.after.always(() => control.close())

const checks = [{ id: 'default.wordCount', parameters: { minWords: 1, maxWords: 5 } }]
const policy = () => ({
  workspace_id: acme.workspaceId,
  conditions: [{ key: 'workspace_id', value: acme.workspaceId }],
  group_by: [{ key: 'api_key' }],
})

/** A host of one's own has no models of the catalogue, which would fill pages. */
const ownHost = { key: 'sk-0123456789', configurations: { custom_host: 'http://127.0.0.1:59999/v1' } }

function bodies(name: string, path: string): Fields {
  const own: Readonly<Record<string, () => Fields>> = {
    '/prompts/partials': () => ({ string: name }),
    '/saved-filters': () => ({ filters: {} }),
    '/plugins': () => ({ plugin: partners[many.indexOf(name)], credentials: { apiKey: 'key' } }),
    '/alert-webhooks': () => ({ url: 'https://hooks.example/alerts' }),
    '/guardrails': () => ({ workspace_id: 'main', checks, actions: { onFail: 'block' } }),
    '/configs': () => ({ workspace_id: 'main', config: { provider: 'openai' } }),
    '/integrations': () => ({ slug: name, ai_provider_id: 'openai', ...ownHost, create_default_provider: false }),
    '/providers': () => ({ workspace_id: 'main', integration_id: 'one' }),
    '/virtual-keys': () => ({ workspace_id: 'main', provider: 'openai', ...ownHost }),
    '/api-keys/workspace/service': () => ({ workspace_id: 'main', scopes: ['logs.list'] }),
    '/secret-references': () => ({
      manager_type: 'hashicorp_vault',
      auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: 't' },
      secret_path: 'secret/team',
    }),
    '/mcp-integrations': () => ({ slug: name, url: 'https://mcp.example/mcp', transport: 'http', auth_type: 'none' }),
    '/mcp-servers': () => ({ workspace_id: 'main', slug: `mcp-${name}`, mcp_integration_id: 'one' }),
    '/policies/rate-limits': () => ({ ...policy(), type: 'requests', unit: 'rpm', value: name.length }),
    '/policies/usage-limits': () => ({ ...policy(), type: 'cost', credit_limit: name.length }),
  }
  if (path === '/logs/exports') return { filters: {}, requested_data: ['id'], description: name }
  if (path === '/admin/users/invites') return { email: `${name}@invited.example`, role: 'member', workspaces: [] }
  return { name, ...own[path]?.() }
}

async function fillVersions(): Promise<void> {
  const call = (method: string, path: string, body?: unknown) => control.call(acme.workspaceKey, method, path, body)
  const first = async (path: string) => ((await call('GET', path)).body['data'] as Fields[])[0]
  named['collection'] = String((await first('/collections'))?.['id'])
  const parameters = { string: 'a', parameters: {}, virtual_key: String((await first('/virtual-keys'))?.['slug']) }
  for (const name of many) {
    const prompt = await made('/prompts', { name, collection_id: named['collection'], ...parameters }, acme.workspaceKey)
    named['promptId'] = String(prompt['slug'])
  }
  named['promptPartialId'] = String((await first('/prompts/partials'))?.['slug'])
  const config = String((await first('/configs'))?.['slug'])
  for (const name of many) {
    await call('PUT', `/prompts/${named['promptId']}`, { ...parameters, string: name })
    await call('PUT', `/prompts/partials/${named['promptPartialId']}`, { string: `x${name}` })
    await call('PUT', `/configs/${config}`, { config: { provider: 'openai', retry: { attempts: name.length % 5 } } })
  }
  const models = many.map((slug) => ({ slug, enabled: true, is_custom: true }))
  await control.call(acme.adminKey, 'PUT', '/integrations/one/models', { models })
  const workspaces = ['main', 'side', 'ws-one', 'ws-two'].map((id) => ({ id, enabled: true, create_default_provider: false }))
  await control.call(acme.adminKey, 'PUT', '/integrations/one/workspaces', { workspaces })
  await control.call(acme.adminKey, 'PUT', '/mcp-integrations/one/workspaces', {
    workspaces: ['main', 'side', 'ws-one', 'ws-two'].map((id) => ({ id, enabled: true })),
  })
  for (const name of many)
    await control.sql.query(
      `INSERT INTO mcp_capabilities (id, organisation_id, integration_id, type, name, definition, hash, input_hash, first_seen_at, changed_at)
       SELECT gen_random_uuid(), organisation_id, id, 'tool', $2, '{}', 'h', 'i', now(), now() FROM mcp_integrations WHERE slug = 'one' AND organisation_id = $1`,
      [acme.organisationId, name],
    )
  const user = await control.createUser(acme, { email: 'reader@acme.example' })
  for (const name of many)
    await control.sql.query(
      `INSERT INTO mcp_sign_ins (id, organisation_id, workspace_id, user_id, server_id, client_id, client_name, redirect_uri, resource, expires_at)
       SELECT gen_random_uuid(), organisation_id, workspace_id, $2, id, 'https://program.example/' || $3::text, $3, 'http://127.0.0.1/back', 'x', now() + interval '1 day'
         FROM mcp_servers WHERE slug = 'mcp-one' AND organisation_id = $1`,
      [acme.organisationId, user, name],
    )
  named['mcpIntegrationId'] = 'one'
  named['mcpServerId'] = 'mcp-one'
  named['config'] = config
}

/** The route's path with names in place of its parameters. */
const pathOf = ({ path }: Route): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) =>
    name === 'slug' ? ((path.startsWith('/configs') ? named['config'] : 'one') ?? '') : (named[name] ?? ''),
  )

const keyFor = ({ path }: Route): string => (/^\/(prompts|collections|labels|saved-filters)/.test(path) ? acme.workspaceKey : acme.adminKey)

interface List {
  readonly total?: number
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly rows: readonly string[]
}

async function list(route: Route, query: string): Promise<List> {
  const answer = await control.call(keyFor(route), 'GET', `${pathOf(route)}?${query}`)
  if (answer.status !== 200) throw new Error(`${route.path}?${query}: ${answer.text}`)
  const { data, models, workspaces, ...page } = answer.body as unknown as List &
    Record<'data' | 'models' | 'workspaces', Fields[] | undefined>
  const rows = data ?? models ?? workspaces ?? []
  return {
    ...page,
    rows: rows.map((row) =>
      String(row['version_id'] ?? row['prompt_partial_version_id'] ?? row['id'] ?? row['user_id'] ?? row['slug'] ?? row['name']),
    ),
  }
}

for (const route of lists) {
  test(`pages of ${route.path} follow one another in every order, by number and by cursor`, async (t) => {
    const query = shapeOf(route.query)
    for (const field of ['page_size', 'current_page', 'after', 'include_total', 'sort']) t.true(Object.hasOwn(query, field), field)
    const sorts = (query['sort'] as z.ZodDefault<z.ZodEnum>).unwrap().options.map(String)
    for (const sort of sorts) {
      const whole = await list(route, `sort=${sort}&page_size=1000`)
      t.true(whole.rows.length >= (route.path === '/organisations' ? 1 : 4), `${sort}: ${whole.rows.length} rows`)
      t.is(new Set(whole.rows).size, whole.rows.length)
      t.like(whole, { total: whole.rows.length, has_more: false, next_cursor: null }, sort)
      const seen: string[] = []
      for (let page = await list(route, `sort=${sort}&page_size=2`); ;) {
        seen.push(...page.rows)
        t.is(page.has_more, page.next_cursor !== null)
        if (page.next_cursor === null) break
        page = await list(route, `sort=${sort}&page_size=2&after=${page.next_cursor}`)
        t.is(page.total, undefined)
      }
      t.deepEqual(seen, whole.rows, `${sort} by cursor`)
      t.deepEqual((await list(route, `sort=${sort}&page_size=2&current_page=1`)).rows, whole.rows.slice(2, 4), `${sort} by number`)
    }
    t.is((await list(route, 'include_total=false')).total, undefined)
    t.like(await list(route, 'page_size=0'), { rows: [], has_more: true })
    for (const [wrong, param] of [
      ['page_size=1001', 'page_size'],
      ['sort=colour', 'sort'],
    ])
      t.like((await control.call(keyFor(route), 'GET', `${pathOf(route)}?${wrong}`)).body, { error: { code: 'AB01', param } })
    if (!Object.hasOwn(query, 'search')) return
    t.deepEqual((await list(route, 'search=no-such-thing')).rows, [])
    const found = await list(route, `search=${route.path.endsWith('entities') ? 'KEY:2' : 'THRE'}`)
    t.true(found.rows.length >= 1 || route.path.endsWith('/workspaces'), 'what is searched for is found')
    t.is(found.total, found.rows.length)
  })
}

test('every list has the same page, and a search or a reason against it', (t) => {
  t.true(lists.length >= 20, `${lists.length}`)
  const searchless = lists.filter(({ query }) => !Object.hasOwn(shapeOf(query), 'search')).map(({ path }) => path)
  t.deepEqual(searchless.toSorted(), [
    '/admin/workspaces/:workspaceId/users',
    '/audit-logs',
    '/configs/:slug/versions',
    '/mcp-sign-ins',
    '/organisations',
    '/prompts/:promptId/versions',
    '/prompts/partials/:promptPartialId/versions',
    '/scim/activity',
    '/scim/tokens',
  ])
})

test('a cursor of another order, or of a row that is gone, is refused', async (t) => {
  const { next_cursor: cursor } = (await control.call(acme.adminKey, 'GET', '/configs?page_size=1&sort=name')).body
  const refused = async (query: string) => (await control.call(acme.adminKey, 'GET', `/configs?${query}`)).body['error']
  t.like(await refused(`after=${String(cursor)}`), { code: 'AB01', param: 'after' })
  t.like(await refused('sort=name&after=nonsense'), { code: 'AB01', param: 'after' })
  const unknown = Buffer.from(`name ${acme.workspaceId}`).toString('base64url')
  t.like(await refused(`sort=name&after=${unknown}`), { code: 'AB01', param: 'after' })
})

test('keys are listed by what has become of them', async (t) => {
  await control.sql.query(`UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE name = 'two'`)
  await control.sql.query(`UPDATE api_keys SET status = 'exhausted' WHERE name = 'three'`)
  const names = async (status: string) => {
    const { body } = await control.call(acme.adminKey, 'GET', `/api-keys?workspace_id=main&status=${status}`)
    return (body['data'] as Fields[]).map(({ name }) => name).filter((name) => many.includes(String(name)))
  }
  t.deepEqual(await names('expired'), ['two'])
  t.deepEqual(await names('exhausted'), ['three'])
  t.deepEqual(await names('active'), ['four', 'one'])
  t.deepEqual(await names('expired,exhausted'), ['three', 'two'])
})
