import type { NeutralError } from '../neutral/error.ts'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
}

const typeOf = (status: number): string => types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')

/** The code of a request that its model's window cannot hold: platform.openai.com/docs/guides/error-codes. */
export const tooLong = 'context_length_exceeded'

/** Writes a provider's error. */
export const writeError = ({ status, message, type, code, param }: NeutralError, requestId: string): object => ({
  error: {
    message,
    type: typeOf(status),
    param,
    code: code ?? (status === 429 ? 'rate_limit_exceeded' : type),
    request_id: requestId,
  },
})
