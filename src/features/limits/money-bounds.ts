import type { EntityManager } from '@mikro-orm/postgresql'
import type { RankedCredential } from '../../lib/access/rank.ts'
import type { Role } from '../../lib/access/roles.ts'
import { demandBinder } from '../../lib/access/set-from-above.ts'

/** A budget, or a list of budgets: one of them counts money. */
const inMoney = `
  EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(to_jsonb(usage_limits)) WHEN 'array' THEN to_jsonb(usage_limits)
                                           WHEN 'object' THEN jsonb_build_array(usage_limits) ELSE '[]' END) AS budgets (one)
           WHERE coalesce(one ->> 'type', 'cost') = 'cost')`

/** SQL of the ranks of the callers that set limits in money of a workspace, its keys, its providers and its policies; the value: the workspace, four times. */
const setters = `
  SELECT setter_ranks ->> 'usage_limits' AS rank FROM workspaces WHERE id = ? AND ${inMoney}
  UNION SELECT setter_ranks ->> 'usage_limits' FROM api_keys WHERE workspace_id = ? AND status <> 'archived' AND ${inMoney}
  UNION SELECT setter_ranks ->> 'usage_limits' FROM providers WHERE workspace_id = ? AND status <> 'archived' AND ${inMoney}
  UNION SELECT setter_ranks ->> 'policy' FROM usage_limit_policies WHERE workspace_id = ? AND status = 'active' AND type = 'cost'`

/**
 * Throws AB03 when a caller of higher rank set a limit in money of the workspace: a field by which its requests cost less would lift that limit. Of the
 * organisation's own (null) only its admins change such fields.
 */
export async function demandMoneySetter(
  em: EntityManager,
  actor: RankedCredential,
  { workspaceId, param }: { readonly workspaceId: string | null | undefined; readonly param: string },
): Promise<void> {
  if (!workspaceId) return
  const bond = { bound: 'A limit in money of this workspace was set', kept: `${param}, by which requests count against it`, param }
  const rows = await em.execute<{ readonly rank: Role | null }[]>(setters, Array(4).fill(workspaceId))
  for (const { rank } of rows) if (rank !== null) demandBinder(actor, rank, bond)
}
