import { type ApiError, toApiError } from '../lib/errors.ts'
import type { Roster } from '../lib/collections/indexed-set.ts'
import { holdsAnswer, inspectAnswer, inspectsAnswer } from './answers/inspect/answer.ts'
import type { Inspection } from './answers/inspect/inspection.ts'
import { Relay, type RelayResult } from './answers/relay.ts'
import { answer, linger, ownHeaders, refuse } from './answers/respond.ts'
import { forwardedHeaders } from './attempts/forwarded-headers.ts'
import { prepare } from './attempts/prepare.ts'
import { requestTimeout } from './attempts/timeouts.ts'
import type { AimedCall, Call, CallHead } from './call.ts'
import type { FailedCredentials } from './callers/failed-credentials.ts'
import { type Caller, identify } from './callers/identify.ts'
import type { Tokens } from './callers/tokens/tokens.ts'
import { checkBefore, type CheckedCall } from './checks/before.ts'
import { noHooks } from './checks/hook-results.ts'
import { planGuardrails } from './checks/plan.ts'
import type { RunDeps } from './checks/run.ts'
import { changeBody } from './config/change-body.ts'
import { chooseConfig, demandInlineHosts, mayHaveConfig } from './config/choose.ts'
import type { Egress, EgressHandler } from './egress/egress.ts'
import { narrowed } from './egress/narrowed.ts'
import { finish } from './ending/finish.ts'
import type { GatewayMetrics } from './ending/metrics.ts'
import type { Exchange } from './exchange/exchange.ts'
import { checkBody } from './front/check-body.ts'
import { googleKey, withoutGoogleKey } from './front/google-key.ts'
import { callerDialect } from './front/match.ts'
import { readMetadata, readTrace } from './front/metadata.ts'
import { explainPath } from './front/misspelt-path.ts'
import { keepsBodies } from './front/debug.ts'
import { openBody, readCall } from './front/read-call.ts'
import { checkRequestLine, readOperation } from './front/request-line.ts'
import { asksForOwnModels, ownModels } from './models/own-models.ts'
import type { Journal, Ledger, Snapshot } from './ports.ts'
import { expandPrompt } from './prompts/expand.ts'
import type { GatewaySettings } from './settings.ts'
import { admit, admitAgain, findTarget } from './targets/aim.ts'
import type { Target } from './targets/target.ts'
import { beginTrail, type Trail } from './trail.ts'
import { modelOf, type RequestBody } from './wire/body.ts'
import { type CallerHeaders, headerValue, sortHeaders } from './wire/headers.ts'

/** What every exchange of a process shares. */
export interface PipelineDeps {
  readonly snapshot: Snapshot
  /** Absent: API keys are all that is known. */
  readonly tokens?: Tokens
  readonly failures: FailedCredentials
  readonly ledger: Ledger
  readonly journal: Journal
  readonly egress: Egress
  readonly metrics: GatewayMetrics
  readonly settings: GatewaySettings
  /** `x-service-`, then the aliases. */
  readonly prefixes: readonly string[]
  /** The answers that are under way, so that a drain can end them. */
  readonly relays: Roster<Relay>
  /** Told of failures that are ours or the provider's, with their cause. */
  readonly report: (error: ApiError, requestId: string) => void
  /** Told of exchanges whose caller was refused. */
  readonly refused?: (error: ApiError, exchange: Exchange) => void
}

/**
 * One exchange from first to last: head -> call -> target -> reservation -> guardrails -> attempt -> record.
 * Every path of the data plane goes through here, and nothing else writes the trail. Never rejects.
 */
export async function runExchange(deps: PipelineDeps, exchange: Exchange): Promise<void> {
  const trail = beginTrail(exchange)
  try {
    const head = await readHead(deps, trail)
    if (asksForOwnModels(head)) {
      answerOwn(deps, trail, await ownModels(deps, head))
      return
    }
    const call = await readWhole(deps, trail, head)
    const aimed = await aim(deps, trail, call)
    await reserve(deps, trail, aimed)
    const checked = await check(deps, trail, aimed)
    await send(deps, trail, checked)
  } catch (thrown) {
    answerFailure(deps, trail, explainPath(toApiError(thrown), trail))
  }
}

/** What is known before the body is read. */
async function readHead(deps: PipelineDeps, trail: Trail): Promise<CallHead> {
  const { exchange } = trail
  const { rawHeaders, method = 'GET' } = exchange.req
  const headers = (trail.headers = sortHeaders(rawHeaders, deps.prefixes))
  const trace = (trail.trace = readTrace(headers, exchange.requestId, headerValue(headers.forward, 'traceparent')))
  const queryKey = googleKey(trail.path)
  const found = identify(headers, { ...deps, queryKey, chosenKeys: deps.settings.chosenKeys, address: exchange.clientAddress })
  const caller = (trail.caller = found instanceof Promise ? await found : found)
  if (queryKey !== null && caller.holdsOwnKey(queryKey)) trail.path = withoutGoogleKey(trail.path)
  const metadata = (trail.metadata = readMetadata(headers, caller.key.metadata))
  const operation = (trail.operation = readOperation(method, trail.path))
  const { path } = trail
  checkRequestLine({ path, operation, caller, headers })
  const chosen = mayHaveConfig(headers, caller.key) ? await choose(deps, headers, caller) : nothingChosen
  trail.config = chosen.config
  return { exchange, caller, headers, trace, metadata, path, operation, ...chosen }
}

type Chosen = Pick<CallHead, 'config' | 'guardrails'>
const nothingChosen: Chosen = { config: null, guardrails: null }

/** The config that the request starts from, and the guardrails that it must pass. */
async function choose({ settings, snapshot }: PipelineDeps, headers: CallerHeaders, { key }: Caller): Promise<Chosen> {
  const found = settings.acts.configs() ? chooseConfig(headers, key, { snapshot, level: settings.level }) : null
  const config = found instanceof Promise ? await found : found
  if (config !== null) demandInlineHosts(config, settings, key)
  return { config, guardrails: settings.acts.guardrails() ? await planGuardrails({ key, headers, config }, snapshot) : null }
}

/** The call with its body, as far as that can be read without its target, and with its prompt. */
async function readWhole({ snapshot, settings }: PipelineDeps, trail: Trail, head: CallHead): Promise<Call> {
  const call = await readCall(head, settings)
  trail.headers = call.headers
  trail.body = call.body
  if (call.operation.name !== 'promptComplete') return call
  if (call.body !== null) checkBody(call, call.body, settings)
  const expanded = await expandPrompt(call, snapshot)
  trail.prompt = expanded.prompt
  trail.operation = expanded.operation
  trail.body = expanded.body
  return expanded
}

/** Finds the target of a call, and makes its body what this target may be sent. */
async function aim({ snapshot, settings }: PipelineDeps, trail: Trail, call: Call): Promise<AimedCall> {
  const changed = call.body === null ? null : (trail.body = withChanges(call, call.body))
  if (changed !== null && call.prompt === null) checkBody(call, changed, settings)
  const target = (trail.target = await findTarget(call, call.model ?? modelOf(changed?.json), { snapshot, ...settings }))
  const body = (trail.body = changed ?? (await openRest(call, target, settings)))
  const aimed = admit(call, target, body)
  note(trail, aimed)
  return aimed
}

async function openRest(call: Call, target: Target, settings: GatewaySettings): Promise<RequestBody> {
  const body = withChanges(call, await openBody(call, target, settings))
  checkBody(call, body, settings)
  return body
}

const withChanges = ({ config }: Call, body: RequestBody): RequestBody =>
  config === null || config.changes === null ? body : changeBody(body, config.changes)

function note(trail: Trail, { target, body }: AimedCall): void {
  trail.target = target
  trail.body = body
}

async function reserve({ ledger }: PipelineDeps, trail: Trail, { call, target }: AimedCall): Promise<void> {
  const reservation = ledger.reserve({ requestId: call.exchange.requestId, key: call.caller.key, provider: target.view })
  trail.reservation = reservation instanceof Promise ? await reservation : reservation
}

/** The call as the guardrails leave it. Throws `hooks_failed` when one of them denies it. */
async function check(deps: PipelineDeps, trail: Trail, aimed: AimedCall): Promise<CheckedCall> {
  const { guardrails } = aimed.call
  if (guardrails === null) return { aimed, changed: false, headers: [], hooks: noHooks, denial: null }
  const checked = await checkBefore(aimed, guardrails, checkDeps(deps, aimed.call.caller))
  trail.hooks = checked.hooks
  trail.body = checked.aimed.body
  if (checked.denial !== null) throw checked.denial
  if (!checked.changed) return checked
  const again = admitAgain(checked.aimed)
  note(trail, again)
  return { ...checked, aimed: again }
}

/** What guardrails call may be where the caller's organisation allows it. */
const checkDeps = ({ egress, metrics, settings, snapshot }: PipelineDeps, { key }: Caller): RunDeps => ({
  egress: narrowed(egress, key.allowedHosts),
  credentials: (plugin) => snapshot.pluginCredentials(key, plugin),
  organisationId: key.organisationId,
  atLeast: settings.atLeast,
  now: Date.now,
  observe: (name, outcome) => metrics.checkRan(name, outcome),
})

/** Resolves when the answer is settled; rejects when the provider failed before it sent headers. */
async function send(deps: PipelineDeps, trail: Trail, checked: CheckedCall): Promise<void> {
  const { call, target, body } = checked.aimed
  const { exchange, upstreamPath: path, operation, headers, caller, guardrails: plan } = call
  const timeouts = { firstByteMs: requestTimeout(headers, call.config, deps.settings), idleMs: deps.settings.streamIdleTimeoutMs }
  const held = plan === null ? null : { plan, hooks: checked.hooks, aimed: checked.aimed }
  const { origin, request } = (trail.prepared = await prepare({
    method: exchange.req.method ?? 'GET',
    path,
    operation,
    timeouts,
    forward: forwardedHeaders(call, { added: checked.headers, holdsAnswer: held !== null && holdsAnswer(held) }),
    egress: deps.egress,
    allowed: { everywhere: deps.settings.allowedHosts, here: caller.key.allowedHosts },
    target,
    body,
  }))
  let inspection: Inspection | null = null
  await new Promise<void>((resolve, reject) => {
    const ended = (): void => {
      deps.relays.remove(relay)
      if (inspection !== null) trail.hooks = inspection.hooks
    }
    const relay: Relay = new Relay({
      res: exchange.res,
      dialect: callerDialect(exchange.req),
      requestId: exchange.requestId,
      ownHeaders: answerHeaders(trail),
      keepBytes: keepsBodies(headers) ? deps.journal.maxBodyBytes : 0,
      prefixes: deps.prefixes,
      deadlineAt: performance.now() + timeouts.firstByteMs,
      fail: (error) => {
        ended()
        reject(error)
      },
      settle: (relayed) => {
        ended()
        finish(deps, trail, { status: relayed.status, outcome: relayed.outcome, error: relayed.error, relayed })
        endUpload(trail)
        resolve()
      },
      deny: (error, relayed) => {
        ended()
        answerDenial(deps, trail, { error, relayed })
        resolve()
      },
    })
    trail.sentAt = performance.now()
    deps.relays.add(relay)
    let handler: EgressHandler = relay
    if (held !== null && inspectsAnswer(held)) {
      inspection = { ...held, relay, deps: checkDeps(deps, caller), maxHeldBytes: deps.settings.maxJsonBytes }
      handler = inspectAnswer(inspection)
    }
    relay.attach(origin.send(request, handler))
  })
}

const answerHeaders = ({ exchange, headers, trace, target, prepared, config }: Trail): string[] =>
  ownHeaders(headers?.prefix ?? 'x-service-', {
    requestId: exchange.requestId,
    edgeHeaders: exchange.edgeHeaders,
    traceId: trace.traceId,
    provider: target?.providerId ?? null,
    lastUsedOption: prepared === null ? null : (config?.option ?? 'config'),
  })

/** An answer of our own, which is an exchange as any other. */
function answerOwn(deps: PipelineDeps, trail: Trail, body: object): void {
  finish(deps, trail, { status: 200, outcome: 'complete', error: null, relayed: null })
  answer(trail.exchange, body, answerHeaders(trail))
}

/** An answer of the provider's that a guardrail keeps back: it was made, and so it is metered and logged. */
function answerDenial(deps: PipelineDeps, trail: Trail, { error, relayed }: { error: ApiError; relayed: RelayResult }): void {
  trail.body?.stream?.destroy()
  finish(deps, trail, { status: error.status, outcome: 'error', error, relayed })
  refuse(trail.exchange, error, answerHeaders(trail))
}

/** A provider may answer before it has read all: what the client still sends is then nobody's. */
function endUpload({ exchange, body }: Trail): void {
  body?.stream?.destroy()
  if (!exchange.req.complete) linger(exchange.req)
}

/** An exchange that we answer ourselves, or whose client left. The record comes first: it must be there before the last byte. */
function answerFailure(deps: PipelineDeps, trail: Trail, error: ApiError): void {
  const { exchange } = trail
  const left = error.code === 'client_closed' || exchange.res.destroyed
  if (error.status >= 500) deps.report(error, exchange.requestId)
  if (trail.caller === null) deps.refused?.(error, exchange)
  trail.body?.stream?.destroy()
  finish(deps, trail, { status: left ? 499 : error.status, outcome: left ? 'client_closed' : 'error', error, relayed: null })
  refuse(exchange, error, answerHeaders(trail))
}
