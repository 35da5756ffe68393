import type { StoredBounds, StoredKind, StoredKindName } from '../../lib/stored-kinds.ts'
import { storedKinds } from '../../lib/stored-kinds.ts'
import type { Deps } from '../deps.ts'
import type { Job } from '../feature.ts'
import { deleteInSlices } from './delete-in-slices.ts'
import { asSystem } from './orm.ts'

/** How the deleted rows of a kind go. */
interface Eviction {
  /** Rows that go with one, by table and the column that names it; a list: the column that names a row of another such table. */
  readonly with?: Readonly<Record<string, string | readonly [column: string, table: string]>>
  /** SQL of a condition on a deleted row `t`, beside that it is not live. */
  readonly only?: string
}

/**
 * The kinds whose rows stay when they are deleted, for the names in lists and logs; those that others hold come after them. Users and workspaces are
 * not among them: logs, costs and the trail name them for good.
 */
export const evictions: Partial<Readonly<Record<StoredKindName, Eviction>>> = {
  alert_webhooks: {},
  api_keys: {},
  configs: { with: { config_versions: 'config_id' } },
  guardrails: {},
  invites: {},
  log_exports: { only: '(t.expires_at IS NULL OR t.expires_at <= now())' },
  plugins: {},
  prompts: { with: { prompt_versions: 'prompt_id' } },
  prompt_partials: { with: { prompt_partial_versions: 'prompt_partial_id' } },
  collections: {},
  labels: { only: 'NOT EXISTS (SELECT FROM prompt_versions v WHERE v.label_id = t.id)' },
  providers: {},
  integrations: {
    with: { integration_models: 'integration_id', integration_workspaces: 'integration_id' },
    only: 'NOT EXISTS (SELECT FROM providers p WHERE p.integration_id = t.id)',
  },
  mcp_servers: { with: { mcp_server_capabilities: 'server_id', mcp_server_users: 'server_id' } },
  mcp_integrations: {
    with: {
      mcp_capability_versions: ['capability_id', 'mcp_capabilities'],
      mcp_capabilities: 'integration_id',
      mcp_integration_workspaces: 'integration_id',
    },
    only: 'NOT EXISTS (SELECT FROM mcp_servers s WHERE s.integration_id = t.id)',
  },
  rate_limit_policies: {},
  usage_limit_policies: { with: { usage_limit_policy_entities: 'policy_id' } },
  saved_filters: {},
  scim_tokens: {},
  secret_references: {},
}

const isEvicted = (kind: string): kind is StoredKindName => Object.hasOwn(evictions, kind)
const size = 1000

/** SQL that deletes the longest deleted rows of organisations that have too many; values: how many may stay, twice. */
function deletionOf(kind: StoredKindName): string {
  const { live = 'true' }: StoredKind = storedKinds[kind]
  const { with: children = {}, only = 'true' } = evictions[kind] ?? {}
  const gone = Object.entries(children).map(([table, place]) => {
    const [column, through] = typeof place === 'string' ? [place, null] : place
    const ids =
      through === null ? 'SELECT id FROM gone' : `SELECT id FROM ${through} WHERE ${String(children[through])} IN (SELECT id FROM gone)`
    return `, of_${table} AS (DELETE FROM ${table} WHERE ${column} IN (${ids}))`
  })
  return `
  WITH large AS (
    SELECT organisation_id FROM ${kind} WHERE NOT (${live}) GROUP BY organisation_id HAVING count(*) > ?::bigint
  ), counted AS (
    SELECT t.id, row_number() OVER (PARTITION BY t.organisation_id ORDER BY t.last_updated_at DESC, t.id DESC) AS place
      FROM ${kind} t JOIN large USING (organisation_id) WHERE NOT (${live}) AND ${only}
  ), gone AS (
    SELECT id FROM counted WHERE place > ?::bigint LIMIT ${size}
  )${gone.join('')}
  DELETE FROM ${kind} WHERE id IN (SELECT id FROM gone)`
}

/** Deletes for good the rows that people have deleted, beyond the number that an organisation may have: creating and deleting fills no table. */
export const evictDeleted: Job = {
  name: 'evict-deleted',
  every: '23 * * * *',
  irreversible: true,
  async run(deps) {
    for (const kind of await kindsHere(deps)) await evict(deps, kind)
  },
}

/** The tables of this build: some come with later releases. */
async function kindsHere({ orm }: Deps): Promise<readonly StoredKindName[]> {
  const rows = await asSystem(orm, (em) =>
    em.execute<{ name: string }[]>('SELECT name FROM jsonb_array_elements_text(?::jsonb) name WHERE to_regclass(name) IS NOT NULL', [
      JSON.stringify(Object.keys(evictions)),
    ]),
  )
  return rows.map(({ name }) => name).filter(isEvicted)
}

async function evict({ orm, config, log }: Deps, kind: StoredKindName): Promise<void> {
  const bounds: StoredBounds = config.storedItems
  const most = bounds[kind]
  const deleted = await deleteInSlices(orm, { sql: deletionOf(kind), values: [most, most], size })
  if (deleted > 0) log.info({ kind, rows: deleted }, 'rows that were deleted long ago are gone: STORED_ITEMS_MAX is reached')
}
