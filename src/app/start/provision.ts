import type { EntityManager } from '@mikro-orm/postgresql'
import { createApiKey, keyHint } from '../../lib/api-key.ts'
import { organisationScopes, workspaceScopes } from '../../lib/access/scopes.ts'
import type { Secret } from '../../lib/secret.ts'
import { toSlug } from '../../lib/text/slug.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { asSystem } from '../database/orm.ts'
import type { Deps } from '../deps.ts'
import { provisionOwner } from './first-owner.ts'

/** The things that the first start made. Their secrets are stored nowhere else: show them once. */
export interface FirstTenant {
  readonly organisationId: string
  readonly workspaceId: string
  readonly adminApiKey: string
  readonly workspaceApiKey: string
}

type Needs = Pick<Deps, 'orm' | 'vault' | 'config' | 'log' | 'level'>

/** Makes the first organisation, its default workspace and one key of each kind; null when there is an organisation already, or the vault is sealed. */
export async function provision(deps: Needs): Promise<FirstTenant | null> {
  if (deps.vault.sealed !== null) return null
  return asSystem(deps.orm, async (em) => {
    // If several processes start at once, one provisions, and the others then see its organisation.
    await em.execute(`SELECT pg_advisory_xact_lock(hashtextextended('gatehouse:provision', 0))`)
    const organisations = await em.execute<unknown[]>('SELECT 1 FROM organisations LIMIT 1')
    const made = organisations.length === 0 ? await create(em, deps) : null
    if (made === null) await warnOfUnknownKeys(em, deps)
    await provisionOwner(em, deps)
    return made
  })
}

async function create(em: EntityManager, { vault, config: { init } }: Needs): Promise<FirstTenant> {
  const [organisationId, workspaceId] = [uuidv7(), uuidv7()]
  const adminApiKey = init.adminApiKey?.reveal() ?? createApiKey()
  const workspaceApiKey = init.workspaceApiKey?.reveal() ?? createApiKey()
  await insert(em, 'organisations', {
    id: organisationId,
    slug: toSlug(init.organisationName, 'organisation'),
    name: init.organisationName,
  })
  await insert(em, 'workspaces', {
    id: workspaceId,
    organisation_id: organisationId,
    slug: toSlug(init.workspaceName, 'workspace'),
    name: init.workspaceName,
    is_default: true,
  })
  const common = { organisation_id: organisationId, creation_mode: 'auto' }
  await insert(em, 'api_keys', {
    ...common,
    ...secretColumns(adminApiKey, vault),
    name: 'First organisation key',
    type: 'organisation-service',
    scopes: textArray(organisationScopes),
  })
  await insert(em, 'api_keys', {
    ...common,
    ...secretColumns(workspaceApiKey, vault),
    name: 'First workspace key',
    type: 'workspace-service',
    workspace_id: workspaceId,
    scopes: textArray(workspaceScopes),
  })
  return { organisationId, workspaceId, adminApiKey, workspaceApiKey }
}

const secretColumns = (secret: string, vault: Needs['vault']) => ({
  id: uuidv7(),
  key_hash: vault.hashKey(secret),
  key_hint: keyHint(secret),
})

/** Scopes contain no characters that a PostgreSQL array literal would have to quote. */
const textArray = (values: readonly string[]) => `{${values.join(',')}}`

async function insert(em: EntityManager, table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
  const columns = Object.keys(row)
  await em.execute(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`, Object.values(row))
}

/** The given keys are used at the first start only; an operator who changes them later must learn that it had no effect. */
async function warnOfUnknownKeys(em: EntityManager, { vault, config: { init }, log }: Needs): Promise<void> {
  const given: readonly [string, Secret | null][] = [
    ['INIT_ADMIN_API_KEY', init.adminApiKey],
    ['INIT_WORKSPACE_API_KEY', init.workspaceApiKey],
  ]
  for (const [setting, secret] of given) {
    if (secret === null) continue
    const rows = await em.execute<unknown[]>(`SELECT 1 FROM api_keys WHERE key_hash = ? AND status = 'active'`, [
      vault.hashKey(secret.reveal()),
    ])
    if (rows.length === 0)
      log.warn({ setting }, `${setting} is not a key of this database: it counts at the first start only, and has no effect now`)
  }
}
