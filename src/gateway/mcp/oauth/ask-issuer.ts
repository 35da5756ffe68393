import { ApiError } from '../../../lib/errors.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import { parseRecord } from '../../credentials/token-endpoint.ts'
import type { Egress, SmallResponse } from '../../egress/egress.ts'

/** The way to authorization servers, within one bound of time for all requests of a task. */
export interface IssuerLine {
  readonly egress: Egress
  /** By `performance.now()`. */
  readonly until: number
}

/** One request to an authorization server, or for the metadata of a server. */
export interface IssuerRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Secrets that no error repeats. */
  readonly secrets?: readonly string[]
}

/** An answer of an authorization server. */
export interface IssuerAnswer {
  readonly status: number
  /** Null: it is no JSON object. */
  readonly body: Fields | null
  readonly headers: SmallResponse['headers']
}

const taskMs = 20_000
const requestMs = 8000
/** Documents and answers with tokens are short. */
const maxBytes = 64 * 1024

/** Opens the way for one task. */
export const openLine = (egress: Egress): IssuerLine => ({ egress, until: performance.now() + taskMs })

/** Returns the fault of a sign-in at a server of MCP, in our own words: texts of others may repeat credentials. */
export const signInFailed = (what: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown): ApiError =>
  new ApiError('credential_failed', `The sign-in at the MCP server failed: ${what}.`, { details, cause })

/** Asks, and reads the answer. Rejects with `blocked_host`, or with `credential_failed` when there is no answer. */
export async function askIssuer({ egress, until }: IssuerLine, request: IssuerRequest): Promise<IssuerAnswer> {
  const { url, method = 'GET', headers = {}, body, secrets = [] } = request
  const timeoutMs = Math.min(requestMs, Math.max(1, until - performance.now()))
  const sent = { url, method, headers: { accept: 'application/json', ...headers }, timeoutMs, maxBytes, secrets }
  try {
    const answer = await egress.exchange(body === undefined ? sent : { ...sent, body })
    return { status: answer.status, body: parseRecord(answer.text), headers: answer.headers }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'blocked_host') throw thrown
    const late = thrown instanceof ApiError && thrown.code === 'upstream_timeout'
    const long = thrown instanceof ApiError && thrown.code === 'upstream_bad_response'
    const reaction = late ? 'did not answer in time' : long ? 'gave an answer that is too long or broken' : 'could not be reached'
    throw signInFailed(`${hostOf(url)} ${reaction}`, {}, thrown)
  }
}

/** Returns the host of an address, for messages. */
export const hostOf = (url: string): string => URL.parse(url)?.host ?? 'the address'

/** Returns a text of a document; null: it has none, or a longer one than any that is meant. */
export function textAt(document: Fields, name: string): string | null {
  const value = document[name]
  return typeof value === 'string' && value !== '' && value.length <= 2048 ? value : null
}

const mostTexts = 200

/** Returns the texts of a list of a document; null: it has no such list. */
export function textsAt(document: Fields, name: string): readonly string[] | null {
  const value = document[name]
  return Array.isArray(value) ? value.slice(0, mostTexts).filter((one) => typeof one === 'string' && one.length <= 2048) : null
}
