/** A limit of a key, a provider or a workspace, as the gateway counts it. */
export interface Limit {
  /** The counter's name, the same in every process. */
  readonly id: string
  readonly organisationId: string
  /** Words for people, such as `60 requests per minute of the API key`. */
  readonly name: string
  readonly kind: 'rate' | 'usage'
  readonly counts: 'requests' | 'tokens' | 'cost'
  /** In nano-US-dollars when costs are counted. */
  readonly value: number
  readonly window: Window
  /** Absent for usage limits. */
  readonly rate?: RateTerms
  /** Absent where no costs are counted. */
  readonly money?: MoneyTerms
  /** Absent for rate limits. */
  readonly budget?: Budget
}

/** The words of a rate limit in headers. They hold no text that callers choose. */
export interface RateTerms {
  /** The item of `RateLimit-Policy`. */
  readonly policy: string
  /** The limit in figures. */
  readonly value: string
  /** The texts around the remaining amount in the item of `RateLimit`, while no request is refused. */
  readonly before: string
  readonly after: string
  /** The length of the window as OpenAI writes it. */
  readonly reset: string
  readonly windowMs: number
}

/** The recipients of alerts about a usage limit. */
export interface Budget {
  readonly kind: 'api-key' | 'provider' | 'workspace' | 'integration-workspace' | 'policy' | 'token'
  readonly id: string
  /** The values of a policy that groups by them. */
  readonly valueKey?: string
  /** Epoch milliseconds of the reset since which usage counts; 0: from the beginning. */
  readonly from: number
  /** In the units of the limit's value; null: there is no alert before the end. */
  readonly threshold: number | null
}

/** How a limit in money treats requests whose cost is not known before they are sent. */
export interface MoneyTerms {
  /**
   * Output that a request does not bound. `strict`: as much as the model can give; `typical`: the usual amount; `inject`: that, and the request is
   * bound to it.
   */
  readonly output: (typeof outputPolicies)[number]
  /** Requests without a known price are refused or let through. */
  readonly onUnpriced: (typeof unpricedTerms)[number]
}

/** The words for them; the first ones are the defaults of a limit. */
export const outputPolicies = ['typical', 'strict', 'inject'] as const
export const unpricedTerms = ['deny', 'allow'] as const

/** Returns how a limit in money treats such requests. A missing word is the first one. */
export const moneyTerms = (
  output: MoneyTerms['output'] | null | undefined,
  onUnpriced: MoneyTerms['onUnpriced'] | null | undefined,
): MoneyTerms => ({ output: output ?? outputPolicies[0], onUnpriced: onUnpriced ?? unpricedTerms[0] })

/** Returns true for a limit in money. */
export const isOfMoney = ({ counts }: Pick<Limit, 'counts'>): boolean => counts === 'cost'

/** The end of a count: a sliding window in slots, or a period of the calendar. */
export type Window =
  | { readonly slotMs: number; readonly slots: number }
  | {
      readonly slotMs: null
      readonly reset: 'weekly' | 'monthly' | null
      readonly days: number | null
      /** A border of periods as ISO time; null: that of the calendar. */
      readonly anchor: string | null
    }

/** The most that a request is expected to use, in the units of limits. */
export interface Needs {
  readonly requests: number
  readonly tokens: number
  readonly cost: number
}

export const neededBy = ({ counts, kind, value }: Limit, needs: Needs): number =>
  // A request whose estimate is above a whole rate limit would never come through: it takes all of it.
  kind === 'rate' ? Math.min(needs[counts], Math.max(value, 1)) : needs[counts]
