export interface CpuBounds {
  readonly microsPerCharacter?: number
  /** So much is always allowed, in milliseconds. */
  readonly leastMs?: number
}

/**
 * Returns a function to call regularly: it throws once the thread has spent more CPU time (not time on the wall) on a check than the length
 * of its text allows.
 */
export function createCpuBudget(characters: number, { microsPerCharacter = 0.25, leastMs = 100 }: CpuBounds = {}): () => void {
  const from = process.threadCpuUsage()
  const startedAt = performance.now()
  const most = Math.max(leastMs * 1000, characters * microsPerCharacter)
  return () => {
    // The clock on the wall is cheap to ask, and a thread computes no longer than passes there.
    if ((performance.now() - startedAt) * 1000 <= most) return
    const { user, system } = process.threadCpuUsage(from)
    if (user + system > most) throw new Error('The check takes too long on so long a text.')
  }
}
