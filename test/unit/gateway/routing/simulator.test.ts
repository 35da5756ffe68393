import test from 'ava'
import type { Choice, Leaf, Plan, RetryRule, Strategy } from '../../../../src/gateway/targets/plan.ts'
import { type BreakerRule, createBreakers } from '../../../../src/gateway/routing/breaker.ts'
import { compileCondition } from '../../../../src/gateway/routing/conditions.ts'
import { createMeasures } from '../../../../src/gateway/routing/measures.ts'
import { createRetryBudgets } from '../../../../src/gateway/routing/retry-budget.ts'
import { route } from '../../../../src/gateway/routing/route.ts'
import { type AttemptReport, fallbackAfterFailures, retryAfterFailures } from '../../../../src/gateway/routing/verdict.ts'
import { RoutingModel, type Tried } from '../../../support/routing/model.ts'

/** Returns numbers in [0, 1) that depend on the seed alone (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

class Dice {
  readonly draw: () => number
  constructor(seed: number) {
    this.draw = seeded(seed)
  }
  below = (most: number): number => Math.floor(this.draw() * most)
  chance = (share: number): boolean => this.draw() < share
  one = <T>(list: readonly [T, ...T[]]): T => list[this.below(list.length)] ?? list[0]
}

const statusLists = [undefined, [429], [500, 503], [408, 504], [429, 500, 502, 503, 504, 529], [246, 446]] as const
const kindLists = [undefined, undefined, ['network'], ['timeout', 'stream_error'], ['guardrail', 'context_window']] as const
const plans = ['free', 'pro', 'team'] as const

const retryOf = (dice: Dice): RetryRule | null =>
  dice.chance(0.4)
    ? null
    : {
        attempts: 1 + dice.below(5),
        after: retryAfterFailures(dice.one(statusLists), dice.one(kindLists)),
        retryAfter: dice.one(['exact', 'atLeast', 'ignored'] as const),
      }

const breakerOf = (dice: Dice): BreakerRule | null =>
  dice.chance(0.4)
    ? null
    : {
        failures: dice.chance(0.7) ? 1 + dice.below(4) : null,
        share: dice.chance(0.5) ? dice.draw() : null,
        leastRequests: 1 + dice.below(5),
        cooldownMs: 30_000 + dice.below(30_000),
        statuses: dice.chance(0.7) ? null : new Set([429, 500]),
      }

const modes = ['fallback', 'fallback', 'loadbalance', 'conditional', 'least-latency', 'least-cost'] as const

function strategyOf(dice: Dice, count: number): Strategy {
  const mode = dice.one(modes)
  if (mode === 'fallback') return { mode, after: fallbackAfterFailures(dice.one(statusLists), dice.one(kindLists)) }
  if (mode === 'loadbalance')
    return {
      mode,
      weights: Array.from({ length: count }, (_, at) => (at === 0 ? 1 : dice.one([0, 0.5, 1, 3]))),
      sticky: dice.chance(0.3) ? { fields: ['metadata.plan'], ttlMs: 24 * 3_600_000 } : null,
    }
  if (mode === 'conditional')
    return {
      mode,
      conditions: plans
        .slice(0, 2)
        .map((plan) => ({ when: compileCondition({ 'metadata.plan': { $eq: plan } }), target: dice.below(count) })),
      otherwise: dice.below(count),
    }
  return { mode }
}

function planOf(dice: Dice, option: string, depth: number): Plan<null> {
  if (depth === 0 || dice.chance(0.3)) {
    const leaf: Leaf<null> = { kind: 'leaf', option, id: option, target: null, retry: retryOf(dice), breaker: breakerOf(dice) }
    return leaf
  }
  const targets = Array.from({ length: 1 + dice.below(4) }, (_, at) => planOf(dice, `${option}.targets[${at}]`, depth - 1))
  const choice: Choice<null> = { kind: 'choice', option, id: option, strategy: strategyOf(dice, targets.length), targets }
  return choice
}

type Failed = Pick<AttemptReport, 'status' | 'failure'>

const failures: readonly [Failed, ...Failed[]] = [
  { status: 429, failure: 'rate_limit' },
  { status: 500, failure: null },
  { status: 503, failure: null },
  { status: 529, failure: 'stream_error' },
  { status: 502, failure: 'network' },
  { status: 504, failure: 'timeout' },
  { status: 504, failure: 'first_token_timeout' },
  { status: 400, failure: 'context_window' },
  { status: 400, failure: null },
  { status: 446, failure: 'guardrail' },
  { status: 246, failure: 'guardrail' },
]

const reportOf = (dice: Dice, health: number): AttemptReport => ({
  ...(dice.chance(health) ? { status: 200, failure: null } : dice.one(failures)),
  repeatable: !dice.chance(0.03),
  final: dice.chance(0.02),
  retryAfterMs: dice.chance(0.2) ? dice.one([0, 500, 5000, 59_000, 120_000]) : null,
})

/** Plays some minutes of one config, and lets the model judge every request. Returns how many there were, and how many attempts. */
function play(seed: number): { readonly requests: number; readonly attempts: number } {
  const dice = new Dice(seed)
  const plan = planOf(dice, 'config', 3)
  const health = new Map<string, number>()
  const model = new RoutingModel()
  const breakers = createBreakers(1000)
  const shared = { breakers, budgets: createRetryBudgets(1000), measures: createMeasures(1000), cost: () => dice.one([null, 1, 2]) }
  let attempts = 0
  let now = Date.UTC(2026, 0, 1) + dice.below(1_000_000)
  const pauses: readonly [number, ...number[]] = dice.one<readonly [number, ...number[]]>([
    [0],
    [0, 10, 2000],
    [2000, 5000, 20_000],
    [10, 20_000, 70_000],
  ])
  const slowness = dice.one([10, 300, 3000])
  const requests = dice.one([10, 20, 60])
  for (let request = 0; request < requests; request += 1) {
    now += dice.one(pauses)
    const startedAt = now
    const deadlineAt = now + dice.one([5000, 60_000, 600_000])
    const facts = {
      metadata: { plan: dice.one(plans) },
      params: {},
      header: () => undefined,
      url: { pathname: '/v1/chat/completions' },
      model: null,
      key: 'k',
      workspace: null,
    }
    const tried: Tried[] = []
    const way = route(plan, { ...shared, facts, deadlineAt, maxAttempts: Infinity, random: dice.draw, now: () => now, note: () => {} })
    let step = way.next()
    while (step.done !== true) {
      const { leaf, waitMs, repetition } = step.value
      const decidedAt = now
      now += waitMs
      const probe = leaf.breaker !== null && breakers.begin(leaf.id, now)
      if (!health.has(leaf.id)) health.set(leaf.id, dice.one([0, 0.3, 0.9, 1]))
      if (dice.chance(0.05)) health.set(leaf.id, dice.draw())
      now += dice.below(slowness)
      const report = reportOf(dice, health.get(leaf.id) ?? 1)
      shared.measures.noteLatency(leaf.id, dice.below(500), now)
      if (leaf.breaker !== null) {
        const failed = leaf.breaker.statuses === null ? report.status >= 500 : leaf.breaker.statuses.has(report.status)
        breakers.end(leaf.id, leaf.breaker, { failed, probe, now })
      }
      tried.push({ target: leaf.id, waitMs, repetition, decidedAt, endedAt: now, report })
      step = way.next(report)
    }
    model.judge(plan, tried, { facts, deadlineAt, startedAt })
    if (step.value !== tried.at(-1)?.report) throw new Error('The request did not end as its last attempt.')
    attempts += tried.length
  }
  return { requests, attempts }
}

const configs = 10_000

test(`${configs} random configs and providers: order, counts, waits and breakers are as the model says`, (t) => {
  let [requests, attempts] = [0, 0]
  for (let seed = 1; seed <= configs; seed += 1)
    try {
      const played = play(seed)
      requests += played.requests
      attempts += played.attempts
    } catch (cause) {
      throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  t.log(`${configs} configs, ${requests} requests, ${attempts} attempts`)
  t.true(attempts > requests)
})
