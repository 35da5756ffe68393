/** Length of a window in milliseconds; the one before counts with the share that still overlaps. */
const windowMs = 10_000
/** Repetitions per first try: 20 % more load. */
const share = 0.2
/** Repetitions per window that are always allowed, so that the first failures of a quiet target are repeated. */
const least = 10

interface Counts {
  startedAt: number
  tries: number
  retries: number
  triesBefore: number
  retriesBefore: number
}

/** Bounds retries, so that a failing provider is not hammered by the retries of all requests. */
export interface RetryBudgets {
  /** Counts a first try. `now` in milliseconds of any clock that only goes forward. */
  noteTry(target: string, now: number): void
  /** Returns true, and counts a repetition, if the target may be tried once more. */
  takeRetry(target: string, now: number): boolean
}

/** Makes the budgets of a process, for at most so many targets; the ones used longest ago are forgotten first. */
export function createRetryBudgets(mostTargets: number): RetryBudgets {
  const byTarget = new Map<string, Counts>()
  const countsOf = (target: string, now: number): Counts => {
    const found = byTarget.get(target)
    if (found !== undefined) return turned(found, now)
    for (const oldest of byTarget.keys()) {
      if (byTarget.size < mostTargets) break
      byTarget.delete(oldest)
    }
    const counts = { startedAt: now, tries: 0, retries: 0, triesBefore: 0, retriesBefore: 0 }
    byTarget.set(target, counts)
    return counts
  }
  return {
    noteTry(target, now) {
      countsOf(target, now).tries += 1
    },
    takeRetry(target, now) {
      const counts = countsOf(target, now)
      const overlap = 1 - (now - counts.startedAt) / windowMs
      const tries = counts.tries + counts.triesBefore * overlap
      const retries = counts.retries + counts.retriesBefore * overlap
      if (retries + 1 > Math.max(least, tries * share)) return false
      counts.retries += 1
      return true
    },
  }
}

/** Moves the windows on when the current one is over. */
function turned(counts: Counts, now: number): Counts {
  const passed = Math.floor((now - counts.startedAt) / windowMs)
  if (passed < 1) return counts
  counts.triesBefore = passed === 1 ? counts.tries : 0
  counts.retriesBefore = passed === 1 ? counts.retries : 0
  counts.tries = 0
  counts.retries = 0
  counts.startedAt += passed * windowMs
  return counts
}
