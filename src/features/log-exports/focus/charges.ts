import type { EntityManager } from '@mikro-orm/postgresql'
import { scopeConditions, valueConditions, type LogFilter, type LogScope } from '../../logs/index.ts'

/** The charges of a stretch of time that are alike in everything but their amounts. */
export interface Charge {
  readonly workspace_id: string | null
  readonly workspace_name: string | null
  readonly api_key_id: string | null
  readonly api_key_name: string | null
  readonly provider: string | null
  readonly provider_slug: string | null
  readonly model: string | null
  /** The dimension of prices that was counted; null: the request as a whole. */
  readonly dimension: string | null
  readonly unit: string | null
  /** Pico-US-dollars; null: the provider named the amount, or the price is not known. */
  readonly rate: string | null
  readonly source: string | null
  readonly catalogue: string | null
  readonly state: string
  readonly tags: string
  readonly is_correction: boolean
  /** Pico-US-dollars. */
  readonly amount: string
  readonly count: string
  readonly requests: string
}

export interface Stretch {
  readonly from: number
  /** The moment behind the last one. */
  readonly until: number
  readonly filter: LogFilter
  /** Keys of metadata that distinguish charges. */
  readonly tagKeys: readonly string[]
}

/** The traits that distinguish charges. */
const traits = [
  'workspace_id',
  'workspace_name',
  'api_key_id',
  'api_key_name',
  'provider',
  'provider_slug',
  'model',
  'dimension',
  'unit',
  'rate',
  'source',
  'catalogue',
  'state',
  'tags',
  'is_correction',
] as const satisfies readonly (keyof Charge)[]

/** Returns the text under which equal charges are added up. */
export const traitsOf = (charge: Charge): string => JSON.stringify(traits.map((trait) => charge[trait]))

/** Returns the sum of two charges that are alike. */
export const added = (one: Charge, other: Charge): Charge => ({
  ...one,
  amount: String(BigInt(one.amount) + BigInt(other.amount)),
  count: String(BigInt(one.count) + BigInt(other.count)),
  requests: String(BigInt(one.requests) + BigInt(other.requests)),
})

/**
 * Reads the charges of a stretch: a line for each dimension of each attempt, the part of a cost beyond its lines, and the changes of recomputes. So
 * their sum is exactly that of the costs of the logs with all adjustments.
 */
export function readCharges(em: EntityManager, scope: LogScope, { from, until, filter, tagKeys }: Stretch): Promise<Charge[]> {
  const conditions = [
    ...scopeConditions(scope),
    ...valueConditions(filter),
    {
      sql: 'l.created_at >= ?::timestamptz AND l.created_at < ?::timestamptz',
      values: [new Date(from).toISOString(), new Date(until).toISOString()],
    },
  ]
  return em.execute<Charge[]>(
    `WITH found AS (
       SELECT l.id, l.organisation_id, l.created_at, l.workspace_id, l.api_key_id, l.provider, l.provider_slug, l.model, l.cost_pico, l.cost_state AS state,
              l.price_catalogue AS catalogue, b.cost,
              coalesce((SELECT jsonb_object_agg(key, value ORDER BY key) FROM jsonb_each(l.metadata) WHERE key IN (SELECT jsonb_array_elements_text(?::jsonb))), '{}')::text AS tags
         FROM logs l LEFT JOIN log_bodies b ON b.created_at = l.created_at AND b.id = l.id AND b.organisation_id = l.organisation_id
        WHERE ${conditions.map(({ sql }) => sql).join(' AND ')} AND l.cost_state IS NOT NULL),
     lines AS (
       SELECT f.id, f.workspace_id, f.api_key_id, coalesce(c.charge ->> 'provider', f.provider) AS provider,
              coalesce(c.charge ->> 'slug', f.provider_slug) AS provider_slug,
              coalesce(c.charge ->> 'priced', c.charge ->> 'sent', f.model) AS model, line ->> 'dimension' AS dimension, line ->> 'unit' AS unit,
              line ->> 'rate' AS rate, line ->> 'source' AS source, f.catalogue, f.state, f.tags, false AS is_correction,
              (line ->> 'amount')::numeric AS amount, (line ->> 'count')::numeric AS count
         FROM found f CROSS JOIN LATERAL jsonb_array_elements(f.cost -> 'lines') line
         LEFT JOIN LATERAL (SELECT charge FROM jsonb_array_elements(f.cost -> 'charges') charge
                             WHERE charge -> 'attempt' = line -> 'attempt' LIMIT 1) c ON true
       UNION ALL
       SELECT id, workspace_id, api_key_id, provider, provider_slug, model, NULL, 'request', NULL, NULL, catalogue, state, tags, false, amount, 1
         FROM (SELECT f.*, coalesce(f.cost_pico, 0) - coalesce((SELECT sum((line ->> 'amount')::numeric) FROM jsonb_array_elements(f.cost -> 'lines') line), 0) AS amount
                 FROM found f) beyond
        WHERE amount <> 0 OR state = 'unpriced'
       UNION ALL
       SELECT f.id, f.workspace_id, f.api_key_id, f.provider, f.provider_slug, f.model, NULL, 'request', NULL, NULL, a.price_catalogue, a.cost_state,
              f.tags, true, a.delta_pico, 1
         FROM found f JOIN cost_adjustments a ON a.log_id = f.id AND a.organisation_id = f.organisation_id)
     SELECT n.workspace_id, w.name AS workspace_name, n.api_key_id, k.name AS api_key_name, n.provider, n.provider_slug, n.model, n.dimension, n.unit,
            n.rate, n.source, n.catalogue, n.state, n.tags, n.is_correction,
            sum(n.amount)::text AS amount, sum(n.count)::text AS count, count(DISTINCT n.id)::text AS requests
       FROM lines n LEFT JOIN workspaces w ON w.id = n.workspace_id LEFT JOIN api_keys k ON k.id = n.api_key_id
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15`,
    [JSON.stringify(tagKeys), ...conditions.flatMap(({ values }) => values)],
  )
}
