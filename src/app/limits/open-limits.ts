import type { Logger } from 'pino'
import { createCounters, createLeaseLedger, type LeaseLedgerOptions, reservationOutcomes } from '../../gateway/ports/limits.ts'
import type { Ledger } from '../../gateway/ports.ts'
import type { SidePool } from '../database/side-pool.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { openStoredCounters } from './counter-store.ts'

export interface LimitsOptions extends Pick<LeaseLedgerOptions, 'countsUsage' | 'whenUnavailable' | 'settleWaitMs'> {
  readonly side: SidePool
  readonly log: Logger
  readonly measure: Metrics['measure']
}

/** The Ledger door of a process. */
export interface OpenLimits {
  readonly ledger: Ledger
  /** True while counters cannot be read or written. */
  away(): boolean
  stop(): Promise<void>
}

const sweepMs = 100

/** Opens the Ledger door: slices in memory, counters in PostgreSQL. */
export function openLimits({ side, log, measure, ...terms }: LimitsOptions): OpenLimits {
  const stored = openStoredCounters({ side, log })
  const counters = createCounters(stored, () => performance.now())
  const outcomes = { granted: 0, rate_limited: 0, budget_exhausted: 0, unavailable: 0 }
  for (const kind of reservationOutcomes) measure('gateway_limit_reservations_total', () => outcomes[kind], { kind })
  measure('gateway_limit_counters', () => counters.size())
  measure('gateway_limits_away', () => (stored.away() ? 1 : 0))
  const sweep = async (all: boolean) => {
    counters.sweep(all)
    await stored.flush()
  }
  const timer = setInterval(() => void sweep(false), sweepMs).unref()
  return {
    ledger: createLeaseLedger({ ...terms, counters, observe: (outcome) => (outcomes[outcome] += 1) }),
    away: () => stored.away(),
    async stop() {
      clearInterval(timer)
      await sweep(true)
      await stored.stop()
    },
  }
}
