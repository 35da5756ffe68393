import type { CostState } from './price-usage.ts'

/** Returns the state of a whole: it is priced when every part that is charged is, and a lower bound when some are. */
export function stateOf(states: readonly CostState[]): CostState {
  const charged = states.filter((state) => state !== 'not_charged')
  if (charged.length === 0) return 'not_charged'
  if (charged.every((state) => state === 'unpriced')) return 'unpriced'
  if (charged.some((state) => state === 'unpriced' || state === 'partly_priced')) return 'partly_priced'
  return charged.includes('estimated') ? 'estimated' : 'priced'
}
