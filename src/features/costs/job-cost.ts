import type { CostRow } from './recompute.ts'
import type { JobCost } from './reprice.ts'

/**
 * Returns the cost of the job that the last attempt of a request began, as it was settled; null: it has not been. A settled cost that is a lower bound
 * is one here, whichever attempt made it so.
 */
export function jobOf({ retry_count: attempt, settlement }: Pick<CostRow, 'retry_count' | 'settlement'>): JobCost | null {
  if (settlement === null) return null
  const lines = settlement.lines.filter((line) => line.attempt === attempt)
  const amount = lines.reduce((sum, line) => sum + BigInt(line.amount), 0n)
  return { attempt, cost: { state: lines.length === 0 ? 'not_charged' : settlement.state, amount, lines } }
}
