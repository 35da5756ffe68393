import { type BreakerChange, type Breakers, createBreakers } from './breaker.ts'
import { createMeasures, type Measures } from './measures.ts'
import { createRetryBudgets, type RetryBudgets } from './retry-budget.ts'

/** The knowledge of a process about the targets of one organisation, beyond one request. */
export interface TargetStates {
  readonly breakers: Breakers
  readonly budgets: RetryBudgets
  readonly measures: Measures
}

/** The knowledge of a process about targets. Each organisation has its own, so that none can push out that of another. */
export interface RoutingState {
  of(organisationId: string): TargetStates
  /** Returns those of all organisations that are known. */
  all(): readonly TargetStates[]
  /** Notifies the other processes. */
  readonly tell: (told: BreakerEvent) => void
}

/** A change of a breaker, and the target that it is about. */
export interface BreakerEvent {
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

/** So many targets of one organisation are known at once: requests bring configs, and with them as many targets as they like. */
const mostTargets = 1000
/** So many organisations are known at once; the one that was used longest ago is forgotten first. */
const mostOrganisations = 1000

/** Makes the state of a process. `tell` notifies the other processes of a breaker. */
export function createRoutingState(tell: RoutingState['tell'] = () => {}): RoutingState {
  const states = new Map<string, TargetStates>()
  return {
    tell,
    all: () => [...states.values()],
    of(organisationId) {
      const found = states.get(organisationId)
      // The order matters only near the bound.
      if (found !== undefined && states.size * 2 < mostOrganisations) return found
      const state = found ?? createTargetStates()
      states.delete(organisationId)
      for (const oldest of states.keys()) {
        if (states.size < mostOrganisations) break
        states.delete(oldest)
      }
      states.set(organisationId, state)
      return state
    },
  }
}

const createTargetStates = (): TargetStates => ({
  breakers: createBreakers(mostTargets),
  budgets: createRetryBudgets(mostTargets),
  measures: createMeasures(mostTargets),
})
