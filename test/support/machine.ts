import { createHash } from 'node:crypto'

/** Milliseconds of processor time that the work takes on a machine that is not busy, of the kind that the limits were set on. */
const usualMs = 45
const rounds = 5
const pieces = 200

/**
 * Returns how many times as long as usual this machine takes for the same work, at least 1: neighbours on the host slow a processor down
 * without taking its time, so that limits in milliseconds hold only in proportion.
 */
export function slowness(): number {
  const messages = Array.from({ length: 400 }, (_, at) => ({ role: 'user', content: `word ${at} `.repeat(20) }))
  const text = JSON.stringify({ messages })
  let best = Infinity
  for (let round = 0; round < rounds; round += 1) {
    const before = process.threadCpuUsage()
    for (let piece = 0; piece < pieces; piece += 1)
      createHash('sha256')
        .update(JSON.stringify(JSON.parse(text)))
        .digest()
    const { user, system } = process.threadCpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return Math.max(1, best / usualMs)
}
