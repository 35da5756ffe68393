import type { EntityManager } from '@mikro-orm/postgresql'
import { type Dependant, findDependants } from '../../app/database/dependants.ts'
import type { PluginEntity } from './plugin.entity.ts'

/** In a place where no other credentials of the partner would serve. */
const dependsOnThem = (alias: string) => `
  ${alias}.organisation_id = ? AND ${alias}.status = 'active' AND ${alias}.plugin_references && ARRAY[?]::text[]
    AND (?::uuid IS NULL OR ${alias}.workspace_id IS NULL OR ${alias}.workspace_id = ?)
    AND NOT EXISTS (SELECT 1 FROM plugins p
                     WHERE p.organisation_id = ${alias}.organisation_id AND p.plugin = ? AND p.status = 'active' AND p.id <> ?
                       AND (p.workspace_id IS NULL OR p.workspace_id = ${alias}.workspace_id))`

const sql = `
  SELECT 'guardrail', g.id, g.slug, g.name, g.workspace_id FROM guardrails g WHERE ${dependsOnThem('g')}
  UNION ALL
  SELECT 'config', c.id, c.slug, c.name, c.workspace_id FROM configs c WHERE ${dependsOnThem('c')}`

/** Returns the guardrails and configs with checks that could not ask the partner any more without these credentials. */
export function pluginDependants(
  em: EntityManager,
  { id, plugin, organisationId, workspaceId = null }: PluginEntity,
): Promise<Dependant[]> {
  const values = [organisationId, plugin, workspaceId, workspaceId, plugin, id]
  return findDependants(em, { sql, values: [...values, ...values] })
}
