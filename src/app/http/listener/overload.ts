import { totalmem } from 'node:os'

export type Pressure = 'event_loop' | 'memory'

/** The guard that refuses new work when the process is overloaded. */
export interface Overload {
  /** Why new exchanges are refused at this moment; null: they are not. */
  refuses(): Pressure | null
  /** Returns true if clients should disconnect after their answer, so that load moves to other processes. */
  sheds(): boolean
  stop(): void
}

export interface OverloadOptions {
  /** The memory of this process's share of its container; null: there is no limit. */
  readonly memoryLimitBytes: number | null
  /** Called at every change. */
  readonly onChange: (pressure: Pressure | null, facts: { readonly lateMs: number; readonly memoryShare: number }) => void
}

const everyMs = 250
/** A loop that is this late, most of the time during a second, makes every caller wait: fewer callers are served better. */
const latestMs = 500
const remembered = 4
const lateEnough = 3
/** Shares of the memory limit, as Envoy's overload manager has them. */
const shedAbove = 0.92
const refuseAbove = 0.95
const acceptBelow = 0.9

/**
 * Watches the delay of the event loop and the distance to the memory limit: requests beyond the capacity would be answered late, or end all of it in
 * an out-of-memory kill.
 */
export function watchOverload({ memoryLimitBytes, onChange }: OverloadOptions): Overload {
  const lateness: number[] = []
  let pressure: Pressure | null = null
  let share = 0
  let expectedAt = performance.now() + everyMs
  const timer = setInterval(() => {
    const now = performance.now()
    lateness.push(Math.max(0, now - expectedAt))
    if (lateness.length > remembered) lateness.shift()
    expectedAt = now + everyMs
    share = memoryLimitBytes === null ? 0 : process.memoryUsage.rss() / memoryLimitBytes
    const next = judge(lateness, share, pressure)
    if (next !== pressure) onChange(next, { lateMs: Math.round(lateness.at(-1) ?? 0), memoryShare: share })
    pressure = next
  }, everyMs)
  timer.unref()
  return {
    refuses: () => pressure,
    sheds: () => pressure !== null || share > shedAbove,
    stop: () => clearInterval(timer),
  }
}

/** Returns the pressure that the last readings show. A refusal for memory lasts until there is room again, so that it does not flutter. */
export function judge(lateness: readonly number[], memoryShare: number, before: Pressure | null): Pressure | null {
  if (memoryShare > (before === 'memory' ? acceptBelow : refuseAbove)) return 'memory'
  return lateness.filter((lateMs) => lateMs > latestMs).length >= lateEnough ? 'event_loop' : null
}

/** The container's limit, shared among `processes`; null when there is none below the machine's memory. */
export function memoryLimit(processes: number): number | null {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit / processes : null
}
