import type { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import type { GuardrailEntity } from './guardrail.entity.ts'

interface Dependant {
  readonly kind: string
  readonly name: string
}

const dependants = `
  SELECT 'config' AS kind, name FROM configs
   WHERE organisation_id = ? AND status = 'active' AND guardrail_references && ARRAY[?, ?]::text[]
  UNION ALL
  SELECT 'workspace', name FROM workspaces
   WHERE organisation_id = ? AND status = 'active'
     AND (defaults -> 'input_guardrails' @> ANY (ARRAY[to_jsonb(?::text), to_jsonb(?::text)])
       OR defaults -> 'output_guardrails' @> ANY (ARRAY[to_jsonb(?::text), to_jsonb(?::text)]))
  UNION ALL
  SELECT 'organisation', name FROM organisations
   WHERE id = ?
     AND (defaults -> 'input_guardrails' @> ANY (ARRAY[to_jsonb(?::text), to_jsonb(?::text)])
       OR defaults -> 'output_guardrails' @> ANY (ARRAY[to_jsonb(?::text), to_jsonb(?::text)]))
   ORDER BY kind, name LIMIT 20`

/** AB07 naming the configs, workspaces and the organisation that use this guardrail. */
export async function refuseWhenUsed(em: EntityManager, { id, slug, organisationId }: GuardrailEntity): Promise<void> {
  const both = [id, slug]
  const values = [organisationId, ...both, organisationId, ...both, ...both, organisationId, ...both, ...both]
  const rows = await em.execute<Dependant[]>(dependants, values)
  if (rows.length === 0) return
  const names = rows.map(({ kind, name }) => `${kind} "${name}"`).join(', ')
  throw new ApiError('AB07', `This guardrail is still used by: ${names}. Take it out of them first.`, { param: 'guardrailId' })
}
