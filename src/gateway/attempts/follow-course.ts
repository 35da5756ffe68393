import { type ApiError, toApiError } from '../../lib/errors.ts'
import type { RelayEnd, RelayResult } from '../answers/relay.ts'
import type { Call } from '../call.ts'
import { begunJob } from '../batches/begun-batch.ts'
import { planGuardrails } from '../checks/plan.ts'
import { type ChosenConfig, configOf } from '../config/choose.ts'
import { chargeOf } from '../metering/charge-of.ts'
import { expectedOutput } from '../limits/expected-output.ts'
import { hidesInput } from '../limits/input-bound.ts'
import { reachedBy } from '../metering/may-go-on.ts'
import { route } from '../routing/route.ts'
import type { Measures } from '../routing/measures.ts'
import type { RoutingState } from '../routing/state.ts'
import { type CostFacts, costOf } from '../routing/target-prices.ts'
import { namesOwnTarget } from '../targets/aim.ts'
import { modelOf } from '../wire/body.ts'
import { headerValue } from '../wire/header-list.ts'
import { type Attempt, beginAttempt } from './attempt.ts'
import { callDeadline } from './timeouts.ts'
import { CourseJudge, type CourseMove, type JudgedAttempt, moveOf } from './course-judge.ts'
import { type AttemptDeps, type Try, tryTarget } from './try-target.ts'
import { pause } from './pause.ts'

/** The services that the choice among targets needs. */
export type CourseDeps = AttemptDeps & { readonly routing: RoutingState }

export interface Course extends Pick<Try, 'ownHeaders'> {
  readonly call: Call
  readonly course: ChosenConfig
  /** Takes each attempt as it begins. */
  readonly attempts: Attempt[]
  /** Takes the conditions that could not be judged, by their place in the config. */
  readonly faults: string[] | null
}

/** Tries the targets of a config in the order that its strategies give, until one attempt stands. Rejects when the last one cannot be made. */
export async function followCourse(course: Course, deps: CourseDeps): Promise<RelayEnd> {
  const { call } = course
  const { binding, plan, alone } = course.course
  const deadlineAt = callDeadline(call, deps.settings)
  const way = route(binding || !namesOwnTarget(call) ? plan : alone, {
    ...deps.routing.of(call.caller.key.organisationId),
    facts: factsOf(call),
    cost: ({ target }) => costOf(target, costFactsOf(call, deps)),
    random: Math.random,
    now: Date.now,
    deadlineAt,
    maxAttempts: deps.settings.maxAttempts,
    note: (place) => void course.faults?.push(place),
  })
  let source = call
  let move = moveOf(way.next())
  for (;;) {
    if (move === null) throw new Error('A config without a target was chosen.')
    if (move.waitMs > 0) await pause(move.waitMs, call.exchange, deps.waiting)
    const made = await makeAttempt({ course, slug: course.course.slug, source, move, way, deadlineAt }, deps)
    move = made.next
    if (move === null) return made.end()
    source = made.source
  }
}

interface AttemptPlan extends JudgedAttempt {
  readonly course: Course
}

interface AttemptResult {
  /** The attempt that follows; null: this one stands. */
  readonly next: CourseMove | null
  /** Returns how the attempt ended. Throws when it could not be made. */
  readonly end: () => RelayEnd
  readonly source: Call
}

async function makeAttempt(making: AttemptPlan, deps: CourseDeps): Promise<AttemptResult> {
  const { course, source, move } = making
  const { leaf, repetition } = move
  const attempt = beginAttempt(leaf.option, source.body, repetition)
  attempt.waitMs = move.waitMs
  course.attempts.push(attempt)
  const judge = new CourseJudge(making, attempt, deps.routing)
  const ended = await tryLeaf({ making, attempt, judge }, deps).catch((thrown: unknown) => toApiError(thrown))
  const next = judge.conclude(ended)
  measure(leaf, attempt, { ended, measures: deps.routing.of(source.caller.key.organisationId).measures })
  if (next !== null) giveUp(attempt, ended, { deps, call: source })
  return {
    next,
    source: attempt.opened === null ? source : { ...source, body: attempt.opened },
    end() {
      if ('kind' in ended) return ended
      throw ended
    },
  }
}

interface AttemptRun {
  readonly making: AttemptPlan
  readonly attempt: Attempt
  readonly judge: CourseJudge
}

async function tryLeaf({ making, attempt, judge }: AttemptRun, deps: CourseDeps): Promise<RelayEnd> {
  const { course, source, move } = making
  const config = configOf(course.course, move.leaf)
  const { caller, headers } = source
  const { settings, snapshot } = deps
  const guardrails = settings.acts.guardrails() ? await planGuardrails({ key: caller.key, headers, config }, snapshot) : null
  return tryTarget({ call: { ...source, config, guardrails }, attempt, ownHeaders: course.ownHeaders, judge }, deps)
}

/** Time to the first token that stands for a failure, so that strategies that go by time leave the target for a while. */
const failureMs = 60_000

/** Notes how long the first token took, for strategies that go by it. */
function measure({ id }: CourseMove['leaf'], attempt: Attempt, { ended, measures }: MeasuredEnd): void {
  const relayed = 'kind' in ended && ended.kind === 'relayed' ? ended.result : null
  const ms = attempt.sentAt === null ? null : firstTokenMs(attempt.sentAt, attempt.fault?.status ?? statusOf(ended), relayed)
  if (ms !== null) measures.noteLatency(id, ms, Date.now())
}

const statusOf = (ended: RelayEnd | ApiError): number =>
  !('kind' in ended) ? ended.status : ended.kind === 'relayed' ? ended.result.status : ended.error.status

function firstTokenMs(sentAt: number, status: number, relayed: RelayResult | null): number | null {
  if (status === 429 || status >= 500) return failureMs
  return relayed === null || relayed.firstByteAt === null || status > 299 ? null : relayed.firstByteAt - sentAt
}

interface MeasuredEnd {
  readonly ended: RelayEnd | ApiError
  readonly measures: Measures
}

const errorOf = (ended: RelayEnd | ApiError): ApiError | null => (!('kind' in ended) ? ended : ended.kind === 'failed' ? ended.error : null)

interface GivenUp {
  readonly deps: CourseDeps
  readonly call: Call
}

/** Settles and measures an attempt that is not the last: the exchange has no part of it left to settle. */
function giveUp(attempt: Attempt, ended: RelayEnd | ApiError, { deps, call }: GivenUp): void {
  const { metrics, prices } = deps
  const result = 'kind' in ended && ended.kind === 'denied' ? ended.result : null
  const error = errorOf(ended)
  const { operation, work, exchange } = call
  const receivedAt = Date.now() - (performance.now() - exchange.startedAt)
  attempt.charge = chargeOf(attempt, result, {
    prices,
    expected: expectedOutput,
    hidesInput,
    exchange: { operation, method: exchange.method, work, receivedAt },
    error,
  })
  attempt.usage = attempt.charge.metered?.usage ?? null
  attempt.job = begunJob(attempt, call, result)
  attempt.spent = attempt.reservation?.settle(attempt.charge, reachedBy(attempt, true)) ?? null
  attempt.reservation = null
  const { failure, status } = attempt.fault ?? { failure: null, status: 0 }
  metrics.attemptFailed(attempt.target?.providerId ?? 'none', failure ?? `${Math.floor(status / 100)}xx`)
}

/** Returns the facts by which the targets of a call are ranked for `least-cost`. */
export const costFactsOf = (
  { model, body, caller: { key } }: Call,
  { prices, snapshot }: Pick<CourseDeps, 'prices' | 'snapshot'>,
): CostFacts => ({
  scope: { organisationId: key.organisationId, workspaceId: key.workspaceId },
  model: model ?? modelOf(body?.json),
  prices,
  snapshot,
})

/** Returns the part of a call that conditions and sticky fields can see. */
export const factsOf = ({ metadata, body, headers, path, model, caller: { key } }: Call) => ({
  metadata,
  params: body?.json,
  header: (name: string) => headerValue(headers.forward, name),
  url: { pathname: `/v1${path.split('?', 1)[0] ?? path}` },
  model: model ?? modelOf(body?.json),
  key: key.id,
  workspace: key.workspaceSlug,
})
