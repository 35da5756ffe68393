// Who creates and deletes things for ever fills no table: what stays of deleted things is bounded, but for the audit trail.
import test from 'ava'
import { evictDeleted, evictions } from '../../../src/app/database/evict-deleted.ts'
import { storedKinds, type StoredKindName } from '../../../src/lib/stored-kinds.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

const most = 5
const rounds = 50
/** Rows whose number grows with each change, and how they end. */
const growing: Readonly<Record<string, string>> = {
  audit_logs: 'the audit trail is kept until its operator deletes it',
  changes: 'an hour, then a job deletes them',
}

let control: Control
let tenant: Tenant
test.before(async () => {
  const bounds = Object.keys(evictions).map(
    (kind) => `${kind}=${['integrations', 'mcp_integrations', 'providers', 'api_keys'].includes(kind) ? most + 4 : most}`,
  )
  control = await startControl({}, { STORED_ITEMS_MAX: bounds.join(', '), MAIL_FROM: '' })
  tenant = await control.createTenant('acme')
  const account = { name: 'a', slug: 'account', ai_provider_id: 'openai', key: 'sk', default_provider_slug: 'p' }
  await ask('POST', '/integrations', account)
  await ask('POST', '/collections', { name: 'c' })
  await ask('POST', '/mcp-integrations', mcp('tools'))
})
test.after.always(() => control.close())

async function ask(method: string, path: string, body?: unknown, key = tenant.workspaceKey) {
  const answer = await control.call(key, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}

/** Makes a thing; returns the path at which it is deleted. */
type Make = (at: number) => Promise<string>

const mcp = (slug: string) => ({ name: slug, slug, url: 'http://127.0.0.1:8080/mcp', auth_type: 'none', transport: 'http' })
const admin = () => tenant.adminKey
const policy = (at: number) => ({ conditions: [{ key: 'model', value: `m${at}` }], group_by: [{ key: 'api_key' }] })
const idOf = ({ id, slug }: Readonly<Record<string, unknown>>): string => String(id ?? slug)

const makers: Partial<Readonly<Record<StoredKindName, Make>>> = {
  alert_webhooks: async (at) =>
    `/alert-webhooks/${idOf(await ask('POST', '/alert-webhooks', { name: `w${at}`, url: 'http://127.0.0.1:8080/x' }))}`,
  api_keys: async (at) =>
    `/api-keys/${idOf(await ask('POST', '/api-keys/workspace/service', { name: `k${at}`, scopes: ['logs.list'], usage_limits: { type: 'tokens', credit_limit: 5 }, rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }] }))}`,
  collections: async (at) => `/collections/${idOf(await ask('POST', '/collections', { name: `c${at}` }))}`,
  async configs(at) {
    const id = idOf(await ask('POST', '/configs', { name: `c${at}`, slug: `c${at}`, config: { retry: { attempts: 1 } } }))
    await ask('PUT', `/configs/c${at}`, { config: { retry: { attempts: 2 } } })
    return `/configs/${id}`
  },
  guardrails: async (at) =>
    `/guardrails/${idOf(await ask('POST', '/guardrails', { name: `g${at}`, checks: [{ id: 'default.notNull' }], actions: { onFail: 'warn' } }))}`,
  async integrations(at) {
    await ask('POST', '/integrations', { name: `i${at}`, slug: `i${at}`, ai_provider_id: 'openai', key: 'sk' })
    await ask('PUT', `/integrations/i${at}/models`, {
      models: [{ slug: 'own', enabled: true, is_custom: true, base_model_slug: 'gpt-4o' }],
    })
    return `/integrations/i${at}`
  },
  invites: async (at) => {
    const body = { email: `guest${at}@example.com`, role: 'member', workspaces: [] }
    return `/admin/users/invites/${idOf(await ask('POST', '/admin/users/invites', body, admin()))}`
  },
  labels: async (at) => `/labels/${idOf(await ask('POST', '/labels', { name: `l${at}` }))}`,
  async log_exports() {
    const path = `/logs/exports/${idOf(await ask('POST', '/logs/exports', { filters: {}, requested_data: ['id'] }))}`
    await ask('POST', `${path}/start`, {})
    return path
  },
  plugins: async () => `/plugins/${idOf(await ask('POST', '/plugins', { plugin: 'exa', credentials: { apiKey: 'k' } }, admin()))}`,
  async prompts(at) {
    const prompt = { name: `p${at}`, collection_id: 'c', string: 'x', parameters: {}, virtual_key: 'p', model: 'm' }
    const id = idOf(await ask('POST', '/prompts', prompt))
    await ask('PUT', `/prompts/${id}`, { string: 'y', patch: true })
    return `/prompts/${id}`
  },
  prompt_partials: async (at) => `/prompts/partials/${idOf(await ask('POST', '/prompts/partials', { name: `p${at}`, string: 'x' }))}`,
  async providers(at) {
    await ask('POST', '/providers', {
      name: `v${at}`,
      slug: `v${at}`,
      integration_id: 'account',
      usage_limits: { type: 'tokens', credit_limit: 5 },
    })
    return `/providers/v${at}`
  },
  async mcp_integrations(at) {
    const id = idOf(await ask('POST', '/mcp-integrations', mcp(`m${at}`)))
    const values = `gen_random_uuid(), organisation_id, id`
    await control.sql.query(
      `WITH found AS (SELECT * FROM mcp_integrations WHERE id = $1), tool AS (
         INSERT INTO mcp_capabilities (id, organisation_id, integration_id, type, name, definition, hash, input_hash, first_seen_at, changed_at)
         SELECT ${values}, 'tool', 'search', '{}', 'h', 'i', now(), now() FROM found RETURNING *)
       INSERT INTO mcp_capability_versions (id, organisation_id, capability_id, definition, hash, seen_at) SELECT ${values}, '{}', 'h', now() FROM tool`,
      [id],
    )
    return `/mcp-integrations/${id}`
  },
  async mcp_servers(at) {
    const id = idOf(await ask('POST', '/mcp-servers', { name: `s${at}`, mcp_integration_id: 'tools' }))
    await ask('PUT', `/mcp-servers/${id}/capabilities`, { capabilities: [{ name: 'search', type: 'tool', enabled: true }] })
    return `/mcp-servers/${id}`
  },
  rate_limit_policies: async (at) =>
    `/policies/rate-limits/${idOf(await ask('POST', '/policies/rate-limits', { ...policy(at), type: 'requests', unit: 'rpm', value: 10 }))}`,
  usage_limit_policies: async (at) =>
    `/policies/usage-limits/${idOf(await ask('POST', '/policies/usage-limits', { ...policy(at), type: 'tokens', credit_limit: 10 }))}`,
  saved_filters: async (at) => `/saved-filters/${idOf(await ask('POST', '/saved-filters', { name: `f${at}`, filters: {} }))}`,
  scim_tokens: async (at) => `/scim/tokens/${idOf(await ask('POST', '/scim/tokens', { name: `t${at}` }, admin()))}`,
  async secret_references(at) {
    const auth_config = { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: 't' }
    const reference = {
      name: `s${at}`,
      manager_type: 'hashicorp_vault',
      auth_config,
      secret_path: 'secret/team',
      allowed_workspaces: [tenant.workspaceId],
    }
    return `/secret-references/${idOf(await ask('POST', '/secret-references', reference))}`
  },
}

const ofAdmin = new Set(['invites', 'plugins', 'scim_tokens'])

async function counts(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await control.sql.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1`,
  )
  const found = new Map<string, number>()
  for (const { name } of rows) {
    const { rows: one } = await control.sql.query<{ there: number }>(`SELECT count(*)::int AS there FROM "${name}"`)
    found.set(name, one[0]?.there ?? 0)
  }
  return found
}

for (const [kind, make] of Object.entries(makers))
  test.serial(`${rounds} times made and deleted, ${kind} leave a few rows`, async (t) => {
    const before = await counts()
    for (let at = 0; at < rounds; at += 1) {
      const path = await make(at)
      if (kind === 'log_exports') await ask('POST', `${path}/cancel`, {})
      else await ask('DELETE', path, undefined, ofAdmin.has(kind) ? admin() : tenant.workspaceKey)
    }
    await evictDeleted.run(control.started.deps)
    const after = await counts()
    // An integration stays as long as one of its deleted providers.
    const few = 2 * (most + 4) + 2
    const grown = [...after].flatMap(([name, count]) => {
      const more = count - (before.get(name) ?? 0)
      return more > few && !(name.replace(/_\d{8}$/, '') in growing) ? [`${name}: ${more} rows more`] : []
    })
    t.deepEqual(grown, [])
  })

test('each kind that is bounded is deleted for good, or has a reason', (t) => {
  t.deepEqual(Object.keys(makers).toSorted(), Object.keys(evictions).toSorted())
  const others: Readonly<Record<string, string>> = {
    config_versions: 'go with their configs, and count until then',
    mcp_sign_ins: 'are deleted themselves, and by a job at their end',
    prompt_versions: 'go with their prompts',
    prompt_partial_versions: 'go with their partials',
    integration_models: 'are deleted themselves, and go with their integrations',
    feedbacks: 'are evicted by a job of their own',
    scim_groups: 'are deleted themselves',
    scim_workspace_groups: 'are deleted themselves',
    users: 'logs and the trail name them; only provisioning and admins make them',
    workspaces: 'logs and the trail name them; only admins of the organisation make them',
  }
  t.deepEqual([...Object.keys(evictions), ...Object.keys(others)].toSorted(), Object.keys(storedKinds).toSorted())
})
