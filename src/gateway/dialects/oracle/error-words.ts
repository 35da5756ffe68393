import type { ErrorWords } from '../dialect.ts'

/** docs.oracle.com/en-us/iaas/Content/API/References/apierrors.htm. */
export const errorWords: ErrorWords = {
  statuses: {
    InvalidParameter: 400,
    MissingParameter: 400,
    CannotParseRequest: 400,
    LimitExceeded: 400,
    QuotaExceeded: 400,
    NotAuthenticated: 401,
    NotAllowed: 403,
    NotAuthorizedOrNotFound: 404,
    NotFound: 404,
    IncorrectState: 409,
    TooManyRequests: 429,
    InternalServerError: 500,
    ServiceUnavailable: 503,
  },
  rateLimit: ['TooManyRequests'],
}
