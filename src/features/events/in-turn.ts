/** Does work when it is its turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** Returns how to do at most so many things at a time, in the order in which they came. */
export function createTurns(atOnce: number): InTurn {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => void waiting.push(resolve))
    running += 1
    try {
      return await work()
    } finally {
      running -= 1
      waiting.shift()?.()
    }
  }
}
