import type { Choice, Leaf, Plan } from '../../../src/gateway/targets/plan.ts'
import type { RouteFacts } from '../../../src/gateway/routing/conditions.ts'
import type { AttemptReport, FailureRule } from '../../../src/gateway/routing/verdict.ts'

/** One attempt as it was made. */
export interface Tried {
  readonly target: string
  readonly waitMs: number
  readonly repetition: number
  /** When the decision for it was made, and when it ended. Epoch milliseconds. */
  readonly decidedAt: number
  readonly endedAt: number
  readonly report: AttemptReport
}

interface Seen {
  readonly at: number
  readonly counts: boolean
}

/** The conditions for a target, from its whole history instead of from counters. */
interface History {
  /** Ends since the breaker was closed last, and when their first window began. */
  ends: Seen[]
  countedFrom: number | null
  openedAt: number
  until: number
  tries: Seen[]
}

const minute = 60_000

/**
 * A second reading of the meaning of routing, written as a judge: it reads the attempts of a request one by one, and throws at the first one that the
 * plan does not allow, or at one that is missing.
 */
export class RoutingModel {
  readonly #histories = new Map<string, History>()
  readonly #places = new Map<string, number>()

  /** Judges the attempts of one request. */
  judge(
    plan: Plan,
    tried: readonly Tried[],
    request: { readonly facts: RouteFacts; readonly deadlineAt: number; readonly startedAt: number },
  ): void {
    const reader = { rest: [...tried], now: request.startedAt, waited: 0, ...request }
    this.#read(plan, reader)
    if (reader.rest.length > 0) throw new Error(`${reader.rest[0]?.target} was tried although the request had ended.`)
  }

  isOpen(target: string, now: number): boolean {
    return now < this.#of(target).until
  }

  #of(target: string): History {
    const known = this.#histories.get(target)
    if (known !== undefined) return known
    const fresh: History = { ends: [], countedFrom: null, openedAt: Infinity, until: -Infinity, tries: [] }
    this.#histories.set(target, fresh)
    return fresh
  }

  #out(plan: Plan, now: number): boolean {
    return plan.kind === 'leaf' ? plan.breaker !== null && this.isOpen(plan.id, now) : plan.targets.every((one) => this.#out(one, now))
  }

  #read(plan: Plan, reader: Reader): AttemptReport {
    if (plan.kind === 'leaf') return this.#readTries(plan, reader)
    if (plan.strategy.mode === 'fallback') return this.#readFallback(plan, reader)
    const { strategy, targets } = plan
    if (strategy.mode === 'conditional') {
      const branch = strategy.conditions.find(({ when }) => when(reader.facts))
      return this.#read(at(targets, branch?.target ?? strategy.otherwise), reader)
    }
    const allowed = targets.filter((target, index) => !this.#out(target, reader.now) && weightOf(plan, index) > 0)
    if (allowed.length === 0) return this.#readTries(this.#oldestOpen(plan), reader)
    const next = reader.rest[0]?.target
    const taken = allowed.find((target) => leaves(target).some(({ id }) => id === next))
    if (taken === undefined) throw new Error(`${plan.option}: ${next} was tried, and is not among those that may be chosen.`)
    this.#judgeStay(plan, reader, { taken: targets.indexOf(taken), allowed: allowed.map((one) => targets.indexOf(one)) })
    return this.#read(taken, reader)
  }

  /** A sticky choice answers the same identity alike as long as the same targets may be chosen. */
  #judgeStay(
    plan: Choice,
    { facts, now }: Reader,
    { taken, allowed }: { readonly taken: number; readonly allowed: readonly number[] },
  ): void {
    if (plan.strategy.mode !== 'loadbalance' || plan.strategy.sticky === null) return
    const who = JSON.stringify([
      plan.id,
      plan.strategy.sticky.fields.map((place) => facts.metadata[place.slice('metadata.'.length)]),
      allowed,
    ])
    const before = this.#places.get(who)
    // The identity may move once within a time to live; the simulation is shorter than that, and so it sees one move at most.
    if (before !== undefined && before !== taken && this.#places.has(`${who} moved`))
      throw new Error(`${plan.option}: ${who} moved twice by ${now}.`)
    if (before !== undefined && before !== taken) this.#places.set(`${who} moved`, 1)
    this.#places.set(who, taken)
  }

  #readFallback(plan: Choice, reader: Reader): AttemptReport {
    let last: AttemptReport | null = null
    for (const target of plan.targets) {
      if (this.#out(target, reader.now)) continue
      last = this.#read(target, reader)
      const goesOn = plan.strategy.mode === 'fallback' && fails(plan.strategy.after, last) && reader.now < reader.deadlineAt
      if (!goesOn) return last
    }
    return last ?? this.#readTries(this.#oldestOpen(plan), reader)
  }

  #oldestOpen(plan: Plan): Leaf {
    const all = leaves(plan)
    return all.reduce((best, leaf) => (this.#since(leaf) < this.#since(best) ? leaf : best), at(all, 0))
  }

  readonly #since = ({ id }: Leaf): number => this.#of(id).openedAt

  #readTries(leaf: Leaf, reader: Reader): AttemptReport {
    this.#of(leaf.id).tries.push({ at: reader.now, counts: false })
    let last = this.#take(leaf, reader, 0)
    for (let repetition = 1; repetition <= (leaf.retry?.attempts ?? 0); repetition += 1) {
      const next = reader.rest[0]
      const isRepeated = next !== undefined && next.repetition === repetition && next.target === leaf.id
      const { must, may } = this.#repeats(leaf, reader, { last, repetition })
      if (isRepeated && !may) throw new Error(`${leaf.id} was repeated (${repetition}) and must not be.`)
      if (!isRepeated && must) throw new Error(`${leaf.id} must be repeated (${repetition}) and was not.`)
      if (!isRepeated) break
      this.#judgeWait(leaf, reader, { wait: next.waitMs, last, repetition })
      this.#of(leaf.id).tries.push({ at: next.decidedAt, counts: true })
      reader.waited += next.waitMs
      last = this.#take(leaf, reader, repetition)
    }
    return last
  }

  #repeats(leaf: Leaf, reader: Reader, { last, repetition }: { last: AttemptReport; repetition: number }): { must: boolean; may: boolean } {
    const { retry } = leaf
    if (retry === null || !fails(retry.after, last) || this.isOpen(leaf.id, reader.now) || !this.#mayRepeat(leaf.id, reader.now))
      return { must: false, may: false }
    const left = Math.min(reader.deadlineAt - reader.now, minute - reader.waited)
    const asked = retry.retryAfter === 'ignored' ? 0 : (last.retryAfterMs ?? 0)
    if (retry.retryAfter === 'exact' && asked > 0) return { must: asked <= left, may: asked <= left }
    const longest = Math.min(16_000, 1000 * 2 ** (repetition - 1))
    return { must: Math.max(longest, asked <= left ? asked : 0) <= left, may: left >= 0 }
  }

  #judgeWait(
    { id, retry }: Leaf,
    reader: Reader,
    { wait, last, repetition }: { wait: number; last: AttemptReport; repetition: number },
  ): void {
    const left = Math.min(reader.deadlineAt - reader.now, minute - reader.waited)
    const longest = Math.min(16_000, 1000 * 2 ** (repetition - 1))
    const asked = retry === null || retry.retryAfter === 'ignored' || (last.retryAfterMs ?? 0) > left ? 0 : (last.retryAfterMs ?? 0)
    const [low, high] = retry?.retryAfter === 'exact' && asked > 0 ? [asked, asked] : [asked, Math.max(asked, longest)]
    if (wait < low || wait > Math.min(high, left)) throw new Error(`${id} waited ${wait} ms, not ${low} to ${high} within ${left}.`)
  }

  /** 20 % of the tries of the last ten seconds, or ten, by the windows that began with the first try. */
  #mayRepeat(target: string, now: number): boolean {
    const { tries } = this.#of(target)
    const first = tries[0]?.at ?? now
    const size = 10_000
    const begin = first + Math.floor((now - first) / size) * size
    const overlap = 1 - (now - begin) / size
    const sum = (counts: boolean) =>
      tries.reduce((all, one) => all + (one.counts !== counts || one.at < begin - size ? 0 : one.at >= begin ? 1 : overlap), 0)
    return sum(true) + 1 <= Math.max(10, sum(false) * 0.2) + 1e-9
  }

  #take(leaf: Leaf, reader: Reader, repetition: number): AttemptReport {
    const next = reader.rest.shift()
    if (next === undefined || next.target !== leaf.id || next.repetition !== repetition)
      throw new Error(`${leaf.id} (${repetition}) should have been tried, not ${next?.target ?? 'nothing'} (${next?.repetition}).`)
    if (next.decidedAt !== reader.now) throw new Error(`${leaf.id} was decided on at ${next.decidedAt}, not at ${reader.now}.`)
    reader.now = next.endedAt
    this.#note(leaf, next)
    return next.report
  }

  #note({ id, breaker }: Leaf, { report, endedAt }: Tried): void {
    if (breaker === null) return
    const history = this.#of(id)
    const failed = breaker.statuses === null ? report.status >= 500 : breaker.statuses.has(report.status)
    const opened = { openedAt: endedAt, until: endedAt + breaker.cooldownMs }
    if (history.openedAt !== Infinity) {
      if (!failed) Object.assign(history, { ends: [], countedFrom: endedAt, openedAt: Infinity, until: -Infinity })
      else if (endedAt >= history.until) Object.assign(history, opened)
      return
    }
    history.ends.push({ at: endedAt, counts: failed })
    const from = (history.countedFrom ??= endedAt)
    const begin = from + Math.floor((endedAt - from) / minute) * minute
    const share = (then: number) => (then >= begin ? 1 : then >= begin - minute ? 1 - (endedAt - begin) / minute : 0)
    const all = history.ends.reduce((sum, { at: then }) => sum + share(then), 0)
    const bad = history.ends.reduce((sum, { at: then, counts }) => sum + (counts ? share(then) : 0), 0)
    const tooMany = breaker.failures !== null && bad >= breaker.failures
    const tooLarge = breaker.share !== null && bad / all >= breaker.share
    if (failed && all >= breaker.leastRequests && (tooMany || tooLarge)) Object.assign(history, opened)
  }
}

interface Reader {
  readonly rest: Tried[]
  readonly facts: RouteFacts
  readonly deadlineAt: number
  now: number
  waited: number
}

const leaves = (plan: Plan): readonly Leaf[] => (plan.kind === 'leaf' ? [plan] : plan.targets.flatMap(leaves))

const weightOf = ({ strategy }: Choice, index: number): number => (strategy.mode === 'loadbalance' ? at(strategy.weights, index) : 1)

function at<T>(list: readonly T[], index: number): T {
  const found = list[index]
  if (found === undefined) throw new Error(`There is no item ${index}.`)
  return found
}

function fails({ statuses, kinds, named }: FailureRule, { status, failure, final, repeatable }: AttemptReport): boolean {
  if (final || !repeatable) return false
  if (failure !== null && kinds.has(failure)) return true
  if (kinds.has('rate_limit') && status === 429) return true
  if (statuses === null) return status < 200 || status > 299
  if (failure === 'network') return named && [status, 500, 502, 503].some((one) => statuses.has(one))
  if (failure === 'timeout' || failure === 'first_token_timeout') return named && [status, 408, 504].some((one) => statuses.has(one))
  return statuses.has(status)
}
