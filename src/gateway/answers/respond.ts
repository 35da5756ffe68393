import { STATUS_CODES } from 'node:http'
import { type ApiError, retryHeaders } from '../../lib/errors.ts'
import { ownAnswers } from '../dialects/own-answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { textValue } from '../wire/headers.ts'
import { clientDialect } from '../front/fronts.ts'

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
}

/** The headers that we add to an answer: `x-service-*` under the prefix that the caller used, and those of every answer. */
export function ownHeaders(prefix: string, facts: AnswerFacts): string[] {
  const headers = [
    `${prefix}trace-id`,
    textValue(facts.traceId),
    `${prefix}request-id`,
    facts.requestId,
    `${prefix}retry-attempt-count`,
    String(facts.retries),
    `${prefix}cache-status`,
    facts.cacheStatus,
  ]
  for (const part of facts.edgeHeaders) headers.push(part)
  if (facts.faults !== null && facts.faults.length > 0) headers.push(`${prefix}condition-faults`, facts.faults.join(', '))
  if (facts.dropped.length > 0) headers.push(`${prefix}dropped-params`, textValue(facts.dropped.join(', ')))
  if (facts.provider !== null) headers.push(`${prefix}provider`, facts.provider)
  if (facts.cacheKey !== null) headers.push(`${prefix}cache-key`, facts.cacheKey)
  if (facts.lastUsedOption !== null) headers.push(`${prefix}last-used-option-index`, facts.lastUsedOption)
  return headers
}

/** The names of statuses that no standard has. */
export const ownStatusTexts: Readonly<Record<number, string>> = {
  246: 'Guardrail Warning',
  446: 'Denied By Guardrail',
  499: 'Client Closed Request',
}

/** A call that the provider did not answer in time may have been carried out, and paid for: clients must not make it again by themselves. */
const mayHaveActed = ({ method }: Exchange): boolean => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

/** Answers with what we know ourselves. */
export function answer(exchange: Exchange, body: object, own: readonly string[]): void {
  if (exchange.closed || exchange.status !== 0) return
  const text = JSON.stringify(body)
  exchange.head(200, 'OK', headersOf(text, exchange, own))
  exchange.end(text)
  exchange.discardRest()
}

/** Answers with one of our own errors, in the caller's dialect. Nothing is sent when the client has left. */
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
