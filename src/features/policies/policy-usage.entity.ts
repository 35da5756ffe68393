import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { amount } from '../../app/database/amount.ts'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

/** The usage of one combination of the values that a usage-limit policy groups by. */
export const PolicyUsage = defineEntity({
  name: 'PolicyUsage',
  tableName: 'usage_limit_policy_entities',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    policyId: p.uuid(),
    /** `key:value` of each group in the policy's order, such as `api_key:…`. */
    valueKey: p.text(),
    currentUsage: amount('current_usage'),
    status: status('active', 'exhausted'),
    isThresholdAlertsSent: p.boolean().default(false),
    isExhaustedAlertsSent: p.boolean().default(false),
    lastResetAt: p.datetime().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type PolicyUsage = InferEntity<typeof PolicyUsage>
