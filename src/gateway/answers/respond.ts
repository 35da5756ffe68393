import { STATUS_CODES } from 'node:http'
import { type ApiError, retryHeaders } from '../../lib/errors.ts'
import { ownAnswers } from '../dialects/own-answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { textValue } from '../wire/headers.ts'
import { clientDialect } from '../operations/fronts.ts'

/** The facts of an exchange for our own answer headers; flat name, value list in the caller's prefix. */
export interface AnswerFacts {
  readonly requestId: string
  readonly traceId: string
  readonly provider: string | null
  /** The number of the repetition that was answered, within its target; -1: the last one failed too. */
  readonly retries: number
  /** Conditions of the config that could not be judged, by their place; null for none. */
  readonly faults: readonly string[] | null
  readonly cacheStatus: string
  /** Null: no cache was asked. */
  readonly cacheKey: string | null
  readonly lastUsedOption: string | null
  /** The fields that a translation dropped. */
  readonly dropped: readonly string[]
  readonly edgeHeaders: readonly string[]
  /** How rate limits stand. */
  readonly limits: readonly string[]
}

/** The headers that we add to an answer: `x-service-*` under the prefix that the caller used, and those of every answer. */
export function ownHeaders(prefix: string, facts: AnswerFacts): string[] {
  const names = namesUnder(prefix)
  const { traceId, requestId, retries, cacheStatus, faults, dropped, provider, cacheKey, lastUsedOption, limits } = facts
  // Lists that are joined at once: one that grows is copied again and again.
  return [
    names.traceId,
    textValue(traceId),
    names.requestId,
    requestId,
    names.retries,
    String(retries),
    names.cacheStatus,
    cacheStatus,
  ].concat(
    facts.edgeHeaders,
    limits,
    faults === null || faults.length === 0 ? nothing : [names.faults, faults.join(', ')],
    dropped.length === 0 ? nothing : [names.dropped, textValue(dropped.join(', '))],
    provider === null ? nothing : [names.provider, provider],
    cacheKey === null ? nothing : [names.cacheKey, cacheKey],
    lastUsedOption === null ? nothing : [names.lastUsedOption, lastUsedOption],
  )
}

const nothing: readonly string[] = []

/** The names of our own headers under a prefix. */
const namesOf = (prefix: string) => ({
  traceId: `${prefix}trace-id`,
  requestId: `${prefix}request-id`,
  retries: `${prefix}retry-attempt-count`,
  cacheStatus: `${prefix}cache-status`,
  faults: `${prefix}condition-faults`,
  dropped: `${prefix}dropped-params`,
  provider: `${prefix}provider`,
  cacheKey: `${prefix}cache-key`,
  lastUsedOption: `${prefix}last-used-option-index`,
})

/** By prefix, of which an installation has a few. */
const kept = new Map<string, ReturnType<typeof namesOf>>()

function namesUnder(prefix: string): ReturnType<typeof namesOf> {
  const held = kept.get(prefix)
  if (held !== undefined) return held
  const names = namesOf(prefix)
  kept.set(prefix, names)
  return names
}

/** The names of statuses that no standard has. */
export const ownStatusTexts: Readonly<Record<number, string>> = {
  246: 'Guardrail Warning',
  446: 'Denied By Guardrail',
  499: 'Client Closed Request',
}

/** A call that the provider did not answer in time may have been carried out, and paid for: clients must not make it again by themselves. */
const mayHaveActed = ({ method }: Exchange): boolean => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

/** Sends an answer of our own. */
export function answer(exchange: Exchange, body: object, own: readonly string[]): void {
  if (exchange.closed || exchange.status !== 0) return
  const text = JSON.stringify(body)
  exchange.head(200, 'OK', headersOf(text, exchange, own))
  exchange.end(text)
  exchange.discardRest()
}

/** Answers with one of our own errors, in the caller's dialect. Does not send when the client has left. */
export function refuse(exchange: Exchange, error: ApiError, own: readonly string[]): void {
  if (exchange.closed || exchange.status !== 0) {
    exchange.destroy()
    return
  }
  const text = JSON.stringify(ownAnswers[clientDialect(exchange)].errorBody(error, exchange.requestId))
  const headers = headersOf(text, exchange, own)
  for (const [name, value] of Object.entries(retryHeaders(error))) headers.push(name, value)
  for (const part of error.headers) headers.push(part)
  if (error.code === 'upstream_timeout' && mayHaveActed(exchange)) headers.push('x-should-retry', 'false')
  if (error.status === 401) headers.push('www-authenticate', 'Bearer realm="gatehouse"')
  exchange.head(error.status, STATUS_CODES[error.status] ?? ownStatusTexts[error.status] ?? 'Refused', headers)
  exchange.end(text)
  exchange.discardRest()
}

/** The headers of every answer that we write ourselves. */
function headersOf(text: string, { requestId }: Exchange, own: readonly string[]): string[] {
  const headers = [...own, 'content-type', 'application/json; charset=utf-8', 'content-length', String(Buffer.byteLength(text))]
  headers.push('x-request-id', requestId, 'request-id', requestId, 'cache-control', 'no-store', 'date', new Date().toUTCString())
  return headers
}
