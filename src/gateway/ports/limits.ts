/** Limits and budgets: written ones, policies, the counters that the Ledger counts on. */
export { type CounterStore, createCounters, type SettledAmount, type Slice } from '../limits/counters.ts'
export { createLeaseLedger, type LeaseLedgerOptions, reservationOutcomes } from '../limits/lease-ledger.ts'
export { type Budget, type Limit, moneyTerms, type MoneyTerms, outputPolicies, unpricedTerms } from '../limits/limit.ts'
export { endpointNamesOfLog, type PolicyCondition, policyLimits, type PolicyRequest, type PolicyView } from '../limits/policy.ts'
export { groupsOf } from '../limits/value-key.ts'
export {
  joinLimits,
  type LimitedResource,
  msOfUnit,
  periodWindow,
  type RateLimit,
  rateLimitOf,
  toGatewayLimits,
  windowOfUnit,
  type WrittenLimits,
} from '../limits/written-limits.ts'
