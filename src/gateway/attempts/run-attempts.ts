import type { IndexedSet } from '../../lib/collections/indexed-set.ts'
import { holdsAnswer, inspectAnswer, inspectsAnswer } from '../answers/inspect/answer.ts'
import type { Inspection } from '../answers/inspect/inspection.ts'
import { Relay, type RelayEnd } from '../answers/relay.ts'
import type { AimedCall, Call } from '../call.ts'
import { checkBefore, type CheckedCall } from '../checks/before.ts'
import type { GuardrailSource } from '../checks/guardrail-source.ts'
import { noHooks } from '../checks/hook-results.ts'
import type { RunDeps } from '../checks/run.ts'
import { changeBody } from '../config/change-body.ts'
import type { Egress, EgressHandler } from '../egress/egress.ts'
import { narrowed } from '../egress/narrowed.ts'
import type { GatewayMetrics } from '../ending/metrics.ts'
import { checkBody } from '../front/check-body.ts'
import { keepsBodies } from '../front/debug.ts'
import { callerDialect } from '../front/match.ts'
import { openBody } from '../front/read-call.ts'
import type { Journal } from '../journal/log-record.ts'
import type { Ledger } from '../limits/ledger.ts'
import type { GatewaySettings } from '../settings.ts'
import { admit, recheckModel, findTarget } from '../targets/aim.ts'
import type { ProviderSource } from '../targets/provider-view.ts'
import { modelOf, type RequestBody } from '../wire/body.ts'
import type { AnswerCache } from '../cache/recall.ts'
import { answerSource } from './answer-source.ts'
import { type Attempt, beginAttempt } from './attempt.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { requestTimeout } from './timeouts.ts'

export interface AttemptDeps {
  readonly snapshot: ProviderSource & GuardrailSource
  readonly ledger: Ledger
  readonly egress: Egress
  readonly answers: AnswerCache
  readonly metrics: GatewayMetrics
  readonly settings: GatewaySettings
  /** `x-service-`, then the aliases. */
  readonly prefixes: readonly string[]
  /** The answers that are under way, so that a drain can end them. */
  readonly relays: IndexedSet<Relay>
  readonly journal: Pick<Journal, 'maxBodyBytes'>
}

/** The attempts of one exchange. */
export interface Attempts {
  /** Takes each attempt as it begins. */
  readonly attempts: Attempt[]
  /** Returns our own headers for the answer of an attempt. */
  readonly ownHeaders: (attempt: Attempt) => readonly string[]
}

/**
 * Tries the targets of a call until one attempt stands: target -> reservation -> guardrails -> request -> answer. There is one target,
 * since configs with several are refused where they are chosen. Rejects when an attempt cannot be made.
 */
export async function runAttempts(call: Call, { attempts, ownHeaders }: Attempts, deps: AttemptDeps): Promise<RelayEnd> {
  const attempt = beginAttempt(call.config?.option ?? 'config', call.body)
  attempts.push(attempt)
  const aimed = await aim(call, attempt, deps)
  const reservation = deps.ledger.reserve({ requestId: call.exchange.requestId, key: call.caller.key, provider: aimed.target.view })
  attempt.reservation = reservation instanceof Promise ? await reservation : reservation
  const checked = await check(aimed, attempt, deps)
  return send(checked, { attempt, ownHeaders }, deps)
}

/** Finds the target of a call, and makes its body what this target may be sent. */
async function aim(call: Call, attempt: Attempt, { snapshot, settings }: AttemptDeps): Promise<AimedCall> {
  const changed = call.body === null ? null : (attempt.body = withChanges(call, call.body))
  if (changed !== null && call.prompt === null) checkBody(call, changed, settings)
  const target = (attempt.target = await findTarget(call, call.model ?? modelOf(changed?.json), { snapshot, ...settings }))
  if (changed !== null) return note(attempt, admit(call, target, changed))
  attempt.body = await openBody(call, target, settings)
  const body = (attempt.body = withChanges(call, attempt.body))
  checkBody(call, body, settings)
  return note(attempt, admit(call, target, body))
}

const withChanges = ({ config }: Call, body: RequestBody): RequestBody =>
  config === null || config.changes === null ? body : changeBody(body, config.changes)

function note(attempt: Attempt, aimed: AimedCall): AimedCall {
  attempt.target = aimed.target
  attempt.body = aimed.body
  return aimed
}

/** Returns the call as the guardrails leave it. Throws `hooks_failed` when one of them denies it. */
async function check(aimed: AimedCall, attempt: Attempt, deps: AttemptDeps): Promise<CheckedCall> {
  const { guardrails } = aimed.call
  if (guardrails === null) return { aimed, changed: false, headers: [], hooks: noHooks, denial: null }
  const checked = await checkBefore(aimed, guardrails, checkDeps(aimed.call, deps))
  attempt.hooks = checked.hooks
  attempt.body = checked.aimed.body
  if (checked.denial !== null) throw checked.denial
  return checked.changed ? { ...checked, aimed: note(attempt, recheckModel(checked.aimed)) } : checked
}

/** Returns what guardrails may use: they call what the caller's organisation allows. */
const checkDeps = ({ caller: { key } }: Call, { egress, metrics, settings, snapshot }: AttemptDeps): RunDeps => ({
  egress: narrowed(egress, key.allowedHosts),
  credentials: (plugin) => snapshot.pluginCredentials(key, plugin),
  organisationId: key.organisationId,
  atLeast: settings.atLeast,
  now: Date.now,
  observe: (name, outcome) => metrics.checkRan(name, outcome),
})

/** Sends a request, and passes the answer on. Resolves when the end of the answer is known, before its last byte is written. */
async function send(
  checked: CheckedCall,
  { attempt, ownHeaders }: Pick<Attempts, 'ownHeaders'> & { attempt: Attempt },
  deps: AttemptDeps,
): Promise<RelayEnd> {
  const { call } = checked.aimed
  const { exchange, headers, guardrails: plan } = call
  const timeouts = { firstByteMs: requestTimeout(headers, call.config, deps.settings), idleMs: deps.settings.streamIdleTimeoutMs }
  const held = plan === null ? null : { plan, hooks: checked.hooks, aimed: checked.aimed }
  const forward = forwardedHeaders(call, { added: checked.headers, holdsAnswer: held !== null && holdsAnswer(held) })
  const source = await answerSource(checked, { attempt, forward, timeouts }, deps)
  const relay = new Relay({
    res: exchange.res,
    dialect: callerDialect(exchange.req),
    requestId: exchange.requestId,
    ownHeaders: ownHeaders(attempt),
    keepBytes: keepsBodies(headers) ? deps.journal.maxBodyBytes : 0,
    prefixes: deps.prefixes,
    deadlineAt: performance.now() + timeouts.firstByteMs,
  })
  const inspection: Inspection | null =
    held !== null && inspectsAnswer(held) ? { ...held, relay, deps: checkDeps(call, deps), maxHeldBytes: deps.settings.maxJsonBytes } : null
  const handler: EgressHandler = inspection === null ? relay : inspectAnswer(inspection)
  deps.relays.add(relay)
  relay.attach(source(handler))
  const end = await relay.ended
  deps.relays.remove(relay)
  if (inspection !== null) attempt.hooks = inspection.hooks
  return end
}
