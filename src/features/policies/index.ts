import { feature } from '../../app/feature.ts'
import { policiesView } from './policy.view.ts'
import { PolicyUsage } from './policy-usage.entity.ts'
import { RateLimitPolicy, UsageLimitPolicy } from './policy.entity.ts'
import { createRateLimit, deleteRateLimit, listRateLimits, readRateLimit, updateRateLimit } from './rate-limits.routes.ts'
import { previewRateLimit, previewUsageLimit } from './preview.routes.ts'
import { createUsageLimit, deleteUsageLimit, listUsageLimits, readUsageLimit, updateUsageLimit } from './usage-limits.routes.ts'

export { demandPolicy, findRateLimit, findUsageLimit, resetUsage } from './policies.ts'

/** Rate and usage limits for all requests that meet conditions. */
export const policies = feature({
  id: 'policies',
  since: '1.5.0',
  // Conditions with lists, `*` and exclusions.
  changes: ['1.8.0'],
  flag: 'POLICY_ENABLED',
  requires: ['workspaces'],
  permissions: ['create', 'read', 'update', 'delete', 'list'].map((verb) => `policies.${verb}`),
  views: { policies: policiesView },
  entities: [RateLimitPolicy, UsageLimitPolicy, PolicyUsage],
  routes: [
    createRateLimit,
    previewRateLimit,
    listRateLimits,
    readRateLimit,
    updateRateLimit,
    deleteRateLimit,
    createUsageLimit,
    previewUsageLimit,
    listUsageLimits,
    readUsageLimit,
    updateUsageLimit,
    deleteUsageLimit,
  ],
})
