import type { Tokens } from './callers/tokens/tokens.ts'
import { type ApiError, toApiError } from '../lib/errors.ts'
import type { Roster } from '../lib/collections/indexed-set.ts'
import { inspectAnswer, inspectsAnswer } from './answers/inspect/answer.ts'
import { checkBefore } from './checks/before.ts'
import { planGuardrails } from './checks/plan.ts'
import type { RunDeps } from './checks/run.ts'
import { chooseConfig, demandInlineHosts, mayHaveConfig } from './config/choose.ts'
import type { Journal } from './journal/log-record.ts'
import type { Ledger } from './limits/ledger.ts'
import type { Snapshot } from './ports.ts'
import { narrowed } from './egress/narrowed.ts'
import type { Egress, EgressHandler } from './egress/egress.ts'
import type { Exchange } from './exchange/exchange.ts'
import { explainPath } from './front/misspelt-path.ts'
import type { FailedCredentials } from './callers/failed-credentials.ts'
import { finish } from './ending/finish.ts'
import { dropGoogleKey, googleKey } from './front/google-key.ts'
import { headerValue, sortHeaders } from './wire/headers.ts'
import { forwardedHeaders } from './attempts/forwarded-headers.ts'
import { identify } from './callers/identify.ts'
import { readMetadata, readTrace } from './front/metadata.ts'
import type { GatewayMetrics } from './ending/metrics.ts'
import { callerDialect } from './front/match.ts'
import { asksForOwnModels, ownModels } from './models/own-models.ts'
import { begin, keepsBodies, known, type Progress } from './progress.ts'
import { Relay, type RelayResult } from './answers/relay.ts'
import { admitAgain, checkRequestLine, readAndResolve, requestTimeout } from './front/read-call.ts'
import { answer, linger, ownHeaders, refuse } from './answers/respond.ts'
import { prepare } from './attempts/prepare.ts'
import type { GatewaySettings } from './settings.ts'

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
 * One exchange from first to last: identify -> choose config and guardrails -> read and resolve the target -> reserve -> checks before ->
 * send -> relay, through the checks after -> settle and record.
 * Every path of the data plane goes through here. Never rejects.
 */
export async function runExchange(deps: PipelineDeps, exchange: Exchange): Promise<void> {
  const progress = begin(exchange)
  try {
    await identifyCaller(deps, progress)
    checkRequestLine(progress)
    if (mayHaveConfig(known(progress.headers), known(progress.caller).key)) await startFromConfig(deps, progress)
    if (asksForOwnModels(progress)) {
      answerOwn(deps, progress, await ownModels(deps, progress))
      return
    }
    await readAndResolve(deps, progress)
    await reserve(deps, progress)
    if (progress.guardrails !== null && (await checkBefore(progress, checkDeps(deps, progress)))) admitAgain(progress)
    await send(deps, progress)
  } catch (thrown) {
    answerFailure(deps, progress, explainPath(toApiError(thrown), progress))
  }
}

async function identifyCaller(deps: PipelineDeps, progress: Progress): Promise<void> {
  const { exchange } = progress
  const headers = (progress.headers = sortHeaders(exchange.req.rawHeaders, deps.prefixes))
  progress.trace = readTrace(headers, exchange.requestId, headerValue(headers.forward, 'traceparent'))
  const queryKey = googleKey(progress.path)
  const caller = identify(headers, { ...deps, queryKey, chosenKeys: deps.settings.chosenKeys, address: exchange.clientAddress })
  progress.caller = caller instanceof Promise ? await caller : caller
  if (queryKey !== null && progress.caller.holdsOwnKey(queryKey)) dropGoogleKey(progress)
  progress.metadata = readMetadata(headers, progress.caller.key.metadata)
}

async function startFromConfig(deps: PipelineDeps, progress: Progress): Promise<void> {
  const { acts } = deps.settings
  if (acts.configs()) {
    const config = chooseConfig(known(progress.headers), known(progress.caller).key, {
      snapshot: deps.snapshot,
      level: deps.settings.level,
    })
    progress.config = config instanceof Promise ? await config : config
    if (progress.config !== null) demandInlineHosts(progress.config, deps.settings, known(progress.caller).key)
  }
  if (acts.guardrails())
    progress.guardrails = await planGuardrails(
      { key: known(progress.caller).key, headers: known(progress.headers), config: progress.config },
      deps.snapshot,
    )
}

/** What guardrails call may be where the caller's organisation allows it. */
const checkDeps = ({ egress, metrics, settings, snapshot }: PipelineDeps, { caller }: Progress): RunDeps => ({
  egress: narrowed(egress, caller?.key.allowedHosts ?? null),
  credentials: (plugin) => (caller === null ? null : snapshot.pluginCredentials(caller.key, plugin)),
  organisationId: caller?.key.organisationId ?? '',
  atLeast: settings.atLeast,
  now: Date.now,
  observe: (check, outcome) => metrics.checkRan(check, outcome),
})

async function reserve({ ledger }: PipelineDeps, progress: Progress): Promise<void> {
  const { key } = known(progress.caller)
  const reservation = ledger.reserve({ requestId: progress.exchange.requestId, key, provider: known(progress.target).view })
  progress.reservation = reservation instanceof Promise ? await reservation : reservation
}

/** Resolves when the answer is settled; rejects when the provider failed before it sent headers. */
async function send(deps: PipelineDeps, progress: Progress): Promise<void> {
  const { exchange, upstreamPath: path, operation } = progress
  const headers = known(progress.headers)
  const timeouts = { firstByteMs: requestTimeout(headers, progress.config, deps.settings), idleMs: deps.settings.streamIdleTimeoutMs }
  const method = exchange.req.method ?? 'GET'
  const { origin, request } = (progress.prepared = await prepare({
    method,
    path,
    operation,
    timeouts,
    forward: forwardedHeaders(progress),
    egress: deps.egress,
    allowed: { everywhere: deps.settings.allowedHosts, here: known(progress.caller).key.allowedHosts },
    target: known(progress.target),
    body: known(progress.body),
  }))
  await new Promise<void>((resolve, reject) => {
    const relay: Relay = new Relay({
      res: exchange.res,
      dialect: callerDialect(exchange.req),
      requestId: exchange.requestId,
      ownHeaders: answerHeaders(progress),
      keepBytes: keepsBodies(progress) ? deps.journal.maxBodyBytes : 0,
      prefixes: deps.prefixes,
      deadlineAt: performance.now() + timeouts.firstByteMs,
      fail: (error) => {
        deps.relays.remove(relay)
        reject(error)
      },
      settle: (relayed) => {
        deps.relays.remove(relay)
        finish(deps, progress, { status: relayed.status, outcome: relayed.outcome, error: relayed.error, relayed })
        endUpload(progress)
        resolve()
      },
      deny: (error, relayed) => {
        deps.relays.remove(relay)
        answerDenial(deps, progress, { error, relayed })
        resolve()
      },
    })
    progress.sentAt = performance.now()
    deps.relays.add(relay)
    relay.attach(origin.send(request, handlerOf(deps, progress, relay)))
  })
}

const answerHeaders = ({ exchange, headers, trace, target, prepared, config }: Progress): string[] =>
  ownHeaders(headers?.prefix ?? 'x-service-', {
    requestId: exchange.requestId,
    edgeHeaders: exchange.edgeHeaders,
    traceId: trace.traceId,
    provider: target?.providerId ?? null,
    lastUsedOption: prepared === null ? null : (config?.option ?? 'config'),
  })

/** An answer of our own, which is an exchange as any other. */
function answerOwn(deps: PipelineDeps, progress: Progress, body: object): void {
  finish(deps, progress, { status: 200, outcome: 'complete', error: null, relayed: null })
  answer(progress.exchange, body, answerHeaders(progress))
}

/** What takes the provider's answer: the relay itself, or the guardrails in front of it. */
function handlerOf(deps: PipelineDeps, progress: Progress, relay: Relay): EgressHandler {
  const { guardrails: plan } = progress
  if (plan === null || !inspectsAnswer(progress)) return relay
  return inspectAnswer({ progress, plan, relay, deps: checkDeps(deps, progress), maxHeldBytes: deps.settings.maxJsonBytes })
}

/** An answer of the provider's that a guardrail keeps back: it was made, and so it is metered and logged. */
function answerDenial(deps: PipelineDeps, progress: Progress, { error, relayed }: { error: ApiError; relayed: RelayResult }): void {
  progress.body?.stream?.destroy()
  finish(deps, progress, { status: error.status, outcome: 'error', error, relayed })
  refuse(progress.exchange, error, answerHeaders(progress))
}

/** A provider may answer before it has read all: what the client still sends is then nobody's. */
function endUpload({ exchange, body }: Progress): void {
  body?.stream?.destroy()
  if (!exchange.req.complete) linger(exchange.req)
}

/** An exchange that we answer ourselves, or whose client left. The record comes first: it must be there before the last byte. */
function answerFailure(deps: PipelineDeps, progress: Progress, error: ApiError): void {
  const { exchange } = progress
  const left = error.code === 'client_closed' || exchange.res.destroyed
  if (error.status >= 500) deps.report(error, exchange.requestId)
  if (progress.caller === null) deps.refused?.(error, exchange)
  progress.body?.stream?.destroy()
  finish(deps, progress, { status: left ? 499 : error.status, outcome: left ? 'client_closed' : 'error', error, relayed: null })
  refuse(exchange, error, answerHeaders(progress))
}
