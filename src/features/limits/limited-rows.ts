import type { EntityManager } from '@mikro-orm/postgresql'
import { type Budget, type Limit, type RateLimit, toGatewayLimits, windowOfUnit, type WrittenLimits } from '../../gateway/ports/limits.ts'
import { limitedColumn } from './limited-column.ts'

/** A limit with the thing whose limit it is. */
export interface OwnedLimit {
  readonly limit: Limit
  readonly owner: {
    readonly kind: Exclude<Budget['kind'], 'token'>
    readonly id: string
    readonly name: string
    /** Null: of the organisation as a whole. */
    readonly workspaceId: string | null
  }
  /** The values of a policy that groups by them; null elsewhere. */
  readonly group: string | null
  /** The unit of a rate limit; null elsewhere. */
  readonly unit: RateLimit['unit'] | null
}

/** The limits of an organisation, or of one of its workspaces. */
export interface LimitScope {
  readonly organisationId: string
  readonly workspaceId: string | null
  /** The flags that are off. */
  readonly off: ReadonlySet<string> | undefined
}

interface Row {
  readonly kind: Exclude<Budget['kind'], 'policy' | 'token'>
  readonly id: string
  readonly name: string
  readonly workspace_id: string | null
  readonly limited: WrittenLimits
}

/** More limits than a person reads; the youngest ones come first. */
const mostRows = 10_000

const limited = (table: string): string =>
  `(jsonb_typeof(to_jsonb(${table}.rate_limits)) = 'array' AND to_jsonb(${table}.rate_limits) <> '[]'
     OR coalesce(to_jsonb(${table}.usage_limits), 'null') NOT IN ('null', '[]'))`

const rowsOf = `
  SELECT * FROM (
    SELECT 'api-key' AS kind, k.id, k.name, k.workspace_id, k.organisation_id, k.created_at, ${limitedColumn('k')} AS limited
      FROM api_keys k WHERE k.status <> 'archived' AND ${limited('k')}
    UNION ALL
    SELECT 'provider', p.id, p.name, p.workspace_id, p.organisation_id, p.created_at, ${limitedColumn('p')}
      FROM providers p WHERE p.status <> 'archived' AND ${limited('p')}
    UNION ALL
    SELECT 'workspace', w.id, w.name, w.id, w.organisation_id, w.created_at, ${limitedColumn('w')}
      FROM workspaces w WHERE w.status <> 'archived' AND ${limited('w')}
    UNION ALL
    SELECT 'integration-workspace', g.id, i.name, g.workspace_id, g.organisation_id, g.created_at, ${limitedColumn('g')}
      FROM integration_workspaces g JOIN integrations i ON i.id = g.integration_id AND i.status <> 'archived' WHERE g.enabled AND ${limited('g')}) owned
   WHERE organisation_id = ?`

/** Returns the limits of keys, providers, workspaces and their access to integrations, those of policies as far as they counted. */
export async function findLimits(em: EntityManager, scope: LimitScope): Promise<readonly OwnedLimit[]> {
  const { organisationId, workspaceId } = scope
  const inWorkspace = workspaceId === null ? '' : ' AND workspace_id = ?'
  const values = workspaceId === null ? [organisationId] : [organisationId, workspaceId]
  const rows = await em.execute<Row[]>(`${rowsOf}${inWorkspace} ORDER BY created_at DESC, id LIMIT ${mostRows}`, values)
  const all = [...rows.flatMap((row) => ownedBy(row, organisationId)), ...(await findPolicyLimits(em, scope))]
  return all.filter(({ limit }) => limit.kind === 'rate' || scope.off?.has('USAGE_LIMITS_ENABLED') !== true)
}

/** Returns the owner of a limit as it is answered. */
export const presentOwned = ({ limit, owner, group, unit }: OwnedLimit) => ({
  owner_kind: owner.kind,
  owner_id: owner.id,
  owner_name: owner.name,
  group,
  kind: limit.kind,
  type: limit.counts,
  unit,
})

function ownedBy({ kind, id, name, workspace_id, limited: terms }: Row, organisationId: string): readonly OwnedLimit[] {
  const owner = { kind, id, name, workspaceId: workspace_id }
  const limits = toGatewayLimits({ kind, id, organisationId, ...terms }) ?? []
  return limits.map((limit) => ({ limit, owner, group: null, unit: unitOf(limit) }))
}

/** The unit is the last part of a rate limit's id. */
const unitOf = ({ kind, id }: Limit): RateLimit['unit'] | null =>
  kind === 'usage' ? null : (units.find((unit) => id.endsWith(`:${unit}`)) ?? null)
const units = ['rps', 'rpm', 'rph', 'rpd', 'rpw'] as const

interface PolicyRow {
  readonly counter: string
  readonly id: string
  readonly name: string | null
  readonly workspace_id: string
  readonly value_key: string
  readonly type: Limit['counts']
  readonly value: number
  readonly unit: RateLimit['unit'] | null
  readonly threshold: number | null
  readonly reset: 'weekly' | 'monthly' | null
  readonly days: number | null
  readonly anchor: Date | string | null
}

/** Returns an amount of a policy in the unit of its counter; its columns have other names before and after 1.11.0. */
const amountOf = (column: string): string =>
  `coalesce((to_jsonb(p) ->> '${column}_pico')::numeric, (to_jsonb(p) ->> '${column}')::numeric * 10 ^ 12::numeric)
     / CASE p.type WHEN 'cost' THEN 1000 ELSE 10 ^ 12::numeric END`

/** The counter that a value key has since its usage started again: the moment stands before the key in the name. */
const counterSinceReset = `regexp_replace(left(c.id, -(length(c.value_key) + 1)), ':[0-9.]*$', '')
  || ':' || coalesce((extract(epoch FROM e.last_reset_at) * 1000)::float8::text, '') || ':' || c.value_key`

/**
 * The counters of policies that count now: other periods make new ones, and the one that counted last stands. A reset makes a new one too, which
 * is there from the next request on. Bounds are those of the policy, because a counter learns of a change with the next request.
 */
const policyRows = `
  (SELECT DISTINCT ON (p.id, c.value_key) ${counterSinceReset} AS counter, p.id, p.name, p.workspace_id, c.value_key, p.type,
          floor(${amountOf('credit_limit')})::float8 AS value, NULL AS unit, ceil(${amountOf('alert_threshold')})::float8 AS threshold,
          c.period AS reset, c.days, c.anchor
     FROM limit_counters c JOIN usage_limit_policies p ON p.id = c.owner_id AND p.status = 'active'
     LEFT JOIN usage_limit_policy_entities e ON e.policy_id = p.id AND e.value_key = c.value_key
    WHERE c.organisation_id = ? AND c.owner_kind = 'policy' AND c.credit IS NOT NULL AND (?::uuid IS NULL OR p.workspace_id = ?::uuid)
    ORDER BY p.id, c.value_key, c.last_updated_at DESC LIMIT ${mostRows})
  UNION ALL
  (SELECT c.id, p.id, p.name, p.workspace_id, substr(c.id, length('policy:' || p.id || ':' || p.type || ':' || p.unit || '::') + 1), p.type,
          floor(p.value)::float8, p.unit, NULL, NULL, NULL, NULL
     FROM limit_counters c JOIN rate_limit_policies p ON p.id::text = split_part(c.id, ':', 2) AND p.status = 'active'
    WHERE c.organisation_id = ? AND c.owner_id IS NULL AND c.id LIKE 'policy:%' AND (?::uuid IS NULL OR p.workspace_id = ?::uuid)
    LIMIT ${mostRows})`

/** Returns the limits of policies, one for each combination of values that was counted. Before their release there are none. */
export async function findPolicyLimits(
  em: EntityManager,
  { organisationId, workspaceId, off }: LimitScope,
): Promise<readonly OwnedLimit[]> {
  if (off?.has('POLICY_ENABLED') === true) return []
  const [known] = await em.execute<{ there: boolean }[]>(`SELECT to_regclass('usage_limit_policies') IS NOT NULL AS there`)
  if (known?.there !== true) return []
  const rows = await em.execute<PolicyRow[]>(policyRows, [
    organisationId,
    workspaceId,
    workspaceId,
    organisationId,
    workspaceId,
    workspaceId,
  ])
  return rows.map((row) => ({
    limit: toPolicyLimit(row, organisationId),
    owner: { kind: 'policy', id: row.id, name: row.name ?? 'Policy', workspaceId: row.workspace_id },
    group: row.value_key === '' ? null : row.value_key,
    unit: row.unit,
  }))
}

function toPolicyLimit({ counter, id, name, type, value, unit, threshold, reset, days, anchor }: PolicyRow, organisationId: string): Limit {
  const common = { id: counter, organisationId, name: name ?? 'Policy', counts: type, value }
  if (unit !== null) return { ...common, kind: 'rate', window: windowOfUnit(unit) }
  const window = { slotMs: null, reset, days, anchor: anchor === null ? null : new Date(anchor).toISOString() }
  return { ...common, kind: 'usage', window, budget: { kind: 'policy', id, from: 0, threshold } }
}
