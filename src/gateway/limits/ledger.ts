import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { Charge } from '../metering/charge.ts'
import type { Call } from '../call.ts'
import type { PolicyView } from './policy.ts'
import type { RateLimitState } from './rate-headers.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { BudgetSpend } from './spent.ts'
import type { Target } from '../targets/target.ts'
import type { RequestBody } from '../wire/body.ts'

/** Rate limits and budgets. A reservation is taken before the provider is called and settled, once, with the real usage. */
export interface Ledger {
  /** Throws, or rejects with, `rate_limited` or `budget_exhausted` when the request does not fit. */
  reserve(exchange: {
    readonly call: Pick<
      Call,
      | 'caller'
      | 'metadata'
      | 'config'
      | 'prompt'
      | 'operation'
      | 'work'
      | 'exchange'
      | 'headers'
      | 'mirror'
      | 'upstreamPath'
      | 'before'
      | 'isOwed'
    >
    /** The policies of the caller's workspace; null: there are none. */
    readonly policies: readonly PolicyView[] | null
    /** With the model that the request names, wherever it does. */
    readonly target: Target
    /** As it is sent. */
    readonly body: RequestBody
    readonly prices: PriceSource
    /** The cost in pico-US-dollars of work that runs no model, which is known before it is done. Absent: it is free. */
    readonly fee?: bigint
  }): MaybePromise<Reservation>
}

/** How far a request got. */
export type RequestProgress = 'unsent' | 'failed' | 'answered'

export interface Reservation {
  /** The request is sent with this bound of its output, in tokens; null: as it is. */
  readonly maxOutput: number | null
  /** How the limits that it was taken from stand; null: there are none. */
  readonly standings: readonly RateLimitState[] | null
  /** Returns so many tokens as 99 of 100 answers to the key and the model have; null, or absent: no limit counts them. */
  usualOutput?(): number | null
  /**
   * Returns the amounts counted against budgets; null: there are none. `charge` is null for an answer without a charge. Settles once: later calls
   * have no effect.
   */
  settle(charge: Charge | null, reached: RequestProgress): readonly BudgetSpend[] | null
}
