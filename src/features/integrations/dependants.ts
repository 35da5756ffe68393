import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import { ProviderEntity } from '../providers/provider.entity.ts'
import type { Integration } from './integration.entity.ts'
import { demandUnused } from './provider-dependants.ts'

const users = `
  SELECT CASE kind WHEN 'provider' THEN 'provider' ELSE 'virtual_key' END, id, slug, name, workspace_id FROM providers
   WHERE organisation_id = ? AND integration_id = ? AND status <> 'archived' AND (? OR NOT is_default)`

/** Returns the providers of an integration, by default also those that were made with it; those of one workspace when it is named. */
export const integrationDependants = (
  em: EntityManager,
  { id, organisationId }: Integration,
  { workspaceId = null, withDefaults = true }: { readonly workspaceId?: string | null; readonly withDefaults?: boolean },
): Promise<Dependant[]> => findDependants(em, { sql: users, values: [organisationId, id, withDefaults] }, workspaceId)

/** Archives the providers that were made with the integration; AB07 naming the others that still use it, or the users of these. */
export async function archiveDefaultProviders(em: EntityManager, row: Integration): Promise<void> {
  const live = { organisationId: row.organisationId, integrationId: row.id, status: { $ne: 'archived' as const } }
  const providers = await em.find(ProviderEntity, live, { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { slug: 'asc' } })
  demandNoDependants('integration', await integrationDependants(em, row, { withDefaults: false }))
  for (const provider of providers) {
    await demandUnused(em, provider, 'integration')
    provider.status = 'archived'
  }
}

/** The access of the workspace itself, or that of all by default. */
const withAccess = `
  SELECT count(*)::int AS workspaces FROM integrations i
    JOIN workspaces w ON w.organisation_id = i.organisation_id AND w.status = 'active'
    LEFT JOIN integration_workspaces g ON g.integration_id = i.id AND g.workspace_id = w.id
   WHERE i.id = ? AND (i.workspace_id = w.id
      OR (i.workspace_id IS NULL AND coalesce(g.enabled, (i.global_workspace_access ->> 'enabled')::boolean, false)))`

/** How many workspaces may use the integration. */
export async function countWorkspaces(em: EntityManager, { id }: Integration): Promise<number> {
  const [row] = await em.execute<{ workspaces: number }[]>(withAccess, [id])
  return row?.workspaces ?? 0
}
