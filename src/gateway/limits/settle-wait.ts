import type { Counters, Refusal } from './counters.ts'
import { isOnlyReserved } from './refusal.ts'

/** Requests that wait until others, which have reserved the rest of a budget, have settled. */
export interface SettleWait {
  /** Resolves to true when it is worth to ask again; to false at once where waiting does not help, or too many wait. `until`: on the monotonic clock. */
  for(refusals: readonly Refusal[], until: number): Promise<boolean>
}

/** Each holds its body: so many wait in a process, a quarter of them of one organisation. */
const mostWaiting = 1000
const mostOfOne = mostWaiting / 4
/** Other processes do not announce that they settled: the database is asked so often. */
const askAgainMs = 250

/** Makes the waiting room of a process. */
export function createSettleWait(counters: Pick<Counters, 'freed'>): SettleWait {
  const waiting = new Map<string, number>()
  let all = 0
  const count = (organisationId: string, by: 1 | -1): void => {
    all += by
    const own = (waiting.get(organisationId) ?? 0) + by
    if (own === 0) waiting.delete(organisationId)
    else waiting.set(organisationId, own)
  }
  return {
    async for(refusals, until) {
      const [first] = refusals
      const leftMs = until - performance.now()
      if (first === undefined || leftMs <= 0 || !refusals.every(isOnlyReserved)) return false
      const { organisationId } = first.limit
      if (all >= mostWaiting || (waiting.get(organisationId) ?? 0) >= mostOfOne) return false
      count(organisationId, 1)
      await counters.freed(first.limit, Math.min(leftMs, askAgainMs))
      count(organisationId, -1)
      return true
    },
  }
}
