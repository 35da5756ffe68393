import type { ClientBase } from 'pg'
import type { Gatehouse } from '../test/support/process.ts'
import { adminKey } from '../test/support/process.ts'
import { inParallel } from '../test/support/in-parallel.ts'
import { inDatabase } from '../test/support/database.ts'

/** How much there is of each. */
export const amounts = { keys: 10_000, workspaces: 1000, configs: 1000, prompts: 10_000 } as const

/** Asks the control plane; throws unless the answer is 200. */
export async function ask(origin: string, method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${origin}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': adminKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

/** A caller that the process has not seen yet: a key, and the provider and the config of its workspace. */
export interface Stranger {
  readonly key: string
  readonly provider: string
  readonly config: string
}

/**
 * Fills an installation. Sealed or hashed data (configs, the keys of the strangers, the audit trail of all that) is made over the API; the rest, of
 * which only the number counts, by SQL.
 */
export async function fill(
  gatehouse: Gatehouse,
  { providerUrl, strangers }: { providerUrl: string; strangers: number },
): Promise<Stranger[]> {
  const { origin } = gatehouse
  const admin = (method: string, path: string, body?: unknown) => ask(origin, method, path, body)
  await inDatabase(gatehouse.superuser, (client) => addWorkspaces(client))
  const configurations = { custom_host: providerUrl }
  const account = { name: 'Account', slug: 'account', ai_provider_id: 'openai', key: 'sk-bench-0123456789', configurations }
  await admin('POST', '/integrations', { ...account, default_provider_slug: 'account' })
  await admin('PUT', '/integrations/account/workspaces', { global_workspace_access: { enabled: true }, default_provider_slug: 'account' })
  const everyConfig = Array.from({ length: amounts.configs }, (_, at) => at)
  await inParallel(everyConfig, 6, (at) =>
    admin('POST', '/configs', {
      name: `Config ${at}`,
      slug: `pc-bench-${at}`,
      workspace_id: `bench-${(at % (amounts.workspaces - 1)) + 1}`,
      config: { override_params: { seed: at }, request_timeout: 30_000 },
    }),
  )
  const made = await inParallel(everyConfig.slice(0, strangers), 6, async (at) => {
    const body = { name: `Stranger ${at}`, workspace_id: `bench-${at + 1}`, scopes: ['completions.write', 'prompts.render'] }
    return { key: String((await admin('POST', '/api-keys/workspace/service', body))['key']), provider: 'account', config: `pc-bench-${at}` }
  })
  await inDatabase(gatehouse.superuser, (client) => addKeysAndPrompts(client, amounts.keys - strangers))
  return made
}

/** One is there from the start. */
const addWorkspaces = (client: ClientBase) =>
  client.query(`INSERT INTO workspaces (id, organisation_id, slug, name)
    SELECT gen_random_uuid(), o.id, 'bench-' || n, 'Workspace ' || n FROM organisations o, generate_series(1, ${amounts.workspaces - 1}) n`)

const numbered = `(SELECT id, organisation_id, (row_number() OVER (ORDER BY slug) - 1)::int AS place FROM workspaces)`

async function addKeysAndPrompts(client: ClientBase, keys: number): Promise<void> {
  await client.query(`INSERT INTO api_keys (id, organisation_id, workspace_id, name, type, scopes, key_hash, key_hint, created_at)
    SELECT gen_random_uuid(), w.organisation_id, w.id, 'Key ' || n, 'workspace-service', '{completions.write,logs.list}',
           sha256(('bench' || n)::bytea), 'hint', now() - n * interval '1 s'
      FROM generate_series(1, ${keys}) n JOIN ${numbered} w ON w.place = n % ${amounts.workspaces}`)
  await client.query(`INSERT INTO prompts (id, organisation_id, workspace_id, collection_id, slug, name, created_at)
    SELECT gen_random_uuid(), w.organisation_id, w.id, c.id, 'pp-bench-' || n, 'Prompt number ' || n, now() - n * interval '1 s'
      FROM generate_series(1, ${amounts.prompts}) n JOIN ${numbered} w ON w.place = n % ${amounts.workspaces}
      JOIN collections c ON c.workspace_id = w.id AND c.is_default`)
  await client.query(`INSERT INTO prompt_versions (id, organisation_id, workspace_id, prompt_id, version, string, virtual_key)
    SELECT gen_random_uuid(), organisation_id, workspace_id, id, 1, '[{"role":"user","content":"{{question}}"}]', 'account' FROM prompts`)
  // The work of autovacuum within a minute.
  await client.query('ANALYZE')
}
