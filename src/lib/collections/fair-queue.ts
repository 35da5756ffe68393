type Job = () => Promise<void>

/** Runs a job after those before it; rejects when that many of its owner's wait already. */
type FairQueue = <T>(owner: string, job: () => Promise<T>, maxWaiting: number) => Promise<T>

/** Runs jobs one after the other. Owners take turns, whoever has how many. `tooMany` makes what a job is refused with. */
export function createFairQueue(tooMany: () => Error): FairQueue {
  const waiting = new Map<string, Job[]>()
  let running = false

  async function drain(): Promise<void> {
    running = true
    for (let next = take(waiting); next !== null; next = take(waiting)) await next()
    running = false
  }

  return <T>(owner: string, job: () => Promise<T>, maxWaiting: number) => {
    const own = waiting.get(owner) ?? []
    if (own.length >= maxWaiting) return Promise.reject(tooMany())
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    own.push(() => job().then(resolve, reject))
    waiting.set(owner, own)
    if (!running) void drain()
    return promise
  }
}

/** The job that waits longest of the owner whose turn it is; the owner then goes behind the others. */
function take(waiting: Map<string, Job[]>): Job | null {
  const [first] = waiting
  if (first === undefined) return null
  const [owner, jobs] = first
  const job = jobs.shift() ?? null
  waiting.delete(owner)
  if (jobs.length > 0) waiting.set(owner, jobs)
  return job
}
