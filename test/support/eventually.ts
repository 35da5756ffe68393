import { setTimeout as sleep } from 'node:timers/promises'

const everyMs = 20

/** Resolves with the milliseconds it took until the condition held; rejects when it did not in time. */
export async function eventually(condition: () => boolean | Promise<boolean>, withinMs: number, what = 'the condition'): Promise<number> {
  const from = performance.now()
  while (!(await condition())) {
    if (performance.now() - from > withinMs) throw new Error(`waited ${withinMs} ms in vain for ${what}`)
    await sleep(everyMs)
  }
  return performance.now() - from
}
