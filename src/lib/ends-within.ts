/** Waits for work, but no longer than this. Resolves with its result, or with `instead` while the work goes on unobserved. Rejects when it fails in time. */
export async function within<Result>(ms: number, work: Promise<Result>, instead: Result): Promise<Result> {
  const { promise: late, resolve } = Promise.withResolvers<Result>()
  const timer = setTimeout(resolve, ms, instead)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Waits for work, but no longer than this. True: it ended in time; false: it goes on unobserved. Rejects when the work fails in time. */
export const endsWithin = (ms: number, work: Promise<unknown>): Promise<boolean> =>
  within(
    ms,
    work.then(() => true),
    false,
  )
