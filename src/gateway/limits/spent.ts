/** The amount that an attempt counted against a budget. */
export interface BudgetSpend {
  readonly counter: string
  /** The period, as the counter numbers it. */
  readonly slot: string
  /** Pico-US-dollars as a decimal text, or a number of tokens or requests. */
  readonly amount: string | number
  /** Names the process and its settlements that carry the amount: whether they were written shows which amounts died with a process. */
  readonly mark: string
}
