import type { EntityManager } from '@mikro-orm/postgresql'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import type { GuardrailEntity } from './guardrail.entity.ts'

const namedInDefaults = `
  (defaults -> 'input_guardrails' @> ANY (ARRAY[to_jsonb(?::text), to_jsonb(?::text)])
    OR defaults -> 'output_guardrails' @> ANY (ARRAY[to_jsonb(?::text), to_jsonb(?::text)]))`

const namedByServer = '(input_guardrails || output_guardrails) && ARRAY[?, ?]::text[]'

const sql = `
  SELECT 'config', id, slug, name, workspace_id FROM configs
   WHERE organisation_id = ? AND status = 'active' AND guardrail_references && ARRAY[?, ?]::text[]
  UNION ALL
  SELECT 'mcp_server', id, slug, name, workspace_id FROM mcp_servers WHERE organisation_id = ? AND status = 'active' AND ${namedByServer}
  UNION ALL
  SELECT 'workspace', id, slug, name, id FROM workspaces WHERE organisation_id = ? AND status = 'active' AND ${namedInDefaults}
  UNION ALL
  SELECT 'organisation', id, slug, name, NULL FROM organisations WHERE id = ? AND ${namedInDefaults}`

/** Returns the configs, MCP servers, workspaces and the organisation that use a guardrail; those of one workspace when it is named. */
export function guardrailDependants(
  em: EntityManager,
  { id, slug, organisationId }: GuardrailEntity,
  workspaceId: string | null,
): Promise<Dependant[]> {
  const both = [id, slug]
  const values = [organisationId, ...both, organisationId, ...both, organisationId, ...both, ...both, organisationId, ...both, ...both]
  return findDependants(em, { sql, values }, workspaceId)
}

/** Throws AB07 while configs, MCP servers, workspaces or the organisation use this guardrail. */
export async function refuseWhenUsed(em: EntityManager, row: GuardrailEntity): Promise<void> {
  demandNoDependants('guardrail', await guardrailDependants(em, row, null))
}
