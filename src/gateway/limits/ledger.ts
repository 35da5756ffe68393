import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { KeyView } from '../callers/key.ts'
import type { Charge } from '../metering/charge.ts'
import type { MatchedOperation } from '../front/match.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { Target } from '../targets/target.ts'
import type { RequestBody } from '../wire/body.ts'

/** Rate limits and budgets. A reservation is taken before the provider is called and settled, once, with what was used. */
export interface Ledger {
  /** Throws, or rejects with, `rate_limited` or `budget_exhausted` when the request does not fit. */
  reserve(exchange: {
    readonly requestId: string
    readonly key: KeyView
    readonly target: Target
    /** As it is sent. */
    readonly body: RequestBody
    readonly operation: MatchedOperation
    readonly prices: PriceSource
  }): MaybePromise<Reservation>
}

/** How far a request got. */
export type Reached = 'unsent' | 'failed' | 'answered'

export interface Reservation {
  /** `charge` is null for an answer that nobody was charged for. */
  settle(charge: Charge | null, reached: Reached): void
}
