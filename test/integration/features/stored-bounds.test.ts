// How many things of each kind an organisation may store: one too many is refused, others may still store theirs, and jobs evict the rest.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { trimFeedback } from '../../../src/features/feedback/feedback.jobs.ts'
import { trimResponses } from '../../../src/features/responses/responses.jobs.ts'
import { trimSpans } from '../../../src/features/traces/traces.jobs.ts'
import { storedKinds, type StoredKindName } from '../../../src/lib/stored-kinds.ts'
import { type Answer, type Control, startControl, type Tenant } from './setup.ts'

/** A tenant of these tests comes with two workspaces and three keys. */
const bounds: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.keys(storedKinds).map((kind) => [kind, 2])),
  workspaces: 4,
  api_keys: 5,
  // Providers come with integrations, versions with their parents.
  integrations: 9,
  providers: 12,
  users: 3,
  // Some come with an organisation.
  labels: 5,
  collections: 5,
}
const most = (kind: string) => bounds[kind] ?? 0

let control: Control
test.before(async () => {
  control = await startControl(
    {},
    {
      STORED_ITEMS_MAX: Object.entries(bounds)
        .map(([kind, bound]) => `${kind}=${bound}`)
        .join(', '),
      KEPT_RESPONSES_STORED_IN_MB: '1',
      TRACE_SPANS_STORED_IN_MB: '1',
    },
  )
})
test.after.always(() => control.close())

type Post = (path: string, body: object, key?: string, method?: string) => Promise<Answer>
type Create = (post: Post, tenant: Tenant, at: number) => Promise<Answer>

const custom_host = 'http://127.0.0.1:8080/v1'
const limits = (at: number) => ({ conditions: [{ key: 'model', value: `m${at}` }], group_by: [{ key: 'api_key' }] })
const prompt = (at: number) => ({ name: `p${at}`, collection_id: 'c', string: 'x', parameters: {}, virtual_key: 'p', model: 'm' })
const integration = (slug: string) => ({
  name: slug,
  slug,
  ai_provider_id: 'openai',
  key: `sk-${slug}`,
  configurations: { custom_host },
})
const mcp = (slug: string) => ({ name: slug, slug, url: 'http://127.0.0.1:8080/mcp', auth_type: 'none', transport: 'http' })
const scim: Post = async (path, body, token = '') => {
  const response = await fetch(`${control.origin}/scim/v2${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as Answer['body'] }
}

const tokens = new Map<string, string>()
async function tokenOf(post: Post, { organisationId, adminKey }: Tenant): Promise<string> {
  const known = tokens.get(organisationId) ?? String((await post('/scim/tokens', { name: 'Identity provider' }, adminKey)).body['token'])
  tokens.set(organisationId, known)
  return known
}

/** Those of programs at MCP servers need a browser: `mcp-sign-ins.test.ts`. */
type CreatedKind = Exclude<StoredKindName, 'feedbacks' | 'mcp_sign_ins'>

const creators: Readonly<Record<CreatedKind, Create>> = {
  alert_webhooks: (post, _, at) => post('/alert-webhooks', { name: `w${at}`, url: 'http://127.0.0.1:8080/x' }),
  api_keys: (post, _, at) => post('/api-keys/workspace/service', { name: `k${at}`, scopes: ['logs.list'] }),
  collections: (post, _, at) => post('/collections', { name: `c${at}` }),
  async config_versions(post, _, at) {
    if (at === 0) return post('/configs', { name: 'v', slug: 'v', config: { retry: { attempts: 1 } } })
    return post('/configs/v', { config: { retry: { attempts: at + 1 } } }, undefined, 'PUT')
  },
  configs: (post, _, at) => post('/configs', { name: `c${at}`, config: { retry: { attempts: 1 } } }),
  guardrails: (post, _, at) => post('/guardrails', { name: `g${at}`, checks: [{ id: 'default.notNull' }], actions: { onFail: 'warn' } }),
  async integration_models(post, _, at) {
    if (at === 0) await post('/integrations', integration('models'))
    const models = [{ slug: `m${at}`, enabled: true, is_custom: true, base_model_slug: 'gpt-4o' }]
    return post('/integrations/models/models', { models }, undefined, 'PUT')
  },
  integrations: (post, _, at) => post('/integrations', integration(`i${at}`)),
  invites: (post, { adminKey }, at) =>
    post('/admin/users/invites', { email: `guest${at}@example.com`, role: 'member', workspaces: [] }, adminKey),
  labels: (post, _, at) => post('/labels', { name: `l${at}` }),
  log_exports: (post) => post('/logs/exports', { filters: {}, requested_data: ['id'] }),
  mcp_integrations: (post, _, at) => post('/mcp-integrations', mcp(`m${at}`)),
  async mcp_servers(post, _, at) {
    if (at === 0) await post('/mcp-integrations', mcp('own'))
    return post('/mcp-servers', { name: `server ${at}`, mcp_integration_id: 'own' })
  },
  plugins: (post, { adminKey }, at) =>
    post('/plugins', { plugin: ['mistral', 'pillar', 'aporia'][at] ?? 'exa', credentials: { apiKey: 'k' } }, adminKey),
  async prompt_partial_versions(post, _, at) {
    if (at === 0) return post('/prompts/partials', { name: 'versioned', string: 'x' })
    return post('/prompts/partials/pp-versioned', { string: `x${at}` }, undefined, 'PUT')
  },
  prompt_partials: (post, _, at) => post('/prompts/partials', { name: `p${at}`, string: 'x' }),
  async prompt_versions(post, _, at) {
    if (at > 0) return post('/prompts/pp-p0', { string: `x${at}`, patch: true }, undefined, 'PUT')
    await post('/integrations', { ...integration('p'), default_provider_slug: 'p' })
    await post('/collections', { name: 'c' })
    return post('/prompts', prompt(0))
  },
  async prompts(post, _, at) {
    if (at === 0) await post('/integrations', { ...integration('p'), default_provider_slug: 'p' })
    if (at === 0) await post('/collections', { name: 'c' })
    return post('/prompts', prompt(at))
  },
  async providers(post, _, at) {
    if (at === 0) await post('/integrations', integration('own'))
    return post('/providers', { name: `v${at}`, slug: `v${at}`, integration_id: 'own' })
  },
  rate_limit_policies: (post, _, at) => post('/policies/rate-limits', { ...limits(at), type: 'requests', unit: 'rpm', value: 10 }),
  saved_filters: (post, _, at) => post('/saved-filters', { name: `f${at}`, filters: {} }),
  scim_groups: async (post, tenant, at) => scim('/Groups', { displayName: `Group ${at}` }, await tokenOf(post, tenant)),
  scim_tokens: (post, { adminKey }, at) => post('/scim/tokens', { name: `t${at}` }, adminKey),
  async scim_workspace_groups(post, tenant, at) {
    const { body } = at < 2 ? await scim('/Groups', { displayName: `Mapped ${at}` }, await tokenOf(post, tenant)) : { body: last }
    last = body
    const workspace_id = at < 2 ? tenant.workspaceId : tenant.sideId
    return post('/scim/workspaces', { workspace_id, scim_group_id: body['id'], role: 'member' }, tenant.adminKey)
  },
  secret_references: (post, { workspaceId }, at) =>
    post('/secret-references', {
      name: `s${at}`,
      manager_type: 'hashicorp_vault',
      auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: 't' },
      secret_path: 'secret/team',
      allowed_workspaces: [workspaceId],
    }),
  usage_limit_policies: (post, _, at) => post('/policies/usage-limits', { ...limits(at), type: 'tokens', credit_limit: 10 }),
  users: async (post, tenant, at) =>
    scim(
      '/Users',
      { userName: `u${at}@${tenant.organisationId}.example`, name: { givenName: 'U', familyName: 'V' } },
      await tokenOf(post, tenant),
    ),
  workspaces: (post, { adminKey }, at) => post('/admin/workspaces', { name: `w${at}` }, adminKey),
}
let last: Answer['body'] = {}

const posting =
  ({ workspaceKey }: Tenant): Post =>
  (path, body, key = workspaceKey, method = 'POST') =>
    control.call(key, method, path, body)

for (const [kind, create] of Object.entries(creators))
  test.serial(`an organisation stores no more ${kind} than it may, and others store theirs`, async (t) => {
    const tenant = await control.createTenant(`a${randomUUID().slice(0, 8)}`)
    const post = posting(tenant)
    let answer = await create(post, tenant, 0)
    t.true(answer.status < 300, answer.text)
    let made = 1
    for (; answer.status < 300 && made < 40; made += 1) answer = await create(post, tenant, made)
    t.is(answer.status, 409, answer.text)
    t.true(answer.text.includes(`STORED_ITEMS_MAX (${kind})`), answer.text)
    t.true(answer.text.includes(`may have ${most(kind)}`), answer.text)
    t.is(await there(kind, tenant), most(kind))
    const rival = await control.createTenant(`b${randomUUID().slice(0, 8)}`)
    const other = await create(posting(rival), rival, 0)
    t.true(other.status < 300, other.text)
  })

const mebibyte = 1024 * 1024
const there = async (table: string, { organisationId }: Tenant): Promise<number> => {
  const { rows } = await control.sql.query<{ there: number }>(`SELECT count(*)::int AS there FROM ${table} WHERE organisation_id = $1`, [
    organisationId,
  ])
  return rows[0]?.there ?? 0
}

/** The evictions of jobs: the way in which so many rows of one organisation come in, of which this many stay. */
const evicted = [
  {
    table: 'feedbacks',
    job: trimFeedback,
    stay: 2,
    fill: `INSERT INTO feedbacks (id, organisation_id, workspace_id, trace_id, value, created_at)
           SELECT gen_random_uuid(), $1, $2, 't', at, now() - make_interval(secs => at) FROM generate_series(1, $3::int) AS at`,
  },
  {
    table: 'stored_responses',
    job: trimResponses,
    stay: 2,
    fill: `INSERT INTO stored_responses (id, organisation_id, workspace_id, response, created_at, expires_at)
           SELECT 'resp_' || at, $1, $2, decode(repeat('00', ${mebibyte / 2 - 100}), 'hex'), now() - make_interval(secs => at), now() + interval '1 day'
             FROM generate_series(1, $3::int) AS at`,
  },
  {
    table: 'trace_spans',
    job: trimSpans,
    stay: 2,
    fill: `INSERT INTO trace_spans (organisation_id, workspace_id, trace_id, span_id, api_key_id, created_at, duration_ms, name, kind, status, is_sealed, details, received_at)
           SELECT $1, $2, 't', at::text, gen_random_uuid(), now(), 1, 's', 'internal', 'unset', false, decode(repeat('00', ${mebibyte / 2 - 400}), 'hex'), now() - make_interval(secs => at)
             FROM generate_series(1, $3::int) AS at`,
  },
]

for (const { table, job, stay, fill } of evicted)
  test.serial(`the oldest ${table} of an organisation that has too many are evicted, and those of others stay`, async (t) => {
    const [large, small] = [
      await control.createTenant(`l${randomUUID().slice(0, 8)}`),
      await control.createTenant(`s${randomUUID().slice(0, 8)}`),
    ]
    await control.sql.query(fill, [large.organisationId, large.workspaceId, 9])
    await control.sql.query(fill, [small.organisationId, small.workspaceId, stay])
    await job.run(control.started.deps)
    t.deepEqual([await there(table, large), await there(table, small)], [stay, stay])
  })
