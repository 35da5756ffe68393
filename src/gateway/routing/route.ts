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
  /** The most attempts of the request. Repetitions leave so many as the first tries of the targets that follow take. */
  readonly maxAttempts: number
}

/** The way of one request through a plan: takes how each attempt ended, and gives the next one. Returns how the last one ended. */
export type Route<Target> = Generator<Move<Target>, AttemptReport, AttemptReport>

interface Walk<Target> extends RouteDeps<Target> {
  /** Milliseconds that retries waited so far, in sum. */
  waitedMs: number
  attemptsLeft: number
}

/** Plans the attempts of a request. No I/O, no clock and no chance of its own: the caller makes each attempt and reports it. */
export const route = <Target>(plan: Plan<Target>, deps: RouteDeps<Target>): Route<Target> =>
  walk(plan, { ...deps, waitedMs: 0, attemptsLeft: deps.maxAttempts }, 0)

/** `ahead`: so many targets around the plan may be left to try after it. */
function walk<Target>(plan: Plan<Target>, run: Walk<Target>, ahead: number): Route<Target> {
  if (plan.kind === 'leaf') return tries(plan, run, ahead)
  return plan.strategy.mode === 'fallback' ? inTurn(plan, run, ahead) : walk(chooseTarget(plan, run), run, ahead)
}

/** Tries one target, and retries it by its rule. */
function* tries<Target>(leaf: Leaf<Target>, run: Walk<Target>, ahead: number): Route<Target> {
  const most = leaf.retry?.attempts ?? 0
  run.budgets.noteTry(leaf.id, run.now())
  run.attemptsLeft -= 1
  let report = yield { leaf, waitMs: 0, repetition: 0, last: isLast(run, ahead, most === 0) }
  for (let repetition = 1; repetition <= most; repetition += 1) {
    if (run.attemptsLeft <= ahead) break
    const waitMs = waitBefore(repetition, { leaf, report, run })
    if (waitMs === null) break
    run.attemptsLeft -= 1
    report = yield { leaf, waitMs, repetition, last: isLast(run, ahead, repetition === most) }
  }
  return report
}

const isLast = ({ attemptsLeft }: Pick<Walk<unknown>, 'attemptsLeft'>, ahead: number, isLastTry: boolean): boolean =>
  attemptsLeft === 0 || (ahead === 0 && isLastTry)

interface FailedLeaf<Target> {
  readonly leaf: Leaf
  readonly report: AttemptReport
  readonly run: Walk<Target>
}

/** Returns the milliseconds before a repetition, null when there is to be none. A breaker that opened meanwhile ends the repetitions too. */
function waitBefore<Target>(repetition: number, { leaf: { id, retry }, report, run }: FailedLeaf<Target>): number | null {
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
function* inTurn<Target>(choice: Choice<Target>, run: Walk<Target>, ahead: number): Route<Target> {
  const { strategy } = choice
  let following = firstTries(choice)
  let last: AttemptReport | null = null
  for (const target of choice.targets) {
    following -= firstTries(target)
    if (!admitted(target, run)) continue
    last = yield* walk(target, run, ahead + following)
    if (strategy.mode !== 'fallback' || !leadsOn(strategy.after, last) || run.now() >= run.deadlineAt || run.attemptsLeft === 0) return last
  }
  return last ?? (yield* tries(firstOpened(choice, run.breakers), run, ahead))
}

/** The most targets of a plan that one request may try. */
function firstTries(plan: Plan): number {
  if (plan.kind === 'leaf') return 1
  const { strategy, targets } = plan
  return targets.reduce(
    (most, target) => (strategy.mode === 'fallback' ? most + firstTries(target) : Math.max(most, firstTries(target))),
    0,
  )
}
