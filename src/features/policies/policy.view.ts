import { anyOf, type ViewLimits, type Views } from '../../app/snapshot/view.ts'
import { type PolicyCondition, type PolicyView, type Limit, type MoneyTerms, moneyTerms } from '../../gateway/ports/limits.ts'
import { formatPico, parsePico } from '../../lib/pico.ts'
import { periodWindow, rateLimitOf, type UsageType } from '../limits/index.ts'
import type { Condition, Group } from './conditions.schema.ts'

/** So many policies of one workspace act; further ones, the youngest, do not. */
const mostPolicies = 500

const tables = ['rate_limit_policies', 'usage_limit_policies', 'usage_limit_policy_entities']
const policyBounds: ViewLimits = { maxViews: 20_000 }

/** The columns of amounts have other names before and after 1.11.0: a row as JSON has those that there are. */
const policiesOf = `
  (SELECT 'rate' AS kind, p.id, p.name, p.conditions, p.group_by AS "groupBy", p.type, p.created_at,
          json_build_object('unit', p.unit, 'value', p.value::text) AS terms, NULL::json AS resets
     FROM rate_limit_policies p WHERE p.organisation_id = $1 AND p.workspace_id = $2 AND p.status = 'active')
  UNION ALL
  (SELECT 'usage', p.id, p.name, p.conditions, p.group_by, p.type, p.created_at,
          json_build_object('pico', to_jsonb(p) ->> 'credit_limit_pico', 'amount', to_jsonb(p) ->> 'credit_limit',
            'thresholdPico', to_jsonb(p) ->> 'alert_threshold_pico', 'threshold', to_jsonb(p) ->> 'alert_threshold',
            'output', p.output_policy, 'onUnpriced', p.on_unpriced, 'reset', p.periodic_reset, 'days', p.periodic_reset_days, 'next', p.next_usage_reset_at, 'createdAt', p.created_at,
            'from', (extract(epoch FROM p.last_reset_at) * 1000)::float8),
          (SELECT json_object_agg(e.value_key, (extract(epoch FROM e.last_reset_at) * 1000)::float8)
             FROM usage_limit_policy_entities e WHERE e.policy_id = p.id AND e.last_reset_at IS NOT NULL)
     FROM usage_limit_policies p WHERE p.organisation_id = $1 AND p.workspace_id = $2 AND p.status = 'active')
  ORDER BY created_at, id
  LIMIT ${mostPolicies}`

interface RateTerms {
  readonly unit: 'rpm' | 'rph' | 'rpd'
  readonly value: string
}

interface UsageTerms {
  readonly pico: string | null
  readonly amount: string | null
  readonly thresholdPico: string | null
  readonly threshold: string | null
  readonly reset: 'weekly' | 'monthly' | null
  readonly days: number | null
  readonly next: string | null
  readonly createdAt: string
  readonly from: number | null
  readonly output: MoneyTerms['output'] | null
  readonly onUnpriced: MoneyTerms['onUnpriced'] | null
}

interface CommonRow {
  readonly id: string
  readonly name: string | null
  readonly conditions: readonly Condition[]
  readonly groupBy: readonly Group[]
  readonly resets: Readonly<Record<string, number>> | null
}

type RateRow = CommonRow & { readonly kind: 'rate'; readonly type: 'requests' | 'tokens'; readonly terms: RateTerms }
type UsageRow = CommonRow & { readonly kind: 'usage'; readonly type: UsageType; readonly terms: UsageTerms }
type PolicyRow = RateRow | UsageRow

/** The active policies of a workspace, as requests meet them. */
export const policiesView: Views['policies'] = {
  limits: policyBounds,
  tables: [],
  anyOf: tables,
  key: ({ workspaceId }) => workspaceId,
  find: ({ organisationId, workspaceId }) => ({
    async read(ask) {
      const rows = await ask<PolicyRow>({ name: 'policies-of-workspace', text: policiesOf, values: [organisationId, workspaceId] })
      const ids = [organisationId, ...(workspaceId === null ? [] : [workspaceId]), ...rows.map(({ id }) => id)]
      return { view: rows.map((row) => toPolicy(row, organisationId)), dependsOn: [...tables.map(anyOf), ...ids], until: Infinity }
    },
  }),
}

const toPolicy = (row: PolicyRow, organisationId: string): PolicyView => ({
  id: row.id,
  conditions: row.conditions.map(toCondition),
  groupBy: row.groupBy.map(({ key }) => key),
  limit: row.kind === 'rate' ? toRate(row, organisationId) : toUsage(row, organisationId),
  resets: new Map(Object.entries(row.resets ?? {})),
})

export const toCondition = ({ key, value, excludes }: Condition): PolicyCondition => ({
  key,
  values: listed(value),
  excludes: excludes === undefined ? [] : listed(excludes),
})

const listed = (values: string | readonly string[]): readonly string[] => (typeof values === 'string' ? [values] : values)

const nameOf = ({ name, id }: CommonRow): string => `the policy ${name ?? id}`

function toRate(row: RateRow, organisationId: string): Limit {
  const { id, type, terms } = row
  const limit = { type, unit: terms.unit, value: Number(terms.value) }
  return rateLimitOf(limit, { organisationId, id: `policy:${id}`, label: `policy-${id}`, owner: nameOf(row) })
}

const picoPerUnit = 10n ** 12n
const picoPerNano = 1000n

/** Reads an amount of a column that is a whole number since 1.11.0 and was a decimal before. */
const storedAmount = (pico: string | null, decimal: string | null): bigint | null =>
  pico === null ? (decimal === null ? null : parsePico(decimal)) : BigInt(pico)

const roundedUp = (amount: bigint, unit: bigint): number => Number((amount + unit - 1n) / unit)

function toUsage(row: UsageRow, organisationId: string): Limit {
  const { pico, amount, thresholdPico, threshold: told, reset, days, next, createdAt, from } = row.terms
  const credit = storedAmount(pico, amount) ?? 0n
  const threshold = storedAmount(thresholdPico, told)
  const { period, window } = periodWindow({ reset, days, next, createdAt: Date.parse(createdAt) })
  const unit = row.type === 'cost' ? picoPerNano : picoPerUnit
  const budget = {
    kind: 'policy',
    id: row.id,
    from: Math.floor(from ?? 0),
    threshold: threshold === null ? null : roundedUp(threshold, unit),
  } as const
  const counter = {
    id: `policy:${row.id}:usage:${row.type}:${period}:${budget.from}`,
    organisationId,
    kind: 'usage' as const,
    window,
    budget,
  }
  const shown = formatPico(credit).replace(/\.?0+$/, '')
  if (row.type !== 'cost')
    return { ...counter, name: `${shown} ${row.type} of ${nameOf(row)}`, counts: row.type, value: Number(credit / picoPerUnit) }
  const money = moneyTerms(row.terms.output, row.terms.onUnpriced)
  return { ...counter, name: `$${shown} of ${nameOf(row)}`, counts: 'cost', value: Number(credit / picoPerNano), money }
}
