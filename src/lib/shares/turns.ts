import { createFairLine } from './fair-line.ts'
import { type Bound, createShares } from './shares.ts'

/** The work that runs at a time, and the work that may wait for its turn. */
export interface TurnsOptions extends Bound {
  /** The work of one owner that waits; more is refused. */
  readonly mostWaiting: number
  /** The work of all owners that waits; absent: as much as there are owners for. */
  readonly mostWaitingOfAll?: number
  /** Work that has waited for so long is refused; absent: it waits as long as it is wanted. */
  readonly mostWaitMs?: number
  /** Makes the error with which work is refused. */
  readonly tooMany: () => Error
}

/** Runs work when it is the owner's turn. Rejects when too much of the owner's work waits, or for too long, or when `signal` ends the wait. */
export type InTurn = <T>(owner: string | null, work: () => Promise<T>, asked?: TurnOptions) => Promise<T>

interface TurnOptions {
  readonly signal?: AbortSignal
  /** The bound of waiting work, where it differs for this kind of work. */
  readonly mostWaiting?: number
}

/** Returns turns: so much work runs at a time, of each owner less, and owners take turns, however much of their work waits. */
export function createTurns({ tooMany, mostWaitingOfAll = Infinity, mostWaitMs, ...bound }: TurnsOptions): InTurn {
  const running = createShares(bound)
  const line = createFairLine<() => void>()

  function startNext(): void {
    for (let start = line.next(running.hasPlace); start !== undefined; start = line.next(running.hasPlace)) start()
  }

  async function waits(owner: string | null, { signal, mostWaiting = bound.mostWaiting }: TurnOptions): Promise<void> {
    if (running.take(owner)) return
    if (line.waitingOf(owner) >= mostWaiting || line.size >= mostWaitingOfAll) throw tooMany()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const start = (): void => {
      running.take(owner)
      resolve()
    }
    const leave = (reason: Error): void => {
      line.delete(owner, start)
      reject(reason)
    }
    const onAbort = (): void => leave(signal?.reason instanceof Error ? signal.reason : new Error('the work is not wanted any longer'))
    line.add(owner, start)
    signal?.addEventListener('abort', onAbort, { once: true })
    const timer = mostWaitMs === undefined ? undefined : setTimeout(() => leave(tooMany()), mostWaitMs)
    await promise.finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    })
  }

  return async (owner, work, asked = {}) => {
    asked.signal?.throwIfAborted()
    await waits(owner, asked)
    try {
      return await work()
    } finally {
      running.giveBack(owner)
      startNext()
    }
  }
}
