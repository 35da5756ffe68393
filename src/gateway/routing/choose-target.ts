import { type Branch, type Choice, type Leaf, leavesOf, type Plan } from '../targets/plan.ts'
import type { Breakers } from './breaker.ts'
import { factAt, type RouteFacts } from './conditions.ts'
import { type Measures, pickLowest } from './measures.ts'
import { pickSticky, type StickyRule } from './sticky.ts'
import { pickByWeight } from './weights.ts'

export interface ChooseDeps<Target = unknown> {
  readonly facts: RouteFacts
  readonly breakers: Breakers
  readonly measures: Measures
  /** Returns a figure by which targets are ranked for `least-cost`; null when the price of this one is not known. */
  cost(target: Leaf<Target>): number | null
  /** Returns a number in [0, 1). */
  readonly random: () => number
  /** Returns epoch milliseconds. */
  readonly now: () => number
  /** Learns of conditions that could not be judged, by their place in the config. */
  readonly note: (option: string, fault: unknown) => void
}

/** Returns the target that a strategy other than `fallback` chooses. */
export function chooseTarget<Target>(choice: Choice<Target>, deps: ChooseDeps<Target>): Plan<Target> {
  const at = pick(choice, deps)
  return (at === null ? undefined : choice.targets[at]) ?? firstOpened(choice, deps.breakers)
}

function pick<Target>({ id, option, strategy, targets }: Choice<Target>, deps: ChooseDeps<Target>): number | null {
  if (strategy.mode === 'conditional') return matching(option, strategy.conditions, deps) ?? strategy.otherwise
  const open = targets.map((target) => !admitted(target, deps))
  if (strategy.mode === 'loadbalance') {
    const weights = strategy.weights.map((weight, at) => (open[at] === true ? 0 : weight))
    return strategy.sticky === null ? pickByWeight(weights, deps.random()) : byIdentity(id, weights, { rule: strategy.sticky, deps })
  }
  const figures = (of: (target: Leaf<Target>) => number | null) =>
    targets.map((target, at) => (open[at] === true ? Infinity : lowest(target, of)))
  const costs = strategy.mode === 'least-cost' ? figures((target) => deps.cost(target)) : null
  // Without the price of each target there is no cheapest one, and the fastest is taken.
  const known = costs !== null && !costs.includes(null) ? costs : figures((target) => deps.measures.latency(target.id, deps.now()))
  return byFigure(id, known, deps.measures)
}

/** Returns the target of the first condition that holds. A condition that cannot be judged does not hold, and is noted. */
function matching(option: string, branches: readonly Branch[], { facts, note }: ChooseDeps): number | null {
  for (const [at, { when, target }] of branches.entries())
    try {
      if (when(facts)) return target
    } catch (fault) {
      note(`${option}.strategy.conditions[${at}]`, fault)
    }
  return null
}

interface StickyContext {
  readonly rule: StickyRule
  readonly deps: ChooseDeps
}

function byIdentity(choice: string, weights: readonly number[], { rule, deps: { facts, now } }: StickyContext): number | null {
  const identity = rule.fields.length === 0 ? [facts.key] : rule.fields.map((place) => JSON.stringify(factAt(place)(facts) ?? null))
  return pickSticky(weights, { choice, identity, ttlMs: rule.ttlMs, now: now() })
}

function byFigure(choice: string, figures: readonly (number | null)[], measures: Measures): number | null {
  if (figures.every((figure) => figure === Infinity)) return null
  const at = pickLowest(figures, measures.chosen(choice))
  measures.noteChosen(choice, at)
  return at
}

/** Returns the lowest figure of a target, or of the targets within it; null when one is not known. */
function lowest<Target>(plan: Plan<Target>, figureOf: (target: Leaf<Target>) => number | null): number | null {
  if (plan.kind === 'leaf') return figureOf(plan)
  const figures = plan.targets.map((target) => lowest(target, figureOf))
  return figures.includes(null) ? null : Math.min(...figures.map((figure) => figure ?? Infinity))
}

/** Returns false for a target whose breaker is open, and for a choice of which all targets are. */
export const admitted = (plan: Plan, deps: Pick<ChooseDeps, 'breakers' | 'now'>): boolean =>
  plan.kind === 'leaf'
    ? plan.breaker === null || deps.breakers.admits(plan.id, deps.now())
    : plan.targets.some((target) => admitted(target, deps))

/** Returns the target to ask when all are open: the one that opened first has had the most time to recover. */
export function firstOpened<Target>(plan: Plan<Target>, breakers: Breakers): Leaf<Target> {
  const [first, ...others] = leavesOf(plan)
  if (first === undefined) throw new Error('A choice has no target.')
  return others.reduce((best, leaf) => (breakers.openedAt(leaf.id) < breakers.openedAt(best.id) ? leaf : best), first)
}
