const stepMs = 10

let worst = 0
let last = performance.now()
setInterval(() => {
  const now = performance.now()
  worst = Math.max(worst, now - last - stepMs)
  last = now
}, stepMs).unref()

/**
 * How late this process's timers have been at worst, in ms: the share of a busy machine in every measured time. A test of punctuality allows for it;
 * on a quiet machine it is a millisecond or two.
 */
export function loopLag(): number {
  return Math.max(worst, performance.now() - last - stepMs)
}
