export interface EffortBounds {
  readonly microsPerCharacter?: number
  /** So much is always allowed, in milliseconds. */
  readonly leastMs?: number
}

/**
 * Bounds how long a check computes, in proportion to what it reads: what is returned is asked now and then, and throws when it was too
 * long. It is the thread's own time, of which a busy machine takes nothing away.
 */
export function effort(characters: number, { microsPerCharacter = 0.25, leastMs = 100 }: EffortBounds = {}): () => void {
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
