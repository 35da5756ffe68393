/** Waits for work, but no longer than this. True: it ended in time; false: it goes on unobserved. Rejects when the work fails in time. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer))
}
