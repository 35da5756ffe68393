import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { amount } from '../../app/database/amount.ts'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { MoneyTerms } from '../../gateway/ports/limits.ts'
import type { SetterRanks } from '../../lib/access/set-from-above.ts'
import type { UsageType } from '../limits/index.ts'
import type { Condition, Group } from './conditions.schema.ts'

/** Returns the columns of all policies. */
const policy = () => ({
  id: id(),
  organisationId: p.uuid(),
  workspaceId: p.uuid(),
  name: p.string().length(255).nullable(),
  conditions: p.json<readonly Condition[]>(),
  groupBy: p.json<readonly Group[]>(),
  status: status('active', 'archived'),
  setterRanks: p.json<SetterRanks>().default('{}'),
  createdBy: p.uuid().nullable(),
  createdAt: createdAt(),
  lastUpdatedAt: lastUpdatedAt(),
})

/** How fast requests that meet its conditions may come. */
export const RateLimitPolicy = defineEntity({
  name: 'RateLimitPolicy',
  tableName: 'rate_limit_policies',
  filters: { tenant: tenantFilter },
  properties: {
    ...policy(),
    type: p.text().$type<'requests' | 'tokens'>(),
    unit: p.text().$type<'rpm' | 'rph' | 'rpd'>(),
    value: p.decimal('number').precision(25).scale(9),
  },
})

export type RateLimitPolicy = InferEntity<typeof RateLimitPolicy>

/** How much requests that meet its conditions may use. */
export const UsageLimitPolicy = defineEntity({
  name: 'UsageLimitPolicy',
  tableName: 'usage_limit_policies',
  filters: { tenant: tenantFilter },
  properties: {
    ...policy(),
    type: p.text().$type<UsageType>(),
    creditLimit: amount('credit_limit'),
    alertThreshold: amount('alert_threshold').nullable(),
    periodicReset: p.text().$type<'weekly' | 'monthly'>().nullable(),
    periodicResetDays: p.integer().nullable(),
    nextUsageResetAt: p.datetime().nullable(),
    lastResetAt: p.datetime().nullable(),
    /** For policies in US dollars alone; null: the default. */
    onUnpriced: p.text().$type<MoneyTerms['onUnpriced']>().nullable(),
    outputPolicy: p.text().$type<MoneyTerms['output']>().nullable(),
  },
})

export type UsageLimitPolicy = InferEntity<typeof UsageLimitPolicy>
