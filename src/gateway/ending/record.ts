import { loggedHooks, noHooks } from '../checks/hook-results.ts'
import { operationName } from '../operations/operation-name.ts'
import type { ExchangeBodies, ExchangeRecord, LoggedPrompt, AttemptSpend } from '../journal/log-record.ts'
import type { KeyView } from '../callers/key.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import { type CallerHeaders, valueText } from '../wire/headers.ts'
import { withoutOwnKeysInPath } from '../callers/own-keys.ts'
import { keepsBodies } from '../front/debug.ts'
import type { Attempt } from '../attempts/attempt.ts'
import { isRecalled } from '../metering/is-recalled.ts'
import { cacheStatusOf, type ExchangeEnd, lastAttempt, retriesOf, sentBody, type Trail } from '../trail.ts'
import { loggedCost } from './cost.ts'
import { loggedAttempts, longestModel, rounded } from './attempts.ts'
import type { Redaction } from './redact.ts'
import type { RelayResult } from '../answers/relay.ts'
import { withoutKeys } from './query-keys.ts'
import { firstByteMs as untilFirstByte, upstreamMs as untilUpstream } from './timing.ts'

export interface RecordFacts {
  readonly key: KeyView
  readonly usage: Usage | null
  readonly redaction: Redaction
}

/** The log row of an exchange. */
export function toRecord(trail: Trail, ending: ExchangeEnd, { key, usage, redaction }: RecordFacts): ExchangeRecord {
  const { exchange, headers } = trail
  const last = lastAttempt(trail)
  const { usageSource, cacheStatus, lastUsedOption, cachedLogId } = origin(trail, last, usage)
  const { mirrorOf, billed } = mirrored(trail)
  const { traceId, spanId, parentSpanId, spanName } = trail.trace
  const { method, path, operation, requestBytes, requestHeaders } = asked(trail, redaction)
  const { provider, providerSlug, model, upstreamUrl } = targetFacts(last)
  const { stream, durationMs, upstreamMs, firstByteMs, responseBytes, responseHeaders } = answered(trail, ending.relayed, redaction)
  // Each by its name: an object that is spread from others grows step by step, and costs three times as much.
  return {
    id: exchange.requestId,
    organisationId: key.organisationId,
    workspaceId: key.workspaceId,
    createdAt: trail.receivedAt,
    apiKeyId: key.id,
    userId: key.userId,
    clientAddress: exchange.clientAddress,
    status: ending.status,
    outcome: ending.outcome,
    errorCode: ending.error?.code ?? null,
    retryCount: retriesOf(trail),
    usage,
    cost: loggedCost(trail),
    spent: loggedSpent(trail),
    jobs: loggedJobs(trail),
    usageSource,
    cacheStatus,
    lastUsedOption,
    cachedLogId,
    mirrorOf,
    billed,
    config: trail.config,
    traceId,
    spanId,
    parentSpanId,
    spanName,
    metadata: trail.metadata,
    prompt: promptOf(trail, last),
    hooks: loggedHooks(last?.hooks ?? noHooks, keepsBodies(headers)),
    translation: translationOf(trail, redaction, keepsBodies(headers)),
    attempts: loggedAttempts(trail, { ending, usage, redaction, keepsWords: keepsBodies(headers) }),
    method,
    path,
    operation,
    requestBytes,
    requestHeaders,
    provider,
    providerSlug,
    model,
    upstreamUrl,
    stream,
    durationMs,
    upstreamMs,
    firstByteMs,
    responseBytes,
    responseHeaders,
  }
}

/** Returns the amounts that all attempts counted against budgets; null, without allocating, when none did. */
function loggedSpent({ attempts }: Trail): ExchangeRecord['spent'] {
  let all: readonly AttemptSpend[] | null = null
  for (let attempt = 0; attempt < attempts.length; attempt += 1) {
    const spent = attempts[attempt]?.spent ?? null
    if (spent === null) continue
    const told = spent.map(({ counter, slot, amount, mark }) => ({ attempt, counter, slot, amount, mark }))
    all = all === null ? told : all.concat(told)
  }
  return all
}

/** Returns the jobs that all attempts began; null, without allocating, as for nearly every exchange: none. */
function loggedJobs({ attempts }: Trail): ExchangeRecord['jobs'] {
  if (attempts.every(({ job }) => job === null)) return null
  return attempts.flatMap(({ job }, attempt) => (job === null ? [] : [{ ...job, attempt }]))
}

/** So much of a provider's error is kept. */
const mostError = 16 * 1024
/** A secret that begins before the cut is found as a whole. */
const beyond = 8 * 1024

/** Returns the losses of the last translation, and the own error of the last provider that gave one. */
function translationOf({ attempts }: Trail, redaction: Redaction, keepsWords: boolean): ExchangeRecord['translation'] {
  let error: string | null = null
  let dropped: readonly string[] = none
  for (const { translated } of attempts) {
    dropped = translated?.dropped ?? none
    if (keepsWords) error = translated?.providerError() ?? error
  }
  return error === null && dropped.length === 0
    ? null
    : { dropped, providerError: error === null ? null : redaction.text(error.slice(0, mostError + beyond)).slice(0, mostError) }
}

const none: readonly string[] = []

const sourceOf = (last: Attempt | null) => (last?.charge?.metered?.estimated === true ? ('estimate' as const) : ('provider' as const))

/** Returns the source of the answer and its usage: a target, an estimate of missing figures, or the cache. */
function origin(trail: Trail, last: Attempt | null, usage: Usage | null) {
  const recalled = last !== null && isRecalled(last)
  return {
    usageSource: usage === null ? ('none' as const) : recalled ? ('cache' as const) : sourceOf(last),
    cacheStatus: cacheStatusOf(trail),
    lastUsedOption: last !== null && (last.sentAt !== null || recalled) ? last.option : null,
    cachedLogId: last?.recalled?.answer?.requestId ?? null,
  }
}

const mirrored = ({ mirror }: Trail) => (mirror === null ? ownRequest : { mirrorOf: mirror.of, billed: mirror.billed })
const ownRequest = { mirrorOf: null, billed: true } as const

function promptOf({ prompt: named }: Trail, last: Attempt | null): LoggedPrompt | null {
  const prompt = last?.prompt ?? named
  return prompt && toLogged(prompt)
}

const toLogged = ({ id, versionId, slug }: LoggedPrompt): LoggedPrompt => ({ id, versionId, slug })

function asked(trail: Trail, redaction: Redaction) {
  const { exchange, path, operation, headers, caller } = trail
  return {
    method: exchange.method,
    path: redaction.text(withoutKeys(caller === null ? path : withoutOwnKeysInPath(path, caller))),
    operation: exchange.method === 'POST' ? operationName(operation, path) : operation.name,
    requestBytes: sentBody(trail)?.length ?? 0,
    requestHeaders: headers === null ? {} : redaction.headers(headers.forward, ownHeaders(headers)),
  }
}

/** Our own headers that hold no credential: how the request was addressed and traced. */
const loggedNames = [
  'provider',
  'virtual-key',
  'config',
  'custom-host',
  'trace-id',
  'span-id',
  'parent-span-id',
  'span-name',
  'request-timeout',
  'strict-translation',
  'debug',
].map((name) => ({ name, header: `x-service-${name}` }))

/** Stands in logs for a config that the request brought. */
export const inlineConfig = '[inline]'

function ownHeaders({ service }: CallerHeaders): readonly string[] {
  const logged: string[] = []
  for (const { name, header } of loggedNames) {
    const value = service.get(name)
    if (value !== undefined) logged.push(header, name === 'config' ? configName(value) : valueText(value))
  }
  return logged
}

/** A config that the request brought may hold credentials. */
const configName = (value: string): string => (value.trimStart().startsWith('{') ? inlineConfig : valueText(value))

const noTarget = { provider: null, providerSlug: null, model: null } as const

function targetFacts(attempt: Attempt | null) {
  const target = attempt?.target ?? null
  const upstreamUrl = attempt?.prepared?.url ?? null
  if (target === null) return { ...noTarget, upstreamUrl }
  const { providerId, view, model } = target
  return { provider: providerId, providerSlug: view?.slug ?? null, model: model?.slice(0, longestModel) ?? null, upstreamUrl }
}

function answered(trail: Trail, relayed: RelayResult | null, redaction: Redaction) {
  return {
    stream: relayed?.stream ?? false,
    durationMs: rounded(performance.now() - trail.exchange.startedAt),
    upstreamMs: maybeRounded(untilUpstream(trail, relayed)),
    firstByteMs: maybeRounded(untilFirstByte(trail, relayed)),
    responseBytes: relayed?.capture.size ?? 0,
    responseHeaders: redaction.headers(relayed?.rawHeaders ?? []),
  }
}

const maybeRounded = (ms: number | null): number | null => (ms === null ? null : rounded(ms))

/** The bodies that the log keeps, each cut at `maxBytes`. */
export function toBodies(
  trail: Trail,
  { relayed }: ExchangeEnd,
  { maxBytes, redaction }: { readonly maxBytes: number; readonly redaction: Redaction },
): ExchangeBodies {
  if (!keepsBodies(trail.headers)) return noBodies
  const request = sentBody(trail)?.bytes ?? null
  const response = relayed === null || relayed.capture.size === 0 ? null : redaction.answer(relayed)
  return {
    request: cut(request, maxBytes),
    response: cut(response, maxBytes),
    requestTruncated: request !== null && request.length > maxBytes,
    responseTruncated: relayed !== null && relayed.capture.size > maxBytes,
  }
}

const noBodies: ExchangeBodies = { request: null, response: null, requestTruncated: false, responseTruncated: false }

const cut = (bytes: Uint8Array | null, limit: number): Uint8Array | null =>
  bytes !== null && bytes.length > limit ? bytes.subarray(0, limit) : bytes
