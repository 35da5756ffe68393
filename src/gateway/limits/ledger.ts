import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { KeyView } from '../callers/key.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import type { ProviderView } from '../targets/provider-view.ts'

/** Rate limits and budgets. A reservation is taken before the provider is called and settled, once, with what was used. */
export interface Ledger {
  reserve(exchange: {
    readonly requestId: string
    readonly key: KeyView
    readonly provider: ProviderView | null
  }): MaybePromise<Reservation>
}

export interface Reservation {
  settle(usage: Usage | null): void
}
