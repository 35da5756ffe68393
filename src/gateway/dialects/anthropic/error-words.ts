import type { ErrorWords } from '../dialect.ts'

export const errorWords: ErrorWords = {
  statuses: {
    overloaded_error: 529,
    overloaded: 529,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
  },
  rateLimit: ['rate_limit_error'],
}
