import type { ErrorWords } from '../dialect.ts'

export const errorWords: ErrorWords = {
  statuses: {
    RESOURCE_EXHAUSTED: 429,
    INTERNAL: 500,
    UNAVAILABLE: 503,
    DEADLINE_EXCEEDED: 504,
    UNKNOWN: 500,
    DATA_LOSS: 500,
    UNIMPLEMENTED: 501,
    CANCELLED: 499,
    INVALID_ARGUMENT: 400,
    FAILED_PRECONDITION: 400,
    OUT_OF_RANGE: 400,
    ABORTED: 409,
    ALREADY_EXISTS: 409,
    UNAUTHENTICATED: 401,
    PERMISSION_DENIED: 403,
    NOT_FOUND: 404,
  },
  contentPolicy: ['PROHIBITED_CONTENT'],
  rateLimit: ['RESOURCE_EXHAUSTED'],
}
