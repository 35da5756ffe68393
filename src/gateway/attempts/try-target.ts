import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import type { IndexedSet } from '../../lib/collections/indexed-set.ts'
import { holdsAnswer, inspectAnswer, inspectsAnswer } from '../answers/inspect/answer.ts'
import type { Inspection } from '../answers/inspect/inspection.ts'
import { Relay, type RelayEnd } from '../answers/relay.ts'
import type { AnswerCache } from '../cache/recall.ts'
import type { AimedCall, Call } from '../call.ts'
import { checkBefore, type CheckedCall } from '../checks/before.ts'
import type { GuardrailSource } from '../checks/guardrail-source.ts'
import { noHooks } from '../checks/hook-results.ts'
import type { GuardrailPlan } from '../checks/plan.ts'
import type { RunDeps } from '../checks/run.ts'
import type { SigningMeans } from '../credentials/signing.ts'
import type { Egress, EgressHandler } from '../egress/egress.ts'
import { egressFor } from '../egress/narrowed.ts'
import type { GatewayMetrics } from '../ending/metrics.ts'
import { keepsBodies } from '../front/debug.ts'
import { clientDialect } from '../operations/fronts.ts'
import type { Journal } from '../journal/log-record.ts'
import { boundOutput } from '../limits/bound-output.ts'
import type { Ledger, Reservation } from '../limits/ledger.ts'
import type { PolicySource } from '../limits/policy.ts'
import type { Mirrors } from '../mirrors/mirrors.ts'
import type { PromptSource } from '../prompts/prompt-source.ts'
import type { PriceSource } from '../prices/price-source.ts'
import type { GatewaySettings } from '../settings.ts'
import type { ResponseStore } from '../stored-responses/response-store.ts'
import type { HeaderList } from '../wire/header-list.ts'
import { recheckModel } from '../targets/aim.ts'
import type { ProviderSource } from '../targets/provider-view.ts'
import { aim, noteAimed, withModel } from './aim-attempt.ts'
import { answerSource } from './answer-source.ts'
import type { Attempt } from './attempt.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { closeWaits, gateOf, opensAfter } from './open-gate.ts'
import { type EndReport, reportOfStatus } from './report.ts'
import { requestTimeout } from './timeouts.ts'

export interface AttemptDeps {
  readonly signing: SigningMeans
  readonly snapshot: ProviderSource & GuardrailSource & PromptSource & PolicySource
  readonly ledger: Ledger
  readonly prices: PriceSource
  readonly egress: Egress
  readonly answers: AnswerCache
  readonly responses: ResponseStore
  readonly metrics: GatewayMetrics
  readonly settings: GatewaySettings
  /** `x-service-`, then the aliases. */
  readonly prefixes: readonly string[]
  /** The exchanges that wait or stream, so that a drain can end them. */
  readonly waiting: IndexedSet<WaitingExchange>
  readonly mirrors: Mirrors
  readonly journal: Pick<Journal, 'maxBodyBytes'>
}

/** An exchange that waits for a provider. */
export interface WaitingExchange extends Pick<Relay, 'slot' | 'cut'> {}

/** Decides whether an attempt stands when others may follow. */
export interface Judge {
  /** Returns true if the attempt stands: its answer is the caller's. Only the first report of an attempt counts. */
  stands(report: EndReport): boolean
  /** True if no other attempt can follow. */
  readonly last: boolean
  /** Epoch milliseconds at which the time of the whole call is over. */
  readonly deadlineAt: number
}

/** One attempt to make. */
export interface Try {
  readonly call: Call
  readonly attempt: Attempt
  /** Returns our own headers for the answer of an attempt, beside those of its provider. */
  readonly ownHeaders: (attempt: Attempt, theirs: HeaderList) => readonly string[]
  /** Null when it is the only attempt, so that its answer goes on at once. */
  readonly judge: Judge | null
}

/** Tries one target: target -> guardrails -> reservation -> request -> answer. Rejects when the attempt cannot be made. */
export async function tryTarget(made: Try, deps: AttemptDeps): Promise<RelayEnd> {
  const { call, attempt } = made
  const aiming = aim(call, attempt, deps)
  const aimed = aiming instanceof Promise ? await aiming : aiming
  const { guardrails } = aimed.call
  const checked = guardrails === null ? unchecked(aimed) : await check({ aimed, guardrails }, attempt, deps)
  const reservation = reserve(checked.aimed, deps)
  const { maxOutput } = (attempt.reservation = reservation instanceof Promise ? await reservation : reservation)
  if (maxOutput !== null) return send({ ...checked, aimed: bound(attempt, checked.aimed, maxOutput) }, made, deps)
  return send(checked, made, deps)
}

/** Returns the call with a bound of its output, which a budget sets. */
const bound = (attempt: Attempt, aimed: AimedCall, most: number): AimedCall =>
  noteAimed(attempt, {
    ...aimed,
    body: boundOutput(aimed.body, most, {
      dialect: aimed.call.work?.dialect ?? null,
      providerId: aimed.target.providerId,
    }),
  })

/** The first request for a provider must have the prices of the second one: a cost is stated once. */
function reserve(aimed: AimedCall, deps: AttemptDeps): MaybePromise<Reservation> {
  const reading = deps.prices.ready(aimed.target.providerId)
  return reading === null ? reserveNow(aimed, deps) : reading.then(() => reserveNow(aimed, deps))
}

const reserveNow = (aimed: AimedCall, deps: AttemptDeps): MaybePromise<Reservation> =>
  settled(deps.settings.acts.policies() ? deps.snapshot.policies(aimed.call.caller.key) : null, (policies) =>
    deps.ledger.reserve({ call: aimed.call, policies, target: withModel(aimed), body: aimed.body, prices: deps.prices }),
  )

const unchecked = (aimed: AimedCall): CheckedCall => ({ aimed, changed: false, headers: [], hooks: noHooks, denial: null })

interface GuardedCall {
  readonly aimed: AimedCall
  readonly guardrails: GuardrailPlan
}

/** Returns the call as the guardrails leave it. Throws `hooks_failed` when one of them denies it. */
async function check({ aimed, guardrails }: GuardedCall, attempt: Attempt, deps: AttemptDeps): Promise<CheckedCall> {
  const checked = await checkBefore(aimed, guardrails, checkDeps(aimed.call, deps))
  attempt.hooks = checked.hooks
  attempt.body = checked.aimed.body
  if (checked.denial !== null) throw checked.denial
  return checked.changed ? { ...checked, aimed: noteAimed(attempt, recheckModel(checked.aimed)) } : checked
}

/** Returns the services for guardrails: they call the hosts that the caller's organisation allows. */
export const checkDeps = (
  { caller: { key } }: Pick<Call, 'caller'>,
  { egress, metrics, settings, snapshot }: Pick<AttemptDeps, 'egress' | 'metrics' | 'settings' | 'snapshot'>,
): RunDeps => ({
  egress: egressFor(egress, key),
  credentials: (plugin) => snapshot.pluginCredentials(key, plugin),
  organisationId: key.organisationId,
  atLeast: settings.atLeast,
  now: Date.now,
  observe: (name, outcome) => metrics.checkRan(name, outcome),
})

/** Waits for the turn to translate and send a long body; null: it is short, or the turn in which it was read has time for it. */
const turnToSend = ({ call, body }: AimedCall): Promise<void> | null =>
  longTurns.before(call.caller.key.organisationId, body.bytes?.length ?? 0)

/** Sends a request, and passes the answer on. Resolves when the end of the answer is known, before its last byte is written. */
async function send(checked: CheckedCall, made: Try, deps: AttemptDeps): Promise<RelayEnd> {
  const { call } = checked.aimed
  const { attempt } = made
  const { guardrails: plan } = call
  const timeouts = { firstByteMs: firstByteMs(made, deps), idleMs: deps.settings.streamIdleTimeoutMs }
  const held = plan === null ? null : { plan, hooks: checked.hooks, aimed: checked.aimed }
  const isHeld = held !== null && holdsAnswer(held)
  const turn = turnToSend(checked.aimed)
  if (turn !== null) await turn
  const forward = forwardedHeaders(checked.aimed, { added: checked.headers, holdsAnswer: isHeld })
  const opensAfterMs = opensAfter(made, deps.settings)
  const making = answerSource(checked, { attempt, forward, isHeld, timeouts, opensAfterMs }, deps)
  const source = making instanceof Promise ? await making : making
  const relay = relayOf(made, performance.now() + timeouts.firstByteMs, deps)
  const inspection: Inspection | null =
    held !== null && inspectsAnswer(held) ? { ...held, relay, deps: checkDeps(call, deps), maxHeldBytes: deps.settings.maxJsonBytes } : null
  const inspected = inspection === null ? null : inspectAnswer(inspection)
  const inner: EgressHandler = inspected ?? relay
  const gate = gateOf(made, { relay, inner }, opensAfterMs)
  deps.waiting.add(relay)
  relay.attach(source(gate ?? inner))
  const end = await relay.ended
  deps.waiting.remove(relay)
  if (inspected !== null) attempt.hooks = inspected.hooks
  closeWaits(attempt, gate)
  return end
}

function relayOf(made: Try, deadlineAt: number, { prefixes, journal }: AttemptDeps): Relay {
  const { attempt, judge, call } = made
  const { exchange, headers } = call
  return new Relay({
    exchange,
    dialect: clientDialect(exchange),
    begin: (status, theirs) => (judge === null || standsWith(made, judge, status) ? made.ownHeaders(attempt, theirs) : null),
    keepBytes: keepsBodies(headers) ? journal.maxBodyBytes : 0,
    prefixes,
    deadlineAt,
    heard: attempt.heard,
    metered: call.work,
    counted: () => attempt.translated?.usage() ?? null,
  })
}

const standsWith = ({ call, attempt }: Try, judge: Judge, status: number): boolean => judge.stands(reportOfStatus(call, attempt, status))

/** Returns the longest wait for the answer's head: that of the target, within that of the whole call. */
function firstByteMs({ call, judge }: Try, { settings }: AttemptDeps): number {
  const own = requestTimeout(call.headers, call.config, settings)
  return judge === null ? own : Math.max(1, Math.min(own, judge.deadlineAt - Date.now()))
}
