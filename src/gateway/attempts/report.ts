import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { ApiError } from '../../lib/errors.ts'
import type { Call } from '../call.ts'
import { type ProviderError, readProviderError } from '../dialects/provider-error.ts'
import { readRetryAfter } from '../routing/retry-timing.ts'
import type { AttemptReport, FailureKind } from '../routing/verdict.ts'
import { decompress } from '../wire/encoding.ts'
import { headerValue } from '../wire/header-list.ts'
import type { Attempt } from './attempt.ts'

/** A provider's answer that is an error. */
export interface FailedAnswer {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** The fault of an answer whose own status is that of a success. */
  readonly within?: {
    readonly isStream: boolean
    /** The provider's words; null: it gave none. */
    readonly error: ProviderError | null
    readonly message: string
  }
}

/** How an attempt ended, with its message. */
export interface EndReport extends AttemptReport {
  /** Empty without a message. */
  readonly message: string
  /** The length of the provider's answer, as far as it was read. */
  readonly bytes: number
}

/** Reports an answer that the caller may not have to see. */
export function reportOfAnswer(call: Call, attempt: Attempt, answer: FailedAnswer): EndReport {
  const { within, rawHeaders, status } = answer
  const error = within === undefined ? readProviderError(jsonOf(answer)) : within.error
  return {
    status,
    failure: failureOf(answer, error?.kind ?? null),
    repeatable: mayRepeat(call, attempt, refusedAll(status)),
    final: false,
    retryAfterMs: readRetryAfter((name) => headerValue(rawHeaders, name), Date.now()),
    message: error?.message ?? within?.message ?? textOf(answer),
    bytes: answer.body.length,
  }
}

/** An answer that is none stands for a network that failed. */
function failureOf({ within }: FailedAnswer, kind: ProviderError['kind']): FailureKind | null {
  if (within === undefined || kind === 'context_window' || kind === 'content_policy') return kind
  if (within.isStream) return 'stream_error'
  return within.error === null ? 'network' : kind
}

function textOf({ body, rawHeaders }: FailedAnswer): string {
  const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase()
  return (encoding === undefined || encoding === 'identity' ? body : decompress(body, encoding)).toString('utf8')
}

function jsonOf(answer: FailedAnswer): unknown {
  const text = textOf(answer)
  if (!/^\s*[[{]/.test(text)) return undefined
  return jsonOrUndefined(text)
}

/** Reports an answer that is passed on, or that a guardrail marked or keeps back. */
export const reportOfStatus = (call: Call, attempt: Attempt, status: number): EndReport => ({
  status,
  failure: status === 246 || status === 446 ? 'guardrail' : null,
  repeatable: mayRepeat(call, attempt, false),
  final: false,
  retryAfterMs: null,
  message: '',
  bytes: 0,
})

/** Failures of ours after which another target may do better: its cost, or its size limit, is its own. */
const kinds: Readonly<Record<string, FailureKind | null>> = {
  upstream_timeout: 'timeout',
  upstream_unreachable: 'network',
  upstream_bad_response: 'network',
  credential_failed: 'network',
  secret_unavailable: 'network',
  hooks_failed: 'guardrail',
  rate_limited: 'rate_limit',
  budget_exhausted: null,
  overloaded: null,
}

interface Failure {
  readonly error: ApiError
  /** True if the first token did not come in time. */
  readonly late: boolean
}

/** Reports a failure without an answer. */
export function reportOfError(call: Call, attempt: Attempt, { error, late }: Failure): EndReport {
  const { code, status, retryAfter, message } = error
  const nothingDone = attempt.sentAt === null || code === 'upstream_unreachable'
  return {
    status,
    failure: late ? 'first_token_timeout' : (kinds[code] ?? null),
    repeatable: mayRepeat(call, attempt, nothingDone),
    final: !Object.hasOwn(kinds, code) || call.exchange.closed,
    retryAfterMs: retryAfter === null || attempt.sentAt !== null ? null : retryAfter * 1000,
    message,
    bytes: 0,
  }
}

/** Answers that show that the provider did nothing: it refused the request, or had no room for it. */
const refusedAll = (status: number): boolean => (status >= 400 && status < 500 && status !== 408) || status === 503 || status === 529

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** Returns true if the call may be sent once more. A body that goes through as it comes can be sent once. */
function mayRepeat(call: Call, { body }: Attempt, nothingDone: boolean): boolean {
  if (body !== null && body.stream !== null) return false
  return nothingDone || leavesNothing(call) || safeMethods.has(call.exchange.method)
}

/** Returns true for calls of models. Calls by Google's own paths leave no state either. */
export const leavesNothing = ({ operation, work }: Call): boolean =>
  operation.spec?.leavesNothing === true || (operation.spec === null && work !== null && work.dialect === 'google' && work.task !== null)
