import type { ErrorWords } from '../dialect.ts'

export const errorWords: ErrorWords = {
  statuses: {
    RESOURCE_EXHAUSTED: 429,
    INTERNAL: 500,
    UNAVAILABLE: 503,
    DEADLINE_EXCEEDED: 504,
    INVALID_ARGUMENT: 400,
    UNAUTHENTICATED: 401,
    PERMISSION_DENIED: 403,
    NOT_FOUND: 404,
  },
  contentPolicy: ['PROHIBITED_CONTENT'],
  rateLimit: ['RESOURCE_EXHAUSTED'],
}
