import type { ErrorWords } from '../dialect.ts'

export const errorWords: ErrorWords = {
  statuses: {
    throttlingException: 429,
    internalServerException: 500,
    serviceUnavailableException: 503,
    modelStreamErrorException: 500,
    modelTimeoutException: 504,
    validationException: 400,
    modelNotReadyException: 429,
    serviceQuotaExceededException: 429,
    accessDeniedException: 403,
    resourceNotFoundException: 404,
    modelErrorException: 502,
  },
  rateLimit: ['throttlingException'],
}
