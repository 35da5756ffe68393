export { havingStatus, revived, statusAt, statusesField, toExpiry } from './expiry.ts'
export {
  joinLimits,
  msOfUnit,
  periodWindow,
  rateLimitOf,
  toGatewayLimits,
  type WrittenLimits as LimitedRow,
  type RateLimit,
} from '../../gateway/ports/limits.ts'
export { limitedColumn } from './limited-column.ts'
export { keepLimits } from './limits.jobs.ts'
export { boundsAbove } from './bounds-above.ts'
export { isShownGroup, ownGroups, patternsOfGroups } from './shown-groups.ts'
export { findLimits, findPolicyLimits, presentOwned, type OwnedLimit } from './limited-rows.ts'
export { demandMoneySetter } from './money-bounds.ts'
export { demandReactivation } from './reactivation.ts'
export { limitStates, standingsOf, type LimitUsage } from './standing.ts'
export { boundedByField, lastUseFields, limitOwner, standingFields, usageShown } from './standing.schema.ts'
export { withOwnUsage, withUsage } from './shown-usage.ts'
export {
  givenBorder,
  fromAmount,
  moneyFault,
  periodFault,
  presentLimit,
  thresholdFault,
  toAmount,
  toLimit,
  usageTypes,
  type Limit,
  type UsageType,
} from './limit.ts'
export {
  keyRateLimits,
  keyUsageLimitsField,
  keyUsageLimitsShown,
  moneyFields,
  rateLimits,
  rateLimitsView,
  singleRateLimit,
  usageLimits,
  usageLimitsField,
  usageLimitsList,
  usageLimitsListShown,
  usageLimitsShown,
  type UsageLimits,
} from './limits.schema.ts'
