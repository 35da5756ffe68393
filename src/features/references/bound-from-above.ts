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

/** The config that a key starts from by name: its own, or that of user keys of its workspace; null: from the default one. As `requestDefaults` has it. */
const startName = `coalesce(nullif(k.defaults ->> 'config_id', ''), CASE k.type WHEN 'workspace-user' THEN nullif(w.defaults ->> 'user_api_key_config', '') END)`

/** SQL of the ranks of the callers that locked keys, each with the config `c` that it starts from; the value: the organisation. */
const locks = `
  SELECT k.setter_ranks ->> 'defaults.config_id' AS rank
    FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id
    LEFT JOIN configs c ON c.workspace_id = k.workspace_id AND c.status = 'active'
     AND CASE WHEN ${startName} IS NULL THEN c.is_default ELSE ${startName} IN (c.id::text, c.slug) END
   WHERE k.organisation_id = ? AND k.status <> 'archived' AND k.defaults ->> 'allow_config_override' = 'false'`

const named = 'ARRAY[to_jsonb(?::text), to_jsonb(?::text)]'

/** SQL of the ranks of the callers that bound a key or a workspace to a content; values: organisation, id, slug, as often as `times` says. */
const bindings = {
  config: { times: 1, sql: `${locks} AND ARRAY[c.id::text, c.slug]::text[] @> ARRAY[?, ?]::text[]` },
  guardrail: {
    times: 3,
    sql: `SELECT setter_ranks ->> 'defaults.input_guardrails' AS rank FROM workspaces
           WHERE organisation_id = ? AND status = 'active' AND defaults -> 'input_guardrails' @> ANY (${named})
          UNION ALL
          SELECT setter_ranks ->> 'defaults.output_guardrails' FROM workspaces
           WHERE organisation_id = ? AND status = 'active' AND defaults -> 'output_guardrails' @> ANY (${named})
          UNION ALL ${locks} AND c.guardrail_references && ARRAY[?, ?]::text[]`,
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
  const bond = { bound: `A key or a workspace was bound to this ${noun}`, kept: 'its content' }
  for (const { rank } of rows) if (rank !== null) demandBinder(actor, rank, { ...bond, param })
}

/** Providers of an integration that configs `c` name; the values: the organisation, the integration. */
const destinations = `${locks} AND EXISTS (
  SELECT FROM providers p WHERE p.integration_id = ? AND p.workspace_id = k.workspace_id AND p.status <> 'archived' AND p.slug = ANY (c.provider_references))`

/** Throws AB03 when a caller of higher rank locked a key to a config that names a provider of this integration, whose host is to become another one. */
export async function demandDestinationNotBoundFromAbove(
  em: EntityManager,
  actor: RankedCredential,
  { row, param }: { readonly row: { readonly id: string; readonly organisationId: string }; readonly param: string },
): Promise<void> {
  const bond = { bound: 'A key was bound to a config that names it', kept: 'the host that it leads to' }
  for (const { rank } of await em.execute<Row[]>(destinations, [row.organisationId, row.id]))
    if (rank !== null) demandBinder(actor, rank, { ...bond, param })
}

/** The configs of a workspace that keys start from without a name of their own, with the locked keys that do. */
const starts = {
  all: { sql: `${locks} AND k.workspace_id = ? AND ${startName} IS NULL`, kept: 'the default config of the workspace' },
  users: {
    sql: `${locks} AND k.workspace_id = ? AND k.type = 'workspace-user' AND nullif(k.defaults ->> 'config_id', '') IS NULL`,
    kept: 'the config of its user keys',
  },
} as const

interface StartConfig {
  /** The default config, or that of user keys. */
  readonly of: keyof typeof starts
  readonly organisationId: string
  readonly workspaceId: string
  readonly param: string
}

/** Throws AB03 when a caller of higher rank locked a key that starts from a config of the workspace, in whose place another one is to come. */
export async function demandStartNotBoundFromAbove(
  em: EntityManager,
  actor: RankedCredential,
  { of, organisationId, workspaceId, param }: StartConfig,
): Promise<void> {
  const { sql, kept } = starts[of]
  const bound = 'A key that starts from it was bound to use no other config'
  for (const { rank } of await em.execute<Row[]>(sql, [organisationId, workspaceId]))
    if (rank !== null) demandBinder(actor, rank, { bound, kept, param })
}
