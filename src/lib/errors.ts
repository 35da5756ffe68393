import type { Issue } from './issue.ts'

/** Every failure a caller can meet, in one table: code -> HTTP status, type, and whether a client should try again. */
const problems = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  missing_provider: { status: 400, type: 'invalid_request_error' },
  unknown_provider: { status: 400, type: 'invalid_request_error' },
  missing_credential: { status: 400, type: 'invalid_request_error' },
  blocked_host: { status: 400, type: 'invalid_request_error' },
  unsupported_operation: { status: 400, type: 'invalid_request_error' },
  AB01: { status: 400, type: 'invalid_request_error' },
  AB02: { status: 404, type: 'invalid_request_error' },
  AB03: { status: 403, type: 'permission_error' },
  AB04: { status: 500, type: 'server_error' },
  AB05: { status: 401, type: 'authentication_error' },
  AB06: { status: 429, type: 'rate_limit_error' },
  AB07: { status: 409, type: 'conflict_error' },
  AB08: { status: 404, type: 'not_found_error' },
  AB09: { status: 402, type: 'budget_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  expired_key: { status: 401, type: 'authentication_error' },
  second_factor_required: { status: 403, type: 'permission_error' },
  forbidden: { status: 403, type: 'permission_error' },
  authorization_required: { status: 403, type: 'permission_error' },
  not_found: { status: 404, type: 'not_found_error' },
  feature_unavailable: { status: 404, type: 'not_found_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  upstream_timeout: { status: 504, type: 'timeout_error' },
  budget_exhausted: { status: 412, type: 'budget_error' },
  cost_pending: { status: 409, type: 'conflict_error' },
  precondition_failed: { status: 412, type: 'conflict_error' },
  request_timeout: { status: 408, type: 'timeout_error' },
  payload_too_large: { status: 413, type: 'invalid_request_error' },
  range_not_satisfiable: { status: 416, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  hooks_failed: { status: 446, type: 'hooks_failed' },
  client_closed: { status: 499, type: 'client_closed' },
  internal: { status: 500, type: 'server_error' },
  not_implemented: { status: 501, type: 'not_implemented_error' },
  upstream_unreachable: { status: 502, type: 'upstream_error' },
  upstream_bad_response: { status: 502, type: 'upstream_error' },
  credential_failed: { status: 502, type: 'upstream_error' },
  secret_unavailable: { status: 503, type: 'server_error' },
  dependency_unavailable: { status: 503, type: 'server_error' },
  busy: { status: 503, type: 'server_error' },
  sealed: { status: 503, type: 'server_error' },
  draining: { status: 503, type: 'server_error' },
  overloaded: { status: 503, type: 'server_error' },
} as const satisfies Record<string, { status: number; type: string }>

export type ErrorCode = keyof typeof problems

/** Fields of `error` beside its message. */
type ErrorDetails = Readonly<Record<string, unknown>> & { readonly issues?: readonly Issue[] }

export interface ErrorOptions {
  /** The field, header or parameter that was wrong. */
  param?: string
  /** More headers of the answer: name, value, name, value. */
  headers?: readonly string[]
  /** Seconds after which a retry may work; sent as `retry-after` and `retry-after-ms`. */
  retryAfter?: number
  /** More fields of `error` in the body. */
  details?: ErrorDetails
  /** More fields of the body, beside `error`. */
  beside?: Readonly<Record<string, unknown>>
  cause?: unknown
}

/** The one error of the product. Throw it where the fault is known; it is caught once, at the edge. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly param: string | null
  readonly retryAfter: number | null
  readonly details: ErrorDetails
  readonly beside: Readonly<Record<string, unknown>>
  readonly headers: readonly string[]

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.param = options.param ?? null
    this.details = options.details ?? {}
    this.beside = options.beside ?? {}
    this.headers = options.headers ?? []
    this.retryAfter = options.retryAfter ?? (problems[code].status === 503 ? 5 : null)
  }

  get status(): number {
    return problems[this.code].status
  }

  get type(): string {
    return problems[this.code].type
  }
}

/** The body of the OpenAI dialect and of the control plane. */
export function errorBody(error: ApiError, requestId: string) {
  return {
    error: {
      message: error.message,
      type: error.type,
      param: error.param,
      code: error.code,
      request_id: requestId,
      ...issuesOf(error),
      ...error.details,
    },
    ...error.beside,
  }
}

/** Returns `issues`, the list of every fault of a request, also of a single one; empty for errors of another kind. */
export function issuesOf({ status, param, message, details }: ApiError): { readonly issues?: readonly Issue[] } {
  if (details.issues !== undefined) return { issues: details.issues }
  return status === 400 && param !== null ? { issues: [{ param, code: 'invalid', message }] } : {}
}

/**
 * Headers by which the SDKs decide whether to retry: `no` on final refusals, a time on our own 429 and 503, and `yes` on a 429, and on a 412 with a
 * time.
 */
export function retryHeaders(error: ApiError): Readonly<Record<string, string>> {
  if (error.retryAfter !== null)
    return {
      'retry-after': String(Math.ceil(error.retryAfter)),
      'retry-after-ms': String(Math.round(error.retryAfter * 1000)),
      ...((error.status === 429 || error.status === 412) && { 'x-should-retry': 'true' }),
    }
  return error.status === 501 || (error.status < 500 && error.status !== 408) ? { 'x-should-retry': 'false' } : {}
}

/** Any thrown value as an ApiError: an unforeseen error becomes `internal`, and its message stays in the log. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  return new ApiError('internal', 'Something went wrong on our side. Quote the request id when you report it.', { cause: thrown })
}
