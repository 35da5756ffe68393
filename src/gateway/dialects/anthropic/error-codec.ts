import { readError } from '../error-reading.ts'
import type { NeutralError } from '../neutral/error.ts'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** A message begins with the place that it is about: `max_tokens: …`, or with its name in the first sentence. */
const place = /^(?:([a-z_]+(?:\.\w+)*): |`([a-z_]+(?:\.\w+)*)` )/

/** Reads an error, whose field stands in its message alone. */
export function decodeError(status: number, body: unknown): NeutralError {
  const error = readError(status, body)
  const [, before, named] = place.exec(error.message) ?? []
  return { ...error, param: error.param ?? before ?? named ?? null }
}

/** Writes a provider's error. */
export const writeError = ({ status, message, code, param }: NeutralError, requestId: string): object => ({
  type: 'error',
  error: {
    type: types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'),
    message,
    ...(code !== null && { code }),
    ...(param !== null && { param }),
  },
  request_id: requestId,
})
