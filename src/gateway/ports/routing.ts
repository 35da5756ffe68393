/** The state of routing: its breakers, and the kinds of failures. */
export type { BreakerState } from '../routing/breaker.ts'
export { type BreakerEvent, createRoutingState, type RoutingState } from '../routing/state.ts'
export { failureKinds } from '../routing/verdict.ts'
