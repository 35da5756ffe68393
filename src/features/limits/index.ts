export { havingStatus, revived, statusAt, statusesField, toExpiry } from './expiry.ts'
export { joinLimits, limitedColumn, periodWindow, toGatewayLimits, windowOfUnit, wordsOfUnit, type LimitedRow } from './gateway-limits.ts'
export { fromAmount, periodFault, presentLimit, toAmount, toLimit, type Limit } from './limit.ts'
export {
  keyRateLimits,
  rateLimits,
  rateLimitsView,
  singleRateLimit,
  usageLimits,
  usageLimitsField,
  usageLimitsList,
  usageLimitsListShown,
  usageLimitsShown,
  type RateLimit,
  type UsageLimits,
} from './limits.schema.ts'
