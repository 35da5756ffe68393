import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { KeyView } from '../callers/key.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import type { ProviderView } from '../targets/provider-view.ts'
import type { RequestBody } from '../wire/body.ts'

/** Rate limits and budgets. A reservation is taken before the provider is called and settled, once, with what was used. */
export interface Ledger {
  /** Throws, or rejects with, `rate_limited` or `budget_exhausted` when the request does not fit. */
  reserve(exchange: {
    readonly requestId: string
    readonly key: KeyView
    readonly provider: ProviderView | null
    /** As it is sent. */
    readonly body: RequestBody
    /** True if its answer tells tokens. */
    readonly countsTokens: boolean
  }): MaybePromise<Reservation>
}

/** How far a request got. */
export type Reached = 'unsent' | 'failed' | 'answered'

export interface Reservation {
  settle(usage: Usage | null, reached: Reached): void
}
