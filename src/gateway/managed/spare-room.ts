/** How busy a process is. */
export interface Busyness {
  /** The most lines at a time. */
  readonly atOnce: number
  /** Requests of callers that run. */
  readonly live: number
  /** By how much the event loop was late. */
  readonly lateMs: number
}

/** A loop that is so late is busy with the requests of callers; batches wait until it is not. */
const slow = 25
const late = 100

/**
 * Returns how many lines may run. Each request of a caller takes the place of a line, up to half of them: many that only wait are no work, and come
 * of one organisation maybe. A late event loop halves the rest, and a very late one leaves none.
 */
export function placesFor({ atOnce, live, lateMs }: Busyness): number {
  if (lateMs > late) return 0
  const spare = Math.max(Math.ceil(atOnce / 2), atOnce - Math.max(0, live))
  return lateMs > slow ? Math.ceil(spare / 2) : spare
}

/** Returns how many places one organisation may have, so that lines which never end leave the others some. */
export const shareOf = (places: number): number => Math.max(1, Math.floor((places * 3) / 4))

const everyMs = 100

/** Watches how late the event loop is. */
export function watchLoop(): { readonly lateMs: () => number; readonly stop: () => void } {
  let [expectedAt, lateMs] = [performance.now() + everyMs, 0]
  const timer = setInterval(() => {
    const now = performance.now()
    lateMs = Math.max(now - expectedAt, lateMs / 2, 0)
    expectedAt = now + everyMs
  }, everyMs).unref()
  return { lateMs: () => lateMs, stop: () => clearInterval(timer) }
}
