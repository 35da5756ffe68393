export { revived, statusAt, toExpiry } from './expiry.ts'
export {
  keyRateLimits,
  rateLimits,
  rateLimitsView,
  usageLimits,
  usageLimitsView,
  type RateLimit,
  type UsageLimits,
} from './limits.schema.ts'
