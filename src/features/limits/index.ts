export { fromAmount, toAmount } from './amounts.ts'
export { havingStatus, revived, statusAt, statusesField, toExpiry } from './expiry.ts'
export {
  keyRateLimits,
  rateLimits,
  rateLimitsView,
  singleRateLimit,
  usageLimits,
  usageLimitsView,
  type RateLimit,
  type UsageLimits,
} from './limits.schema.ts'
