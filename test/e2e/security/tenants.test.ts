import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Client } from 'pg'
import type { Route } from '../../../src/app/route.ts'
import { inDatabase } from '../../support/database.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type RawAnswer, send, sendJson } from '../../support/http.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { type Gatehouse, startGatehouse } from '../../support/process.ts'
import { controlRoutes, neededQuery } from '../../support/routes.ts'
import { ask, type Company, createCompany, type Department, type Noun, type Things } from '../../support/tenants.ts'

let emulator: Emulator
let gatehouse: Gatehouse
let acme: Company
let rival: Company

test.before(async () => {
  emulator = await startEmulator()
  gatehouse = await startGatehouse()
  acme = await createCompany({ gatehouse, providerUrl: emulator.url }, 'acme')
  rival = await createCompany({ gatehouse, providerUrl: emulator.url }, 'rival')
})
test.after.always(async () => {
  await gatehouse?.stop()
  await emulator?.stop()
})

const limits = { conditions: [{ key: 'model', value: '*' }], group_by: [{ key: 'api_key' }] }

const secret = {
  manager_type: 'hashicorp_vault',
  auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: 't' },
  secret_path: 'secret/team',
}

const mcp = { url: 'https://mcp.example/mcp', transport: 'http', auth_type: 'none' }

/** A body that each write accepts; a new write has to be added here. */
const bodies: Readonly<Record<string, object>> = {
  'PUT /admin/organisation': { name: 'taken' },
  'PUT /admin/organisation/defaults': { input_guardrails: [] },
  'POST /admin/workspaces': { name: 'taken' },
  'PUT /admin/workspaces/:workspaceId': { name: 'taken' },
  'POST /admin/workspaces/:workspaceId/restore': {},
  'POST /admin/workspaces/:workspaceId/users': { users: [{ id: randomUUID(), role: 'member' }] },
  'PUT /admin/workspaces/:workspaceId/users/:userId': { role: 'admin' },
  'POST /admin/users/invites': { email: 'taken@example.com', role: 'member' },
  'POST /admin/users/invites/accept': { token: 'taken' },
  'POST /admin/users/invites/:inviteId/resend': {},
  'PUT /admin/users/:userId': { first_name: 'taken' },
  'POST /api-keys/:type/:subType': { name: 'taken', scopes: ['logs.list'] },
  'POST /api-keys/:id/rotate': {},
  'PUT /api-keys/:id': { name: 'taken' },
  'POST /integrations': { name: 'taken', ai_provider_id: 'openai', key: 'k' },
  'PUT /integrations/:slug': { name: 'taken', key: 'mine' },
  'POST /mcp-integrations': { ...mcp, name: 'taken' },
  'PUT /mcp-integrations/:mcpIntegrationId': { name: 'taken' },
  'PUT /mcp-integrations/:mcpIntegrationId/workspaces': { workspaces: [], override_existing_workspace_access: true },
  'PUT /mcp-integrations/:mcpIntegrationId/capabilities': { capabilities: [{ name: 'search', type: 'tool', enabled: false }] },
  'POST /mcp-integrations/:mcpIntegrationId/sync': {},
  'POST /mcp-servers': { name: 'taken', mcp_integration_id: 'none' },
  'PUT /mcp-servers/:mcpServerId': { default_access: 'allow' },
  'PUT /mcp-servers/:mcpServerId/capabilities': { capabilities: [{ name: 'search', type: 'tool', enabled: true }] },
  'PUT /mcp-servers/:mcpServerId/user-access': { default_user_access: 'deny' },
  'POST /mcp-servers/:mcpServerId/test': {},
  'POST /mcp-servers/:mcpServerId/capabilities/:name/approve': { hash: 'h' },
  'POST /mcp-servers/:mcpServerId/capabilities/:name/reject': { hash: 'h' },
  'POST /providers': { name: 'taken', integration_id: 'none' },
  'PUT /integrations/:slug/models': { models: [] },
  'PUT /integrations/:slug/workspaces': { workspaces: [], override_existing_workspace_access: true },
  'PUT /providers/:slug': { name: 'taken' },
  'POST /virtual-keys': { name: 'taken', provider: 'openai', key: 'k' },
  'PUT /virtual-keys/:slug': { name: 'taken', key: 'mine' },
  'POST /collections': { name: 'taken' },
  'PUT /collections/:collectionId': { name: 'taken' },
  'POST /labels': { name: 'taken' },
  'PUT /labels/:labelId': { name: 'taken' },
  'POST /prompts': { name: 'taken', collection_id: 'none', string: 'x', parameters: {}, virtual_key: 'none' },
  'PUT /prompts/:promptId': { name: 'taken' },
  'PUT /prompts/:promptId/versions/:versionId': { label_id: null },
  'PUT /prompts/:promptId/makeDefault': { version: 1 },
  'POST /prompts/:promptId/render': { variables: {} },
  'POST /otel/v1/traces': { resourceSpans: [] },
  'POST /logs/otel': { resourceSpans: [] },
  'POST /logs/otel/v1/traces': { resourceSpans: [] },
  'POST /feedback': { trace_id: 'taken', value: 1 },
  'PUT /feedback/:id': { value: 1 },
  'POST /logs/exports': { filters: {}, requested_data: ['id'] },
  'PUT /logs/exports/:exportId': { filters: {} },
  'POST /logs/exports/:exportId/start': {},
  'POST /logs/exports/:exportId/cancel': {},
  'POST /saved-filters': { name: 'taken', filters: {} },
  'PUT /saved-filters/:filterId': { name: 'taken' },
  'POST /policies/rate-limits': { ...limits, type: 'requests', unit: 'rpm', value: 1 },
  'POST /policies/rate-limits/preview': { ...limits, type: 'requests', unit: 'rpm', value: 1 },
  'POST /policies/usage-limits/preview': { ...limits, type: 'cost', credit_limit: 1 },
  'PUT /policies/rate-limits/:rateLimitsPolicyId': { value: 1 },
  'POST /policies/usage-limits': { ...limits, type: 'cost', credit_limit: 1 },
  'PUT /policies/usage-limits/:policyUsageLimitsId': { credit_limit: 1 },
  'PUT /policies/usage-limits/:policyUsageLimitsId/entities/:entityId/reset': {},
  'POST /prompts/partials': { name: 'taken', string: 'x' },
  'PUT /prompts/partials/:promptPartialId': { name: 'taken' },
  'PUT /prompts/partials/:promptPartialId/makeDefault': { version: 1 },
  'POST /guardrails': { name: 'taken', checks: [{ id: 'default.notNull' }], actions: { onFail: 'block' } },
  'PUT /guardrails/:guardrailId': { name: 'taken', actions: { onFail: 'warn' } },
  'POST /alert-webhooks': { name: 'taken', url: 'https://hooks.example/taken' },
  'PUT /alert-webhooks/:webhookId': { name: 'taken' },
  'POST /alert-webhooks/:webhookId/test': {},
  'PUT /admin/organisation/sso': {
    type: 'oidc',
    issuer: 'https://login.invalid',
    client_id: 'taken',
    client_secret: 'taken',
    role_mappings: [{ group: 'taken', workspace_id: 'taken', role: 'admin' }],
  },
  'POST /admin/organisation/sso/test': {},
  'POST /scim/tokens': { name: 'taken' },
  'POST /scim/tokens/:tokenId/rotate': {},
  'POST /scim/workspaces': { workspace_id: 'taken', scim_group_id: randomUUID(), role: 'admin' },
  'POST /plugins': { plugin: 'mistral', credentials: { apiKey: 'taken' } },
  'PUT /plugins/:pluginId': { name: 'taken' },
  'POST /secret-references': { ...secret, name: 'taken' },
  'POST /secret-references/test': secret,
  'POST /secret-references/:secretReferenceId/test': {},
  'PUT /secret-references/:secretReferenceId': { name: 'taken' },
  'POST /integrations/test': { ai_provider_id: 'openai', key: 'sk-taken', workspace_id: 'taken' },
  'POST /integrations/:slug/test': {},
  'POST /configs/validate': { slug: 'taken', config: { provider: 'openai' } },
  'POST /explain': { path: '/chat/completions', headers: { 'x-service-config': 'taken' }, body: {} },
  'POST /logs/:logId/replay': {},
  'POST /costs/recompute': { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z', filters: { workspace_id: randomUUID() } },
  'POST /configs': { name: 'taken', config: { request_timeout: 1 } },
  'PUT /configs/:slug': { name: 'taken', config: { request_timeout: 1 } },
}

function bodyOf({ method, path }: Route): object | undefined {
  if (method === 'GET' || method === 'DELETE') return undefined
  const body = bodies[`${method} ${path}`]
  if (body === undefined) throw new Error(`say with what body ${method} ${path} is called`)
  return body
}

/** The nouns of paths; a new noun has to be made in test/support/tenants.ts. */
function nounOf(path: string, things: Things): Noun {
  const named = path.replace('/admin', '').replace('/users/invites', '/invites').split('/:')[0]?.slice(1)
  const noun = Object.keys(things).find((known): known is Noun => known === named)
  if (noun === undefined) throw new Error(`make ${named} for each workspace`)
  return noun
}

/** Prices of models belong to no tenant: all read the same ones. Group keys of logs are no resource. */
const owned = controlRoutes.filter(({ path }) => !path.startsWith('/model-configs/') && !path.includes('/groups/'))
const onOne = owned.filter(({ path }) => path.includes(':') && !path.includes(':subType'))
const onMany = owned.filter((route) => !onOne.includes(route))
/** The first parameter names the thing; a second one a thing in it, which the first company has. */
const pathTo = ({ method, path }: Route, reference: string) =>
  `${path}${neededQuery({ method, path })}`
    .replace(/:\w+/, encodeURIComponent(reference))
    .replace(':userId', acme.main.things.users[0] ?? '')
    .replace(':name', 'search')
    .replace(':versionId', '1')
    .replace(':entityId', randomUUID())

/** An error without its variable parts: the request id and the reference that it repeats. */
const shapeOf = ({ status, text }: RawAnswer, reference: string) =>
  JSON.stringify([status, text.replace(/"request_id":"[^"]+"/, '').replaceAll(reference, 'REFERENCE')])

/** Everything that a company owns, as the tables hold it, logs aside: the rows of each table as text. */
const stateOf = ({ organisationId }: Company): Promise<Readonly<Record<string, readonly string[]>>> =>
  inDatabase(gatehouse.superuser, async (client) => {
    const state: Record<string, readonly string[]> = {}
    for (const table of await tenantTables()) {
      if (/^(?:logs|log_bodies|changes)/.test(table)) continue
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t WHERE organisation_id = $1 ORDER BY 1`, [
        organisationId,
      ])
      state[table] = rows.map(({ row }) => row)
    }
    return state
  })

const tenantTables = (): Promise<readonly string[]> =>
  inDatabase(gatehouse.superuser, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organisation_id'
        WHERE c.relkind IN ('r', 'p') AND NOT a.attisdropped ORDER BY 1`,
    )
    return rows.map(({ name }) => name)
  })

const strangers = (): readonly (readonly [who: string, key: string, owner: Department, nouns: readonly Noun[]])[] => {
  const { organisations: _, ...inside } = acme.main.things
  const nouns = Object.keys(inside) as Noun[]
  return [
    ['another organisation’s admin', rival.adminKey, acme.main, ['organisations', ...nouns]],
    ['another organisation’s workspace', rival.main.key, acme.main, ['organisations', ...nouns]],
    ['the neighbour workspace', acme.side.key, acme.main, nouns],
  ]
}

test.serial('on every route, what is a stranger’s is what is not there', async (t) => {
  const before = await stateOf(acme)
  for (const route of onOne) {
    const noun = nounOf(route.path, acme.main.things)
    for (const [who, key, owner, nouns] of strangers()) {
      if (!nouns.includes(noun)) continue
      for (const reference of owner.things[noun]) {
        const request = { method: route.method, body: bodyOf(route) }
        const unknown = noun === 'logs' || /^[0-9a-f-]{36}$/.test(reference) ? randomUUID() : `no-${reference}`
        const foreign = await ask(gatehouse, key, { ...request, path: pathTo(route, reference) })
        const absent = await ask(gatehouse, key, { ...request, path: pathTo(route, unknown) })
        t.true([403, 404].includes(foreign.status), `${who}: ${route.method} ${route.path} ${reference}: ${foreign.status} ${foreign.text}`)
        t.is(shapeOf(foreign, reference), shapeOf(absent, unknown), `${who}: ${route.method} ${route.path}`)
      }
    }
  }
  t.deepEqual(await stateOf(acme), before)
})

test.serial('the owner reaches all of it', async (t) => {
  for (const route of onOne.filter(({ method }) => method === 'GET')) {
    for (const reference of acme.main.things[nounOf(route.path, acme.main.things)]) {
      const answer = await ask(gatehouse, acme.adminKey, { path: pathTo(route, reference) })
      t.is(answer.status, 200, `${route.path} ${reference}: ${answer.text}`)
    }
  }
})

test.serial('a stranger’s ids in queries and bodies lead nowhere', async (t) => {
  const before = await stateOf(acme)
  const { paths } = JSON.parse((await send(`${gatehouse.origin}/openapi.json`)).text) as {
    paths: Record<string, Record<string, { parameters?: { name: string }[] }>>
  }
  let tried = 0
  for (const [who, key, owner] of strangers()) {
    const own = key === acme.side.key ? acme.side : rival.main
    for (const workspace of owner.things.workspaces) {
      for (const route of controlRoutes) {
        const documented = paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()]
        const field = documented?.parameters?.find(({ name }) => ['workspace_id', 'workspace_slug'].includes(name))?.name
        if (field === undefined) continue
        const groups = route.path.replace(':groupBy', 'model').replace(':metadataKey', 'env')
        const path = groups.includes(':') ? pathTo(route, own.things[nounOf(route.path, own.things)].at(-1) ?? '') : groups
        const needed = neededQuery(route)
        const query = `${needed === '' ? '?' : `${needed}&`}${field}=${workspace}`
        const answer = await ask(gatehouse, key, { method: route.method, path: `${path}${query}`, body: bodyOf(route) })
        t.true([403, 404].includes(answer.status), `${who}: ${route.method} ${path}: ${answer.status} ${answer.text}`)
        tried += 1
      }
      for (const [path, field] of [
        ['/api-keys/workspace/service', 'POST /api-keys/:type/:subType'],
        ['/integrations', 'POST /integrations'],
        ['/virtual-keys', 'POST /virtual-keys'],
        ['/mcp-integrations', 'POST /mcp-integrations'],
      ] as const) {
        const answer = await ask(gatehouse, key, { method: 'POST', path, body: { ...bodies[field], workspace_id: workspace } })
        t.true([403, 404].includes(answer.status), `${who}: POST ${path}: ${answer.status} ${answer.text}`)
        tried += 1
      }
    }
    for (const integration_id of owner.things.integrations) {
      const answer = await ask(gatehouse, key, { method: 'POST', path: '/providers', body: { name: 'taken', integration_id } })
      t.is(answer.status, 404, `${who}: ${answer.text}`)
    }
    for (const mcp_integration_id of owner.things['mcp-integrations']) {
      const answer = await ask(gatehouse, key, { method: 'POST', path: '/mcp-servers', body: { name: 'taken', mcp_integration_id } })
      t.is(answer.status, 404, `${who}: ${answer.text}`)
    }
  }
  t.true(tried > 40, `${tried}`)
  t.deepEqual(await stateOf(acme), before)
})

test.serial('lists hold nothing of a stranger', async (t) => {
  for (const [who, key, owner, nouns] of strangers()) {
    for (const route of onMany.filter(({ method }) => method === 'GET')) {
      const { status, text } = await ask(gatehouse, key, { path: `${route.path}${neededQuery(route)}` })
      t.true(status === 200 || status === 403, `${who}: ${route.path}: ${text}`)
      for (const noun of nouns)
        for (const reference of owner.things[noun]) t.false(text.includes(`"${reference}"`), `${who}: ${route.path}: ${reference}`)
    }
  }
})

test.serial('a provider of a stranger is not known, and is not called', async (t) => {
  const known = emulator.requests.length
  for (const [who, key, { things }] of strangers()) {
    const chat = (headers: Readonly<Record<string, string>>, model = 'm') =>
      sendJson(`${gatehouse.origin}/v1/chat/completions`, { 'x-service-api-key': key, ...headers }, { model, messages: [] })
    const ways = [
      (slug: string) => chat({ 'x-service-provider': `@${slug}` }),
      (slug: string) => chat({ 'x-service-virtual-key': slug }),
      (slug: string) => chat({}, `@${slug}/m`),
    ]
    for (const slug of [...things.providers, ...things['virtual-keys']]) {
      for (const way of ways) {
        const [foreign, absent] = [await way(slug), await way(`no-${slug}`)]
        t.true([400, 403].includes(foreign.status), `${who}: ${foreign.text}`)
        t.is(shapeOf(foreign, slug), shapeOf(absent, `no-${slug}`), who)
      }
    }
  }
  t.is(emulator.requests.length, known)
})

test.serial('keys that take turns on shared connections see their own organisation only', async (t) => {
  const turns = Array.from({ length: 300 }, (_, at) => [acme, rival][at % 2] ?? acme)
  const answers = await inParallel(turns, 24, ({ adminKey }) => ask(gatehouse, adminKey, { path: '/api-keys' }))
  for (const [at, { status, text }] of answers.entries()) {
    const [own, other] = turns[at] === acme ? [acme, rival] : [rival, acme]
    t.is(status, 200, text)
    t.true(text.includes(own.organisationId))
    t.false(text.includes(other.organisationId))
  }
})

/** Sessions of the process's own login: past its filter, but not past row-level security. */
const asProcess = <T>(organisationId: string | null, work: (client: Client) => Promise<T>): Promise<T> => {
  const { host, port, user, password, name } = gatehouse.database
  return inDatabase({ host, port, user, password: password?.reveal() ?? '', database: name }, async (client) => {
    if (organisationId !== null) await client.query(`SELECT set_config('app.organisation_id', $1, false)`, [organisationId])
    return work(client)
  })
}

async function countRows(client: Client, table: string, where = 'true'): Promise<number> {
  const { rows } = await client.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table} WHERE ${where}`)
  return rows[0]?.rows ?? 0
}

test.serial('without the filter of the process, the database still shows one tenant', async (t) => {
  const tables = await tenantTables()
  const own = `organisation_id = '${acme.organisationId}'`
  for (const table of [
    'organisations',
    'workspaces',
    'api_keys',
    'audit_logs',
    'integrations',
    'providers',
    'collections',
    'labels',
    'logs',
    'changes',
  ])
    t.true((await inDatabase(gatehouse.superuser, (client) => countRows(client, table, own))) > 0, `there is nothing to see in ${table}`)
  for (const table of tables) {
    t.is(await asProcess(null, (client) => countRows(client, table)), 0, `${table} without a tenant`)
    t.is(
      await asProcess(rival.organisationId, (client) => countRows(client, table, `organisation_id <> '${rival.organisationId}'`)),
      0,
      table,
    )
  }
})

test.serial('without the filter of the process, the database still changes one tenant', async (t) => {
  const before = await stateOf(acme)
  for (const table of ['workspaces', 'api_keys', 'integrations', 'providers', 'collections', 'labels', 'prompts', 'prompt_partials']) {
    const changed = await asProcess(rival.organisationId, async (client) => [
      (await client.query(`UPDATE ${table} SET name = 'taken' WHERE organisation_id = $1`, [acme.organisationId])).rowCount,
      (await client.query(`DELETE FROM ${table} WHERE organisation_id = $1`, [acme.organisationId])).rowCount,
    ])
    t.deepEqual(changed, [0, 0], table)
    const moved = asProcess(rival.organisationId, (client) =>
      client.query(`UPDATE ${table} SET organisation_id = $1`, [acme.organisationId]),
    )
    await t.throwsAsync(moved, { message: /row-level security/ }, table)
  }
  const planted = asProcess(rival.organisationId, (client) =>
    client.query(`INSERT INTO workspaces (id, organisation_id, slug, name) VALUES ($1, $2, 'taken', 'taken')`, [
      randomUUID(),
      acme.organisationId,
    ]),
  )
  await t.throwsAsync(planted, { message: /row-level security/ })
  t.deepEqual(await stateOf(acme), before)
})
