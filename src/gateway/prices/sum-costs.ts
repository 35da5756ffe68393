import type { Cost } from './price-usage.ts'
import { stateOf } from './state-of.ts'

/** Returns the sum of costs that were computed in pieces. */
export function sumCosts(costs: readonly Cost[]): Cost {
  const amounts = costs.flatMap(({ amount }) => (amount === null ? [] : [amount]))
  return {
    state: stateOf(costs.map(({ state }) => state)),
    amount: amounts.length === 0 ? null : amounts.reduce((sum, amount) => sum + amount, 0n),
    lines: costs.flatMap(({ lines }) => lines),
    unpriced: [...new Set(costs.flatMap(({ unpriced }) => unpriced))],
  }
}
