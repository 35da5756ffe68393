import type { Logger } from 'pino'
import { within } from '../../lib/ends-within.ts'

/**
 * Work on the database that a request can do without. One rule holds for all of it while the database is away or slow: a request waits 250 ms at
 * most, and after a failure none asks the database for two seconds.
 */
export interface SpareWork {
  /** True while the database is left alone after a failure. */
  paused(): boolean
  /** Returns the result of the work; `instead` when it fails, takes too long, or is left out. */
  resultOf<Result>(work: () => Promise<Result>, instead: Result): Promise<Result>
  /** Notes a failure of work for which no request waits. */
  failed(error: unknown): void
}

const patienceMs = 250
const pauseMs = 2000

/** Returns the state of one kind of such work; `fault` is its failure in words. */
export function createSpareWork(log: Logger, fault: string): SpareWork {
  let pausedUntil = -Infinity
  const paused = () => performance.now() < pausedUntil
  const failed = (error: unknown) => {
    if (!paused()) log.debug({ err: error }, fault)
    pausedUntil = performance.now() + pauseMs
  }
  return {
    paused,
    failed,
    async resultOf(work, instead) {
      if (paused()) return instead
      const result = work().catch((error: unknown) => {
        failed(error)
        return instead
      })
      return within(patienceMs, result, instead)
    },
  }
}
