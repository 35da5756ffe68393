import { randomUUID } from 'node:crypto'
import { organisationScopes, workspaceScopes } from '../../src/lib/access/scopes.ts'
import { inDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { type RawAnswer, send, sendJson } from './http.ts'
import { adminKey, type Gatehouse } from './process.ts'

/** The resources of a workspace, each by every reference that a path may hold. */
export type Things = Readonly<Record<Noun, readonly string[]>>
export type Noun =
  | 'organisations'
  | 'workspaces'
  | 'users'
  | 'invites'
  | 'api-keys'
  | 'integrations'
  | 'providers'
  | 'virtual-keys'
  | 'logs'
  | 'traces'
  | 'collections'
  | 'labels'
  | 'prompts'
  | 'prompts/partials'
  | 'feedback'
  | 'saved-filters'
  | 'logs/exports'
  | 'policies/rate-limits'
  | 'policies/usage-limits'
  | 'configs'
  | 'guardrails'
  | 'plugins'
  | 'alert-webhooks'
  | 'breakers'
  | 'scim/tokens'
  | 'scim/workspaces'
  | 'organisation/sso/test-sign-ins'
  | 'secret-references'
  | 'mcp-integrations'
  | 'mcp-servers'
  | 'mcp-sign-ins'

export interface Department {
  readonly workspaceId: string
  readonly slug: string
  readonly key: string
  readonly things: Things
}

/** An organisation with two workspaces, both in use. */
export interface Company {
  readonly organisationId: string
  readonly slug: string
  readonly adminKey: string
  readonly main: Department
  readonly side: Department
}

interface Calls {
  readonly gatehouse: Pick<Gatehouse, 'origin' | 'superuser'>
  /** The provider's URL, and the form of a chat with it. */
  readonly providerUrl: string
}

export const ask = (
  gatehouse: Pick<Gatehouse, 'origin'>,
  key: string,
  { method = 'GET', path, body }: { method?: string; path: string; body?: unknown },
): Promise<RawAnswer> =>
  send(`${gatehouse.origin}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

async function demand(answer: Promise<RawAnswer>): Promise<Readonly<Record<string, unknown>>> {
  const { status, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

/** Makes an organisation, its workspaces and their keys. A key is made by the first admin and then moved, since only the process can hash one. */
export async function createCompany(calls: Calls, slug: string): Promise<Company> {
  const [organisationId, mainId, sideId] = [randomUUID(), randomUUID(), randomUUID()]
  const [userId, inviteId] = [randomUUID(), randomUUID()]
  const { gatehouse } = calls
  const admin = await makeKey(gatehouse, 'organisation', organisationScopes)
  const keys = [await makeKey(gatehouse, 'workspace', workspaceScopes), await makeKey(gatehouse, 'workspace', workspaceScopes)] as const
  await inDatabase(gatehouse.superuser, async (client) => {
    await client.query(`INSERT INTO organisations (id, slug, name) VALUES ($1, $2, $2)`, [organisationId, slug])
    for (const [at, id] of [mainId, sideId].entries()) {
      const name = `${slug}-${at === 0 ? 'main' : 'side'}`
      await client.query(`INSERT INTO workspaces (id, organisation_id, slug, name, is_default) VALUES ($1, $2, $3, $3, $4)`, [
        id,
        organisationId,
        name,
        at === 0,
      ])
    }
    await client.query(`INSERT INTO users (id, organisation_id, email, role) VALUES ($1, $2, $3, 'member')`, [
      userId,
      organisationId,
      `person@${slug}.example`,
    ])
    await client.query(
      `INSERT INTO invites (id, organisation_id, email, role, token_hash, expires_at) VALUES ($1, $2, 'guest@example.com', 'member', $3, now() + interval '1 day')`,
      [inviteId, organisationId, Buffer.from(inviteId)],
    )
    for (const workspace of [mainId, sideId])
      await client.query(
        `INSERT INTO workspace_members (id, organisation_id, workspace_id, user_id, role) VALUES (gen_random_uuid(), $1, $2, $3, 'member')`,
        [organisationId, workspace, userId],
      )
    const move = 'UPDATE api_keys SET organisation_id = $2, workspace_id = $3 WHERE id = $1'
    await client.query(move, [admin.id, organisationId, null])
    await client.query(move, [keys[0].id, organisationId, mainId])
    await client.query(move, [keys[1].id, organisationId, sideId])
  })
  await eventually(
    async () => (await ask(gatehouse, admin.key, { path: '/admin/organisation' })).text.includes(organisationId),
    5000,
    'the key to move',
  )
  const department = async (workspaceId: string, name: string, key: string): Promise<Department> => {
    await eventually(async () => (await ask(gatehouse, key, { path: '/workspaces' })).text.includes(workspaceId), 5000, 'the key to move')
    return {
      workspaceId,
      slug: name,
      key,
      things: {
        organisations: [organisationId, slug],
        workspaces: [workspaceId, name],
        users: [userId],
        invites: [inviteId],
        plugins: [await makePlugin(gatehouse, admin.key, workspaceId)],
        breakers: [await makeBreaker(gatehouse, organisationId, workspaceId)],
        ...(await makeProvisioning(gatehouse, admin.key, workspaceId)),
        'organisation/sso/test-sign-ins': [await makeTestSignIn(gatehouse, admin.key)],
        'secret-references': await makeReference(gatehouse, key, workspaceId),
        ...(await makeThings(calls, key, name)),
      },
    }
  }
  return {
    organisationId,
    slug,
    adminKey: admin.key,
    main: await department(mainId, `${slug}-main`, keys[0].key),
    side: await department(sideId, `${slug}-side`, keys[1].key),
  }
}

/** Stores the credentials of a partner for one workspace, which only a key of the organisation may, and returns their id. */
async function makePlugin(gatehouse: Pick<Gatehouse, 'origin'>, key: string, workspaceId: string): Promise<string> {
  const body = { plugin: 'mistral', credentials: { apiKey: 'k' }, workspace_id: workspaceId }
  const { id } = await demand(ask(gatehouse, key, { method: 'POST', path: '/plugins', body }))
  return String(id)
}

/** Lets an identity provider write a group, and gives its members a role in one workspace. */
async function makeProvisioning(gatehouse: Pick<Gatehouse, 'origin'>, key: string, workspaceId: string) {
  const post = (path: string, body: object) => demand(ask(gatehouse, key, { method: 'POST', path, body }))
  const client = await post('/scim/tokens', { name: 'Identity provider' })
  const headers = { authorization: `Bearer ${String(client['token'])}` }
  const { text } = await sendJson(`${gatehouse.origin}/scim/v2/Groups`, headers, { displayName: `Group of ${workspaceId}` })
  const { id } = JSON.parse(text) as { id: string }
  const mapping = await post('/scim/workspaces', { workspace_id: workspaceId, scim_group_id: id, role: 'member' })
  return { 'scim/tokens': [String(client['id'])], 'scim/workspaces': [String(mapping['id'])] } as const
}

/** Sets the identity provider of an organisation, turned off, and begins a test of it, whose id it returns. */
async function makeTestSignIn(gatehouse: Pick<Gatehouse, 'origin'>, key: string): Promise<string> {
  const path = '/admin/organisation/sso'
  const provider = { type: 'oidc', enabled: false, issuer: 'https://login.invalid', client_id: 'a', client_secret: 'b' }
  await demand(ask(gatehouse, key, { method: 'PUT', path, body: provider }))
  const { id } = await demand(ask(gatehouse, key, { method: 'POST', path: `${path}/test-sign-ins`, body: {} }))
  return String(id)
}

/** Stores where a secret is, as a workspace that owns it, and returns its id and slug. */
async function makeReference(gatehouse: Pick<Gatehouse, 'origin'>, key: string, workspaceId: string): Promise<readonly string[]> {
  const auth_config = { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: 't' }
  const body = {
    name: `secret ${workspaceId}`,
    manager_type: 'hashicorp_vault',
    auth_config,
    secret_path: 'secret/team',
    allowed_workspaces: [workspaceId],
  }
  const { id, slug } = await demand(ask(gatehouse, key, { method: 'POST', path: '/secret-references', body }))
  return [String(id), String(slug)]
}

/** Opens a circuit breaker, as a gateway writes it down, and returns its id. */
async function makeBreaker(gatehouse: Pick<Gatehouse, 'superuser'>, organisationId: string, workspaceId: string): Promise<string> {
  const id = randomUUID()
  await inDatabase(gatehouse.superuser, (client) =>
    client.query(
      `INSERT INTO breakers (id, organisation_id, workspace_id, option, opened_at, until) VALUES ($1, $2, $3, 'config', now(), now() + interval '1 hour')`,
      [id, organisationId, workspaceId],
    ),
  )
  return id
}

/** Writes down a tool of an MCP server, as a sync does. */
const addTool = (gatehouse: Pick<Gatehouse, 'superuser'>, integrationId: string): Promise<void> =>
  inDatabase(gatehouse.superuser, async (client) => {
    await client.query(
      `INSERT INTO mcp_capabilities (id, organisation_id, integration_id, type, name, definition, hash, input_hash, first_seen_at, changed_at)
       SELECT gen_random_uuid(), organisation_id, id, 'tool', tools.name, '{}', 'h', 'i', now(), now() FROM mcp_integrations, (VALUES ('search'), ($1::text)) AS tools (name)
        WHERE id = $1::uuid`,
      [integrationId],
    )
  })

/** Writes down that a person of its own let a program use an MCP server, as their browser does, and returns the id. */
const addSignIn = (gatehouse: Pick<Gatehouse, 'superuser'>, serverId: string): Promise<string> =>
  inDatabase(gatehouse.superuser, async (client) => {
    const id = randomUUID()
    await client.query(
      `WITH served AS (SELECT * FROM mcp_servers WHERE id = $2),
            person AS (INSERT INTO users (id, organisation_id, email, role)
                       SELECT gen_random_uuid(), organisation_id, slug || '@programs.example', 'member' FROM served RETURNING id)
       INSERT INTO mcp_sign_ins (id, organisation_id, workspace_id, user_id, server_id, client_id, redirect_uri, resource, expires_at)
       SELECT $1, s.organisation_id, s.workspace_id, person.id, s.id, 'https://client.example/' || s.slug || '.json', 'http://127.0.0.1/callback',
              'https://gate.example/' || s.slug || '/mcp', now() + interval '30 days'
         FROM served s, person`,
      [id, serverId],
    )
    return id
  })

/** A key of the first organisation. */
async function makeKey(
  gatehouse: Pick<Gatehouse, 'origin'>,
  type: 'organisation' | 'workspace',
  scopes: readonly string[],
): Promise<{ id: string; key: string }> {
  const made = await demand(ask(gatehouse, adminKey, { method: 'POST', path: `/api-keys/${type}/service`, body: { name: 'k', scopes } }))
  return { id: String(made['id']), key: String(made['key']) }
}

/** One of each, made with the workspace's own key. */
async function makeThings(
  { gatehouse, providerUrl }: Calls,
  key: string,
  name: string,
): Promise<
  Omit<
    Things,
    | 'organisations'
    | 'workspaces'
    | 'users'
    | 'invites'
    | 'plugins'
    | 'breakers'
    | 'scim/tokens'
    | 'scim/workspaces'
    | 'organisation/sso/test-sign-ins'
    | 'secret-references'
  >
> {
  const post = (path: string, body: unknown) => demand(ask(gatehouse, key, { method: 'POST', path, body }))
  const idOf = async (path: string) => String((await demand(ask(gatehouse, key, { path })))['id'])
  const configurations = { custom_host: providerUrl }
  const integration = await post('/integrations', {
    name,
    slug: `${name}-i`,
    default_provider_slug: `${name}-p`,
    ai_provider_id: 'openai',
    key: `sk-${name}`,
    configurations,
  })
  const mcp = { name: `${name} m`, slug: `${name}-m`, url: `${providerUrl}/mcp`, auth_type: 'none', transport: 'http' }
  const mcpIntegration = await post('/mcp-integrations', mcp)
  const mcpServer = await post('/mcp-servers', { name: `${name} s`, slug: `${name}-s`, mcp_integration_id: `${name}-m` })
  await addTool(gatehouse, String(mcpIntegration['id']))
  const signIn = await addSignIn(gatehouse, String(mcpServer['id']))
  await post('/virtual-keys', { name: `${name} v`, provider: 'openai', key: `sk-${name}`, configurations })
  const config = (await post('/configs', { name, slug: `${name}-c`, config: { provider: `@${name}-p` } }))['data'] as { id: string }
  const guardrail = await post('/guardrails', { name, slug: `${name}-g`, checks: [{ id: 'default.notNull' }], actions: { onFail: 'warn' } })
  const apiKey = await post('/api-keys/workspace/service', { name, scopes: ['logs.list'] })
  const collection = await post('/collections', { name: `${name} c` })
  const label = await post('/labels', { name: `${name}-l` })
  const prompt = await post('/prompts', {
    name: `${name} prompt`,
    collection_id: `${name}-c`,
    string: 'x',
    parameters: {},
    virtual_key: `${name}-p`,
    model: 'm',
  })
  const webhook = await post('/alert-webhooks', { name: `${name} pager`, url: `${providerUrl}/alerts` })
  const filter = await post('/saved-filters', { name: `${name} filter`, filters: {} })
  const logExport = await post('/logs/exports', { filters: {}, requested_data: ['id'] })
  await post(`/logs/exports/${String(logExport['id'])}/start`, {})
  const feedback = await post('/feedback', { trace_id: name, value: 1 })
  const limits = { conditions: [{ key: 'model', value: '*' }], group_by: [{ key: 'api_key' }] }
  const rateLimit = await post('/policies/rate-limits', { ...limits, type: 'requests', unit: 'rpd', value: 1000 })
  const usageLimit = await post('/policies/usage-limits', { ...limits, type: 'tokens', credit_limit: 1_000_000 })
  const partial = await post('/prompts/partials', { name: `${name} partial`, string: 'x' })
  const headers = { 'x-service-api-key': key, 'x-service-provider': `@${name}-p`, 'x-service-trace-id': name }
  await demand(sendJson(`${gatehouse.origin}/v1/chat/completions`, headers, { model: `${name}-model`, messages: [] }))
  const logs = async () => (await demand(ask(gatehouse, key, { path: `/logs?trace_id=${name}` })))['data'] as { id: string }[]
  await eventually(async () => (await logs()).length === 1, 10_000, 'the log')
  const exported = async () => (await demand(ask(gatehouse, key, { path: `/logs/exports/${String(logExport['id'])}` })))['status']
  await eventually(async () => (await exported()) === 'success', 20_000, 'the export')
  return {
    'api-keys': [String(apiKey['id'])],
    integrations: [String(integration['id']), `${name}-i`],
    'mcp-integrations': [String(mcpIntegration['id']), `${name}-m`],
    'mcp-servers': [String(mcpServer['id']), `${name}-s`],
    'mcp-sign-ins': [signIn],
    providers: [await idOf(`/providers/${name}-p`), `${name}-p`],
    'virtual-keys': [await idOf(`/virtual-keys/${name}-v`), `${name}-v`],
    collections: [String(collection['id']), `${name}-c`],
    labels: [String(label['id'])],
    prompts: [String(prompt['id']), `pp-${name}-prompt`],
    feedback: (feedback['feedback_ids'] as string[]).slice(0, 1),
    'alert-webhooks': [String(webhook['id'])],
    'logs/exports': [String(logExport['id'])],
    'saved-filters': [String(filter['id']), `${name}-filter`],
    'policies/rate-limits': [String(rateLimit['id'])],
    'policies/usage-limits': [String(usageLimit['id'])],
    'prompts/partials': [String(partial['id']), `pp-${name}-partial`],
    guardrails: [String(guardrail['id']), `${name}-g`],
    configs: [config.id, `${name}-c`],
    logs: (await logs()).map(({ id }) => id),
    traces: [name],
  }
}
