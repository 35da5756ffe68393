import { ApiError, toApiError } from '../lib/errors.ts'
import { longBytes, longTurns } from '../lib/shares/long-turns.ts'
import { type MaybePromise, settled } from '../lib/maybe-promise.ts'
import type { IndexedSet } from '../lib/collections/indexed-set.ts'
import type { RelayEnd } from './answers/relay.ts'
import { answer, ownHeaders, refuse } from './answers/respond.ts'
import { type Attempt, hasSource } from './attempts/attempt.ts'
import { runAttempts } from './attempts/run-attempts.ts'
import type { WaitingExchange } from './attempts/try-target.ts'
import type { AnswerCache } from './cache/recall.ts'
import { deletionOf, type SettleBefore } from './batches/deletion.ts'
import type { Call, CallHead } from './call.ts'
import type { FailedCredentials } from './callers/failed-credentials.ts'
import { callerOf } from './callers/caller-of.ts'
import { type Caller, identify } from './callers/identify.ts'
import type { Tokens } from './callers/tokens/tokens.ts'
import { planGuardrails } from './checks/plan.ts'
import { chooseConfig, configOf, demandInlineHosts, mayHaveConfig, onlyTry, type TargetConfig } from './config/choose.ts'
import type { SigningMeans } from './credentials/signing.ts'
import type { Egress } from './egress/egress.ts'
import { finish } from './ending/finish.ts'
import type { GatewayMetrics } from './ending/metrics.ts'
import type { Exchange } from './exchange/exchange.ts'
import { asksToExplain, explain } from './explain/explain.ts'
import { checkBody } from './front/check-body.ts'
import { googleKey, withoutGoogleKey } from './targets/google-paths.ts'
import { ownTrace, readMetadata, readTrace } from './front/metadata.ts'
import { explainPath } from './front/misspelt-path.ts'
import { readCall } from './front/read-call.ts'
import { checkRequestLine, misplacedKey, readOperation } from './front/request-line.ts'
import { clientDialect } from './operations/fronts.ts'
import { rateHeaders } from './limits/rate-headers.ts'
import { type ManagedAnswer, type ManagedMeans, managedByCall, managedByHead } from './managed/managed.ts'
import { sendManaged } from './managed/send-managed.ts'
import type { McpTokens } from './mcp/oauth/grants.ts'
import type { Mirrors } from './mirrors/mirrors.ts'
import { asksForOwnModels, ownModels } from './models/own-models.ts'
import type { Journal, Ledger, PriceSource, Snapshot } from './ports.ts'
import { expandPrompt } from './prompts/expand.ts'
import type { RoutingState } from './routing/state.ts'
import { continueCall, continues } from './stored-responses/continue-call.ts'
import { keepResponse } from './stored-responses/keep-response.ts'
import { ownResponse, ownResponseAsked } from './stored-responses/own-responses.ts'
import type { ResponseStore } from './stored-responses/response-store.ts'
import type { GatewaySettings } from './settings.ts'
import { beginTrail, cacheStatusOf, lastAttempt, sentBody, type Trail } from './trail.ts'
import { type HeaderList, headerValue } from './wire/header-list.ts'
import { type CallerHeaders, sortHeaders } from './wire/headers.ts'

/** The parts that every exchange of a process shares. */
export interface PipelineDeps {
  readonly snapshot: Snapshot
  /** Absent: API keys are all that is known. */
  readonly tokens?: Tokens
  readonly failures: FailedCredentials
  readonly ledger: Ledger
  readonly prices: PriceSource
  readonly journal: Journal
  readonly egress: Egress
  readonly signing: SigningMeans
  readonly answers: AnswerCache
  readonly responses: ResponseStore
  readonly metrics: GatewayMetrics
  readonly settings: GatewaySettings
  /** `x-service-`, then the aliases. */
  readonly prefixes: readonly string[]
  /** The exchanges that wait or stream, so that a drain can end them. */
  readonly waiting: IndexedSet<WaitingExchange>
  readonly routing: RoutingState
  readonly mirrors: Mirrors
  /** Absent: all files and batches live with providers. */
  readonly managed?: ManagedMeans
  /** Absent: no server of MCP is reached by OAuth. */
  readonly mcpTokens?: McpTokens
  /** Absent: no job is settled before its provider forgets it. */
  readonly settleBefore?: SettleBefore
  /** Returns the paths of both planes, for the answer to a misspelt one; absent: those of the operations. */
  readonly knownPaths?: () => readonly string[]
  /** Called with failures that are ours or the provider's, with their cause. */
  readonly report: (error: ApiError, requestId: string) => void
  /** Called with exchanges whose caller was refused. */
  readonly refused?: (error: ApiError, exchange: Exchange) => void
}

/**
 * One exchange from first to last: head -> call -> attempts -> record. Every path of the data plane goes through here, and no other code writes the
 * trail. `made`: the call of an exchange that the process makes itself; null: read it from the exchange. Never rejects.
 */
export async function runExchange(deps: PipelineDeps, exchange: Exchange, made: Call | null = null): Promise<void> {
  const trail = beginTrail(exchange)
  try {
    const taken = made === null ? takeCall(deps, trail) : noteCall(trail, made)
    const call = taken instanceof Promise ? await taken : taken
    if (call === null) return
    const own = (attempt: Attempt, theirs: HeaderList) => answerHeaders(trail, attempt, theirs)
    if (call.course !== null) trail.faults = []
    const end = await runAttempts(call, { attempts: trail.attempts, faults: trail.faults, ownHeaders: own }, deps)
    if (end.kind === 'failed') throw end.error
    const turn = turnToEnd(trail)
    if (turn !== null) await turn
    if (end.kind === 'denied') answerDenial(deps, trail, end)
    else {
      const keeping = keepResponse(call, lastAttempt(trail), { end, ...deps })
      if (keeping !== null) await keeping
      endRelayed(deps, trail, end)
    }
  } catch (thrown) {
    await endFailed(deps, trail, thrown)
  }
}

async function endFailed(deps: PipelineDeps, trail: Trail, thrown: unknown): Promise<void> {
  await turnToEnd(trail)
  answerFailure(deps, trail, explainPath(toApiError(thrown), trail, deps.knownPaths?.()))
}

/** Waits for the turn to end an exchange with a long body, which is read once more where its provider did not count it; null: its body is short. */
function turnToEnd(trail: Trail): Promise<void> | null {
  const { caller, body } = trail
  return caller === null || (body?.bytes?.length ?? 0) <= longBytes ? null : longTurns.take(caller.key.organisationId)
}

/** Returns the call of an exchange; null: Gatehouse has answered it itself. */
const takeCall = (deps: PipelineDeps, trail: Trail): MaybePromise<Call | null> =>
  settled(readHead(deps, trail), (head) => {
    if (head.operation.spec?.socket === true) throw upgradeRequired(head.operation.spec.path)
    if (asksForOwnModels(head) && !asksToExplain(head)) return answerItself(deps, trail, ownModels(deps, head))
    const kept = ownResponseAsked(head)
    if (kept !== null) return answerItself(deps, trail, ownResponse(deps.responses, head, kept))
    const managed = deps.managed === undefined ? null : managedByHead(deps.managed, head)
    if (managed === null) return callForTarget(deps, trail, head)
    return managed.then((given) => (given === null ? callForTarget(deps, trail, head) : answerManaged(deps, trail, given)))
  })

const callForTarget = (deps: PipelineDeps, trail: Trail, head: CallHead): MaybePromise<Call | null> =>
  settled(readWhole(deps, trail, head), (call) => {
    const { ownAnswer } = head.exchange
    if (ownAnswer !== undefined) return answerItself(deps, trail, Promise.resolve(ownAnswer))
    if (asksToExplain(call)) return answerItself(deps, trail, explain(call, deps))
    const managed = deps.managed === undefined ? null : managedByCall(deps.managed, call)
    if (managed !== null) return managed.then((given) => answerManaged(deps, trail, given))
    const deletion = deps.settleBefore === undefined ? null : deletionOf(call)
    return deletion === null ? call : settled(deps.settleBefore?.(deletion), () => call)
  })

const upgradeRequired = (path: string): ApiError =>
  new ApiError('upgrade_required', `GET ${path} opens a WebSocket: send it with "Connection: Upgrade" and "Upgrade: websocket".`, {
    headers: ['upgrade', 'websocket'],
  })

/**
 * Opens a connection for many calls, each of which is an exchange of its own: finds its caller and logs its handshake. `admit` may refuse the caller, and
 * returns whether the handshake is logged now; else it goes on as an exchange with a provider.
 * Resolves to null when it was refused, and answered so. Never rejects.
 */
export async function openSession(
  deps: PipelineDeps,
  exchange: Exchange,
  admit: (head: CallHead) => 'logged' | 'goes on',
): Promise<CallHead | null> {
  const trail = beginTrail(exchange)
  try {
    const head = await readHead(deps, trail)
    if (exchange.closed) throw new ApiError('client_closed', 'The client left before its connection was accepted.')
    if (admit(head) === 'logged') finish(deps, trail, { status: 101, outcome: 'complete', error: null, relayed: null })
    return head
  } catch (thrown) {
    await endFailed(deps, trail, thrown)
    return null
  }
}

/** Finds out whether the caller of an open connection would still be let in. Throws, or rejects, as `identify`. */
export const recheck = ({ deps, exchange, headers }: RecheckedSession): MaybePromise<Caller> =>
  identify(headers, { ...deps, queryKey: null, chosenKeys: deps.settings.chosenKeys, address: exchange.clientAddress })

interface RecheckedSession {
  readonly deps: PipelineDeps
  readonly exchange: Pick<Exchange, 'clientAddress'>
  readonly headers: CallerHeaders
}

async function answerItself(deps: PipelineDeps, trail: Trail, body: Promise<object>): Promise<null> {
  answerOwn(deps, trail, await body)
  return null
}

async function answerManaged(deps: PipelineDeps, trail: Trail, given: ManagedAnswer): Promise<null> {
  const record = (status: number) => finish(deps, trail, { status, outcome: 'complete', error: null, relayed: null })
  await sendManaged(trail.exchange, given, { own: answerHeaders(trail), record })
  return null
}

/** Notes a call that is complete already. */
function noteCall(trail: Trail, call: Call): Call {
  const { caller, headers, trace, metadata, path, operation, work, prompt, mirror, body, before } = call
  Object.assign(trail, {
    caller,
    headers,
    trace,
    metadata,
    path,
    operation,
    work,
    prompt,
    mirror,
    body,
    before,
    config: storedConfig(call.config),
  })
  return call
}

const storedConfig = (config: Pick<TargetConfig, 'slug' | 'version'> | null): Trail['config'] =>
  config === null || config.slug === null || config.version === null ? null : { slug: config.slug, version: config.version }

/** Refuses an exchange that the data plane does not take on. It is neither read nor logged. */
export const refuseUnread = (exchange: Exchange, error: ApiError): void => refuse(exchange, error, answerHeaders(beginTrail(exchange)))

/** Reads the parts before the body. */
function readHead(deps: PipelineDeps, trail: Trail): MaybePromise<CallHead> {
  const { exchange } = trail
  const headers = (trail.headers = sortHeaders(exchange.headers, deps.prefixes))
  const trace = (trail.trace = readTrace(headers, exchange.requestId, headerValue(headers.forward, 'traceparent')))
  const queryKey = googleKey(trail.path)
  const found = callerOf(exchange, headers, { ...deps, queryKey, chosenKeys: deps.settings.chosenKeys })
  return settled(found, (caller) => readHeadOf(caller, { headers, trace, queryKey }, { deps, trail }))
}

interface BegunExchange extends Pick<CallHead, 'headers' | 'trace'> {
  readonly queryKey: string | null
}

function readHeadOf(
  caller: Caller,
  { headers, trace, queryKey }: BegunExchange,
  { deps, trail }: { readonly deps: PipelineDeps; readonly trail: Trail },
): MaybePromise<CallHead> {
  const { exchange } = trail
  trail.caller = caller
  if (queryKey !== null && caller.holdsOwnKey(queryKey)) trail.path = withoutGoogleKey(trail.path)
  const misplaced = misplacedKey(headers, caller)
  if (misplaced !== null) {
    trail.trace = ownTrace(exchange.requestId)
    throw misplaced
  }
  const metadata = (trail.metadata = readMetadata(headers, caller.key.metadata))
  const operation = (trail.operation = readOperation(exchange.method, trail.path))
  const { path } = trail
  checkRequestLine({ path, operation, caller, headers })
  return settled(
    exchange.caller === null && mayHaveConfig(headers, caller.key) ? choose(deps, headers, caller) : nothingChosen,
    (chosen) => {
      trail.config = storedConfig(chosen.course ?? chosen.config)
      return { exchange, caller, headers, trace, metadata, path, operation, ...chosen }
    },
  )
}

type ConfigChoice = Pick<CallHead, 'config' | 'course' | 'guardrails'>
const nothingChosen: ConfigChoice = { config: null, course: null, guardrails: null }

/** The config that the request starts from, and the guardrails that it must pass. */
function choose({ settings, snapshot }: PipelineDeps, headers: CallerHeaders, { key }: Caller): MaybePromise<ConfigChoice> {
  const found = settings.acts.configs() ? chooseConfig(headers, key, { snapshot, level: settings.level }) : null
  return settled(found, (chosen): MaybePromise<ConfigChoice> => {
    if (chosen !== null) demandInlineHosts(chosen, settings, key)
    const only = chosen === null ? null : onlyTry(chosen)
    if (chosen !== null && only === null) return { config: null, course: chosen, guardrails: null }
    const config = chosen === null || only === null ? null : configOf(chosen, only)
    const planned = settings.acts.guardrails() ? planGuardrails({ key, headers, config }, snapshot) : null
    return settled(planned, (guardrails) => ({ config, course: null, guardrails }))
  })
}

/** The call with its body, as far as that can be read without its target, and with its prompt. */
const readWhole = (deps: PipelineDeps, trail: Trail, head: CallHead): MaybePromise<Call> =>
  settled(readCall(head, deps.settings), (call) => {
    trail.headers = call.headers
    trail.body = call.body
    trail.work = call.work
    if (call.operation.name === 'promptComplete') return withPrompt(deps, trail, call)
    const last = continues(call)
    return last === null ? call : continueCall(call, last, { store: deps.responses, maxJsonBytes: deps.settings.maxJsonBytes })
  })

async function withPrompt({ snapshot, settings }: PipelineDeps, trail: Trail, call: Call): Promise<Call> {
  if (call.body !== null) checkBody(call, call.body, settings)
  const expanded = await expandPrompt(call, snapshot)
  trail.prompt = expanded.prompt
  trail.operation = expanded.operation
  trail.work = expanded.work
  trail.body = expanded.body
  return expanded
}

/** Our own headers for an answer: of this attempt with headers of its provider, or of one that we give ourselves. */
const answerHeaders = (trail: Trail, attempt: Attempt | null = lastAttempt(trail), theirs: HeaderList = noHeaders): string[] =>
  ownHeaders(trail.headers?.prefix ?? 'x-service-', {
    requestId: trail.exchange.requestId,
    edgeHeaders: trail.exchange.edgeHeaders,
    traceId: trail.trace.traceId,
    provider: attempt?.target?.providerId ?? null,
    lastUsedOption: usedOption(attempt),
    retries: attempt === null ? 0 : attempt.retries,
    faults: trail.faults,
    cacheStatus: cacheStatusOf(trail),
    cacheKey: attempt?.recalled?.key ?? null,
    dropped: droppedBy(attempt),
    limits: limitHeaders(trail, attempt, theirs),
  })

const noHeaders: HeaderList = []

function limitHeaders({ exchange, headers }: Trail, attempt: Attempt | null, theirs: HeaderList): HeaderList {
  const standings = attempt?.reservation?.standings ?? null
  if (standings === null || headers === null) return noHeaders
  return rateHeaders(standings, { dialect: clientDialect(exchange), prefix: headers.prefix, theirs, now: Date.now() })
}

const droppedBy = (attempt: Attempt | null): readonly string[] => attempt?.translated?.dropped ?? noHeaders

const usedOption = (attempt: Attempt | null): string | null => (attempt !== null && hasSource(attempt) ? attempt.option : null)

/** An answer of the provider's: the record comes before its last byte. */
function endRelayed(deps: PipelineDeps, trail: Trail, { result, release }: RelayEnd & { readonly kind: 'relayed' }): void {
  const { status, outcome, error } = result
  finish(deps, trail, { status, outcome, error, relayed: result })
  discardRest(trail)
  release()
}

/** An answer of our own, which is an exchange as any other. */
function answerOwn(deps: PipelineDeps, trail: Trail, body: object): void {
  finish(deps, trail, { status: 200, outcome: 'complete', error: null, relayed: null })
  discardRest(trail)
  answer(trail.exchange, body, answerHeaders(trail))
}

/** An answer of the provider's that a guardrail keeps back: it was made, and so it is metered and logged. */
function answerDenial(deps: PipelineDeps, trail: Trail, { error, result }: RelayEnd & { readonly kind: 'denied' }): void {
  sentBody(trail)?.stream?.destroy()
  finish(deps, trail, { status: error.status, outcome: 'error', error, relayed: result })
  refuse(trail.exchange, error, answerHeaders(trail))
}

/** A provider may answer before it has read all: the rest of the client's body is then discarded. */
function discardRest(trail: Trail): void {
  const { exchange } = trail
  sentBody(trail)?.stream?.destroy()
  exchange.discardRest()
}

/** An exchange that we answer ourselves, or whose client left. The record comes first: it must be there before the last byte. */
function answerFailure(deps: PipelineDeps, trail: Trail, error: ApiError): void {
  const { exchange } = trail
  const left = error.code === 'client_closed' || exchange.closed
  if (error.status >= 500) deps.report(error, exchange.requestId)
  if (trail.caller === null) deps.refused?.(error, exchange)
  sentBody(trail)?.stream?.destroy()
  finish(deps, trail, { status: left ? 499 : error.status, outcome: left ? 'client_closed' : 'error', error, relayed: null })
  refuse(exchange, error, answerHeaders(trail))
}
