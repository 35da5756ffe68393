import type { EntityManager } from '@mikro-orm/postgresql'
import type { Role } from '../../lib/access/roles.ts'
import type { RankedCredential } from '../../lib/access/rank.ts'
import { demandBinder } from '../../lib/access/set-from-above.ts'

/** A config or a guardrail whose content is about to change. */
interface BindingContent {
  readonly id: string
  readonly slug: string
  readonly organisationId: string
}

interface Row {
  readonly rank: Role | null
}

const named = 'ARRAY[to_jsonb(?::text), to_jsonb(?::text)]'
const lockedKey = `k.organisation_id = ? AND k.status <> 'archived' AND k.defaults ->> 'allow_config_override' = 'false'`
const rankOfLock = `k.setter_ranks ->> 'defaults.config_id' AS rank`

/** SQL of the ranks of the callers that bound a key or a workspace to a content; values: organisation, id, slug, as often as `times` says. */
const bindings = {
  config: { times: 1, sql: `SELECT ${rankOfLock} FROM api_keys k WHERE ${lockedKey} AND k.defaults ->> 'config_id' IN (?, ?)` },
  guardrail: {
    times: 3,
    sql: `SELECT setter_ranks ->> 'defaults.input_guardrails' AS rank FROM workspaces
           WHERE organisation_id = ? AND status = 'active' AND defaults -> 'input_guardrails' @> ANY (${named})
          UNION ALL
          SELECT setter_ranks ->> 'defaults.output_guardrails' FROM workspaces
           WHERE organisation_id = ? AND status = 'active' AND defaults -> 'output_guardrails' @> ANY (${named})
          UNION ALL
          SELECT ${rankOfLock} FROM api_keys k JOIN configs c ON c.organisation_id = k.organisation_id AND c.workspace_id = k.workspace_id
             AND c.status = 'active' AND k.defaults ->> 'config_id' IN (c.id::text, c.slug)
           WHERE ${lockedKey} AND c.guardrail_references && ARRAY[?, ?]::text[]`,
  },
} as const

/**
 * Throws AB03 when a caller of higher rank bound a key or a workspace to this config or guardrail: with another content the bond would bind to
 * nothing. `param` names the field of the request with the new content.
 */
export async function demandNotBoundFromAbove(
  em: EntityManager,
  actor: RankedCredential,
  {
    noun,
    row: { id, slug, organisationId },
    param,
  }: { readonly noun: keyof typeof bindings; readonly row: BindingContent; readonly param: string },
): Promise<void> {
  const { sql, times } = bindings[noun]
  const rows = await em.execute<Row[]>(sql, Array.from({ length: times }, () => [organisationId, id, slug]).flat())
  for (const { rank } of rows) if (rank !== null) demandBinder(actor, rank, { noun, param })
}
