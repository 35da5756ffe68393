import type { BreakerRule } from '../routing/breaker.ts'
import type { Condition } from '../routing/conditions.ts'
import type { FailureRule } from '../routing/verdict.ts'
import type { StickyRule } from '../routing/sticky.ts'

/** A compiled config: the targets that a request may go to, and how one is chosen. */
export type Plan<Target = unknown> = Leaf<Target> | Choice<Target>

/** One target: the request and its destination are in `target`, the way of trying it is here. */
export interface Leaf<Target = unknown> {
  readonly kind: 'leaf'
  /** Place in the config: `config`, or `config.targets[1]`. Answers name it in `last-used-option-index`. */
  readonly option: string
  /** Identifies the target for breakers, retry budgets and latencies: equal in every process, different for two configs. */
  readonly id: string
  readonly target: Target
  /** Null: the target is tried once. */
  readonly retry: RetryRule | null
  /** Null: the target is never left out. */
  readonly breaker: BreakerRule | null
}

/** Several targets, and how one of them is chosen. */
export interface Choice<Target = unknown> {
  readonly kind: 'choice'
  readonly option: string
  readonly id: string
  readonly strategy: Strategy
  /** At least one. */
  readonly targets: readonly Plan<Target>[]
}

export interface RetryRule {
  /** Repetitions after the first try: 1 to 5. */
  readonly attempts: number
  readonly after: FailureRule
  /** `exact`: waits as long as the provider asks, or gives up. `atLeast`: waits that long when there is time. `ignored`: backs off alone. */
  readonly retryAfter: 'exact' | 'atLeast' | 'ignored'
}

export type Strategy =
  | { readonly mode: 'fallback'; readonly after: FailureRule }
  | { readonly mode: 'loadbalance'; readonly weights: readonly number[]; readonly sticky: StickyRule | null }
  | { readonly mode: 'conditional'; readonly conditions: readonly Branch[]; readonly otherwise: number }
  | { readonly mode: 'least-latency' | 'least-cost' }

/** Returns the targets of a plan, in order. */
export const leavesOf = <Target>(plan: Plan<Target>): readonly Leaf<Target>[] =>
  plan.kind === 'leaf' ? [plan] : plan.targets.flatMap(leavesOf)

/** A condition, and the index of the target that it leads to. */
export interface Branch {
  readonly when: Condition
  readonly target: number
}
