import type { CostRow } from './recompute.ts'
import type { JobCost } from './reprice.ts'

/**
 * Returns the costs of the jobs that attempts of a request began, as they were settled; those that were not are missing. The former release kept no state of
 * a job alone: there a settled cost that is a lower bound is one here, whichever attempt made it so.
 */
export const jobsOf = ({ retry_count: last, settlements }: Pick<CostRow, 'retry_count' | 'settlements'>): readonly JobCost[] =>
  (settlements ?? []).map(({ job, state, lines: all }) => {
    const attempt = job?.attempt ?? last
    const lines = all.filter((line) => line.attempt === attempt)
    const amount = lines.reduce((sum, line) => sum + BigInt(line.amount), 0n)
    return { attempt, cost: { state: lines.length === 0 ? 'not_charged' : (job?.state ?? state), amount, lines } }
  })
