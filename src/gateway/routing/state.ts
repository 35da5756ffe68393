import { type BreakerChange, type Breakers, createBreakers } from './breaker.ts'
import { createMeasures, type Measures } from './measures.ts'
import { createRetryBudgets, type RetryBudgets } from './retry-budget.ts'

/** The knowledge of a process about targets, beyond one request. */
export interface RoutingState {
  readonly breakers: Breakers
  readonly budgets: RetryBudgets
  readonly measures: Measures
  /** Tells the other processes. */
  readonly tell: (told: Told) => void
}

/** A change of a breaker, and the target that it is about. */
export interface Told {
  readonly change: BreakerChange
  readonly about: {
    readonly organisationId: string
    readonly workspaceId: string | null
    /** Null: a config that a request brought. */
    readonly config: string | null
    readonly option: string
    readonly provider: string | null
  }
}

/** So many targets are known at once. */
const mostTargets = 10_000

/** Makes the state of a process. `tell` tells the other processes of a breaker. */
export const createRoutingState = (tell: RoutingState['tell'] = () => {}): RoutingState => ({
  breakers: createBreakers(mostTargets),
  budgets: createRetryBudgets(mostTargets),
  measures: createMeasures(mostTargets),
  tell,
})
