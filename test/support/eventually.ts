import { setTimeout as sleep } from 'node:timers/promises'

const everyMs = 20
/** A look at the condition takes no longer than this on a machine that is not busy. */
const usualMs = 30
/** A busy machine gets so many times the time at most. */
const mostStretch = 10

/**
 * Resolves with the milliseconds it took until the condition held; rejects when it did not in time. Looks that take longer than usual count as
 * usual ones: neighbours on the machine slow a look down as they slow down the wait for it.
 */
export async function eventually(condition: () => boolean | Promise<boolean>, withinMs: number, what = 'the condition'): Promise<number> {
  const from = performance.now()
  let last = from
  let counted = 0
  while (!(await condition())) {
    await sleep(everyMs)
    const now = performance.now()
    counted += Math.min(now - last, everyMs + usualMs)
    last = now
    if (counted > withinMs || now - from > withinMs * mostStretch)
      throw new Error(`waited ${Math.round(now - from)} ms in vain for ${what}`)
  }
  return performance.now() - from
}
