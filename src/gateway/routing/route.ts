import type { Choice, Leaf, Plan } from '../targets/plan.ts'
import { admitted, type ChooseDeps, chooseTarget, firstOpened } from './choose-target.ts'
import type { RetryBudgets } from './retry-budget.ts'
import { longestWaitMs, waitBeforeRetry } from './retry-timing.ts'
import { type AttemptReport, leadsOn } from './verdict.ts'

/** One attempt to make. */
export interface Move<Target> {
  readonly leaf: Leaf<Target>
  /** Milliseconds to wait before it. */
  readonly waitMs: number
  /** 0 for the first try of the target, then which repetition this is. */
  readonly repetition: number
  /** True if no other attempt can follow, however this one ends. */
  readonly last: boolean
}

export interface RouteDeps<Target = unknown> extends ChooseDeps<Target> {
  readonly budgets: RetryBudgets
  /** Epoch milliseconds at which the request's time is over. */
  readonly deadlineAt: number
}

/** The way of one request through a plan: takes how each attempt ended, and gives the next one. Returns how the last one ended. */
export type Route<Target> = Generator<Move<Target>, AttemptReport, AttemptReport>

interface Walk<Target> extends RouteDeps<Target> {
  /** Milliseconds that retries waited so far, in sum. */
  waitedMs: number
}

/** Plans the attempts of a request. No I/O, no clock and no chance of its own: the caller makes each attempt and reports it. */
export const route = <Target>(plan: Plan<Target>, deps: RouteDeps<Target>): Route<Target> => walk(plan, { ...deps, waitedMs: 0 }, true)

/** `last`: nothing around the plan is left to try after it. */
function walk<Target>(plan: Plan<Target>, run: Walk<Target>, last: boolean): Route<Target> {
  if (plan.kind === 'leaf') return tries(plan, run, last)
  return plan.strategy.mode === 'fallback' ? inTurn(plan, run, last) : walk(chooseTarget(plan, run), run, last)
}

/** Tries one target, and repeats it as its rule says. */
function* tries<Target>(leaf: Leaf<Target>, run: Walk<Target>, last: boolean): Route<Target> {
  const most = leaf.retry?.attempts ?? 0
  run.budgets.noteTry(leaf.id, run.now())
  let report = yield { leaf, waitMs: 0, repetition: 0, last: last && most === 0 }
  for (let repetition = 1; repetition <= most; repetition += 1) {
    const waitMs = waitBefore(repetition, { leaf, report, run })
    if (waitMs === null) break
    report = yield { leaf, waitMs, repetition, last: last && repetition === most }
  }
  return report
}

interface Failed<Target> {
  readonly leaf: Leaf
  readonly report: AttemptReport
  readonly run: Walk<Target>
}

/** Returns the milliseconds before a repetition, null when there is to be none. A breaker that opened meanwhile ends the repetitions too. */
function waitBefore<Target>(repetition: number, { leaf: { id, retry }, report, run }: Failed<Target>): number | null {
  if (retry === null || !leadsOn(retry.after, report)) return null
  const now = run.now()
  const leftMs = Math.min(run.deadlineAt - now, longestWaitMs - run.waitedMs)
  const wait = { rule: retry.retryAfter, repetition, random: run.random(), retryAfterMs: report.retryAfterMs, leftMs }
  const waitMs = waitBeforeRetry(wait)
  if (waitMs === null || !run.breakers.admits(id, now) || !run.budgets.takeRetry(id, now)) return null
  run.waitedMs += waitMs
  return waitMs
}

/** Tries one target after the other, leaving out those that are open. */
function* inTurn<Target>(choice: Choice<Target>, run: Walk<Target>, isLast: boolean): Route<Target> {
  const { strategy } = choice
  let last: AttemptReport | null = null
  for (const target of choice.targets) {
    if (!admitted(target, run)) continue
    last = yield* walk(target, run, isLast && target === choice.targets.at(-1))
    if (strategy.mode !== 'fallback' || !leadsOn(strategy.after, last) || run.now() >= run.deadlineAt) return last
  }
  return last ?? (yield* tries(firstOpened(choice, run.breakers), run, isLast))
}
